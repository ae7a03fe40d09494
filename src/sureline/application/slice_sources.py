"""What of one slice is read from the store, and the facts that suggestions rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from sureline.application.mistakes import Mistakes, ScoreBand
from sureline.application.ports.ledger import RouteDay, ScoreCount
from sureline.application.watch import SliceWatch
from sureline.core.gate.thresholds import Threshold
from sureline.core.learning.calibrate import JUDGED, UNJUDGED, SliceCalibration, table_of
from sureline.core.learning.levers import LeverFacts
from sureline.core.learning.offers import OfferFacts
from sureline.core.learning.slice_facts import Band, Share, SliceFacts
from sureline.core.statistics.attention import Detection
from sureline.core.statistics.bins import BINS, edge, edges_of
from sureline.core.statistics.calibration import Unfitted
from sureline.core.statistics.measured_detection import MeasuredDetection
from sureline.core.statistics.tally import Tally
from sureline.core.values.certificate import Scale, Uncertified
from sureline.core.values.label_count import LabelCount
from sureline.core.values.outcome import OutcomeSource
from sureline.core.values.periods import day_number, week_number
from sureline.core.values.policy import Mode, Policy, SlicePolicy

RECENT_WEEKS = 4
"""Weeks, this one included, whose scores are compared with those before."""
TOP = 0.10
"""Where nothing is certified, this share of the highest scores is looked at."""
SELF_REPORT = "self_report"


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceSources:
    """One slice's policy, counts and calibration, and the threshold in force.

    `activate` is the calibration that could be made current, None where it is. `measured` is how
    many planted errors the people whose labels count noticed.
    """

    policy: SlicePolicy
    measurement: str
    calibrated: SliceCalibration
    threshold: Threshold
    labels: Sequence[LabelCount]
    scores: Sequence[ScoreCount]
    days: Sequence[RouteDay]
    watch: SliceWatch | None
    now: datetime
    activate: str | None
    measured: MeasuredDetection = field(default_factory=MeasuredDetection.of_nothing)


def slice_facts(of: SliceSources, mistakes: Mistakes) -> SliceFacts:
    """Gather the counts that suggestions rest on."""
    one = of.calibrated
    held, band = held_band(of)
    reviews = [row for row in of.labels if row.stratum.source is OutcomeSource.REVIEW]
    missing = one.verdict.labels_missing if isinstance(one.verdict, Uncertified) else None
    return SliceFacts(
        slice_key=one.slice_key,
        target=of.policy.target_precision,
        held=held,
        proposed=proposed_band(one),
        hypothesis=held is not None and of.threshold.uncertified,
        right=_share(one.composite, 0.0),
        band=band,
        approved=Share(
            part=sum(row.count for row in reviews if row.correct),
            whole=sum(row.count for row in reviews),
        ),
        corrections=mistakes.corrections,
        corrected=mistakes.corrected,
        noticed=mistakes.noticed,
        honeypots=_honeypots(of.measured.own),
        tripped=_tripped(of.watch),
        labels_missing=missing,
        human_only=of.policy.mode is Mode.HUMAN_ONLY,
    )


def offer_facts(of: SliceSources, facts: SliceFacts, policy: Policy) -> OfferFacts:
    """Gather what offers rest on."""
    return OfferFacts(
        policy=policy.hash,
        slice_key=facts.slice_key,
        target=facts.target,
        settings=policy.raw["slices"].get(facts.slice_key, {}),
        curve=of.calibrated.curve,
        coverage=None if facts.held is None else facts.held.coverage,
        calibration=of.activate,
        weeks=None if of.watch is None else of.watch.detection.weeks,
        two_week_rate=None if of.watch is None else of.watch.detection.two_week_rate,
    )


def _honeypots(found: Detection) -> Share | None:
    return Share(part=found.caught, whole=found.shown) if found.shown else None


def _tripped(watch: SliceWatch | None) -> Share | None:
    if watch is None or not watch.guard.tripped:
        return None
    return Share(part=watch.guard.errors, whole=watch.guard.labels)


def proposed_band(one: SliceCalibration) -> Band | None:
    """Return what the labels certify."""
    found = one.certificate
    return None if found is None else Band(threshold=found.threshold, coverage=found.coverage)


def held_band(of: SliceSources) -> tuple[Band | None, Share]:
    """Return what is automated now with the labels there, else the labels of what could be."""
    one, auto = of.calibrated, of.threshold.auto
    if auto is None or of.policy.mode is not Mode.ROUTE:
        found = one.certificate
        return None, Share() if found is None else Share(part=found.correct, whole=found.in_band)
    tally = one.composite if of.threshold.scale is not Scale.CALIBRATED else one.certified_on
    share = _share(tally, auto)
    coverage = share.whole / tally.n if tally.n else 0.0
    return Band(threshold=auto, coverage=coverage), share


def _share(tally: Tally, threshold: float) -> Share:
    labels, correct = tally.band(threshold)
    return Share(part=correct, whole=labels)


def score_band(of: SliceSources) -> ScoreBand | None:
    """Return the scores whose mistakes are looked at: what acts alone, or could, or the top."""
    one, certificate = of.calibrated, of.calibrated.certificate
    threshold, scale = of.threshold.auto, of.threshold.scale
    basis = "the threshold in force"
    if threshold is None and certificate is not None:
        threshold, scale = certificate.threshold, certificate.scale
        basis = "the threshold that the labels certify"
    if threshold is None:
        top = _top(of.scores)
        return None if top is None else ScoreBand(threshold=top, basis="the top tenth of scores")
    if scale is not Scale.CALIBRATED:
        return ScoreBand(threshold=threshold, basis=basis)
    tables = {
        name == JUDGED: table_of(fitted)
        for name, fitted in one.maps.items()
        if name in {JUDGED, UNJUDGED} and not isinstance(fitted, Unfitted)
    }
    return ScoreBand(threshold=threshold, basis=basis, tables=tables)


def _top(scores: Sequence[ScoreCount]) -> float | None:
    """Return the lowest score of the top tenth of all decisions."""
    left = TOP * sum(one.count for one in scores)
    for one in sorted(scores, key=lambda one: -one.score_bin):
        left -= one.count
        if left <= 0:
            return edge(one.score_bin)
    return None


def lever_facts(of: SliceSources, band: Band | None) -> LeverFacts:
    """Gather the counts that levers rest on; `band` is what is, or could be, automated."""
    one, policy = of.calibrated, of.policy
    recent = week_number(day_number(of.now)) - RECENT_WEEKS
    lately = [count for count in of.scores if count.week > recent]
    floor = policy.abstain_floor
    routed = _routed_values(one)
    below = sum(count.count for count in lately if routed[False][count.score_bin] < floor)
    return LeverFacts(
        curve=one.curve,
        band=band,
        self_report=policy.weights.get(SELF_REPORT, 0.0) / sum(policy.weights.values()),
        gap=one.reliability.gap,
        floor=floor,
        below_floor=Share(part=below, whole=sum(count.count for count in lately)),
        just_above=_between(of.labels, routed, floor, floor + 0.1),
        just_below=_between(of.labels, routed, floor - 0.1, floor),
    )


def _routed_values(one: SliceCalibration) -> dict[bool, Sequence[float]]:
    """Return by stratum (judged or not) what routing compares with the floor, by score bin."""
    plain = edges_of(np.arange(BINS)).tolist()
    found: dict[bool, Sequence[float]] = {False: plain, True: plain}
    for name, fitted in one.maps.items():
        if not isinstance(fitted, Unfitted):
            found[name == JUDGED] = table_of(fitted)
    return found


def _between(
    labels: Sequence[LabelCount],
    routed: Mapping[bool, Sequence[float]],
    low: float,
    high: float,
) -> Share:
    """Count the labels, of whatever origin, with routed values from `low` to below `high`."""
    score = np.asarray([routed[row.stratum.decision.judged][row.score_bin] for row in labels])
    inside = (score >= low) & (score < high)
    count = np.asarray([row.count for row in labels], np.int64)
    correct = np.asarray([row.correct for row in labels], bool)
    return Share(part=int(count[inside & correct].sum()), whole=int(count[inside].sum()))
