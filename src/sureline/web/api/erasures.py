"""Erasing over HTTP: everything that is kept about somebody (L12)."""

from __future__ import annotations

from dataclasses import asdict

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from sureline.application.ports.keys import ApiKey, Role
from sureline.bootstrap.erasing import subject_eraser
from sureline.core.gate.acting import acting
from sureline.errors import Forbidden
from sureline.web.api.shapes import Name, Sentence
from sureline.web.operation import Answer, Call, Operation
from sureline.web.reply import Reply

_FORBID = ConfigDict(extra="forbid", strict=True)
_ERASERS = frozenset({Role.ADMIN, Role.AUDITOR})
MOST = 500
"""Decisions that one request erases: it stays within any proxy's patience."""


@with_config(_FORBID)
class SubjectFields(TypedDict):
    """Whose decisions are meant. In the body, so that no log of addresses has it."""

    subject: Name


@with_config(_FORBID)
class ErasureFields(SubjectFields):
    """Who asked for what: the reason stays in the ledger and must not name the subject."""

    reason: Sentence


class SubjectShape(TypedDict):
    """How many decisions about the subject have a payload."""

    decisions: int


class ErasedShape(TypedDict):
    """What was erased; with `left` above 0 the same request goes on.

    `views` are saved views that looked for the subject; `late` decisions about whomever that had
    been erased before and of which an earlier version kept what was said since.
    """

    erased: int
    left: int
    views: int
    late: int


async def preview(call: Call) -> Reply:
    """Count what is kept about a subject."""
    _check_unbound(call.key)
    count = await subject_eraser(call.context.services).count(call.body["subject"])
    return Reply.json({"decisions": count})


async def erase(call: Call) -> Reply:
    """Erase what is kept about a subject, in the name of a key."""
    _check_unbound(call.key)
    done = await subject_eraser(call.context.services).erase(
        call.body["subject"],
        by=acting(call.key.name, field="key"),
        reason=call.body["reason"],
        most=MOST,
    )
    return Reply.json(asdict(done))


def _check_unbound(key: ApiKey) -> None:
    if key.slices:
        raise Forbidden("this key is bound to slices, and a subject is erased in all of them")


OPERATIONS = (
    Operation(
        method="POST",
        path="/v1/erasures",
        name="eraseSubject",
        about="Erase for ever what is kept about a subject: payloads, vectors, comments. Decisions "
        "and their figures stay, and the ledger still verifies. Send it again while `left` is "
        "above 0.",
        run=erase,
        roles=_ERASERS,
        body=ErasureFields,
        answers={200: Answer("What was erased.", ErasedShape)},
        problems=frozenset({422}),
    ),
    Operation(
        method="POST",
        path="/v1/erasures/preview",
        name="previewErasure",
        about="Count the decisions about a subject that have a payload; nothing is erased.",
        run=preview,
        roles=_ERASERS,
        body=SubjectFields,
        answers={200: Answer("How many there are.", SubjectShape)},
        problems=frozenset({422}),
    ),
)
