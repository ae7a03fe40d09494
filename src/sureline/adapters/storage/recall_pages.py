"""Reads what a recall covers, page by page: memory does not grow with the number of decisions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sqlalchemy import and_, bindparam, literal_column, or_, select

from sureline.adapters.storage.corrections import lasting
from sureline.adapters.storage.moments import from_micros, to_micros
from sureline.adapters.storage.places import (
    EVERYWHERE,
    WRITER,
    number_of,
    place_of,
    stream_and_seq,
)
from sureline.adapters.storage.recall_rows import recalled
from sureline.adapters.storage.seal import sealed_until
from sureline.adapters.storage.statement import Statement, compiled
from sureline.adapters.storage.tables import consumptions, decisions, heads, payloads
from sureline.adapters.storage.transaction import COMMON_STREAM
from sureline.application.ports.recalls import Content, RecallPage
from sureline.core.chain import Head
from sureline.core.gate.answered import models_named
from sureline.core.review.opening import content_digest
from sureline.core.values.decision import Route
from sureline.core.values.proposal import Stakes
from sureline.core.values.recall import Covered, Recall, RecallWanted

PAGE = 500
"""Decisions that acted alone, looked at in one read."""
Fetch = Callable[[Statement, Sequence[Any]], list[Any]]

FACTS = (
    decisions.c.seq,
    decisions.c.id,
    decisions.c.slice_key,
    decisions.c.policy_hash,
    decisions.c.created_at,
    decisions.c.body,
    decisions.c.submitted_by,
    decisions.c.stream,
)
_AUTOMATIC = decisions.c.route == literal_column(f"'{Route.AUTO_APPROVE.value}'")
_PAGE = compiled(
    select(
        *FACTS,
        consumptions.c.consumed_at.is_not(None),
        recalled.c.recall_id,
    )
    .select_from(
        decisions.outerjoin(
            consumptions,
            and_(
                consumptions.c.workspace == decisions.c.workspace,
                consumptions.c.decision_id == decisions.c.id,
            ),
        ).outerjoin(
            recalled,
            and_(
                recalled.c.workspace == decisions.c.workspace,
                recalled.c.decision_id == decisions.c.id,
            ),
        )
    )
    .where(decisions.c.stream == bindparam("stream"))
    .where(decisions.c.seq > bindparam("after"), decisions.c.seq <= bindparam("until"))
    # Not the bare column: its index would find the whole workspace anew for every page.
    .where(decisions.c.workspace.concat(literal_column("''")) == bindparam("workspace"), _AUTOMATIC)
    .where(
        decisions.c.created_at >= bindparam("begins"), decisions.c.created_at < bindparam("ends")
    )
    .where(
        or_(
            bindparam("any_slice") == literal_column("''"),
            decisions.c.slice_key == bindparam("slice_key"),
        )
    )
    .order_by(decisions.c.seq)
    .limit(bindparam("page"))
    .offset(literal_column("0"))
)
_HEADS = compiled(select(heads.c.stream, heads.c.seq))
_PAYLOAD = compiled(
    select(payloads.c.answer, payloads.c.request).where(
        payloads.c.stream == bindparam("stream"), payloads.c.seq == bindparam("seq")
    )
)
_REQUEST = compiled(
    select(payloads.c.request).where(
        payloads.c.stream == bindparam("stream"), payloads.c.seq == bindparam("seq")
    )
)
_ONE = compiled(
    select(*FACTS).where(
        decisions.c.workspace == bindparam("workspace"),
        decisions.c.id == bindparam("id"),
        _AUTOMATIC,
    )
)
_EVER, _NEVER = -(2**62), 2**62


def horizon(fetch: Fetch) -> int:
    """Return the newest place in the ledger; with streams of writers, all places are meant."""
    found = dict(fetch(_HEADS, ()))
    return int(found.get(COMMON_STREAM, 0)) if {*found} <= {COMMON_STREAM} else EVERYWHERE


def page_of(
    fetch: Fetch, workspace: str, wanted: RecallWanted, after: int, until: int
) -> RecallPage:
    """Return the next decisions that are covered, in the order of the ledger."""
    begins = _EVER if wanted.since is None else to_micros(wanted.since)
    ends = _NEVER if wanted.until is None else to_micros(wanted.until)
    key = wanted.slice_key or ""
    rows: list[Any] = []
    place: int | None = after
    while place is not None and not rows:
        stream, seq = stream_and_seq(place)
        end = _end_of(fetch, stream, until)
        rows = fetch(_PAGE, (stream, seq, end, workspace, begins, ends, key, key, PAGE))
        place = _next_stream(fetch, stream)
    covered = tuple(_covered(row) for row in rows if covers(fetch, wanted, row))
    return RecallPage(
        covered=covered,
        next_mark=_place(rows[-1]) if len(rows) == PAGE else place,
    )


def _next_stream(fetch: Fetch, stream: str) -> int | None:
    """Return the place before the first one of the next stream that there is."""
    later = [one for one in map(number_of, dict(fetch(_HEADS, ()))) if one > number_of(stream)]
    return place_of(f"{WRITER}{min(later)}", 0) if later else None


def _place(row: Sequence[Any]) -> int:
    """Return the place of a row that begins with the columns `FACTS`."""
    return place_of(row[len(FACTS) - 1], row[0])


def covers(fetch: Fetch, wanted: RecallWanted, row: Sequence[Any]) -> bool:
    """Tell whether a decision, as the columns `FACTS`, is meant."""
    _, _, slice_key, policy, created_at, body, _, _ = row[: len(FACTS)]
    said = lasting(body)
    models: set[str] = set()
    if wanted.model is not None:
        signals = said.get("signals", {}).values()
        models = {*models_named(one.get("detail", {}) for one in signals)}
        models.update(_generator(fetch, _place(row)))
    return wanted.covers(
        slice_key=slice_key,
        policy=policy,
        certificate=said.get("certificate"),
        decided_at=from_micros(created_at),
        models=models,
    )


def is_before(fetch: Fetch, recall: Recall, row: Sequence[Any]) -> bool:
    """Tell whether a decision, as the columns `FACTS`, was made before a recall began."""
    seq: int = row[0]
    return seq <= _end_of(fetch, row[len(FACTS) - 1], recall.until_mark)


def _end_of(fetch: Fetch, stream: str, until: int) -> int:
    """Return the last row of a stream that is meant by a horizon.

    Up to `EVERYWHERE` it is a row of the common stream, the only one that there is; `EVERYWHERE`
    is all there is at the moment of reading; beyond it is what the seals up to that row of the
    common stream name.
    """
    if until < EVERYWHERE:
        return until if stream == COMMON_STREAM else 0
    last = until - EVERYWHERE
    if not last:
        return EVERYWHERE
    if stream == COMMON_STREAM:
        return last
    return sealed_until(fetch, last).get(stream, Head()).seq


def automatic(fetch: Fetch, workspace: str, decision_id: str) -> Sequence[Any] | None:
    """Return a decision that acted alone as the columns `FACTS`, None for any other."""
    rows = fetch(_ONE, (workspace, decision_id))
    return rows[0] if rows else None


def content_of(fetch: Fetch, mark: int) -> Content | None:
    """Return what a decision's item shows, None once it was erased."""
    rows = fetch(_PAYLOAD, stream_and_seq(mark))
    if not rows:
        return None
    output, task = json.loads(rows[0][0])["output"], json.loads(rows[0][1])["task"]
    return Content(digest=content_digest(output), task=task)


def _generator(fetch: Fetch, mark: int) -> Iterator[str]:
    """Yield what the agent named as its model: a claim, but a recall rather covers too much."""
    rows = fetch(_REQUEST, stream_and_seq(mark))
    named = json.loads(rows[0][0]).get("generator") if rows else None
    if isinstance(named, dict) and isinstance(named.get("model"), str):
        yield named["model"]


def _covered(row: Sequence[Any]) -> Covered:
    body = lasting(row[5])
    return Covered(
        mark=_place(row),
        decision_id=row[1],
        slice_key=row[2],
        decided_at=from_micros(row[4]),
        stakes=body.get("stakes", Stakes.IRREVERSIBLE.value),
        confidence=body.get("confidence"),
        certificate=body.get("certificate"),
        submitted_by=row[6],
        used=bool(row[8]),
        recalled_by=row[9],
    )
