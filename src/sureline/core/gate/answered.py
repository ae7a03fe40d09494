"""Which models really answered: another one is another measurement (G20, L5).

A name such as `openai:gpt-5-mini` stays while the provider puts another model behind it, and with
it what a score means. So what a slice's labels and certificates are bound to changes with the id
that answers. The first id seen behind a name is taken for the one that the policy means.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any

from sureline.core.canonical import canonical_json
from sureline.core.values.model_names import same_model
from sureline.core.values.policy import SlicePolicy
from sureline.core.values.proposal import Proposal

LONGEST_ID = 200
"""Characters of a model's id that are kept; the rest becomes a digest."""

UNREADABLE = "unreadable"
"""Stands for the model behind every name where a note of the ledger cannot be read."""

ANOTHER_GENERATOR = {"the generator of the proposal": ("another",)}
"""Which one an agent claims is not told apart: its words must not make strata without end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelsSeen:
    """The ids that answered to each name: the `first` ever, and the `latest`.

    `noted` is when the latest was written down, `changed` the same where it is not the first.
    `unreadable` says that a note was damaged: then no model is known.
    """

    first: Mapping[str, str] = field(default_factory=dict)
    latest: Mapping[str, str] = field(default_factory=dict)
    noted: Mapping[str, datetime] = field(default_factory=dict)
    changed: Mapping[str, datetime] = field(default_factory=dict)
    unreadable: bool = False

    def others(
        self, names: Iterable[str], answers: Mapping[str, tuple[str, ...]]
    ) -> dict[str, tuple[str, ...]]:
        """Return those of `names` behind which another model than the first answers, with its id.

        `answers` are the ids of this decision; what was not asked is taken for the latest seen.
        Where two roles asked one name and two models answered, both are named.
        """
        if self.unreadable:
            return dict.fromkeys(names, (UNREADABLE,))
        found = {}
        for asked in names:
            latest = self.latest.get(asked)
            now = answers.get(asked) or (() if latest is None else (latest,))
            expected = self.first.get(asked) or (now[0] if now else None)
            if now and now != (expected,):
                found[asked] = now
        return found

    def with_latest(self, lately: Mapping[str, tuple[str, datetime]]) -> ModelsSeen:
        """Return it with what answered `lately`, where that is newer than what is written down."""
        newer = {
            asked: (model, at)
            for asked, (model, at) in lately.items()
            if self.latest.get(asked) != model
            and (asked not in self.noted or at > self.noted[asked])
        }
        if not newer:
            return self
        models = {asked: model for asked, (model, _) in newer.items()}
        turned = {asked: at for asked, (_, at) in newer.items() if asked in self.latest}
        return replace(
            self,
            first={**models, **self.first},
            latest={**self.latest, **models},
            changed={**self.changed, **turned},
        )

    def news(self, answers: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
        """Return which model answers now, by those names where it is not the latest seen."""
        return {
            asked: other
            for asked, models in answers.items()
            if (other := next((one for one in models if one != self.latest.get(asked)), None))
        }

    def last_change(self, names: Iterable[str]) -> date | None:
        """Return the day (UTC) on which the last of these changed, None if none ever did."""
        days = [self.changed[asked].date() for asked in names if asked in self.changed]
        return max(days, default=None)


def second_models(policy: SlicePolicy) -> tuple[str, ...]:
    """Return the names of the models that a slice asks, sorted.

    An embedder of a provider counts where its vectors bear on a score.
    """
    names = set(policy.asked_models)
    if policy.judge is not None:
        names.update(policy.judge.models)
    if policy.self_evaluation is not None:
        names.add(policy.self_evaluation.model)
    if policy.consistency is not None and policy.consistency.ask and policy.generator is not None:
        names.add(policy.generator.model)
    embedder = policy.history.embedder
    compares = policy.weights.get("history", 0.0) > 0 or policy.consistency is not None
    if compares and ":" in embedder:
        names.add(embedder)
    return tuple(sorted(names))


def answers_in(
    details: Iterable[Mapping[str, Any]], names: Collection[str], *, kept: bool = True
) -> dict[str, tuple[str, ...]]:
    """Return the ids that answered, sorted, by those of `names` that were asked.

    `details` are those of signals. One that failed counts as well: its model did answer. Without
    `kept`, replies that were kept from earlier are left out: they do not say who answers now.
    """
    found: dict[str, set[str]] = {}
    for one in _cards(details):
        asked, model = one.get("asked"), one.get("model")
        # A plug-in may have put anything there.
        if not isinstance(asked, str) or not isinstance(model, str) or not model:
            continue
        if asked in names and (kept or one.get("cached") is not True):
            found.setdefault(asked, set()).add(_kept(model))
    return {asked: tuple(sorted(models)) for asked, models in found.items()}


def models_named(details: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """Return every model that had a part in signals: as it was asked for, and as it answered."""
    return frozenset(
        _kept(name)
        for one in _cards(details)
        for name in (one.get("asked"), one.get("model"))
        if isinstance(name, str) and name
    )


def names_another_generator(proposal: Proposal, policy: SlicePolicy) -> bool:
    """Tell whether a proposal says that another model made it than the slice is made for.

    It is a claim, and so it can only take automation away: naming the right one proves nothing.
    """
    named, meant = proposal.generator, policy.generator
    return named is not None and meant is not None and not same_model(named.model, meant.model)


def measurement_with(measurement_hash: str, others: Mapping[str, tuple[str, ...]]) -> str:
    """Return what scores are bound to when `others` answer in place of the first models."""
    if not others:
        return measurement_hash
    listed = {asked: list(models) for asked, models in others.items()}
    return hashlib.sha256(canonical_json([measurement_hash, listed])).hexdigest()


def _kept(model: str) -> str:
    """Return an id as it is written down: a provider may answer with anything."""
    if len(model) <= LONGEST_ID:
        return model
    digest = hashlib.sha256(model.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{model[: LONGEST_ID - 17]}…{digest[:16]}"


def _cards(details: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the details of signals, of each judge of a panel, and of the embedder behind one."""
    for detail in details:
        yield detail
        embedded = detail.get("embedded_by")
        if isinstance(embedded, Mapping):
            yield embedded
        listed = detail.get("cards")
        if isinstance(listed, list | tuple):
            yield from (one for one in listed if isinstance(one, Mapping))
