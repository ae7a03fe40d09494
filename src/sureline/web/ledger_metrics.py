"""What Prometheus reads of the ledger's verification (L12)."""

from __future__ import annotations

from collections.abc import Sequence

from prometheus_client import CollectorRegistry, Gauge

from sureline.application.ports.verifications import Verification


class LedgerMetrics:
    """When the ledger was verified last, in whole and what is new of it, and whether it held."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._at = Gauge(
            "sureline_ledger_verified_timestamp_seconds",
            "When the ledger's verification last ended, whatever it found, by extent.",
            ("extent",),
            registry=registry,
        )
        self._holds = Gauge(
            "sureline_ledger_holds",
            "1 where the last verification held, 0 where it did not, by extent.",
            ("extent",),
            registry=registry,
        )

    def clear(self) -> None:
        """Show nothing."""
        self._at.clear()
        self._holds.clear()

    def show(self, latest: Sequence[Verification]) -> None:
        """Take over what is remembered; an extent that was never verified has no series."""
        for one in latest:
            self._at.labels(one.extent.value).set(one.at.timestamp())
            self._holds.labels(one.extent.value).set(one.ok)
