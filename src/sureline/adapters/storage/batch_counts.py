"""Counts the batches that are written, and how long they take."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from sureline.adapters.storage.gathering import Batch
from sureline.application.ports.store_figures import BATCH_SECONDS, StoreFigures
from sureline.errors import StoreError


class BatchCounts:
    """Counts for one process; batches are written by one thread, figures read by any."""

    def __init__(self, monotonic: Callable[[], float] = time.perf_counter) -> None:
        self._monotonic = monotonic
        self._batches = [0] * (len(BATCH_SECONDS) + 1)
        self._seconds = 0.0
        self._jobs = 0
        self._failed: Counter[str] = Counter()

    def over(self, together: Batch) -> Batch:
        """Return a batch that does the same and is counted."""

        def counted(jobs: Sequence[Any]) -> Sequence[Any]:
            started = self._monotonic()
            results = together(jobs)
            self._count(results, self._monotonic() - started)
            return results

        return counted

    def figures(self, *, waiting: int, reading: int = 0, readers: int = 0) -> StoreFigures:
        """Return what was counted, with what is now."""
        return StoreFigures(
            batches=tuple(self._batches),
            seconds=self._seconds,
            jobs=self._jobs,
            failed=dict(self._failed),
            waiting=waiting,
            reading=reading,
            readers=readers,
        )

    def _count(self, results: Sequence[Any], seconds: float) -> None:
        self._batches[bisect_left(BATCH_SECONDS, seconds)] += 1
        self._seconds += seconds
        self._jobs += len(results)
        self._failed.update(type(one).__name__ for one in results if isinstance(one, StoreError))
