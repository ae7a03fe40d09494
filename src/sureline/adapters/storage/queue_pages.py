"""Pages of the queue, read along its indexes however long it is.

The whole queue has one index in working order. For some slices or one kind, each slice and kind is
a run of another index; as few rows of each run as can be on the page are read, and merged.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, takewhile
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, bindparam, literal_column, or_, select

from sureline.adapters.storage.review_rows import COLUMNS, ORDER, queue_counts, reviews
from sureline.adapters.storage.statement import Statement, compiled
from sureline.application.ports.reviews import Wanted
from sureline.core.values.review import ReviewKind, ReviewState

Fetch = Callable[[Statement, Sequence[Any]], list[Any]]
Row = tuple[Any, ...]

_WORKSPACE = reviews.c.workspace == bindparam("workspace")
_RUN = and_(
    _WORKSPACE,
    reviews.c.slice_key == bindparam("slice_key"),
    reviews.c.kind == bindparam("kind"),
)
_RUNS = compiled(
    select(queue_counts.c.slice_key, queue_counts.c.kind, queue_counts.c.state).where(
        queue_counts.c.workspace == bindparam("workspace"),
        queue_counts.c.count > literal_column("0"),
    )
)
_UNHELD = and_(
    or_(reviews.c.lease_until.is_(None), reviews.c.lease_until <= bindparam("now")),
    or_(reviews.c.submitted_by.is_(None), reviews.c.submitted_by != bindparam("own")),
)


def _paged(query: Select[Any]) -> Statement:
    return compiled(query.limit(bindparam("limit")).offset(bindparam("offset")))


def _open(*among: ColumnElement[bool]) -> Statement:
    """Return open items among these, in the order of an index that holds no others."""
    is_open = reviews.c.open == literal_column("1")
    return _paged(select(*COLUMNS).where(*among, is_open).order_by(*ORDER))


QUEUED = _open(_WORKSPACE), _open(_RUN)
"""What is open: in all of the queue, and in a run of it."""
FREE = _open(_WORKSPACE, _UNHELD), _open(_RUN, _UNHELD)
"""What nobody holds and this person may take."""
_OVER = select(*COLUMNS).order_by(reviews.c.opened_at.desc())
_OVER_PAGE = _paged(_OVER.where(_WORKSPACE, reviews.c.open == literal_column("0")))
_OVER_RUN = _paged(_OVER.where(_RUN, reviews.c.state == bindparam("state")))

MOST_STEPS = 2**31
"""More than any item has gone up."""
_PAGE = 50
"""How many rows are looked at together where it is not known how many are needed."""
_PLACES = {column.name: place for place, column in enumerate(COLUMNS)}
_LEVEL, _RANK, _DEADLINE, _UNCERTAINTY, _ID, _OPENED = (
    _PLACES[name] for name in ("level", "rank", "deadline", "uncertainty", "id", "opened_at")
)


def page(fetch: Fetch, workspace: str, wanted: Wanted, *, limit: int, offset: int) -> Iterator[Row]:
    """Return a page of what is open, in working order."""
    whole, run = QUEUED
    runs = open_runs(fetch, workspace, wanted)
    if runs is None:
        return iter(fetch(whole, (workspace, limit, offset)))
    parts = [
        meant(wanted, one, fetch(run, (workspace, *one, limit + offset, 0)), _LEVEL) for one in runs
    ]
    return islice(heapq.merge(*parts, key=_urgency), offset, offset + limit)


def over_page(
    fetch: Fetch, workspace: str, wanted: Wanted, *, limit: int, offset: int
) -> Iterator[Row]:
    """Return a page of what is over, the newest first."""
    runs = over_runs(fetch, workspace, wanted)
    if runs is None:
        return iter(fetch(_OVER_PAGE, (workspace, limit, offset)))
    parts = [fetch(_OVER_RUN, (workspace, *one, limit + offset, 0)) for one in runs]
    return islice(heapq.merge(*parts, key=lambda row: -row[_OPENED]), offset, offset + limit)


def rows_of(
    fetch: Fetch,
    statements: tuple[Statement, Statement],
    workspace: str,
    wanted: Wanted,
    more: Sequence[Any] = (),
) -> Iterator[Row]:
    """Yield open items in working order, a few at a time; `more` are further parameters."""
    whole, run = statements
    runs = open_runs(fetch, workspace, wanted)
    if runs is None:
        return _along(fetch, whole, (workspace, *more))
    parts = [
        meant(wanted, one, _along(fetch, run, (workspace, *one, *more)), _LEVEL) for one in runs
    ]
    return heapq.merge(*parts, key=_urgency)


def meant(wanted: Wanted, run: Row, rows: Iterable[Row], level: int) -> Iterator[Row]:
    """Yield what is meant of a run, whose rows come from the highest step down.

    `level` is the place of the step in a row.
    """
    return takewhile(lambda row: wanted.has(run[0], row[level]), rows)


def _along(fetch: Fetch, statement: Statement, parameters: Sequence[Any]) -> Iterator[Row]:
    offset = 0
    while rows := fetch(statement, (*parameters, _PAGE, offset)):
        yield from rows
        offset += len(rows)


def open_runs(fetch: Fetch, workspace: str, wanted: Wanted) -> list[Row] | None:
    """Return slices and kinds in which something wanted is open; None where all of it is meant."""
    return None if _is_all(wanted) else _open_runs(_runs(fetch, workspace, wanted))


def over_runs(fetch: Fetch, workspace: str, wanted: Wanted) -> list[Row] | None:
    """Return slices, kinds and states in which something wanted is over; None where all is."""
    if _is_all(wanted):
        return None
    return [one for one in _runs(fetch, workspace, wanted) if not ReviewState(one[2]).is_open]


def _is_all(wanted: Wanted) -> bool:
    is_narrowed = bool(wanted.slices or (wanted.least and wanted.is_open))
    return not is_narrowed and set(wanted.kinds) >= set(ReviewKind)


def _runs(fetch: Fetch, workspace: str, wanted: Wanted) -> list[Row]:
    """Return the slice, kind and state of what is meant and not empty."""
    return [
        row
        for row in fetch(_RUNS, (workspace,))
        if wanted.has(row[0], MOST_STEPS) and ReviewKind(row[1]) in wanted.kinds
    ]


def _open_runs(runs: Sequence[Row]) -> list[Row]:
    """Return the slices and kinds in which something is open."""
    return sorted({(key, kind) for key, kind, state in runs if ReviewState(state).is_open})


def _urgency(row: Row) -> tuple[Any, ...]:
    """Return the sort key of `ORDER`."""
    return -row[_LEVEL], -row[_RANK], row[_DEADLINE], -row[_UNCERTAINTY], row[_ID]
