"""How a new answer stands among the earlier answers about the same decision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sureline.core.learning.labels import effective
from sureline.core.values.outcome import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The earlier label that an answer `overrides`, or the stronger one that it stays behind."""

    overrides: Outcome | None = None
    overridden_by: Outcome | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the ids of both."""
        return {
            "overrides": None if self.overrides is None else self.overrides.id,
            "overridden_by": None if self.overridden_by is None else self.overridden_by.id,
        }

    def lines(self, recorded: Outcome) -> Iterator[str]:
        """Say it in words, if there is anything to say."""
        stronger, weaker = self.overridden_by, self.overrides
        if stronger is not None:
            same = stronger.source.rank == recorded.source.rank
            why = (
                "a yes does not take the place of somebody else's no"
                if same
                else f"{stronger.source} counts more than {recorded.source}"
            )
            yield f"the label stays {_named(stronger)}: {why}"
        elif weaker is not None:
            yield f"this overrides {_named(weaker)}, which stays in the ledger"


def standing(recorded: Outcome, known: Sequence[Outcome]) -> Standing:
    """Return how `recorded` stands among a decision's outcomes, oldest first."""
    place = next((i for i, one in enumerate(known) if one.id == recorded.id), len(known))
    before, after = effective(known[:place]), effective(known[: place + 1])
    holds = after is not None and after.id == recorded.id
    return Standing(overrides=before if holds else None, overridden_by=None if holds else after)


def labelled(one: Outcome) -> str:
    """Return what an answer counts as."""
    return "correct" if one.correct else "wrong"


def _named(one: Outcome) -> str:
    """Name an earlier answer: what it said, where it is known from, and who gave it."""
    return f"{labelled(one)!r} from {one.source} by {one.by}"
