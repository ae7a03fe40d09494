"""The latest verdicts of one slice with their vectors, in one contiguous float32 matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_FIRST_ROWS = 64


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """The latest cases of a slice as they stood at one moment; safe to read in another thread.

    Row i of `vectors` is case i, oldest first. `dead` are the rows, ascending, whose case was
    replaced or deleted. `unusable` counts verdicts of this period whose vector was refused.
    """

    vectors: NDArray[np.float32]
    approved: NDArray[np.bool_]
    ids: list[str]
    offset: int
    dead: NDArray[np.intp]
    unusable: int

    @property
    def cases(self) -> int:
        """Return how many cases there are."""
        return len(self.vectors) - self.dead.size

    def decision_id(self, row: int) -> str:
        """Return the decision that row `row` is about."""
        return self.ids[self.offset + row]


class CaseBank:
    """Keeps up to `most` latest cases of one workspace and slice.

    Rows are appended to a matrix that grows geometrically and, once full, is copied to a new one
    without its dead and oldest rows. A `Window` that was handed out thus keeps the rows it saw.
    A later verdict about a decision is a new row; a deleted case's vector is wiped at once.
    """

    def __init__(self, dimension: int, most: int) -> None:
        self._most = most
        self._vectors = np.zeros((_FIRST_ROWS, dimension), dtype=np.float32)
        self._approved = np.zeros(_FIRST_ROWS, dtype=np.bool_)
        self._cursors = np.zeros(_FIRST_ROWS, dtype=np.int64)
        self._ids: list[str] = []
        self._rows: dict[str, int] = {}
        self._dead: NDArray[np.intp] = np.empty(0, dtype=np.intp)
        self._unusable: dict[str, int] = {}
        self._windows: dict[int, Window] = {}
        self._was_cut = False

    @property
    def is_all(self) -> bool:
        """Tell whether no case was let go for being too old."""
        return not self._was_cut and len(self._rows) <= self._most

    def __len__(self) -> int:
        return min(len(self._rows), self._most)

    def put(
        self, decision_id: str, vector: NDArray[np.float32], *, approved: bool, cursor: int
    ) -> None:
        """Add a verdict as the newest; an earlier one about the same decision goes."""
        self.remove(decision_id)
        if len(self._ids) == len(self._vectors):
            self._make_room()
        row = len(self._ids)
        self._vectors[row] = vector
        self._approved[row] = approved
        self._cursors[row] = cursor
        self._ids.append(decision_id)
        self._rows[decision_id] = row

    def refuse(self, decision_id: str, cursor: int) -> None:
        """Remember a verdict whose vector cannot be used: the picture has a hole (G15)."""
        self.remove(decision_id)
        self._unusable[decision_id] = cursor

    def remove(self, decision_id: str) -> None:
        """Forget a case and wipe its vector; an unknown one is none of our business."""
        self._windows.clear()
        self._unusable.pop(decision_id, None)
        row = self._rows.pop(decision_id, None)
        if row is not None:
            self._vectors[row] = 0.0
            self._dead = np.insert(self._dead, int(np.searchsorted(self._dead, row)), row)

    def latest(self, window: int) -> Window:
        """Return the latest `window` cases."""
        found = self._windows.get(window)
        if found is None:
            found = self._windows[window] = self._cut(min(window, self._most))
        return found

    def _cut(self, window: int) -> Window:
        end = len(self._ids)
        start = self._start(end, window)
        oldest = int(self._cursors[start]) if start else 0
        return Window(
            vectors=self._vectors[start:end],
            approved=self._approved[start:end],
            ids=self._ids,
            offset=start,
            dead=self._dead[np.searchsorted(self._dead, start) :] - start,
            unusable=sum(cursor > oldest for cursor in self._unusable.values()),
        )

    def _start(self, end: int, window: int) -> int:
        """Return the first row such that `window` live ones follow, or 0."""
        start = end - window
        while start > 0:
            dead = self._dead.size - int(np.searchsorted(self._dead, start))
            missing = window - (end - start - dead)
            if missing <= 0:
                break
            start -= missing
        return max(start, 0)

    def _make_room(self) -> None:
        live = np.fromiter(self._rows.values(), dtype=np.intp, count=len(self._rows))
        self._was_cut = self._was_cut or len(live) > self._most
        live = np.sort(live)[-self._most :]
        slack = max(_FIRST_ROWS, min(len(live), self._most // 8))
        rows = len(live) + slack
        self._vectors = _moved(self._vectors, live, rows)
        self._approved = _moved(self._approved, live, rows)
        self._cursors = _moved(self._cursors, live, rows)
        self._ids = [self._ids[row] for row in live]
        self._rows = {decision_id: row for row, decision_id in enumerate(self._ids)}
        self._dead = np.empty(0, dtype=np.intp)


def _moved(old: NDArray, live: NDArray[np.intp], rows: int) -> NDArray:  # type: ignore[type-arg]
    new = np.zeros((rows, *old.shape[1:]), dtype=old.dtype)
    np.take(old, live, axis=0, out=new[: len(live)])
    return new
