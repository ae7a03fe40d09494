"""Which models really answered: another one is another measurement (G20, L5).

A name such as `openai:gpt-5-mini` stays while the provider puts another model behind it, and with
it what a score means. So what a slice's labels and certificates are bound to changes with the id
that answers. The first id seen behind a name is taken for the one that the policy means.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sureline.core.canonical import canonical_json
from sureline.core.values.policy import SlicePolicy
from sureline.core.values.signal import Signal


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelsSeen:
    """The ids that answered to each name: the `first` ever, and the `latest`."""

    first: Mapping[str, str] = field(default_factory=dict)
    latest: Mapping[str, str] = field(default_factory=dict)

    def others(self, policy: SlicePolicy, answers: Mapping[str, str]) -> dict[str, str]:
        """Return the names behind which another model than the first answers.

        `answers` are the ids of this decision; what was not asked is taken for the latest seen.
        """
        known = {**self.latest, **answers}
        return {
            asked: known[asked]
            for asked in second_models(policy)
            if asked in self.first and known[asked] != self.first[asked]
        }

    def news(self, answers: Mapping[str, str]) -> dict[str, str]:
        """Return those of `answers` that differ from the latest seen."""
        return {asked: one for asked, one in answers.items() if self.latest.get(asked) != one}


def second_models(policy: SlicePolicy) -> tuple[str, ...]:
    """Return the names of the models whose opinions a slice asks for, sorted."""
    names = set(policy.judge.models) if policy.judge is not None else set()
    if policy.self_evaluation is not None:
        names.add(policy.self_evaluation.model)
    if policy.consistency is not None and policy.consistency.ask and policy.generator is not None:
        names.add(policy.generator.model)
    return tuple(sorted(names))


def answers_in(signals: Iterable[Signal]) -> dict[str, str]:
    """Return the ids that answered, by the names that were asked."""
    cards = _cards(one.detail for one in signals)
    pairs = ((one.get("asked"), one.get("model")) for one in cards)
    return {asked: model for asked, model in pairs if asked and model}


def measurement_with(measurement_hash: str, others: Mapping[str, str]) -> str:
    """Return what scores are bound to when `others` answer in place of the first models."""
    if not others:
        return measurement_hash
    return hashlib.sha256(canonical_json([measurement_hash, dict(others)])).hexdigest()


def _cards(details: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the details of signals, and of a panel those of each of its judges."""
    for detail in details:
        yield detail
        listed = detail.get("cards")
        if isinstance(listed, list | tuple):
            yield from (one for one in listed if isinstance(one, Mapping))
