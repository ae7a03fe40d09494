"""`sureline outcome`: say what became of an output; that is a label (G23)."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from sureline.application.label import GivenAnswer
from sureline.application.own_proposal import check_not_own
from sureline.bootstrap import Services
from sureline.cli.options import ByOption, JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import print_json, say
from sureline.cli.session import on_store
from sureline.cli.standing import Standing, labelled, standing
from sureline.core.gate.acting import acting
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
    named = acting(by, field="--by")
    answer = GivenAnswer(
        decision_id=decision_id,
        action=action,
        by=named,
        source=source,
        id=outcome_id,
        edited_fields=tuple(edited or ()),
        anchored=not blind,
        comment=comment,
    )

    async def work(services: Services) -> tuple[Outcome, Standing]:
        stored = await services.seen.decision(workspace, decision_id)
        check_not_own(stored, named, action)
        recorded = await services.labeller.record(workspace, answer)
        return recorded, standing(recorded, await services.ledger.outcomes(workspace, decision_id))

    recorded, told = on_store(work, store=store, workspace=workspace, by=named)
    if as_json:
        print_json(_json(recorded, told))
    else:
        _show(recorded, told)


def _json(recorded: Outcome, told: Standing) -> dict[str, Any]:
    return {
        "id": recorded.id,
        "decision_id": recorded.decision_id,
        "action": recorded.action,
        "correct": recorded.correct,
        "source": recorded.source,
        "by": recorded.by,
        "recorded_at": recorded.recorded_at.isoformat(),
        "words_erased": recorded.words_erased,
        **told.as_json(),
    }


def _show(recorded: Outcome, told: Standing) -> None:
    said = f"{recorded.decision_id}: {recorded.action} by {recorded.by}"
    if recorded.correct is None:
        say(f"{said}, counts as no label")
    elif told.overridden_by is not None:
        say(f"{said} is kept in the ledger")
    else:
        say(f"{said}, counts as {labelled(recorded)}")
    if recorded.words_erased:
        say("the comment is not kept, because what it is about is erased")
    for line in told.lines(recorded):
        say(line)
