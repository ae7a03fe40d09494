"""Tell an opinion that could not be had yet from one that was given, or never can be.

In the gate both add a person. A log can wait: what a provider's outage or a missing key kept from
being measured can be brought again, and what was recorded without it could not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sureline.core.opinions.advice import advised
from sureline.core.values.signal import Signal, SignalState
from sureline.errors import ModelFailed

PASSING = frozenset(
    {
        "not_configured",
        "not_installed",
        "unauthorized",
        "unreachable",
        "timeout",
        "deadline",
        "rate_limited",
        "server_error",
        "not_found",
        "rejected",
        "busy",
        "resting",
        "unreadable_response",
        "canaries_not_run",
    }
)
"""Reasons that lie in a provider or in the set-up: the same output may be measured later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unavailable:
    """A signal that could not be had, and why; of a panel, why its first missing judge was not."""

    name: str
    reason: str
    detail: Mapping[str, Any] = field(default_factory=dict)


def unavailable(signals: Sequence[Signal]) -> Unavailable | None:
    """Return the first signal that failed for a reason that may pass, None if there is none.

    A text that is too long for a model (`context_window`) stays so, and is none.
    """
    for signal in signals:
        if signal.state is not SignalState.FAILED:
            continue
        for reason, detail in _reasons(signal):
            if reason in PASSING and detail.get("category") != "context_window":
                return Unavailable(name=signal.name, reason=reason, detail=detail)
    return None


def require_opinions(signals: Sequence[Signal]) -> None:
    """Raise ModelFailed where an opinion could not be had yet; its detail names the `signal`."""
    lost = unavailable(signals)
    if lost is not None:
        why = advised(lost.reason, lost.detail)
        raise ModelFailed(
            lost.reason,
            f"not recorded, because {lost.name} could not be had ({why})",
            detail={"signal": lost.name},
        )


def _reasons(signal: Signal) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield why a signal failed, what was behind it, and why judges of a panel gave no verdict."""
    detail = signal.detail
    cards = detail.get("cards")
    for reason in (signal.reason, detail.get("cause")):
        if isinstance(reason, str):
            yield reason, detail
    # A plug-in may have put anything there.
    for card in cards if isinstance(cards, list | tuple) else ():
        if isinstance(card, Mapping) and isinstance(card.get("reason"), str):
            yield card["reason"], card
