"""What is done again and again: watching, and recalibrating (L1, L4)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from sureline.application.ports.jobs import Job
from sureline.application.recalibrate import Recalibrator
from sureline.application.watch import Watcher
from sureline.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSettings:
    """When jobs run: `watch` and `recalibrate` are the times between two runs.

    A process that died while running a job keeps it from others for `lease`. A job that failed
    runs again after `first_retry`, then after twice that, and so on, at most its own interval.
    """

    watch: timedelta = timedelta(hours=1)
    recalibrate: timedelta = timedelta(days=7)
    lease: timedelta = timedelta(hours=1)
    first_retry: timedelta = timedelta(minutes=1)

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if getattr(self, name) <= timedelta(0):
                raise InvalidInput("expected a time above 0", field=name)


def scheduled_jobs(
    watcher: Watcher, recalibrator: Recalibrator, settings: JobSettings
) -> tuple[Job, ...]:
    """Return the jobs of one workspace; none of them changes a threshold."""

    async def watch() -> str:
        report = await watcher.watch()
        tripped, drifted = ", ".join(report.tripped), ", ".join(report.drifted)
        said = [f"tripped: {tripped}"] if tripped else []
        said += [f"drift: {drifted}"] if drifted else []
        return "; ".join(said) or f"all calm in {len(report.slices)} slices"

    async def recalibrate() -> str:
        calibration = await recalibrator.recalibrate()
        certified = sum(one.certificate is not None for one in calibration.slices)
        return (
            f"{calibration.id} is proposed: {certified} of {len(calibration.slices)} slices "
            "have a certificate; a person activates it"
        )

    return (
        Job(
            name="watch",
            about="Test audited precision and drift; give a slice that fell to people.",
            interval=settings.watch,
            run=watch,
        ),
        Job(
            name="recalibrate",
            about="Compute certificates from the labels, as a proposal.",
            interval=settings.recalibrate,
            run=recalibrate,
        ),
    )
