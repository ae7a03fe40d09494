"""Which model gave an opinion, how it was asked, and what that took (L5)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

MOST_TOKENS = 10**9
MOST_DOLLARS = 10_000.0
MOST_SECONDS = 86_400.0
MOST_CALLS = 10**6
"""The most that one opinion can have taken; a provider that tells of more tells nothing."""


NEVER_SENT = frozenset({"busy", "resting", "not_configured", "not_installed"})
"""Reasons of failures that took nothing; of a question that was sent and lost it is not known."""


def plausible(figure: Any, most: float) -> Any:
    """Return a figure that an opinion can have taken, a number from 0 to `most`, else None."""
    if isinstance(figure, bool) or not isinstance(figure, int | float):
        return None
    return figure if 0 <= figure <= most else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What an opinion took; None is not known and is never counted as 0.

    `cost` is in US dollars, `seconds` the time until the reply. `calls` counts requests that were
    answered, `retries` those that had to be sent again. `cached` says that nothing was asked.
    Tokens and cost that no opinion can have taken are not known: a provider may say anything.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    seconds: float = 0.0
    calls: int = 1
    retries: int = 0
    cached: bool = False

    def __post_init__(self) -> None:
        for name, most in (
            ("input_tokens", MOST_TOKENS),
            ("output_tokens", MOST_TOKENS),
            ("cost", MOST_DOLLARS),
        ):
            object.__setattr__(self, name, plausible(getattr(self, name), most))

    def __add__(self, other: Usage) -> Usage:
        """Return both together; what is not known of one is not known of both."""
        return Usage(
            input_tokens=_sum(self.input_tokens, other.input_tokens),
            output_tokens=_sum(self.output_tokens, other.output_tokens),
            cost=_sum(self.cost, other.cost),
            seconds=self.seconds + other.seconds,
            calls=self.calls + other.calls,
            retries=self.retries + other.retries,
            cached=self.cached and other.cached,
        )


def _sum(one: Any, other: Any) -> Any:
    return None if one is None or other is None else one + other


def _ms(seconds: float) -> int | None:
    known = plausible(seconds, MOST_SECONDS)
    return None if known is None else math.ceil(known * 1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """A model as it gave one opinion.

    `asked` is the policy's name for it, `answered` the id that the provider gave (None if it gave
    no reply). `prompt` and `deductions` are hashes: what else the opinion depends on.
    """

    asked: str
    answered: str | None = None
    prompt: str | None = None
    deductions: str | None = None
    temperature: float | None = None
    usage: Usage | None = None

    @property
    def detail(self) -> dict[str, Any]:
        """Return it as a signal's detail keeps it, without what is not known."""
        card: dict[str, Any] = {
            "asked": self.asked,
            "model": self.answered,
            "prompt": self.prompt,
            "deductions": self.deductions,
            "temperature": self.temperature,
        }
        if self.usage is not None:
            card |= {
                "input_tokens": self.usage.input_tokens,
                "output_tokens": self.usage.output_tokens,
                "cost": self.usage.cost,
                "ms": _ms(self.usage.seconds),
                "calls": plausible(self.usage.calls, MOST_CALLS),
                "retries": plausible(self.usage.retries, MOST_CALLS) or None,
                "cached": self.usage.cached or None,
            }
        return {name: value for name, value in card.items() if value is not None}
