"""Compares what runs inside a store's database with what sureline makes there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

OUT_OF_REACH = (
    "event triggers of the PostgreSQL server and what extensions hook into it: they belong to no "
    "table"
)
_FOLLOWS = "EXECUTE FUNCTION sureline_"
"""Of sureline's triggers that only follow what was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A trigger, view, rule or function; `text` is its definition, or a digest of it."""

    kind: str
    name: str
    table: str
    text: str
    enabled: bool

    @property
    def named(self) -> str:
        """Return what it is called, in a form that any terminal can show."""
        on = f" on {self.table!a}" if self.table and self.table != self.name else ""
        return f"the {self.kind} {self.name!a}{on}"

    @property
    def may_change_rows(self) -> bool:
        """Tell whether it runs before a row is written, or in its place."""
        return self.kind == "rule" or " BEFORE " in self.text or " INSTEAD OF " in self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaReport:
    """How it compares, in sentences.

    `foreign` are not sureline's and may swallow or change what is written; `broken` is sureline's
    own and gone or changed; `remarks` are foreign too, but run after a row was written: replication
    tools do so.
    """

    foreign: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def faults(self) -> tuple[str, ...]:
        """Return what must not be."""
        return (*self.foreign, *self.broken)


def compare_programs(
    found: Iterable[Program], made: Mapping[tuple[str, str], str], *, strict: bool
) -> SchemaReport:
    """Compare what is there with what is `made`, by kind and name.

    With `strict` whatever else is there is a fault; otherwise what can change rows is.
    """
    foreign, broken, remarks = [], [], []
    missing = dict(made)
    for one in found:
        expected = missing.pop((one.kind, one.name), None)
        if expected is None and (strict or one.may_change_rows):
            foreign.append(
                f"{one.named} is not sureline's and may swallow or change what is written"
            )
        elif expected is None and _FOLLOWS not in one.text:
            remarks.append(f"{one.named} is not sureline's; what it does is not looked at")
        elif expected is not None and (one.text != expected or not one.enabled):
            broken.append(f"{one.named} is not as sureline makes it")
    broken += [f"the {kind} {name!a} is gone, which sureline makes" for kind, name in missing]
    return SchemaReport(foreign=tuple(foreign), broken=tuple(broken), remarks=tuple(remarks))
