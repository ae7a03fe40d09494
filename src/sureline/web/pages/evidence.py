"""What a draft rests on: its sources with the values marked, and past cases like it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sureline.application.review.desk import ReviewDesk
from sureline.application.review.item import ReviewItem
from sureline.core.checks.compiled import compile_checks
from sureline.core.checks.grounding import GroundingCheck
from sureline.core.checks.paths import Path
from sureline.core.checks.values import compile_formats
from sureline.core.values.checks import ChecksPolicy
from sureline.core.values.proposal import SourceText
from sureline.web.pages.shown_text import Span

LONGEST_SHOWN = 20_000
"""Characters of one text on an item's page; the rest is on a page of its own."""
MOST_VALUES = 60
MOST_CASES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A source as it is shown; `found` are the fields whose values stand in what is shown."""

    number: int
    ref: str
    trusted: bool
    text: str
    left_out: int
    spans: tuple[Span, ...]

    @property
    def found(self) -> tuple[str, ...]:
        """Return the fields that are marked, in order."""
        return tuple(dict.fromkeys(one.name for one in self.spans))


@dataclass(frozen=True, slots=True, kw_only=True)
class PastCase:
    """A similar case: what was said of it, and what it was unless that was erased."""

    id: str
    similarity: float
    approved: bool
    task: str | None
    output: str | None


def sources_of(item: ReviewItem, checks: ChecksPolicy | None) -> tuple[Source, ...]:
    """Return the sources with the output's values marked: those of the policy, or all scalars."""
    texts = tuple(
        SourceText(ref=one["ref"], text=one["text"][:LONGEST_SHOWN], trusted=one["trusted"])
        for one in item.source
    )
    places = () if item.is_blind else _grounding(item, checks).places(item.output, texts)
    return tuple(
        Source(
            number=number,
            ref=one.ref,
            trusted=one.trusted,
            text=one.text,
            left_out=len(item.source[number]["text"]) - len(one.text),
            spans=tuple(
                Span(place.start, place.end, place.field or "output")
                for place in places
                if place.source == number
            ),
        )
        for number, one in enumerate(texts)
    )


def _grounding(item: ReviewItem, checks: ChecksPolicy | None) -> GroundingCheck:
    """Return the slice's own check of grounding, or one of all that the output holds."""
    known = None if checks is None else compile_checks(checks).grounding
    if known is not None:
        return known
    formats = compile_formats((checks or ChecksPolicy()).reading)
    paths = _leaves(item.output) if isinstance(item.output, (dict, list)) else iter(())
    fields = tuple((path, None) for path, _ in zip(paths, range(MOST_VALUES), strict=False))
    return GroundingCheck(fields=fields, penalty=0, formats=formats)


def _leaves(value: Any, at: Path = ()) -> Iterator[Path]:
    inner: Any = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    elif not isinstance(value, bool | None) and len(str(value)) > 1:
        yield at  # a single character stands everywhere and is left out
    for step, one in inner:
        yield from _leaves(one, (*at, step))


async def cases_like(item: ReviewItem, desk: ReviewDesk) -> tuple[PastCase, ...]:
    """Return the most similar past cases that the decision's history found, with their verdicts."""
    signals: Mapping[str, Any] = item.decision.get("signals", {})
    seen = signals.get("history", {}).get("detail", {})
    near = zip(
        seen.get("neighbours", ()),
        seen.get("similarities", ()),
        seen.get("verdicts", ()),
        strict=False,
    )
    found = []
    for (decision_id, similarity, approved), _ in zip(near, range(MOST_CASES), strict=False):
        task, output = await _payload(desk, decision_id)
        found.append(
            PastCase(
                id=decision_id, similarity=similarity, approved=approved, task=task, output=output
            )
        )
    return tuple(found)


async def _payload(desk: ReviewDesk, decision_id: str) -> tuple[str | None, str | None]:
    stored = await desk.ledger.decision(desk.workspace, decision_id)
    if stored is None or stored.request is None or stored.answer is None:
        return None, None
    output = json.loads(stored.answer)["output"]
    text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    return json.loads(stored.request)["task"], text
