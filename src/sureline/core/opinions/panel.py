"""Conclude from several judges that were asked at once (G11)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from sureline.core.values.finding import Finding
from sureline.core.values.verdict import Verdict, Vote

_FIGURES = ("input_tokens", "output_tokens", "cost", "ms", "calls")


def conclude(votes: Sequence[Vote], *, refute_at: float, quorum: int) -> Verdict | None:
    """Return the verdict of a panel, or None where too few answered.

    One judge that refutes at `refute_at` or above refutes, whoever else answered. Short of that
    at least `quorum` must have answered, and agreement needs all of those to agree; a weaker
    disagreement is the panel's. One that gave no verdict is never counted as agreeing.
    """
    said = [one.verdict for one in votes if one.verdict is not None]
    against = [one for one in said if not one.agrees]
    strongest = max(against, key=lambda one: one.confidence, default=None)
    firm = strongest is not None and strongest.confidence >= refute_at
    if not said or (len(said) < quorum and not firm):
        return None
    chosen = strongest or min(said, key=lambda one: one.confidence)
    return replace(chosen, reason=None, model=None, card=None, votes=tuple(votes))


def panel_detail(votes: Sequence[Vote]) -> dict[str, Any]:
    """Return how many judges answered, what all took together, and the card of each.

    A figure that is not known of one judge that was asked is not known of all; `ms` is the
    longest, because they were asked at once.
    """
    answered = sum(one.verdict is not None for one in votes)
    cards = [_card(one) for one in votes]
    asked = [card for card in cards if "calls" in card]
    totals = {
        name: max(figures) if name == "ms" else sum(figures)
        for name in _FIGURES
        if (figures := [card[name] for card in asked if name in card])
        and len(figures) == len(asked)
    }
    return {"n_judges": f"{answered} of {len(votes)}", "cards": cards, **totals}


def panel_words(votes: Sequence[Vote]) -> tuple[Finding, ...]:
    """Return what the judges of a panel said in their own words."""
    return tuple(finding for vote in votes for finding in _words(vote))


def verdict_words(verdict: Verdict) -> tuple[Finding, ...]:
    """Return what a judge said in its own words."""
    if verdict.votes:
        return panel_words(verdict.votes)
    if verdict.words is None:
        return ()
    return (Finding(code=verdict.code or "reason", message=verdict.words),)


def _card(vote: Vote) -> dict[str, Any]:
    verdict = vote.verdict
    if verdict is None:
        return {"asked": vote.asked, "reason": vote.fault, **vote.detail}
    said: dict[str, Any] = {"agrees": verdict.agrees, "confidence": verdict.confidence}
    if verdict.code is not None:
        said["failure_mode"] = verdict.code
    return {"asked": vote.asked, **said, **(verdict.card.detail if verdict.card else {})}


def _words(vote: Vote) -> Iterator[Finding]:
    found = vote.findings if vote.verdict is None else verdict_words(vote.verdict)
    for one in found:
        yield replace(one, message=f"{vote.asked}: {one.message}")
