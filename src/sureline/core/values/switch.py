"""The kill switch: who turned what to people, and why (G29)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """One switch row; `scope` is `global`, `slice:<key>` or `batch:<id>`.

    While `on`, nothing in the scope is automated. Rows are appended, the newest of a scope holds.
    """

    workspace: str
    scope: str
    on: bool
    reason: str
    by: str
    changed_at: datetime


OFF_WORDS = frozenset({"0", "off", "false", "no"})


def reads_as_on(value: str | None) -> bool:
    """Tell whether a switch's text means on: anything that is not clearly off does.

    None (not set at all) is off.
    """
    return value is not None and value.strip().lower() not in OFF_WORDS
