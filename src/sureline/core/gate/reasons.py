"""What reason codes say about an output beyond its route."""

from __future__ import annotations

INELIGIBLE = frozenset(
    {
        "unreadable_output",
        "fatal_check",
        "claimed_source",
        "nothing_measured",
        "signal_missing",
        "novel",
        "judge_refuted",
        "judge_inconclusive",
        "judge_unavailable",
        "unknown_action_class",
        "action_always_human",
        "forced",
        "too_few_verdicts",
        "too_many_attempts",
    }
)
"""Reasons that lie in the output itself: with one of them no threshold automates it."""

FAILING = frozenset(
    {
        "unreadable_output",
        "fatal_check",
        "claimed_source",
        "below_reject_threshold",
        "below_abstain_floor",
        "judge_refuted",
        "no_attempts_left",
    }
)
"""Reasons that make a decision count as a failed attempt at its task."""
