"""The composition root: the only place where adapters are chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sureline.adapters.clock import SystemClock
from sureline.adapters.embedders.hashing import HashingEmbedder
from sureline.adapters.ids import new_id
from sureline.adapters.jobs.embedded import EmbeddedJobs
from sureline.adapters.jobs.thread import JobThread as JobThread
from sureline.adapters.policies import load_policy as load_policy
from sureline.adapters.policies import policy_from_canonical
from sureline.adapters.pydantic_model import validator_for_model
from sureline.adapters.reports.calibration_html import (
    write_calibration_html as write_calibration_html,
)
from sureline.adapters.search.check import CheckReport, check
from sureline.adapters.search.exact import ExactCaseIndex
from sureline.adapters.storage.store import Store, open_store
from sureline.adapters.tables import open_table as open_table
from sureline.application.audit import Auditor
from sureline.application.calibrations import Calibrations
from sureline.application.consume import Consumer
from sureline.application.current import Currents
from sureline.application.decide import Decider
from sureline.application.history import HistorySource
from sureline.application.jobs import JobSettings, scheduled_jobs
from sureline.application.label import Labeller
from sureline.application.logbook import Logbook
from sureline.application.measure import Measurer
from sureline.application.policies import PolicyBook
from sureline.application.ports.clock import Clock
from sureline.application.ports.embedder import Embedder
from sureline.application.ports.jobs import Jobs
from sureline.application.ports.keys import Keys
from sureline.application.ports.ledger import Ledger
from sureline.application.ports.registry import Registry
from sureline.application.ports.signals import Judge, SignalSource
from sureline.application.ports.switches import HardSwitch
from sureline.application.recalibrate import Recalibrator
from sureline.application.reporter import Reporter
from sureline.application.wait import Waiter
from sureline.application.watch import Watcher
from sureline.config import EnvironmentSwitch
from sureline.config import store_url as default_store_url
from sureline.core.values.policy import Policy
from sureline.errors import PolicyError

if TYPE_CHECKING:
    from types import TracebackType


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugins:
    """What a program brings along: signal sources, a judge, models by name, an embedder.

    `models` maps the names that a policy's `output.model` uses to pydantic model classes.
    `most_cases` is how many of a slice's latest verdicts are kept for similarity search.
    """

    signals: Sequence[SignalSource] = ()
    judge: Judge | None = None
    models: Mapping[str, Any] = field(default_factory=dict)
    embedder: Embedder | None = None
    most_cases: int = 20_000
    clock: Clock = field(default_factory=SystemClock)
    hard_switch: HardSwitch = field(default_factory=EnvironmentSwitch)
    jobs: JobSettings = field(default_factory=JobSettings)
    new_id: Callable[[], str] = new_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Everything that runs on one store, wired."""

    store: Store
    ledger: Ledger
    registry: Registry
    keys: Keys
    clock: Clock
    policies: PolicyBook
    currents: Currents
    decider: Decider
    consumer: Consumer
    labeller: Labeller
    recalibrator: Recalibrator
    waiter: Waiter
    workspace: str
    plugins: Plugins

    @property
    def auditor(self) -> Auditor:
        """Return what lists, shows and answers audits."""
        return Auditor(
            ledger=self.ledger,
            labeller=self.labeller,
            secret=self.store.secret,
            workspace=self.workspace,
        )

    @property
    def calibrations(self) -> Calibrations:
        """Return what lists, activates and takes back calibrations."""
        return Calibrations(
            registry=self.registry, recalibrator=self.recalibrator, workspace=self.workspace
        )

    @property
    def logbook(self) -> Logbook:
        """Return what tells which changes there were."""
        return Logbook(ledger=self.ledger, registry=self.registry, workspace=self.workspace)

    @property
    def watcher(self) -> Watcher:
        """Return what watches precision, scores and automation."""
        return Watcher(
            ledger=self.ledger,
            registry=self.registry,
            policies=self.policies,
            clock=self.clock,
            workspace=self.workspace,
        )

    @property
    def reporter(self) -> Reporter:
        """Return what draws up the calibration report."""
        cases = self.store.cases
        return Reporter(recalibrator=self.recalibrator, watcher=self.watcher, cases=cases)

    @property
    def jobs(self) -> Jobs:
        """Return what runs the periodic jobs."""
        settings = self.plugins.jobs
        return EmbeddedJobs(
            store=self.store.jobs,
            jobs=scheduled_jobs(self.watcher, self.recalibrator, settings),
            clock=self.clock,
            owner=self.plugins.new_id(),
            workspace=self.workspace,
            lease=settings.lease,
            first_retry=settings.first_retry,
        )

    async def prepare(self, policy_file: Path | None) -> None:
        """Bring a policy file before the store, or make sure that the store has a policy.

        Raises PolicyError when the file is faulty or there is no policy at all.
        """
        if policy_file is not None:
            await self.policies.introduce(policy_file)
        policy = await self.policies.latest()
        check_sources(policy, self.plugins)

    async def check_cases(self) -> CheckReport:
        """Rebuild the search in past cases and compare it with the ledger (H15)."""
        embedder = self.plugins.embedder or HashingEmbedder()
        index = _index(self.store, embedder, self.plugins)
        try:
            await index.refresh()
            return await check(index, self.ledger)
        finally:
            index.close()

    def close(self) -> None:
        """Write what is pending and let go of the store."""
        self.store.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


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
    policies = _policies(store, workspace, plugins)
    currents = Currents(policies=policies, registry=store.registry, workspace=workspace)
    return Services(
        store=store,
        ledger=store.ledger,
        registry=store.registry,
        keys=store.keys,
        clock=plugins.clock,
        policies=policies,
        currents=currents,
        decider=_decider(store, currents, plugins),
        consumer=Consumer(
            ledger=store.ledger,
            currents=currents,
            hard_switch=plugins.hard_switch,
            clock=plugins.clock,
        ),
        labeller=Labeller(
            ledger=store.ledger, currents=currents, clock=plugins.clock, new_id=plugins.new_id
        ),
        recalibrator=Recalibrator(
            ledger=store.ledger,
            registry=store.registry,
            policies=policies,
            clock=plugins.clock,
            workspace=workspace,
        ),
        waiter=Waiter(ledger=store.ledger, clock=plugins.clock),
        workspace=workspace,
        plugins=plugins,
    )


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


def _history(store: Store, plugins: Plugins) -> HistorySource:
    """Wire the search in past cases."""
    embedder = plugins.embedder or HashingEmbedder()
    return HistorySource(embedder=embedder, index=_index(store, embedder, plugins))


def _index(store: Store, embedder: Embedder, plugins: Plugins) -> ExactCaseIndex:
    return ExactCaseIndex(
        store.ledger, embedder.model_id, dimension=embedder.dimension, most=plugins.most_cases
    )


def _decider(store: Store, currents: Currents, plugins: Plugins) -> Decider:
    """Wire the gate's main use case."""
    return Decider(
        ledger=store.ledger,
        currents=currents,
        measurer=Measurer(
            sources=plugins.signals,
            history=_history(store, plugins),
            validators={name: validator_for_model(model) for name, model in plugins.models.items()},
        ),
        judge=plugins.judge,
        hard_switch=plugins.hard_switch,
        clock=plugins.clock,
        secret=store.secret,
        new_id=plugins.new_id,
    )


BUILT_IN_SIGNALS = frozenset({"verification", "history", "self_report"})


def check_sources(policy: Policy, plugins: Plugins) -> None:
    """Refuse a policy that counts on a signal which nothing measures.

    Raises PolicyError naming the slice, the signal and what would measure it.
    """
    measured = BUILT_IN_SIGNALS | {source.name for source in plugins.signals}
    if plugins.judge is not None:
        measured |= {"judge"}
    for key, slice_policy in policy.slices.items():
        for name, weight in slice_policy.weights.items():
            if weight > 0 and name not in measured:
                raise PolicyError(
                    f"slice {key}: the weights count on the signal {name!r}, but nothing measures "
                    f"it here; plug in a source of that name, or give it no weight"
                )
        model = slice_policy.checks.model
        if model is not None and model not in plugins.models:
            raise PolicyError(
                f"slice {key}: output.model names {model!r}, but no such model was registered"
            )
