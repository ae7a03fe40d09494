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

from sqlalchemy import BigInteger, and_, bindparam, literal_column, select

from sureline.adapters.storage.line_rows import review_lines
from sureline.adapters.storage.moments import to_micros
from sureline.adapters.storage.queue_pages import Fetch, meant, open_runs, over_runs
from sureline.adapters.storage.review_rows import ORDER, reviews
from sureline.adapters.storage.statement import Statement, compiled
from sureline.application.ports.inbox import LOOKED_AT, Sought
from sureline.application.ports.reviews import Wanted
from sureline.core.values.review import ReviewKind

Row = tuple[Any, ...]

FOREVER = 2**63 - 1
FIRST_PART = 128
"""How many rows are read together at first; what comes before a later part is walked over again."""
ALONE, AMONG_OTHERS = 10, 2
"""How much larger the next part is: of one run all may be needed, of one among many a few rows."""


class Candidate(NamedTuple):
    """What is compared of one item; without a line (None) where it was erased."""

    level: int
    rank: int
    deadline: int
    uncertainty: float
    id: str
    slice_key: str | None
    task: str | None
    reasons: str | None
    found: str | None

    @property
    def urgency(self) -> tuple[Any, ...]:
        """Return the sort key of the working order."""
        return -self.level, -self.rank, self.deadline, -self.uncertainty, self.id


_FROM = reviews.outerjoin(
    review_lines,
    and_(review_lines.c.workspace == reviews.c.workspace, review_lines.c.id == reviews.c.id),
)
_SIZE, _RANK = len(Candidate._fields), Candidate._fields.index("rank")
_LEVEL = Candidate._fields.index("level")
_COLUMNS = (
    reviews.c.level,
    reviews.c.rank,
    reviews.c.deadline,
    reviews.c.uncertainty,
    reviews.c.id,
    review_lines.c.slice_key,
    review_lines.c.task,
    review_lines.c.reasons,
    review_lines.c.found,
)
_SELECT = select(*_COLUMNS).select_from(_FROM)
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


def _part(*among: Any, order: Sequence[Any] = ORDER, more: Sequence[Any] = ()) -> Statement:
    query = _SELECT.add_columns(*more).where(_WORKSPACE, *among).order_by(*order)
    return compiled(query.limit(bindparam("limit")).offset(bindparam("offset")))


QUEUE, QUEUE_RUN = _part(_OPEN), _part(*_RUN, _OPEN)
BAND, BAND_RUN = _part(_OPEN, *_BAND), _part(*_RUN, _OPEN, *_BAND)
HELD = compiled(
    select(*_COLUMNS, reviews.c.slice_key, reviews.c.kind, reviews.c.claimed_by)
    .select_from(_FROM)
    .where(
        _WORKSPACE,
        _OPEN,
        reviews.c.claimed_by.is_not(None),
        reviews.c.claimed_by > literal_column("''"),  # so that the index of these is read
        reviews.c.lease_until > bindparam("now"),
    )
    .limit(bindparam("limit"))
    .offset(bindparam("offset"))
)
_NEWEST = reviews.c.opened_at.desc()
OVER = _part(reviews.c.open == literal_column("0"), order=(_NEWEST,), more=(reviews.c.opened_at,))
OVER_RUN = _part(
    *_RUN,
    reviews.c.state == bindparam("state"),
    order=(_NEWEST,),
    more=(reviews.c.opened_at,),
)


def _first(column: Any, *among: Any) -> Statement:
    query = select(column).where(_WORKSPACE, _OPEN, *among).order_by(column.desc())
    return compiled(query.limit(literal_column("1")).offset(literal_column("0")))


LEVEL_BELOW = _first(reviews.c.level, reviews.c.level < bindparam("level", type_=BigInteger))
RANK_BELOW = _first(
    reviews.c.rank,
    reviews.c.level == bindparam("level"),
    reviews.c.rank < bindparam("rank", type_=BigInteger),
)


def candidates(
    fetch: Fetch, workspace: str, wanted: Wanted, sought: Sought, *, now: int
) -> Iterator[Candidate]:
    """Yield what `wanted` and `sought` mean, but for text and reason, in working order."""
    if not wanted.is_open:
        rows = _over(fetch, workspace, wanted)
        return (_candidate(row) for row in rows if sought.rank in {None, row[_RANK]})
    if sought.is_held or sought.held_by is not None:
        return _held(fetch, workspace, wanted, sought, now)
    if sought.rank is None and sought.due_by is None and not sought.is_up:
        return _merged(fetch, workspace, wanted, (QUEUE, QUEUE_RUN), ())
    return _banded(fetch, workspace, wanted, sought)


def _over(fetch: Fetch, workspace: str, wanted: Wanted) -> Iterator[Row]:
    runs = over_runs(fetch, workspace, wanted)
    if runs is None:
        return _along(fetch, OVER, (workspace,), ALONE)
    parts = [_along(fetch, OVER_RUN, (workspace, *one)) for one in runs]
    return heapq.merge(*parts, key=lambda row: -row[-1])


def _held(
    fetch: Fetch, workspace: str, wanted: Wanted, sought: Sought, now: int
) -> Iterator[Candidate]:
    until = FOREVER if sought.due_by is None else to_micros(sought.due_by)
    held: list[Candidate] = []
    for row in fetch(HELD, (workspace, now, LOOKED_AT, 0)):
        one, (slice_key, kind, claimed_by) = _candidate(row), row[_SIZE:]
        if (
            wanted.has(slice_key, one.level)
            and ReviewKind(kind) in wanted.kinds
            and sought.held_by in {None, claimed_by}
            and sought.rank in {None, one.rank}
            and one.level >= sought.is_up
            and one.deadline <= until
        ):
            held.append(one)
    return iter(sorted(held, key=lambda one: one.urgency))


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
        return map(_candidate, _along(fetch, whole, (workspace, *band), ALONE))
    rows = [
        meant(wanted, one, _along(fetch, run, (workspace, *one, *band)), _LEVEL) for one in runs
    ]
    parts = [map(_candidate, part) for part in rows]
    return heapq.merge(*parts, key=lambda one: one.urgency)


def _candidate(row: Row) -> Candidate:
    return Candidate._make(row[:_SIZE])


def _along(
    fetch: Fetch, statement: Statement, parameters: Sequence[Any], growth: int = AMONG_OTHERS
) -> Iterator[Row]:
    offset, size = 0, FIRST_PART
    while rows := fetch(statement, (*parameters, size, offset)):
        yield from rows
        offset, size = offset + len(rows), min(growth * size, LOOKED_AT)
