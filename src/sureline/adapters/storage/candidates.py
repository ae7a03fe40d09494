"""Items among which somebody looks for something, in working order, read along the indexes.

Stakes, steps up and deadlines are runs of the queue's indexes: its order begins with the step and
the stakes, and within one step and stakes (a band) goes on with the deadline. What somebody is at
has an index of its own. So all of these are exact however long the queue is; only texts and
reasons are compared, among the first `LOOKED_AT` items.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import and_, bindparam, literal_column, select

from sureline.adapters.storage.line_rows import review_lines
from sureline.adapters.storage.moments import to_micros
from sureline.adapters.storage.queue_pages import Fetch, open_runs, over_runs
from sureline.adapters.storage.review_rows import ORDER, reviews
from sureline.adapters.storage.statement import Statement, compiled
from sureline.application.ports.inbox import LOOKED_AT, Sought
from sureline.application.ports.reviews import Wanted
from sureline.core.values.review import ReviewKind

FOREVER = 2**63 - 1
FIRST_PART, LARGEST_PART = 50, 800
"""How many rows are read together, at first and at most."""


class Candidate(NamedTuple):
    """What is compared of one item; texts are None where it was erased or is older than lines."""

    level: int
    rank: int
    deadline: int
    uncertainty: float
    id: str
    slice_key: str
    kind: str
    opened_at: int
    claimed_by: str | None
    lease_until: int | None
    submitted_by: str | None
    task: str | None
    reasons: str | None

    @property
    def urgency(self) -> tuple[Any, ...]:
        """Return the sort key of the working order."""
        return -self.level, -self.rank, self.deadline, -self.uncertainty, self.id


_FROM = reviews.outerjoin(
    review_lines,
    and_(review_lines.c.workspace == reviews.c.workspace, review_lines.c.id == reviews.c.id),
)
_SELECT = select(
    *(reviews.c[name] for name in Candidate._fields[:-2]),
    review_lines.c.task,
    review_lines.c.reasons,
).select_from(_FROM)
_WORKSPACE = reviews.c.workspace == bindparam("workspace")
_RUN = (
    reviews.c.slice_key == bindparam("slice_key"),
    reviews.c.kind == bindparam("kind"),
)
_OPEN = reviews.c.open == literal_column("1")
_BAND = (
    reviews.c.level == bindparam("level"),
    reviews.c.rank == bindparam("rank"),
    reviews.c.deadline <= bindparam("until"),
)


def _part(*among: Any, order: Sequence[Any] = ORDER) -> Statement:
    query = _SELECT.where(_WORKSPACE, *among).order_by(*order)
    return compiled(query.limit(bindparam("limit")).offset(bindparam("offset")))


QUEUE, QUEUE_RUN = _part(_OPEN), _part(*_RUN, _OPEN)
BAND, BAND_RUN = _part(_OPEN, *_BAND), _part(*_RUN, _OPEN, *_BAND)
HELD = _part(
    _OPEN,
    reviews.c.claimed_by.is_not(None),
    reviews.c.lease_until > bindparam("now"),
    order=(reviews.c.claimed_by,),
)
OVER = _part(reviews.c.open == literal_column("0"), order=(reviews.c.opened_at.desc(),))
OVER_RUN = _part(*_RUN, reviews.c.state == bindparam("state"), order=(reviews.c.opened_at.desc(),))


def _first(column: Any, *among: Any) -> Statement:
    query = select(column).where(_WORKSPACE, _OPEN, *among).order_by(column.desc())
    return compiled(query.limit(literal_column("1")).offset(literal_column("0")))


LEVEL_BELOW = _first(reviews.c.level, reviews.c.level < bindparam("level"))
RANK_BELOW = _first(
    reviews.c.rank, reviews.c.level == bindparam("level"), reviews.c.rank < bindparam("rank")
)


def candidates(
    fetch: Fetch, workspace: str, wanted: Wanted, sought: Sought, *, now: int
) -> Iterator[Candidate]:
    """Yield what `wanted` and `sought` mean, but for text and reason, in working order."""
    if not wanted.is_open:
        found = _over(fetch, workspace, wanted)
        return (one for one in found if sought.rank in {None, one.rank})
    if sought.is_held or sought.held_by is not None:
        return _held(fetch, workspace, wanted, sought, now)
    if sought.rank is None and sought.due_by is None and not sought.is_up:
        return _merged(fetch, workspace, wanted, (QUEUE, QUEUE_RUN), ())
    return _banded(fetch, workspace, wanted, sought)


def _over(fetch: Fetch, workspace: str, wanted: Wanted) -> Iterator[Candidate]:
    runs = over_runs(fetch, workspace, wanted)
    if runs is None:
        return _along(fetch, OVER, (workspace,))
    parts = [_along(fetch, OVER_RUN, (workspace, *one)) for one in runs]
    return heapq.merge(*parts, key=lambda one: -one.opened_at)


def _held(
    fetch: Fetch, workspace: str, wanted: Wanted, sought: Sought, now: int
) -> Iterator[Candidate]:
    rows = fetch(HELD, (workspace, now, LOOKED_AT, 0))
    until = FOREVER if sought.due_by is None else to_micros(sought.due_by)
    return iter(
        sorted(
            (
                one
                for one in map(Candidate._make, rows)
                if (not wanted.slices or one.slice_key in wanted.slices)
                and ReviewKind(one.kind) in wanted.kinds
                and sought.held_by in {None, one.claimed_by}
                and sought.rank in {None, one.rank}
                and one.level >= sought.is_up
                and one.deadline <= until
            ),
            key=lambda one: one.urgency,
        )
    )


def _banded(fetch: Fetch, workspace: str, wanted: Wanted, sought: Sought) -> Iterator[Candidate]:
    until = FOREVER if sought.due_by is None else to_micros(sought.due_by)
    for level, rank in _bands(fetch, workspace):
        if level >= sought.is_up and sought.rank in {None, rank}:
            band = (level, rank, until)
            yield from _merged(fetch, workspace, wanted, (BAND, BAND_RUN), band)


def _bands(fetch: Fetch, workspace: str) -> Iterator[tuple[int, int]]:
    """Yield which steps and stakes there are, most urgent first; a seek in the index for each."""
    level = FOREVER
    while levels := fetch(LEVEL_BELOW, (workspace, level)):
        level, rank = levels[0][0], FOREVER
        while ranks := fetch(RANK_BELOW, (workspace, level, rank)):
            rank = ranks[0][0]
            yield level, rank


def _merged(
    fetch: Fetch,
    workspace: str,
    wanted: Wanted,
    statements: tuple[Statement, Statement],
    band: Sequence[Any],
) -> Iterator[Candidate]:
    whole, run = statements
    runs = open_runs(fetch, workspace, wanted)
    if runs is None:
        return _along(fetch, whole, (workspace, *band))
    parts = [_along(fetch, run, (workspace, *one, *band)) for one in runs]
    return heapq.merge(*parts, key=lambda one: one.urgency)


def _along(fetch: Fetch, statement: Statement, parameters: Sequence[Any]) -> Iterator[Candidate]:
    offset, size = 0, FIRST_PART
    while rows := fetch(statement, (*parameters, size, offset)):
        yield from map(Candidate._make, rows)
        offset, size = offset + len(rows), min(2 * size, LARGEST_PART)
