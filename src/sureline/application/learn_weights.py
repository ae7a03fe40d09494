"""Learn a slice's weights from its labels, as a suggestion for a person (G17)."""

from __future__ import annotations

from array import array
from collections.abc import AsyncIterator
from dataclasses import dataclass

import numpy as np

from sureline.application.policies import PolicyBook
from sureline.application.ports.ledger import Ledger, PastDecision
from sureline.application.recorded import recorded
from sureline.core.gate.sampling import Purpose, draw
from sureline.core.gate.strata import FIT_SHARE
from sureline.core.learning.replay import Recorded
from sureline.core.statistics.weights import LearnedWeights, learn_weights
from sureline.core.values.stratum import Fold
from sureline.errors import InvalidInput, UnknownSlice

PARTS = 5
"""Folds that judge each other, within the labels that are set apart for fitting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightLearner:
    """Learns weights in one workspace; changes nothing.

    Only labels that are set apart for fitting are used, so the certificate's labels stay unseen.
    Used weights change what is measured: map and threshold then start on labels that are new.
    """

    ledger: Ledger
    policies: PolicyBook
    secret: bytes
    workspace: str

    async def learn(self, slice_key: str) -> LearnedWeights:
        """Compare learned weights with those of the current policy. Raises UnknownSlice."""
        policy = await self.policies.latest()
        if slice_key not in policy.slices:
            known = ", ".join(sorted(policy.slices))
            raise UnknownSlice(f"no slice {slice_key!r} (there is: {known})", field="slice")
        one = policy.slices[slice_key]
        names = sorted(name for name, weight in one.weights.items() if weight > 0)
        if len(names) < 2:
            raise InvalidInput(
                f"slice {slice_key} weights one signal only, so there is nothing to learn",
                field="slice",
            )
        values, labels, folds = array("d"), bytearray(), array("q")
        async for past in self._fitting(slice_key, policy.measurement_hashes[slice_key]):
            values.extend(_values(recorded(past, None), names))
            labels.append(bool(past.correct))
            folds.append(int(PARTS * draw(self.secret, Purpose.FOLD, past.id) / FIT_SHARE))
        return learn_weights(
            np.asarray(values).reshape(-1, len(names)),
            np.frombuffer(labels, np.bool_),
            np.asarray(folds),
            names=names,
            policy_weights=[one.weights[name] for name in names],
            target=one.target_precision,
            delta=one.delta,
        )

    async def _fitting(self, slice_key: str, measurement: str) -> AsyncIterator[PastDecision]:
        """Yield the labelled decisions of the present measurement that are for fitting."""
        async for past in self.ledger.past_decisions(self.workspace, slice_key):
            fits = past.stratum.fold is Fold.FIT and past.stratum.representative
            if fits and past.correct is not None and past.measurement_hash == measurement:
                yield past


def _values(one: Recorded, names: list[str]) -> list[float]:
    by_name = {signal.name: signal.value for signal in one.signals}
    found = (by_name.get(name) for name in names)
    return [np.nan if value is None else value for value in found]
