"""What is done again and again: watching, recalibrating, canaries (L1, L4, G3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sureline.application.canaries import Canaries
from sureline.application.canary_history import why
from sureline.application.ports.jobs import Job
from sureline.application.recalibrate import Recalibrator
from sureline.application.retention import Keeper, retention_job
from sureline.application.verify_ledger import LedgerWatch, verify_job
from sureline.application.watch import Watcher, WatchReport
from sureline.core.opinions.canary_run import CanaryOutcome, CanaryRun
from sureline.errors import InvalidInput, ModelFailed


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSettings:
    """When jobs run: `watch`, `recalibrate` and so on are the times between two runs.

    Canaries are looked at that often, and run where they are due: monthly and at every change. A
    look costs little, and whoever changed deductions that must pass waits for it. A process that
    died while running a job keeps it from others for `lease`. A job that failed runs again after
    `first_retry`, then after twice that, and so on, at most its own interval; canaries at most
    after `canaries_retry`, so that a key that is missing is not complained of at every look.
    """

    watch: timedelta = timedelta(hours=1)
    recalibrate: timedelta = timedelta(days=7)
    canaries: timedelta = timedelta(minutes=10)
    canaries_retry: timedelta = timedelta(days=1)
    retention: timedelta = timedelta(days=1)
    verify: timedelta = timedelta(days=1)
    lease: timedelta = timedelta(hours=1)
    first_retry: timedelta = timedelta(minutes=1)

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if getattr(self, name) <= timedelta(0):
                raise InvalidInput("expected a time above 0", field=name)


def scheduled_jobs(
    watcher: Watcher,
    recalibrator: Recalibrator,
    canaries: Canaries,
    keeper: Keeper,
    ledger: LedgerWatch,
    settings: JobSettings,
) -> tuple[Job, ...]:
    """Return the jobs of one workspace; none of them changes a threshold."""

    async def watch() -> str:
        return _watched(await watcher.watch())

    async def recalibrate() -> str:
        calibration = await recalibrator.recalibrate()
        certified = sum(one.certificate is not None for one in calibration.slices)
        return (
            f"{calibration.id} is proposed: {certified} of {len(calibration.slices)} slices "
            "have a certificate; a person activates it"
        )

    async def run_canaries() -> str:
        return canaries_said(await canaries.run(await canaries.due()))

    return (
        Job(
            name="watch",
            about="Test precision, drift and second opinions; give a slice that fell to people.",
            interval=settings.watch,
            run=watch,
        ),
        Job(
            name="recalibrate",
            about="Compute certificates from the labels, as a proposal.",
            interval=settings.recalibrate,
            run=recalibrate,
        ),
        Job(
            name="canaries",
            about="Examine second models that changed, or were not examined for a month.",
            interval=settings.canaries,
            run=run_canaries,
            longest_retry=settings.canaries_retry,
        ),
        retention_job(keeper, settings.retention),
        # The last one, for it may take long, and where one loop runs them others wait.
        verify_job(ledger, settings.verify),
    )


def _watched(report: WatchReport) -> str:
    tripped, drifted = ", ".join(report.tripped), ", ".join(report.drifted)
    said = [f"tripped: {tripped}"] if tripped else []
    said += [f"drift: {drifted}"] if drifted else []
    said += [f"{one.slice_key}: {one.sentence}" for one in report.opinions.alarms]
    return "; ".join(said) or f"all calm in {len(report.slices)} slices"


def canaries_said(runs: Sequence[CanaryRun]) -> str:
    """Say what came of the runs that were due.

    Raises ModelFailed where a model could not be asked, so that it is tried again soon.
    """
    said = "; ".join(
        f"{run.evaluator.role} {run.evaluator.asked} {_word(run)}: {why(run)}" for run in runs
    )
    failed = sum(run.outcome is CanaryOutcome.FAILED for run in runs)
    if failed:
        said = f"{failed} of {len(runs)} second models FAILED their canaries: {said}"
    if any(run.outcome is CanaryOutcome.INCOMPLETE for run in runs):
        raise ModelFailed("incomplete", said)
    return said or "no second model is due"


def _word(run: CanaryRun) -> str:
    return "FAILED" if run.outcome is CanaryOutcome.FAILED else str(run.outcome)
