"""Watch which models answer behind the names of a policy, and write down when one changes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from sureline.application.ports.clock import Clock
from sureline.application.ports.registry import Activation, Registry
from sureline.core.gate.answered import ModelsSeen, measurement_with
from sureline.core.values.policy import Policy

MODEL = "model"
"""The kind of an activation that tells which model answers to a name."""

SETTLING = timedelta(hours=1)
"""How often the model behind one name is written down anew, where two take turns."""


class ModelWatch:
    """Writes down which models answer, in the ledger of one workspace."""

    def __init__(self, *, registry: Registry, clock: Clock, workspace: str) -> None:
        self._registry = registry
        self._clock = clock
        self._workspace = workspace
        self._writing = asyncio.Lock()

    async def observe(self, answers: Mapping[str, str]) -> None:
        """Take down what answered, where it is not what answered last.

        From then on labels and certificates of slices that ask this model are kept apart from
        those before. Two models that take turns are written down once in an hour, so that they
        cannot fill the ledger.
        """
        async with self._writing:
            past = await self._registry.activations(self._workspace, MODEL)
            seen, now = seen_in(past), self._clock.now()
            moments = latest_moments(past)
            for asked, answered in seen.news(answers).items():
                before = seen.latest.get(asked)
                if before is not None and now - moments[asked] < SETTLING:
                    continue
                note = "first seen" if before is None else f"instead of {before}"
                await self._registry.activate(
                    Activation(
                        workspace=self._workspace,
                        kind=MODEL,
                        subject=json.dumps([asked, answered]),
                        by="observed",
                        at=now,
                        note=f"{answered} answers as {asked}, {note}",
                    )
                )


async def models_seen(registry: Registry, workspace: str) -> ModelsSeen:
    """Return which models answered so far."""
    return seen_in(await registry.activations(workspace, MODEL))


def seen_in(activations: Iterable[Activation]) -> ModelsSeen:
    """Return the first and the latest model behind each name; oldest activation first."""
    first: dict[str, str] = {}
    latest: dict[str, str] = {}
    for one in activations:
        asked, answered = json.loads(one.subject)
        first.setdefault(asked, answered)
        latest[asked] = answered
    return ModelsSeen(first=first, latest=latest)


def latest_moments(activations: Iterable[Activation]) -> dict[str, datetime]:
    """Return when each name's model was last written down."""
    return {json.loads(one.subject)[0]: one.at for one in activations}


def measured_by(policy: Policy, seen: ModelsSeen) -> Policy:
    """Return the policy with measurement hashes that tell the models that answer now."""
    return replace(
        policy,
        base_measurements=policy.measurement_hashes,
        measurement_hashes={
            key: measurement_with(digest, seen.others(policy.slices[key], {}))
            for key, digest in policy.measurement_hashes.items()
        },
    )
