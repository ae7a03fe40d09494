"""`sureline outcome`: say what became of an output; that is a label (G23)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from sureline.application.label import GivenAnswer
from sureline.bootstrap import Services
from sureline.cli.options import ByOption, JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import print_json, say
from sureline.cli.session import on_store
from sureline.core.learning.labels import effective
from sureline.core.values.outcome import Action, Outcome, OutcomeSource


def outcome(
    decision_id: Annotated[str, typer.Argument(metavar="ID", help="The decision's id.")],
    action: Annotated[Action, typer.Option("--action", help="What the person did.")],
    by: ByOption,
    source: Annotated[
        OutcomeSource, typer.Option("--source", help="Where this is known from.")
    ] = OutcomeSource.REVIEW,
    edited: Annotated[
        list[str] | None, typer.Option("--edited", help="A field that an edit changed; repeat.")
    ] = None,
    blind: Annotated[
        bool, typer.Option("--blind", help="The person answered before seeing the output.")
    ] = False,
    comment: Annotated[
        str | None, typer.Option("--comment", help="Anything worth keeping.")
    ] = None,
    outcome_id: Annotated[
        str | None, typer.Option("--id", help="An id of your own: repeating it is harmless.")
    ] = None,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Record what a person did with an output, or what turned out later."""
    answer = GivenAnswer(
        decision_id=decision_id,
        action=action,
        by=by,
        source=source,
        id=outcome_id,
        edited_fields=tuple(edited or ()),
        anchored=not blind,
        comment=comment,
    )

    async def work(services: Services) -> tuple[Outcome, Sequence[Outcome]]:
        recorded = await services.labeller.record(workspace, answer)
        return recorded, await services.ledger.outcomes(workspace, decision_id)

    recorded, known = on_store(work, store=store, workspace=workspace)
    place = next((i for i, one in enumerate(known) if one.id == recorded.id), len(known))
    before, after = effective(known[:place]), effective(known[: place + 1])
    if as_json:
        print_json(_json(recorded, before, after))
    else:
        _show(recorded, before, after)


def _json(recorded: Outcome, before: Outcome | None, after: Outcome | None) -> dict[str, Any]:
    return {
        "id": recorded.id,
        "decision_id": recorded.decision_id,
        "action": recorded.action,
        "correct": recorded.correct,
        "source": recorded.source,
        "by": recorded.by,
        "recorded_at": recorded.recorded_at.isoformat(),
        "overrides": before.id if before is not None and _holds(recorded, after) else None,
        "overridden_by": None if after is None or _holds(recorded, after) else after.id,
    }


def _show(recorded: Outcome, before: Outcome | None, after: Outcome | None) -> None:
    said = f"{recorded.decision_id}: {recorded.action} by {recorded.by}, counts as "
    if recorded.correct is None:
        say(said + "no label")
    elif after is not None and not _holds(recorded, after):
        say(f"{recorded.decision_id}: {recorded.action} by {recorded.by} is kept in the ledger")
        say(f"the label stays {_named(after)}: {after.source} counts more than {recorded.source}")
    else:
        say(said + _label(recorded))
        if before is not None:
            say(f"this overrides {_named(before)}, which stays in the ledger")


def _holds(recorded: Outcome, after: Outcome | None) -> bool:
    return after is not None and after.id == recorded.id


def _label(one: Outcome) -> str:
    return "correct" if one.correct else "wrong"


def _named(one: Outcome) -> str:
    """Name an earlier answer: what it said, where it is known from, and who gave it."""
    return f"{_label(one)!r} from {one.source} by {one.by}"
