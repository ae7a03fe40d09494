"""What one check came to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sureline.core.values.finding import Finding

Validator = Callable[[object], tuple[Finding, ...]]
"""Looks at a parsed output and returns what is wrong with it; nothing found means valid."""

MAX_FINDINGS = 20
"""Longer lists from one check are cut; the last finding then says how many more there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """The findings of one check; notes leave `passed` True.

    `presence` marks a check that can count against an output but not for it (case S28); `present`
    is how many values it found.
    """

    findings: tuple[Finding, ...] = ()
    passed: bool = True
    presence: bool = False
    present: int = 0


def cut(findings: list[Finding], total: int | None = None) -> tuple[Finding, ...]:
    """Keep the first MAX_FINDINGS and put what the others cost into one more."""
    total = len(findings) if total is None else total
    if total <= MAX_FINDINGS:
        return tuple(findings)
    kept = findings[:MAX_FINDINGS]
    more = total - MAX_FINDINGS
    rest = Finding(
        code="more",
        message=f"{more} more findings like these.",
        fatal=any(found.fatal for found in findings),
        penalty=sum(found.penalty for found in findings[MAX_FINDINGS:]),
    )
    return (*kept, rest)
