"""`sureline review`: work through what the gate sent to people (R2-R5)."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from sureline.application.ports.reviews import Wanted
from sureline.application.review.desk import ReviewDesk, Said
from sureline.application.review.in_json import item_json, review_json
from sureline.application.review.item import ReviewItem
from sureline.bootstrap import Services
from sureline.cli.answer_first import answer
from sureline.cli.options import ByOption, JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import print_json, say
from sureline.cli.review_bulk import bulk
from sureline.cli.review_health import health
from sureline.cli.review_list import SliceOption, list_
from sureline.cli.review_text import item_lines
from sureline.cli.session import on_store
from sureline.core.gate.acting import acting
from sureline.core.values.outcome import Action
from sureline.core.values.review import Review
from sureline.errors import InvalidInput

review_app = typer.Typer(
    help="Work through what the gate sent to people.", no_args_is_help=True, add_completion=False
)

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The review's id.")]
CommentOption = Annotated[str | None, typer.Option("--comment", help="Anything worth keeping.")]
ReasonOption = Annotated[
    str | None, typer.Option("--reason", help="Why, in a word such as wrong_total.")
]
DigestOption = Annotated[
    str | None,
    typer.Option(
        "--digest",
        help="The digest of what you were shown (`sureline review show`); without it, of what the "
        "item holds now.",
    ),
]


review_app.command("answer")(answer)
review_app.command("list")(list_)


@review_app.command("show")
def show(
    review_id: IdArgument,
    by: Annotated[
        str | None, typer.Option("--by", help="Who looks, where an item asks to answer first.")
    ] = None,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Show an item with all that is needed to decide."""
    named = None if by is None else acting(by, field="--by")

    async def work(services: Services) -> ReviewItem:
        return await services.desk.show(review_id, named or "")

    item = on_store(work, store=store, workspace=workspace, by=named)
    if as_json:
        print_json(item_json(item))
        return
    for line in item_lines(item):
        say(line)


@review_app.command("claim")
def claim(
    by: ByOption,
    review_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="Which; without it, the most urgent.")
    ] = None,
    slice_key: SliceOption = None,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Take an item, so that nobody else works on it meanwhile."""
    wanted = Wanted(slices=tuple(slice_key or ()), across=bool(slice_key))
    named = acting(by, field="--by")

    async def work(services: Services) -> Review | None:
        if review_id is not None:
            return await services.desk.claim(review_id, named)
        return await services.desk.next(named, wanted)

    found = on_store(work, store=store, workspace=workspace, by=named)
    if as_json:
        print_json({"review": None if found is None else review_json(found)})
    else:
        say("nothing waits for you" if found is None else _told(found))


@review_app.command("approve")
def approve(
    review_id: IdArgument,
    by: ByOption,
    digest: DigestOption = None,
    reason: ReasonOption = None,
    comment: CommentOption = None,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Release the output as it is."""
    said = _Word(Action.APPROVE, acting(by, field="--by"), digest, reason, comment)
    work = said.decide(review_id)
    _show(on_store(work, store=store, workspace=workspace, by=said.by), as_json)


@review_app.command("reject")
def reject(
    review_id: IdArgument,
    by: ByOption,
    digest: DigestOption = None,
    reason: ReasonOption = None,
    comment: CommentOption = None,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Do not release the output."""
    said = _Word(Action.REJECT, acting(by, field="--by"), digest, reason, comment)
    work = said.decide(review_id)
    _show(on_store(work, store=store, workspace=workspace, by=said.by), as_json)


@review_app.command("edit")
def edit(
    review_id: IdArgument,
    by: ByOption,
    output: Annotated[
        str, typer.Option("--output", help="The whole output as it shall be, as JSON.")
    ],
    digest: DigestOption = None,
    reason: ReasonOption = None,
    comment: CommentOption = None,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Release the output with corrections; it is checked like any output."""
    try:
        edited = json.loads(output)
    except ValueError as error:
        raise InvalidInput(f"expected JSON: {error}", field="--output") from None
    said = _Word(Action.EDIT, acting(by, field="--by"), digest, reason, comment, edited)
    work = said.decide(review_id)
    _show(on_store(work, store=store, workspace=workspace, by=said.by), as_json)


@review_app.command("skip")
def skip(
    review_id: IdArgument,
    by: ByOption,
    comment: CommentOption = None,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Leave an item to somebody else; it is not offered to you again."""
    named = acting(by, field="--by")
    work = _on_desk(lambda desk: desk.skip(review_id, named, comment))
    _show(on_store(work, store=store, workspace=workspace, by=named), as_json)


@review_app.command("escalate")
def escalate(
    review_id: IdArgument,
    by: ByOption,
    comment: CommentOption = None,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Hand an item a step up."""
    named = acting(by, field="--by")
    work = _on_desk(lambda desk: desk.escalate(review_id, named, comment))
    _show(on_store(work, store=store, workspace=workspace, by=named), as_json)


@review_app.command("undo")
def undo(
    review_id: IdArgument,
    by: ByOption,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Take your verdict back before it is handed out."""
    named = acting(by, field="--by")
    work = _on_desk(lambda desk: desk.undo(review_id, named))
    _show(on_store(work, store=store, workspace=workspace, by=named), as_json)


review_app.command("bulk")(bulk)
review_app.command("health")(health)


@dataclass(frozen=True, slots=True)
class _Word:
    """What is said on the command line about an item."""

    action: Action
    by: str
    digest: str | None
    reason: str | None
    comment: str | None
    edited: Any = None

    def decide(self, review_id: str) -> Callable[[Services], Awaitable[Review]]:
        """Return the work of deciding; without a digest, what the item holds now is meant."""

        async def work(services: Services) -> Review:
            desk = services.desk
            digest = self.digest or (await desk.show(review_id)).review.digest
            said = Said(
                action=self.action,
                by=self.by,
                digest=digest,
                edited=self.edited,
                reason=self.reason,
                comment=self.comment,
            )
            return await desk.decide(review_id, said)

        return work


def _on_desk(
    act: Callable[[ReviewDesk], Awaitable[Review]],
) -> Callable[[Services], Awaitable[Review]]:
    async def work(services: Services) -> Review:
        return await act(services.desk)

    return work


def _show(item: Review, as_json: bool) -> None:
    if as_json:
        print_json({"review": review_json(item)})
    else:
        say(_told(item))


def _told(item: Review) -> str:
    """Say in a line where an item stands."""
    said = f"{item.id} is {item.state}"
    if item.claimed_by is not None and item.lease_until is not None:
        return f"{said} by {item.claimed_by} until {item.lease_until:%Y-%m-%d %H:%M} UTC"
    if item.verdict is not None and item.release_at is not None:
        until = "" if item.released else f"; it can be undone until {item.release_at:%H:%M:%S} UTC"
        return f"{said}: {item.verdict.action} by {item.verdict.by}{until}"
    left = item.rules.approvals - len(item.approvals)
    if item.approvals and left:
        return f"{said}: {left} more must approve"
    return said
