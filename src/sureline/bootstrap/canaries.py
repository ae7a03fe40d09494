"""Wire the canaries."""

from __future__ import annotations

from sureline.adapters.canaries.reader import shipped_canaries
from sureline.adapters.storage.store import Store
from sureline.application.canaries import Canaries
from sureline.application.models_seen import ModelWatch
from sureline.application.opinions.fresh import FreshModels
from sureline.application.policies import PolicyBook
from sureline.application.ports.models import ModelClient
from sureline.application.ports.signals import SignalSource
from sureline.bootstrap.opinions import judge_of, opinion_sources
from sureline.bootstrap.plugins import Plugins
from sureline.core.gate.canaries import SELF_EVALUATION
from sureline.core.opinions.canary import Canary
from sureline.core.opinions.canary_making import written_for


def open_canaries(
    store: Store,
    policies: PolicyBook,
    plugins: Plugins,
    *,
    client: ModelClient,
    workspace: str,
) -> Canaries:
    """Wire what puts canaries to the very judge and evaluator that a gate has."""
    fresh = FreshModels(client)
    return Canaries(
        runs=store.canaries,
        registry=store.registry,
        policies=policies,
        # Its own: canaries may run on another event loop than decisions.
        models=ModelWatch(registry=store.registry, clock=plugins.clock, workspace=workspace),
        judge=judge_of(plugins, fresh),
        evaluator=_evaluator(plugins, fresh),
        canaries=shipped_canaries,
        clock=plugins.clock,
        new_id=plugins.new_id,
        workspace=workspace,
        concurrency=plugins.limits.concurrency,
    )


def canaries_of(seed: str) -> tuple[Canary, ...]:
    """Return the canaries of a run with this seed."""
    return written_for(shipped_canaries(), seed)


def _evaluator(plugins: Plugins, client: ModelClient) -> SignalSource:
    """Return what gives the signal `self_evaluation`: a plug-in of that name, or our own."""
    sources = (*plugins.signals, *opinion_sources(plugins, client))
    return next(one for one in sources if one.name == SELF_EVALUATION)
