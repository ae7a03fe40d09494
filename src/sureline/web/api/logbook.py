"""What changed, when, by whom, and what it did to automation (L6)."""

from __future__ import annotations

from datetime import timedelta

from typing_extensions import TypedDict

from sureline.application.logbook import Change, entry_json
from sureline.web.api.shapes import Moment, Unit
from sureline.web.operation import READERS, Answer, Call, Operation, QueryNumber
from sureline.web.reply import Reply

DAYS = QueryNumber(
    name="days", about="How many days to look back.", default=90.0, least=1.0, most=36_500.0
)


class RateShape(TypedDict):
    """How many of some decisions were automated; `share` is null without decisions."""

    automated: int
    decisions: int
    share: Unit | None


class EntryShape(TypedDict):
    """A change with the automation of the 7 days before and after its day."""

    at: Moment
    change: Change
    subject: str
    by: str
    note: str
    slice_key: str | None
    before: RateShape
    after: RateShape


class LogbookShape(TypedDict):
    """The changes, oldest first."""

    entries: list[EntryShape]


async def show(call: Call) -> Reply:
    """Return the changes that concern the slices that the key may see."""
    services = call.context.services
    since = services.clock.now() - timedelta(days=DAYS.read(call))
    entries = await services.logbook.entries(since, slices=call.key.slices)
    return Reply.json({"entries": [entry_json(one) for one in entries]})


OPERATIONS = (
    Operation(
        method="GET",
        path="/v1/logbook",
        name="logbook",
        about="Return activations, switches, guard trips and erasures, with automation before and "
        "after each.",
        run=show,
        roles=READERS,
        query=(DAYS,),
        answers={200: Answer("The changes, oldest first.", LogbookShape)},
        problems=frozenset({422}),
    ),
)
