"""Recalls over HTTP: see and call back what acted alone (R14)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Required

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from sureline.application.ports.keys import ApiKey
from sureline.application.recall import covered_json, recall_json
from sureline.bootstrap import Services
from sureline.core.gate.acting import acting
from sureline.core.values.moment import moment_of
from sureline.core.values.recall import Recall, RecallWanted
from sureline.errors import Forbidden
from sureline.web.access import check_slice
from sureline.web.api.shapes import Moment, Name, Sentence
from sureline.web.operation import ADMINS, READERS, Answer, Call, Operation
from sureline.web.reply import Reply

_FORBID = ConfigDict(extra="forbid", strict=True)
MOST_LISTED = 200
LONGEST_MARK = 2**53
MomentOrDay = Annotated[
    str, Field(json_schema_extra={"anyOf": [{"format": "date-time"}, {"format": "date"}]})
]
"""ISO 8601; a day begins at midnight UTC."""


class WantedFields(TypedDict, total=False):
    """What the decisions have in common; all that is given must hold. `since` is included."""

    certificate: Name
    model: Name
    policy: Annotated[str, Field(min_length=8, max_length=64)]
    since: MomentOrDay
    until: MomentOrDay
    slice_key: Name


@with_config(_FORBID)
class PreviewFields(WantedFields, total=False):
    """What is to be called back; `after` is where a page before has ended."""

    after: Annotated[int, Field(ge=0, le=LONGEST_MARK)]


@with_config(_FORBID)
class RecallFields(WantedFields, total=False):
    """What is called back, and why."""

    reason: Required[Sentence]


class WantedShape(TypedDict):
    """What the decisions have in common; null where it does not matter."""

    certificate: str | None
    model: str | None
    policy: str | None
    since: Moment | None
    until: Moment | None
    slice_key: str | None


class RecallShape(TypedDict):
    """A recall and how far it is; unfinished ones are gone on with by the server."""

    id: str
    wanted: WantedShape
    reason: str
    by: str
    started_at: Moment
    finished_at: Moment | None
    recalled: int
    queued: int
    used: int


class RecallsShape(TypedDict):
    """Recalls, the newest first."""

    recalls: list[RecallShape]


class CoveredShape(TypedDict):
    """A decision that acted alone; `recalled_by` is the recall that called it back before."""

    decision_id: str
    slice_key: str
    decided_at: Moment
    stakes: str
    certificate: str | None
    used: bool
    recalled_by: str | None


class PreviewShape(TypedDict):
    """What a recall would cover; `next` goes into `after` for the page that follows."""

    covered: int
    used: int
    unused: int
    recalled: int
    by_slice: dict[str, int]
    decisions: list[CoveredShape]
    next: int | None


async def preview(call: Call) -> Reply:
    """Count and list what a recall would cover; nothing is changed."""
    wanted = wanted_of(call.key, call.body)
    recaller, after = call.context.services.recaller, call.body.get("after", 0)
    page = await recaller.listed(wanted, after=after, limit=MOST_LISTED)
    counts = await recaller.preview(wanted)
    return Reply.json(
        {
            "covered": counts.covered,
            "used": counts.used,
            "unused": counts.unused,
            "recalled": counts.recalled,
            "by_slice": dict(counts.by_slice),
            "decisions": [covered_json(one) for one in page.covered],
            "next": page.next_mark,
        }
    )


async def start(call: Call) -> Reply:
    """Begin a recall; the server carries it out."""
    wanted = wanted_of(call.key, call.body)
    begun = await start_recall(call.context.services, call.key, wanted, call.body["reason"])
    return Reply.json(recall_json(begun), status=202)


async def show(call: Call) -> Reply:
    """Return the recalls that the key may see."""
    services, slices = call.context.services, call.key.slices
    found = await services.store.recalls.list(services.workspace)
    seen = [one for one in found if not slices or one.wanted.slice_key in slices]
    return Reply.json({"recalls": [recall_json(one) for one in seen]})


async def start_recall(
    services: Services, key: ApiKey, wanted: RecallWanted, reason: str
) -> Recall:
    """Begin a recall in the name of a key, and carry its first batch out."""
    by = acting(key.name, field="key")
    begun = await services.recaller.start(wanted, reason=reason, by=by)
    return begun if begun.finished_at is not None else await services.recaller.step(begun)


def wanted_of(key: ApiKey, given: Mapping[str, Any]) -> RecallWanted:
    """Return what is called back. Raises InvalidInput, and Forbidden for other slices."""
    wanted = RecallWanted(
        certificate=given.get("certificate"),
        model=given.get("model"),
        policy=given.get("policy"),
        since=_moment(given, "since"),
        until=_moment(given, "until"),
        slice_key=given.get("slice_key"),
    )
    if key.slices:
        if wanted.slice_key is None:
            raise Forbidden("this key is bound to slices, so it calls back in one of those only")
        check_slice(key, wanted.slice_key)
    return wanted


def _moment(given: Mapping[str, Any], name: str) -> datetime | None:
    text = given.get(name)
    return None if text is None else moment_of(text, field=name)


OPERATIONS = (
    Operation(
        method="GET",
        path="/v1/recalls",
        name="listRecalls",
        about="Return the latest recalls and how far they are.",
        run=show,
        roles=READERS,
        answers={200: Answer("The recalls.", RecallsShape)},
    ),
    Operation(
        method="POST",
        path="/v1/recalls",
        name="startRecall",
        about="Call back what acted alone under a certificate, model or policy, or in a period. "
        "Its approvals cannot be used any more, and people look at it again; nothing is released "
        "or executed.",
        run=start,
        roles=ADMINS,
        body=RecallFields,
        answers={202: Answer("The recall; the server goes on with it.", RecallShape)},
    ),
    Operation(
        method="POST",
        path="/v1/recalls/preview",
        name="previewRecall",
        about="Count and list what a recall would cover. Nothing is changed.",
        run=preview,
        roles=ADMINS,
        body=PreviewFields,
        answers={200: Answer("What would be called back.", PreviewShape)},
    ),
)
