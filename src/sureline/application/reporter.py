"""Draw up the calibration report of a workspace: one reading, nothing is changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sureline.application.calibration_report import (
    STANDING_NOTES,
    CalibrationReport,
    Quality,
    Scores,
    SliceReport,
)
from sureline.application.counted_labels import CountedLabels
from sureline.application.current import Current, current_of
from sureline.application.holding import holding
from sureline.application.label_precision import LabelPrecision
from sureline.application.mistakes import MistakeReader
from sureline.application.model_words import model_notes
from sureline.application.models_seen import models_seen
from sureline.application.opinion_reader import OpinionReader
from sureline.application.ports.latest_cases import LatestCases
from sureline.application.ports.ledger import Ledger, RouteDay, ScoreCount
from sureline.application.recalibrate import Calibration, Recalibrator
from sureline.application.rejected_clusters import ClusterReader
from sureline.application.report import Curve
from sureline.application.report_words import left_out_sentence, verdict_sentence
from sureline.application.review.unplanted_words import unplanted_sentence
from sureline.application.route_rates import of_proposals, route_rates
from sureline.application.slice_sources import (
    RECENT_WEEKS,
    SliceSources,
    lever_facts,
    offer_facts,
    score_band,
    slice_facts,
)
from sureline.application.stored_calibration import active_calibration, certificates_of
from sureline.application.watch import SliceWatch, Watcher
from sureline.core.gate.thresholds import Threshold
from sureline.core.learning.calibrate import SliceCalibration
from sureline.core.learning.levers import Lever, levers
from sureline.core.learning.offers import offers
from sureline.core.learning.slice_facts import SliceFacts
from sureline.core.learning.suggestions import Suggestion, suggest
from sureline.core.statistics.bins import scores_of
from sureline.core.statistics.curves import CurvePoint, histogram, risk_coverage
from sureline.core.statistics.measured_detection import MeasuredDetection
from sureline.core.statistics.noisy_labels import CorrectedPrecision, corrected_precision
from sureline.core.values.periods import day_number, first_day_of, week_number
from sureline.core.values.policy import Mode, Policy

POINTS = 60
"""Points of a risk-coverage curve that are drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reporter:
    """Draws up reports of the workspace that `recalibrator` and `watcher` look after."""

    recalibrator: Recalibrator
    watcher: Watcher
    cases: LatestCases

    @property
    def ledger(self) -> Ledger:
        """Return where the decisions are."""
        return self.recalibrator.ledger

    @property
    def _clusters(self) -> ClusterReader:
        workspace = self.recalibrator.workspace
        return ClusterReader(ledger=self.ledger, cases=self.cases, workspace=workspace)

    async def report(self, calibration: Calibration | None = None) -> CalibrationReport:
        """Report on a calibration, else on what recalibrating would give now.

        It only looks: nothing is stored, and no switch is turned. Raises PolicyError.
        """
        calibration = calibration or await self.recalibrator.compute()
        policy, registry = await self.recalibrator.policies.latest(), self.recalibrator.registry
        days = await self.ledger.route_days(calibration.workspace)
        held = await holding(registry, calibration.workspace)
        stored = await active_calibration(registry, calibration.workspace)
        certificates = certificates_of(stored, calibration.workspace)
        seen = await models_seen(registry, calibration.workspace)
        watched = await replace(self.watcher, acts=False).watch()
        watches = {one.slice_key: one for one in watched.slices}
        known = held.full == calibration.id and held.staged is None
        activate = None if known else calibration.id
        unplanted = await self._unplanted()
        slices = []
        for one in calibration.slices:
            key = one.slice_key
            current = current_of(policy, key, certificates.get(key), stored, seen)
            labels = calibration.labels[key]
            sources = await self._read(current, one, labels, days, watches.get(key), activate)
            found = await self._slice(sources, policy, labels.excluded)
            left_out = left_out_sentence(labels.excluded, labels.off_scale)
            slices.append(replace(found, unplanted=unplanted.get(key), left_out=left_out))
        return CalibrationReport(
            at=watched.at,
            workspace=calibration.workspace,
            policy=calibration.policy_hash,
            calibration=calibration.id,
            active=held.full,
            slices=tuple(slices),
            routes=route_rates(of_proposals(days)),
            notes=(*model_notes(policy, seen), *STANDING_NOTES),
        )

    async def _unplanted(self) -> dict[str, str]:
        reviewers = self.recalibrator.reviewers
        found = {} if reviewers is None else await reviewers.unplanted()
        return {key: unplanted_sentence(why) for key, why in found.items()}

    async def _read(
        self,
        current: Current,
        one: SliceCalibration,
        labels: CountedLabels,
        days: Sequence[RouteDay],
        watch: SliceWatch | None,
        activate: str | None,
    ) -> SliceSources:
        key, now = one.slice_key, self.recalibrator.clock.now()
        slice_policy, measurement = current.policy, current.measurement_hash
        return SliceSources(
            policy=slice_policy,
            measurement=measurement,
            calibrated=one,
            threshold=current.threshold(slice_policy.stakes, now),
            labels=labels.rows,
            scores=await self.ledger.score_counts(self.recalibrator.workspace, key, measurement),
            days=[day for day in days if day.slice_key == key],
            watch=watch,
            now=now,
            activate=activate,
            measured=labels.measured,
        )

    async def _slice(self, of: SliceSources, whole: Policy, excluded: int) -> SliceReport:
        one, policy, workspace = of.calibrated, of.policy, self.recalibrator.workspace
        since = of.now - timedelta(days=policy.window_days)
        mistakes = await MistakeReader(ledger=self.ledger, workspace=workspace).read(
            one.slice_key, of.measurement, since=since, band=score_band(of)
        )
        opinions = await OpinionReader(ledger=self.ledger, workspace=workspace).read(
            policy, of.measurement, since=since
        )
        facts = slice_facts(of, mistakes)
        suggestions, turned = suggest(facts), _levers(of, facts)
        return SliceReport(
            slice_key=one.slice_key,
            mode=policy.mode,
            target=policy.target_precision,
            delta=policy.delta,
            advice=suggestions[0].advice,
            command=_command(suggestions[0], policy.mode, of.activate),
            suggestions=suggestions,
            offers=offers(suggestions, turned, offer_facts(of, facts, whole)),
            levers=turned,
            held=facts.held,
            held_by="nothing" if facts.held is None else _held_by(of.threshold),
            sentence=verdict_sentence(one.verdict),
            certified=one.certificate is not None,
            labels_missing=facts.labels_missing,
            before=Quality.of(one.composite),
            after=None if one.held_out is None else Quality.of(one.held_out),
            curve=_curve(one),
            scores=_scores(of.scores, of.now),
            labels=one.labels,
            right=facts.right,
            approved=facts.approved,
            reviewed=_reviewed(facts, of.measured),
            precision=LabelPrecision.of(facts, of.measured, excluded),
            routes=route_rates(of.days),
            mistakes=mistakes,
            clusters=await self._clusters.read(one.slice_key, policy),
            opinions=opinions,
            watch=of.watch,
        )


def _levers(of: SliceSources, facts: SliceFacts) -> tuple[Lever, ...]:
    """Return what can be turned: of a mission nothing, it has no drafts, so no floor for them."""
    return () if of.policy.is_mission else levers(lever_facts(of, facts.held or facts.proposed))


def _reviewed(facts: SliceFacts, measured: MeasuredDetection) -> CorrectedPrecision:
    return corrected_precision(facts.approved.part, facts.approved.whole, measured.used)


def _held_by(threshold: Threshold) -> str:
    return "hypothesis" if threshold.uncertified else "certificate"


def _command(first: Suggestion, mode: Mode, activate: str | None) -> str | None:
    """Say how to do what is suggested where one command or setting does it."""
    if first.code not in {"first_certificate", "lower_threshold", "higher_threshold"}:
        return None
    command = (
        None
        if activate is None
        else f"sureline recalibrate; then sureline calibration activate {activate} --by NAME"
    )
    setting = None if mode is Mode.ROUTE else "set mode: route for this slice in the policy"
    return "; then ".join(step for step in (command, setting) if step) or None


def _curve(one: SliceCalibration) -> Curve:
    found = one.certificate
    return Curve(
        slice_key=one.slice_key,
        points=risk_coverage(one.certified_on, points=POINTS),
        certified=None
        if found is None
        else CurvePoint(
            threshold=found.threshold,
            coverage=found.coverage,
            precision=found.correct / found.in_band,
        ),
    )


def _scores(scores: Sequence[ScoreCount], now: datetime) -> Scores:
    since = week_number(day_number(now)) - RECENT_WEEKS + 1
    recent = [one for one in scores if one.week >= since]
    before = [one for one in scores if one.week < since]
    return Scores(
        since=first_day_of(since),
        recent=histogram(scores_of([o.score_bin for o in recent]), [o.count for o in recent]),
        reference=histogram(scores_of([o.score_bin for o in before]), [o.count for o in before]),
    )
