"""What is known of how each reviewer works, for the lead and for the person alone (R7, L12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from sureline.application.policies import PolicyBook
from sureline.application.ports.clock import Clock
from sureline.application.ports.planted import PlantedStore
from sureline.application.review.counting import Counting, detection_of, judged
from sureline.application.review.unplanted_words import unplanted_sentence
from sureline.core.review.attention import DoneItem, WorkFigures, work_figures
from sureline.core.review.double_review import TwoAnswers, by_pair, by_slice, with_others
from sureline.core.review.honeypot import PlantedAnswer, Unplanted
from sureline.core.statistics.attention import Attention, Detection
from sureline.core.statistics.kappa import Kappa
from sureline.core.values.person import person_of
from sureline.errors import SurelineError

KEPT = timedelta(days=90)
"""Figures of single people are kept so long, and no longer (L12)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceWork:
    """One person's work on one slice."""

    slice_key: str
    work: WorkFigures
    detection: Detection
    agreement: Kappa


@dataclass(frozen=True, slots=True, kw_only=True)
class WayWork:
    """One person's work by one way, by the name that is recorded for it (`inbound:chat:Ada`)."""

    by: str
    work: WorkFigures
    detection: Detection


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewer:
    """One person's work of the last 90 days.

    `agreement` is how far others, who are not named, said the same of what this one decided, blind.
    `ways` are there where somebody decides by more than one: people look less where they see less.
    """

    name: str
    work: WorkFigures
    attention: Attention
    agreement: Kappa
    slices: tuple[SliceWork, ...]
    ways: tuple[WayWork, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewersReport:
    """Everybody's work since a moment, or one person's (then without anybody's agreement).

    `unplanted` says of slices that nothing could be planted there, and why: for the lead alone.
    """

    since: datetime
    reviewers: tuple[Reviewer, ...]
    by_slice: dict[str, Kappa]
    by_pair: dict[tuple[str, str], Kappa]
    unplanted: Mapping[str, Unplanted] = field(default_factory=dict)

    @property
    def flagged(self) -> tuple[str, ...]:
        """Return whom the lead should talk to."""
        return tuple(one.name for one in self.reviewers if one.attention.flagged)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewers:
    """Reads how people work in one workspace; `policies` say where anything is to be planted."""

    planted: PlantedStore
    clock: Clock
    workspace: str
    policies: PolicyBook | None = None

    async def everybody(self, slices: Sequence[str] = ()) -> ReviewersReport:
        """Return all figures: for the lead; of some slices for the lead of these."""
        since = self.clock.now() - KEPT
        pairs = await self._pairs(since, slices)
        return ReviewersReport(
            since=since,
            reviewers=await self._reviewers(since, pairs, slices),
            by_slice=by_slice(pairs),
            by_pair=by_pair(pairs),
            unplanted={
                key: why
                for key, why in (await self.unplanted()).items()
                if not slices or key in slices
            },
        )

    async def unplanted(self) -> Mapping[str, Unplanted]:
        """Return in which slices that should have some no error could be planted, and why."""
        if self.policies is None:
            return {}
        try:
            policy = await self.policies.latest()
        except SurelineError:
            return {}
        wanted = {key for key, one in policy.slices.items() if one.attention.honeypots > 0}
        found = await self.planted.unplanted(self.workspace)
        return {key: found[key] for key in sorted(wanted & found.keys())}

    async def only(self, name: str) -> ReviewersReport:
        """Return one person's figures: for that person. Who else agrees with them is not told."""
        since = self.clock.now() - KEPT
        everybody = await self._reviewers(since, await self._pairs(since))
        found = tuple(one for one in everybody if one.name == name)
        return ReviewersReport(since=since, reviewers=found, by_slice={}, by_pair={})

    async def counting(self) -> Counting:
        """Return whose word counts, and what they noticed."""
        since = self.clock.now() - KEPT
        return Counting.of(await self.planted.answers(self.workspace, since))

    async def forget(self) -> int:
        """Delete what is too old to be kept of single people."""
        return await self.planted.forget(self.workspace, self.clock.now() - KEPT)

    async def _pairs(self, since: datetime, slices: Sequence[str] = ()) -> list[TwoAnswers]:
        found = await self.planted.pairs(self.workspace, since)
        return [
            replace(one, first_by=person_of(one.first_by), second_by=person_of(one.second_by))
            for one in found
            if not slices or one.slice_key in slices
        ]

    async def _reviewers(
        self, since: datetime, pairs: Sequence[TwoAnswers], slices: Sequence[str] = ()
    ) -> tuple[Reviewer, ...]:
        answers = await self.planted.answers(self.workspace, since)
        answers = [one for one in answers if not slices or one.slice_key in slices]
        done = await self.planted.done(self.workspace, since)
        done = [one for one in done if not slices or one.slice_key in slices]
        names = sorted({person_of(one.by) for one in answers} | {person_of(one.by) for one in done})
        return tuple(
            _reviewer(
                name,
                [one for one in answers if person_of(one.by) == name],
                [one for one in done if person_of(one.by) == name],
                pairs,
            )
            for name in names
        )


def _reviewer(
    name: str,
    answers: Sequence[PlantedAnswer],
    done: Sequence[DoneItem],
    pairs: Sequence[TwoAnswers],
) -> Reviewer:
    keys = sorted({one.slice_key for one in answers} | {one.slice_key for one in done})
    return Reviewer(
        name=name,
        work=work_figures(done),
        attention=judged(name, answers),
        agreement=with_others(name, pairs),
        slices=tuple(
            SliceWork(
                slice_key=key,
                work=work_figures([one for one in done if one.slice_key == key]),
                detection=detection_of([one for one in answers if one.slice_key == key]),
                agreement=with_others(name, [one for one in pairs if one.slice_key == key]),
            )
            for key in keys
        ),
        ways=_ways(answers, done),
    )


def _ways(answers: Sequence[PlantedAnswer], done: Sequence[DoneItem]) -> tuple[WayWork, ...]:
    names = sorted({one.by for one in answers} | {one.by for one in done})
    if len(names) < 2:
        return ()
    return tuple(
        WayWork(
            by=name,
            work=work_figures([one for one in done if one.by == name]),
            detection=detection_of([one for one in answers if one.by == name]),
        )
        for name in names
    )


def reviewers_json(report: ReviewersReport) -> dict[str, Any]:
    """Return the report as JSON values."""
    return {
        "since": report.since.isoformat(),
        "flagged": list(report.flagged),
        "reviewers": [_reviewer_json(one) for one in report.reviewers],
        "agreement": {
            "by_slice": {key: _kappa_json(one) for key, one in report.by_slice.items()},
            "by_pair": [
                {"people": list(names), **_kappa_json(one)} for names, one in report.by_pair.items()
            ],
        },
        "unplanted": [
            {"slice_key": key, "reason": why.value, "sentence": unplanted_sentence(why)}
            for key, why in report.unplanted.items()
        ],
    }


def _reviewer_json(one: Reviewer) -> dict[str, Any]:
    return {
        "name": one.name,
        **_work_json(one.work),
        "honeypots": detection_json(one.attention.detection),
        "flagged": one.attention.flagged,
        "evidence": one.attention.evidence,
        "evidence_needed": one.attention.limit,
        "inattentive_in": list(one.attention.inattentive_in),
        "agreement": _kappa_json(one.agreement),
        "slices": [
            {
                "slice_key": each.slice_key,
                **_work_json(each.work),
                "honeypots": detection_json(each.detection),
                "agreement": _kappa_json(each.agreement),
            }
            for each in one.slices
        ],
        "ways": [
            {"by": each.by, **_work_json(each.work), "honeypots": detection_json(each.detection)}
            for each in one.ways
        ],
    }


def _work_json(work: WorkFigures) -> dict[str, Any]:
    return {
        "items": work.items,
        "approved": work.approved,
        "median_seconds": work.median_seconds,
        "p95_seconds": work.p95_seconds,
        "streak": work.streak,
        "longest_streak": work.longest_streak,
    }


def detection_json(found: Detection) -> dict[str, Any]:
    """Return how many known errors were noticed as JSON values."""
    return {
        "caught": found.caught,
        "shown": found.shown,
        "share": found.share,
        "interval": list(found.interval),
        "noticed_at_least": found.low,
    }


def _kappa_json(one: Kappa) -> dict[str, Any]:
    return {
        "pairs": one.pairs,
        "agreed": one.agreed,
        "kappa": one.value,
        "interval": list(one.interval),
    }
