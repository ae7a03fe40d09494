"""Open a store and wire the use cases to it."""

from __future__ import annotations

from dataclasses import replace

from sureline.adapters.clock import SystemClock
from sureline.adapters.policies import load_policy, policy_from_canonical
from sureline.adapters.pydantic_model import validator_for_model
from sureline.adapters.storage.store import Store, open_store
from sureline.application.consume import Consumer
from sureline.application.current import Currents
from sureline.application.decide import Decider
from sureline.application.label import Labeller
from sureline.application.measure import Measurer
from sureline.application.models_seen import ModelWatch
from sureline.application.policies import PolicyBook
from sureline.application.ports.models import ModelClient
from sureline.application.recalibrate import Recalibrator
from sureline.application.review.desk import ReviewDesk
from sureline.application.review.offers import Offers
from sureline.application.review.reviewers import Reviewers
from sureline.application.review.seen import Seen
from sureline.application.wait import Waiter
from sureline.bootstrap.canaries import open_canaries
from sureline.bootstrap.histories import open_history
from sureline.bootstrap.missions import missions_of
from sureline.bootstrap.opinions import judge_of, model_client_of, opinion_sources
from sureline.bootstrap.plugins import Plugins
from sureline.bootstrap.services import Services
from sureline.config import store_url as default_store_url
from sureline.core.checks.result import Validator


def open_services(
    store_url: str | None = None,
    *,
    workspace: str = "default",
    plugins: Plugins | None = None,
    create: bool = True,
    to_write: bool = True,
) -> Services:
    """Open a store and wire the use cases to it.

    A store that is not there is made, or refused without `create`; one that can only be read is
    refused, or read without `to_write`. Raises StoreError.
    """
    plugins = plugins or Plugins()
    store = open_store(store_url or default_store_url(), create=create, to_write=to_write)
    plugins = _on_time(plugins, store)
    policies = _policies(store, workspace, plugins)
    currents = Currents(policies=policies, registry=store.registry, workspace=workspace)
    desk = _desk(store, currents, policies, plugins, workspace)
    seen = Seen(ledger=store.ledger, planted=store.planted)
    client = model_client_of(plugins)
    return Services(
        store=store,
        ledger=store.ledger,
        registry=store.registry,
        keys=store.keys,
        clock=plugins.clock,
        policies=policies,
        currents=currents,
        decider=_decider(store, currents, plugins, client, workspace),
        canaries=open_canaries(store, policies, plugins, client=client, workspace=workspace),
        consumer=_consumer(store, seen, currents, plugins, desk),
        labeller=_labeller(store, seen, currents, plugins),
        recalibrator=Recalibrator(
            ledger=store.ledger,
            registry=store.registry,
            policies=policies,
            clock=plugins.clock,
            workspace=workspace,
            reviewers=_reviewers(store, policies, plugins, workspace),
        ),
        desk=desk,
        waiter=Waiter(seen=seen, desk=desk, clock=plugins.clock),
        missions=missions_of(
            store, currents, policies, plugins, client=client, workspace=workspace
        ),
        workspace=workspace,
        plugins=plugins,
    )


def _on_time(plugins: Plugins, store: Store) -> Plugins:
    """Take the store's time where machines share it, unless the program brings a clock.

    Leases, deadlines and the age of switches are compared between machines: one that is five
    minutes fast would take over what another is at.
    """
    if store.clock is None or not isinstance(plugins.clock, SystemClock):
        return plugins
    return replace(plugins, clock=store.clock)


def _reviewers(store: Store, policies: PolicyBook, plugins: Plugins, workspace: str) -> Reviewers:
    return Reviewers(
        planted=store.planted, clock=plugins.clock, workspace=workspace, policies=policies
    )


def _consumer(
    store: Store, seen: Seen, currents: Currents, plugins: Plugins, desk: ReviewDesk
) -> Consumer:
    """Wire what hands out a decision's answer once."""
    return Consumer(
        ledger=store.ledger,
        seen=seen,
        currents=currents,
        hard_switch=plugins.hard_switch,
        desk=desk,
        clock=plugins.clock,
    )


def _labeller(store: Store, seen: Seen, currents: Currents, plugins: Plugins) -> Labeller:
    """Wire what records answers that are given outside the queue."""
    return Labeller(
        reviews=store.reviews,
        seen=seen,
        currents=currents,
        clock=plugins.clock,
        new_id=plugins.new_id,
    )


def _desk(
    store: Store, currents: Currents, policies: PolicyBook, plugins: Plugins, workspace: str
) -> ReviewDesk:
    """Wire the desk at which people review."""
    return ReviewDesk(
        store=store.reviews,
        ledger=store.ledger,
        currents=currents,
        clock=plugins.clock,
        workspace=workspace,
        validators=_validators(plugins),
        planted=store.planted,
        offers=Offers(policies=policies),
    )


def _validators(plugins: Plugins) -> dict[str, Validator]:
    return {name: validator_for_model(model) for name, model in plugins.models.items()}


def _policies(store: Store, workspace: str, plugins: Plugins) -> PolicyBook:
    """Wire the book of policies."""
    return PolicyBook(
        registry=store.registry,
        ledger=store.ledger,
        clock=plugins.clock,
        load=load_policy,
        restore=policy_from_canonical,
        workspace=workspace,
    )


def _decider(
    store: Store, currents: Currents, plugins: Plugins, client: ModelClient, workspace: str
) -> Decider:
    """Wire the gate's main use case."""
    return Decider(
        ledger=store.ledger,
        currents=currents,
        measurer=Measurer(
            sources=plugins.signals,
            opinions=opinion_sources(plugins, client),
            history=open_history(store, plugins, workspace),
            validators=_validators(plugins),
            tracer=plugins.tracer,
        ),
        judge=judge_of(plugins, client),
        models=ModelWatch(registry=store.registry, clock=plugins.clock, workspace=workspace),
        hard_switch=plugins.hard_switch,
        clock=plugins.clock,
        secret=store.secret,
        new_id=plugins.new_id,
        tracer=plugins.tracer,
    )
