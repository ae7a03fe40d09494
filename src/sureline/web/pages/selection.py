"""Approve or reject the items that are selected in the inbox, and take that back (R3)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import parse_qsl, unquote

from sureline.application.ports.keys import ApiKey
from sureline.application.review.bulk import Bulk, Row, RowDone, bulk_fault
from sureline.core.values.outcome import Action
from sureline.core.values.review import Review
from sureline.core.values.review_line import ReviewLine
from sureline.errors import Forbidden, InvalidInput, NotFound, Refused, StoreError, SurelineError
from sureline.web.access import check_slice
from sureline.web.pages.notice import can_undo
from sureline.web.pages.page import Visit
from sureline.web.pages.screen import REVIEWERS
from sureline.web.pages.templates import step

PICK = "pick-"
"""With a number, the name of a checkbox: no two are alike, whatever their items are called."""
MOST = 100
UNDO = "undo"
ACTS = {"approve": "approved", "reject": "rejected", UNDO: "taken back"}
_FIGURES = re.compile(r'"[^"]*"|\d[\d.,]*')


@dataclass(frozen=True, slots=True, kw_only=True)
class Picks:
    """What became of what was selected: the items that were done, and why others were not.

    `word` says what they are now. `back` are the values by which all can be taken back, until the
    first of them is handed out.
    """

    word: str
    done: tuple[str, ...]
    left: tuple[tuple[str, str], ...]
    back: tuple[str, ...]
    until: datetime | None


def pick_of(item: Review) -> str:
    """Return the value of an item's checkbox: the content that is listed, and its id."""
    return f"{item.digest} {step(item.id)}"


def may_pick(key: ApiKey, item: Review, now: datetime) -> bool:
    """Tell whether an item can be decided from the list, by this person and unread."""
    return (
        key.role in REVIEWERS
        and item.state.is_open
        and not item.rules.answer_first
        and bulk_fault(item) is None
        and item.submitted_by != key.name
        and (not item.is_held(now) or item.claimed_by == key.name)
    )


def likeness(item: Review, line: ReviewLine | None) -> str:
    """Return a mark that items of one slice share whose finding differs in its figures alone."""
    found = "" if line is None else _FIGURES.sub("…", line.found)
    reasons = () if line is None else line.reasons
    return hashlib.sha256(repr((item.slice_key, found, reasons)).encode()).hexdigest()[:12]


async def picked(visit: Visit) -> Picks:
    """Do what the button says with each selected item. Raises InvalidInput for a bad form."""
    act = visit.form.get("act", "")
    if act not in ACTS:
        raise InvalidInput("expected one of the buttons", field="act")
    rows = _rows(visit.form)
    done = await _undone(visit, rows) if act == UNDO else await _decided(visit, rows, act)
    return _told(visit, act, done)


def list_visit(visit: Visit) -> Visit:
    """Return the visit of the list from which the form was sent."""
    query = dict(parse_qsl(visit.view.query)) or {"all": "1"}
    return replace(visit, query=query, form={}, address=f"/?{visit.view.query or 'all=1'}")


def _rows(form: Mapping[str, str]) -> list[Row]:
    rows = []
    for name, value in form.items():
        if name.startswith(PICK):
            digest, _, named = value.partition(" ")
            rows.append(Row(id=unquote(named), digest=digest))
    if len(rows) > MOST:
        raise InvalidInput(f"expected at most {MOST} items at once")
    return rows


async def _decided(visit: Visit, rows: Sequence[Row], act: str) -> list[RowDone]:
    key = visit.signed_in.key

    def check(item: Review) -> None:
        check_slice(key, item.slice_key)
        if item.submitted_by == key.name:
            raise Forbidden("nobody decides about their own proposal; somebody else must")
        fault = bulk_fault(item)
        if fault is not None:
            raise Refused(fault)

    desk = visit.context.services.desk
    return await Bulk(desk=desk, action=Action(act), by=key.name, check=check).do(rows)


async def _undone(visit: Visit, rows: Sequence[Row]) -> list[RowDone]:
    desk, key = visit.context.services.desk, visit.signed_in.key
    done = []
    for row in rows:
        try:
            item = await desk.store.get(desk.workspace, row.id)
            if item is None:
                raise NotFound("there is no such review")
            check_slice(key, item.slice_key)
            done.append(RowDone(id=row.id, review=await desk.undo(row.id, key.name)))
        except StoreError:
            raise
        except SurelineError as error:
            done.append(RowDone(id=row.id, error=error))
    return done


def _told(visit: Visit, act: str, rows: Sequence[RowDone]) -> Picks:
    name, now = visit.signed_in.key.name, visit.context.services.clock.now()
    back = [one.review for one in rows if one.review and can_undo(one.review, name, now)]
    return Picks(
        word=ACTS[act],
        done=tuple(one.id for one in rows if one.error is None),
        left=tuple((one.id, one.error.message) for one in rows if one.error is not None),
        back=tuple(map(pick_of, back)),
        until=min((one.release_at for one in back if one.release_at), default=None),
    )
