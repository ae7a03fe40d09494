"""What Prometheus reads for whoever is on call: switches, guards, missions, telling, jobs (L9)."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Gauge

from sureline.application.operations import Operations


class OperationMetrics:
    """How things stood at the last reading; what is gone since then is not shown any more."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def gauge(name: str, about: str, *labels: str) -> Gauge:
            return Gauge(f"sureline_{name}", about, labels, registry=registry)

        self._readable = gauge("state_readable", "1 where the figures of the store could be read.")
        self._switches = gauge("switches_on", "Kill switches that are on, by kind.", "scope")
        self._guards = gauge(
            "guard_tripped", "1 where the precision guard gave a slice to people.", "slice"
        )
        self._resting = gauge(
            "model_resting", "1 where this process leaves a model alone after faults.", "model"
        )
        self._missions = gauge("missions", "Missions by kind and state.", "kind", "state")
        self._untold = gauge("outbox_waiting", "What is still to be told to channels.")
        self._age = gauge("outbox_oldest_seconds", "How long the oldest of it waits, 0 without.")
        self._dead = gauge("outbox_dead", "Deliveries that failed for good and wait for a person.")
        self._ended = gauge(
            "job_ended_timestamp_seconds", "When a job last ended, however it went.", "name"
        )
        self._due = gauge("job_due_timestamp_seconds", "When a job is to run next.", "name")
        self._failures = gauge("job_failures", "Runs of a job that failed in a row.", "name")
        self._gauges = (
            self._switches,
            self._guards,
            self._resting,
            self._missions,
            self._ended,
            self._due,
            self._failures,
        )

    def unreadable(self) -> None:
        """Say that nothing is known; the last figures would pass for those of now."""
        self._readable.set(0)
        for one in self._gauges:
            one.clear()
        for plain in (self._untold, self._age, self._dead):
            plain.set(float("nan"))

    def show(self, operations: Operations) -> None:
        """Take over how things stand."""
        self.unreadable()
        self._readable.set(1)
        for scope, count in operations.switches.items():
            self._switches.labels(scope).set(count)
        for key, tripped in operations.guarded.items():
            self._guards.labels(key).set(tripped)
        for model, rests in operations.resting.items():
            self._resting.labels(model).set(rests)
        for kind, states in operations.missions.items():
            for state, count in states.items():
                self._missions.labels(kind, state.value).set(count)
        self._untold.set(operations.untold)
        self._age.set(operations.untold_seconds)
        self._dead.set(operations.dead)
        for job in operations.jobs:
            self._due.labels(job.name).set(job.due_at.timestamp())
            self._failures.labels(job.name).set(job.failures)
            if job.finished_at is not None:
                self._ended.labels(job.name).set(job.finished_at.timestamp())
