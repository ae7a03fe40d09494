"""Everything that runs on one store, wired."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from sureline.adapters.jobs.embedded import EmbeddedJobs
from sureline.adapters.search.check import CheckReport
from sureline.adapters.storage.store import Store
from sureline.application.acceptance import Acceptance
from sureline.application.audit import Auditor
from sureline.application.calibrations import Calibrations
from sureline.application.canaries import Canaries
from sureline.application.consume import Consumer
from sureline.application.current import Currents
from sureline.application.decide import Decider
from sureline.application.jobs import scheduled_jobs
from sureline.application.label import Labeller
from sureline.application.logbook import Logbook
from sureline.application.mission.missions import Missions
from sureline.application.model_words import model_notes
from sureline.application.models_seen import models_seen
from sureline.application.opinion_health import HealthReader
from sureline.application.policies import PolicyBook
from sureline.application.ports.clock import Clock
from sureline.application.ports.jobs import Jobs
from sureline.application.ports.keys import Keys
from sureline.application.ports.ledger import Ledger
from sureline.application.ports.registry import Registry
from sureline.application.recalibrate import Recalibrator
from sureline.application.recall import Recaller
from sureline.application.reembed import Reembedder
from sureline.application.reporter import Reporter
from sureline.application.review.answer_first import AnswerFirst
from sureline.application.review.attention_sweep import AttentionSweep
from sureline.application.review.desk import ReviewDesk
from sureline.application.review.double_review import SecondLooks
from sureline.application.review.golden import GoldenSet
from sureline.application.review.honeypots import Planter
from sureline.application.review.inbound import Inbound
from sureline.application.review.inbox import Inbox
from sureline.application.review.offers import Offers
from sureline.application.review.queue_health import QueueHealth
from sureline.application.review.reviewers import Reviewers
from sureline.application.review.seen import Seen
from sureline.application.wait import Waiter
from sureline.application.watch import Watcher
from sureline.bootstrap.erasing import keeper
from sureline.bootstrap.histories import check_cases, embedding_models
from sureline.bootstrap.plugins import Plugins
from sureline.bootstrap.sources import check_sources
from sureline.bootstrap.verifying import ledger_watch
from sureline.config import variable


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
    canaries: Canaries
    consumer: Consumer
    labeller: Labeller
    recalibrator: Recalibrator
    desk: ReviewDesk
    waiter: Waiter
    missions: Missions
    workspace: str
    plugins: Plugins

    @property
    def seen(self) -> Seen:
        """Return what people find under an id, planted items among the rest."""
        return Seen(ledger=self.ledger, planted=self.store.planted)

    @property
    def auditor(self) -> Auditor:
        """Return what lists, shows and answers audits."""
        return Auditor(
            ledger=self.ledger,
            seen=self.seen,
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
    def opinion_health(self) -> HealthReader:
        """Return what reads how second opinions are doing."""
        counts = self.store.opinions
        return HealthReader(counts=counts, clock=self.clock, workspace=self.workspace)

    @property
    def watcher(self) -> Watcher:
        """Return what watches precision, scores and automation."""
        return Watcher(
            ledger=self.ledger,
            registry=self.registry,
            policies=self.policies,
            opinions=self.opinion_health,
            clock=self.clock,
            workspace=self.workspace,
        )

    @property
    def reporter(self) -> Reporter:
        """Return what draws up the calibration report."""
        cases = self.store.cases
        return Reporter(recalibrator=self.recalibrator, watcher=self.watcher, cases=cases)

    @property
    def acceptance(self) -> Acceptance:
        """Return what makes proposed policies of suggestions."""
        return Acceptance(
            policies=self.policies,
            registry=self.registry,
            clock=self.clock,
            workspace=self.workspace,
        )

    @property
    def attention(self) -> AttentionSweep:
        """Return what plants known errors, opens second looks and forgets old figures."""
        store, workspace, secret = self.store, self.workspace, self.decider.secret
        return AttentionSweep(
            planter=Planter(
                planted=store.planted,
                policies=self.policies,
                currents=self.currents,
                clock=self.clock,
                secret=secret,
                new_id=self.plugins.new_id,
                workspace=workspace,
                validators=self.desk.validators,
            ),
            second_looks=SecondLooks(
                planted=store.planted,
                reviews=store.reviews,
                ledger=self.ledger,
                currents=self.currents,
                clock=self.clock,
                secret=secret,
                new_id=self.plugins.new_id,
                workspace=workspace,
            ),
            reviewers=self.reviewers,
        )

    @property
    def reviewers(self) -> Reviewers:
        """Return what tells how people work."""
        return Reviewers(
            planted=self.store.planted,
            clock=self.clock,
            workspace=self.workspace,
            policies=self.policies,
        )

    @property
    def answer_first(self) -> AnswerFirst:
        """Return what takes answers that are given before the output is shown."""
        planted, reviews, clock = self.store.planted, self.store.reviews, self.clock
        return AnswerFirst(planted=planted, reviews=reviews, clock=clock, workspace=self.workspace)

    @property
    def inbox(self) -> Inbox:
        """Return what finds items of the queue."""
        return Inbox(store=self.store.inbox, desk=self.desk)

    @property
    def inbound(self) -> Inbound:
        """Return what takes verdicts that people give elsewhere."""
        return Inbound(
            desk=self.desk,
            deliveries=self.store.inbound,
            policies=self.policies,
            keys=self.keys,
            secret_of=variable,
            secret=self.store.secret,
            clock=self.clock,
            workspace=self.workspace,
        )

    @property
    def queue_health(self) -> QueueHealth:
        """Return what reads how the queue is doing."""
        return QueueHealth(
            reviews=self.store.reviews,
            flow=self.store.queue_flow,
            offers=Offers(policies=self.policies),
            clock=self.clock,
            workspace=self.workspace,
        )

    @property
    def golden(self) -> GoldenSet:
        """Return what editors corrected."""
        return GoldenSet(planted=self.store.planted, workspace=self.workspace)

    @property
    def recaller(self) -> Recaller:
        """Return what lists and calls back what acted alone."""
        return Recaller(
            store=self.store.recalls,
            currents=self.currents,
            clock=self.clock,
            new_id=self.plugins.new_id,
            workspace=self.workspace,
        )

    @property
    def jobs(self) -> Jobs:
        """Return what runs the periodic jobs."""
        return self.jobs_as(self.plugins.new_id())

    def jobs_as(self, owner: str) -> EmbeddedJobs:
        """Return what runs the periodic jobs and claims them as `owner`."""
        when, kept = self.plugins.jobs, keeper(self)
        ledger = ledger_watch(self.store, self.clock, self.workspace)
        jobs = scheduled_jobs(self.watcher, self.recalibrator, self.canaries, kept, ledger, when)
        return EmbeddedJobs(
            store=self.store.jobs,
            jobs=jobs,
            clock=self.clock,
            owner=owner,
            workspace=self.workspace,
            lease=when.lease,
            first_retry=when.first_retry,
        )

    async def model_notes(self) -> tuple[str, ...]:
        """Say which models answer in place of others, and what follows. Raises PolicyError."""
        policy = await self.policies.latest()
        return tuple(model_notes(policy, await models_seen(self.registry, self.workspace)))

    async def prepare(self, policy_file: Path | None) -> None:
        """Bring a policy file before the store, or make sure that the store has a policy.

        Raises PolicyError when the file is faulty or there is no policy at all.
        """
        if policy_file is not None:
            await self.policies.introduce(policy_file)
        policy = await self.policies.latest()
        check_sources(policy, self.plugins)

    @property
    def reembedder(self) -> Reembedder:
        """Return what makes vectors anew after a change of embedder."""
        return Reembedder(
            ledger=self.ledger,
            remade=self.store.remade,
            registry=self.registry,
            policies=self.policies,
            clock=self.clock,
            workspace=self.workspace,
            model_for=embedding_models(self.plugins),
        )

    async def check_cases(self) -> CheckReport:
        """Rebuild the search in past cases and compare it with the ledger (H15)."""
        return await check_cases(self.store, self.plugins)

    def close(self) -> None:
        """Write what is pending and let go of the store."""
        self.store.close()
        self.plugins.tracer.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
