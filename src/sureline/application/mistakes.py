"""Outputs that scored high and were wrong: who, when, how often, and a deduction to edit (L1)."""

from __future__ import annotations

import heapq
import json
import re
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from sureline.application.ports.ledger import Ledger, PastDecision
from sureline.core.statistics.bins import score_bin
from sureline.core.values.listed import listed
from sureline.core.values.outcome import Action, OutcomeSource
from sureline.core.values.periods import day_number, first_day_of, week_number

MOST = 50
"""Mistakes that are listed, those with the highest scores."""
LOOKED_AT = 200
"""Latest corrections whose fields are counted."""
POINTS = 20
"""Deduction that a draft begins with; a person changes it."""
MOST_OF_ID, MOST_OF_TEXT = 60, 1000
"""Characters that a deductions file admits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreBand:
    """Scores at or above `threshold`; `basis` says where that comes from.

    With `tables` a composite is first turned into a calibrated value: by judged or not, one value
    in [0, 1] a score bin.
    """

    threshold: float
    basis: str
    tables: Mapping[bool, Sequence[float]] | None = None

    def score(self, composite: float | None, judged: bool) -> float | None:
        """Return the number that is compared with the threshold, None where there is none."""
        if composite is None or self.tables is None:
            return composite
        table = self.tables.get(judged)
        return None if table is None else table[score_bin(composite)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """A decision with a high score whose label is wrong.

    `reasons` are the decision's codes, `signals` its measured values, `fields` those that a
    person changed. `draft` is an entry of a deductions file, in YAML, for a person to edit. Nothing
    of the payload is in it.
    """

    id: str
    decided_at: datetime
    score: float
    route: str
    source: OutcomeSource
    reasons: tuple[str, ...]
    signals: Mapping[str, float]
    fields: tuple[str, ...]
    draft: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MistakeWeek:
    """In the week that begins on `first`, `wrong` of the `labels` in the band were wrong."""

    first: date
    wrong: int
    labels: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistakes:
    """All mistakes of a slice as counts, and the highest-scored of them, at most 50.

    `corrections` counts how often each field was changed in the `corrected` latest edits of any
    score, and `noticed` in how many of these the checks had found fault with it.
    """

    band: ScoreBand | None
    wrong: int
    labels: int
    weeks: tuple[MistakeWeek, ...]
    shown: tuple[Mistake, ...]
    corrections: Mapping[str, int]
    corrected: int
    noticed: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Found:
    """What one reading of a slice gathers; nothing in it grows with the number of decisions."""

    weeks: Counter[tuple[int, bool]] = field(default_factory=Counter)
    highest: list[tuple[float, str, PastDecision, dict[str, Any]]] = field(default_factory=list)
    latest_wrong: deque[str] = field(default_factory=lambda: deque(maxlen=LOOKED_AT))

    def add(self, past: PastDecision, band: ScoreBand | None) -> None:
        """Take in one labelled decision."""
        if past.correct is False:
            self.latest_wrong.append(past.id)
        if band is None:
            return
        body = json.loads(past.body)
        score = band.score(body["composite"], past.stratum.judged)
        if score is None or score < band.threshold:
            return
        self.weeks[week_number(day_number(past.created_at)), bool(past.correct)] += 1
        if past.correct is False:
            entry = (score, past.id, past, body)
            if len(self.highest) < MOST:
                heapq.heappush(self.highest, entry)
            else:
                heapq.heappushpop(self.highest, entry)


@dataclass(frozen=True, slots=True, kw_only=True)
class MistakeReader:
    """Reads the mistakes of one workspace's slices."""

    ledger: Ledger
    workspace: str

    async def read(
        self, slice_key: str, measurement_hash: str, *, since: datetime, band: ScoreBand | None
    ) -> Mistakes:
        """Stream the slice's decisions since then; memory does not grow with their number."""
        found = _Found()
        async for past in self.ledger.past_decisions(self.workspace, slice_key, since):
            if past.correct is not None and past.measurement_hash == measurement_hash:
                found.add(past, band)
        edits = {one: await self._edited(one) for one in found.latest_wrong}
        highest = sorted(found.highest, key=lambda one: (-one[0], one[1]))
        shown = [
            _mistake(score, past, body, edits.get(past.id) or await self._edited(past.id))
            for score, _, past, body in highest
        ]
        changed = {name: fields for name, fields in edits.items() if fields}
        noticed = [await self._faulted(name) & set(fields) for name, fields in changed.items()]
        return Mistakes(
            band=band,
            wrong=sum(count for (_, correct), count in found.weeks.items() if not correct),
            labels=found.weeks.total(),
            weeks=_weeks(found.weeks),
            shown=tuple(shown),
            corrections=dict(Counter(name for fields in changed.values() for name in fields)),
            corrected=len(changed),
            noticed=dict(Counter(name for fields in noticed for name in fields)),
        )

    async def _edited(self, decision_id: str) -> tuple[str, ...]:
        """Return the fields that the latest edit of a decision changed."""
        edits = [
            one
            for one in await self.ledger.outcomes(self.workspace, decision_id)
            if one.action is Action.EDIT
        ]
        return tuple(sorted(set(edits[-1].edited_fields))) if edits else ()

    async def _faulted(self, decision_id: str) -> set[str]:
        """Return the fields with which the checks found fault; none where that was erased."""
        stored = await self.ledger.decision(self.workspace, decision_id)
        if stored is None or stored.answer is None:
            return set()
        found = json.loads(stored.answer).get("feedback", ())
        return {one["field"] for one in found if one["field"] and (one["fatal"] or one["penalty"])}


def _mistake(
    score: float, past: PastDecision, body: Mapping[str, Any], fields: tuple[str, ...]
) -> Mistake:
    measured = {
        name: one["value"] for name, one in body["signals"].items() if one["value"] is not None
    }
    return Mistake(
        id=past.id,
        decided_at=past.created_at,
        score=score,
        route=past.would_route or past.route,
        source=past.label_source or OutcomeSource.REVIEW,
        reasons=tuple(reason["code"] for reason in body["reasons"]),
        signals=measured,
        fields=fields,
        draft=draft_of(fields, measured),
    )


def draft_of(fields: Sequence[str], signals: Mapping[str, float]) -> str:
    """Write a deduction as an entry of a deductions file, in YAML."""
    what = f"The value of {listed(fields)} is wrong" if fields else "The output is wrong"
    unnoticed = ", ".join(f"{name} {value:.2f}" for name, value in sorted(signals.items()))
    text = f"{what}. SAY HERE HOW ONE SEES IT (unnoticed by {unnoticed or 'every signal'})."
    words = re.findall("[a-z0-9]+", " ".join(fields).lower()) or ["output"]
    return (
        f"- id: {'_'.join(['wrong', *words])[:MOST_OF_ID]}\n"
        f"  points: {POINTS}\n"
        # A JSON text is one of YAML too; what cannot be printed is escaped.
        f"  text: {json.dumps(text[:MOST_OF_TEXT], ensure_ascii=not text.isprintable())}"
    )


def _weeks(counts: Counter[tuple[int, bool]]) -> tuple[MistakeWeek, ...]:
    return tuple(
        MistakeWeek(
            first=first_day_of(week),
            wrong=counts[week, False],
            labels=counts[week, False] + counts[week, True],
        )
        for week in sorted({week for week, _ in counts})
    )
