"""`sureline outcome`: say what became of an output; that is a label (G23)."""

from __future__ import annotations

from typing import Annotated

import typer

from sureline.application.label import GivenAnswer
from sureline.bootstrap import Services
from sureline.cli.options import ByOption, JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import print_json, say
from sureline.cli.session import on_store
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

    async def work(services: Services) -> Outcome:
        return await services.labeller.record(workspace, answer)

    recorded = on_store(work, store=store, workspace=workspace)
    if as_json:
        print_json(
            {
                "id": recorded.id,
                "decision_id": recorded.decision_id,
                "action": recorded.action,
                "correct": recorded.correct,
                "source": recorded.source,
                "by": recorded.by,
                "recorded_at": recorded.recorded_at.isoformat(),
            }
        )
        return
    label = {True: "correct", False: "wrong", None: "no label"}[recorded.correct]
    say(f"{recorded.decision_id}: {recorded.action} by {recorded.by}, counts as {label}")
