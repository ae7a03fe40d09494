"""How much of the queue is there to see whether people look (R7)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionShares:
    """Shares in [0, 1] of a slice's reviews.

    `honeypots` known errors for so many items, `double_review` of what was decided is decided a
    second time by somebody else, `answer_first` show the output only after the reviewer's own.
    """

    honeypots: float = 0.05
    double_review: float = 0.05
    answer_first: float = 0.0
