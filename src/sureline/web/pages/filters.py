"""What the list of items is narrowed to: all of it is in the address, and nothing else is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Self
from urllib.parse import parse_qsl, urlencode

from sureline.application.ports.inbox import Sought
from sureline.application.ports.keys import ApiKey
from sureline.application.ports.reviews import Wanted
from sureline.core.values.proposal import Stakes
from sureline.core.values.review import ReviewKind

KINDS = tuple(one.value for one in ReviewKind)
STAKES = {one.value: one.value.replace("_", " ") for one in Stakes}
STATES = {"mine": "mine", "claimed": "claimed by somebody", "up": "a step up"}
DUE = {"1": "within 1 hour", "4": "within 4 hours", "24": "within a day"}
WHOSE = ("group",)
"""What there is to choose from, with its words."""

LONGEST = 200
"""Characters of what is searched for."""
MOST_PARTS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Choices as an address has them, an empty text for each that is not made.

    What an address says badly counts as not said.
    """

    find: str = ""
    slice: str = ""
    kind: str = ""
    stakes: str = ""
    state: str = ""
    due: str = ""
    reason: str = ""
    over: str = ""
    whose: str = ""

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Self:
        """Read the choices of an address or a form."""
        return cls(
            find=given.get("find", "").strip()[:LONGEST],
            slice=given.get("slice", "")[:LONGEST],
            kind=_one_of(given, "kind", KINDS),
            stakes=_one_of(given, "stakes", STAKES),
            state=_one_of(given, "state", STATES),
            due=_one_of(given, "due", DUE),
            reason=given.get("reason", "").strip().replace(" ", "_")[:LONGEST],
            over="1" if given.get("over") else "",
            whose=_one_of(given, "whose", WHOSE),
        )

    @classmethod
    def read(cls, query: str) -> Self:
        """Read the choices of a part of an address that was kept."""
        try:
            return cls.of(dict(parse_qsl(query, max_num_fields=MOST_PARTS)))
        except ValueError:
            return cls()

    @property
    def query(self) -> str:
        """Return the choices as a part of an address; one way of writing each."""
        chosen = {one.name: getattr(self, one.name) for one in fields(self)}
        made = {name: value for name, value in chosen.items() if value}
        return urlencode(made, errors="replace")

    @property
    def narrowed(self) -> int:
        """Return how many choices are made besides the words that are searched for."""
        chosen = (self.slice, self.kind, self.stakes, self.state, self.due, self.reason)
        return sum(map(bool, chosen))

    @property
    def is_costly(self) -> bool:
        """Tell whether items have to be compared one by one."""
        return bool(self.find or self.reason)

    def wanted(self, key: ApiKey) -> Wanted:
        """Return what a key's holder asks for, among what the key may see."""
        may = self.slice and (not key.slices or self.slice in key.slices)
        return Wanted(
            slices=(self.slice,) if may else key.slices,
            kinds=(ReviewKind(self.kind),) if self.kind else tuple(ReviewKind),
            is_open=not self.over,
            across=bool(may),  # who names a slice helps out there
        )

    def sought(self, name: str, now: datetime) -> Sought:
        """Return what narrows the list for the person `name`."""
        return Sought(
            text=self.find,
            reason=self.reason,
            rank=Stakes(self.stakes).rank if self.stakes else None,
            due_by=now + timedelta(hours=int(self.due)) if self.due else None,
            is_up=self.state == "up",
            is_held=self.state == "claimed",
            held_by=name if self.state == "mine" else None,
        )


def _one_of(given: Mapping[str, str], name: str, known: Mapping[str, str] | tuple[str, ...]) -> str:
    value = given.get(name, "")
    return value if value in known else ""
