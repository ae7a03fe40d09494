"""Watch which models answer behind the names of a policy, and write down when one changes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from sureline.application.ports.clock import Clock
from sureline.application.ports.registry import Activation, Registry
from sureline.core.gate.answered import ModelsSeen, measurement_with, second_models
from sureline.core.values.policy import Policy
from sureline.errors import StoreError

MODEL = "model"
"""The kind of an activation that tells which model answers to a name."""

SETTLING = timedelta(hours=1)
"""How often a change of the model behind one name is written down, where two take turns."""


class ModelWatch:
    """Writes down which models answer, in the ledger of one workspace."""

    def __init__(self, *, registry: Registry, clock: Clock, workspace: str) -> None:
        self._registry = registry
        self._clock = clock
        self._workspace = workspace
        # No lock: a gate may be used from several event loops, and a lock belongs to one.
        self._noting: set[str] = set()
        self._lately: dict[str, tuple[str, datetime]] = {}
        self._settled_at: dict[str, datetime] = {}

    def known(self, seen: ModelsSeen, answers: Mapping[str, tuple[str, ...]]) -> ModelsSeen:
        """Return what is known with these answers: they hold at once, written down or not."""
        known = seen.with_latest(self._lately) if self._lately else seen
        if answers:
            now = self._clock.now()
            self._lately.update((asked, (models[-1], now)) for asked, models in answers.items())
        return known

    async def observe(self, seen: ModelsSeen, answers: Mapping[str, tuple[str, ...]]) -> None:
        """Take down what answered, where it is not what answered last.

        From then on labels and certificates of slices that ask this model are kept apart from
        those before, in every process. Two models that take turns are written down once in an
        hour, so that they cannot fill the ledger. A store that cannot be written to now delays
        the note until another answer.
        """
        news = {
            asked: answers[asked]
            for asked in seen.news(answers)
            if asked not in self._noting and not self._is_settling(asked)
        }
        if not news:
            return
        self._noting.update(news)
        try:
            past = await models_seen(self._registry, self._workspace)
            for asked, model in past.news(news).items():
                if self._may_note(past, asked):
                    await self._note(past, asked, model)
        finally:
            self._noting.difference_update(news)

    async def _note(self, past: ModelsSeen, asked: str, model: str) -> None:
        before = past.latest.get(asked)
        what = "first seen" if before is None else f"instead of {before}"
        note = Activation(
            workspace=self._workspace,
            kind=MODEL,
            subject=json.dumps([asked, model]),
            by="observed",
            at=self._clock.now(),
            note=f"{model} answers as {asked}, {what}",
        )
        try:
            await self._registry.activate(note)
        except StoreError:
            # The decision is on disk already: an error now would say that it is not.
            return

    def _may_note(self, past: ModelsSeen, asked: str) -> bool:
        changed = past.changed.get(asked)
        if changed is None:
            return True
        self._settled_at[asked] = changed + SETTLING
        return not self._is_settling(asked)

    def _is_settling(self, asked: str) -> bool:
        """Tell whether a change was written within the hour; one dated ahead does not count."""
        settled = self._settled_at.get(asked)
        return settled is not None and timedelta(0) < settled - self._clock.now() <= SETTLING


async def models_seen(registry: Registry, workspace: str) -> ModelsSeen:
    """Return which models answered so far."""
    return seen_in(await registry.activations(workspace, MODEL))


def seen_in(activations: Iterable[Activation]) -> ModelsSeen:
    """Return the first and the latest model behind each name; oldest activation first."""
    first: dict[str, str] = {}
    latest: dict[str, str] = {}
    noted: dict[str, datetime] = {}
    changed: dict[str, datetime] = {}
    for one in activations:
        read = named_in(one)
        if read is None:
            return ModelsSeen(unreadable=True)
        asked, model = read
        if latest.get(asked, model) != model:
            changed[asked] = one.at
        first.setdefault(asked, model)
        latest[asked] = model
        noted[asked] = one.at
    return ModelsSeen(first=first, latest=latest, noted=noted, changed=changed)


def named_in(activation: Activation) -> tuple[str, str] | None:
    """Return the name that was asked and the id that answered, None if it cannot be read."""
    try:
        asked, model = json.loads(activation.subject)
    except (ValueError, TypeError):
        return None
    return (asked, model) if isinstance(asked, str) and isinstance(model, str) else None


def measured_by(policy: Policy, seen: ModelsSeen) -> Policy:
    """Return the policy with measurement hashes that tell the models that answer now."""
    bases = policy.base_measurements or policy.measurement_hashes
    return replace(
        policy,
        base_measurements=bases,
        measurement_hashes={
            key: measurement_with(digest, seen.others(second_models(policy.slices[key]), {}))
            for key, digest in bases.items()
        },
    )
