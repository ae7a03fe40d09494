"""What a person says about a mission: `sureline mission suspend`, `resume`, `extend` and so on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Annotated, Protocol

import typer

from sureline.application.mission.in_json import mission_json
from sureline.application.mission.missions import Missions
from sureline.bootstrap import Services
from sureline.cli.options import ByOption, JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import print_json, say
from sureline.cli.session import on_store
from sureline.core.gate.acting import acting
from sureline.core.values.mission import Mission, MissionState
from sureline.errors import InvalidInput

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The mission's id.")]
NoteOption = Annotated[str, typer.Option("--note", help="Why; it is recorded.")]
Act = Callable[[Missions, str], Awaitable[Mission]]


class Said(Protocol):
    """What a person says with no more than a note; a method of `Missions`."""

    def __call__(
        self, missions: Missions, mission_id: str, /, *, by: str, note: str
    ) -> Awaitable[Mission]:
        """Do it, and return the mission after it."""


def said(act: Said, about: str) -> Callable[..., None]:
    """Return the command that says so; `about` is its help."""

    def command(
        mission_id: IdArgument,
        by: ByOption,
        note: NoteOption = "",
        store: StoreOption = None,
        workspace: WorkspaceOption = "default",
        as_json: JsonOption = False,
    ) -> None:
        _do(
            lambda missions, who: act(missions, mission_id, by=who, note=note),
            by=by,
            store=store,
            workspace=workspace,
            as_json=as_json,
        )

    command.__doc__ = about
    return command


def extend(
    mission_id: IdArgument,
    by: ByOption,
    hours: Annotated[
        float | None, typer.Option("--hours", help="More time, from its deadline or from now.")
    ] = None,
    invocations: Annotated[
        int | None, typer.Option("--invocations", help="More invocations.")
    ] = None,
    tokens: Annotated[int | None, typer.Option("--tokens", help="More tokens.")] = None,
    cost: Annotated[float | None, typer.Option("--cost", help="More US dollars.")] = None,
    calls: Annotated[int | None, typer.Option("--calls", help="More calls of tools.")] = None,
    note: NoteOption = "",
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Raise limits; a mission that failed by a limit goes on, a suspended one waits for resume."""
    _do(
        lambda missions, who: missions.extend(
            mission_id,
            by=who,
            hours=hours,
            invocations=invocations,
            tokens=tokens,
            cost=cost,
            calls=calls,
            note=note,
        ),
        by=by,
        store=store,
        workspace=workspace,
        as_json=as_json,
        hint=f"it is still suspended: sureline mission resume {mission_id} lets it go on",
    )


def change(
    mission_id: IdArgument,
    by: ByOption,
    objective: Annotated[
        str | None, typer.Option("--objective", help="What is to be achieved from now on.")
    ] = None,
    criteria: Annotated[
        list[str] | None,
        typer.Option("--criterion", help="What must hold from now on; repeatable, replaces all."),
    ] = None,
    note: NoteOption = "",
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Give a mission another objective or other criteria; no verdict on the old ones counts."""
    if objective is None and not criteria:
        raise InvalidInput("say what is changed: --objective or --criterion", field="--objective")
    given = tuple(criteria) if criteria else None
    _do(
        lambda missions, who: missions.change(
            mission_id, by=who, objective=objective, criteria=given, note=note
        ),
        by=by,
        store=store,
        workspace=workspace,
        as_json=as_json,
    )


def erase(
    mission_id: IdArgument,
    by: ByOption,
    reason: Annotated[str, typer.Option("--reason", help="Why; it is recorded.")],
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Erase a mission's words and those of its evaluations; codes and figures stay."""
    if not reason.strip():
        raise InvalidInput("say why", field="--reason")
    named = acting(by, field="--by")

    async def work(services: Services) -> bool:
        return await services.missions.erase(mission_id, by=named, reason=reason.strip())

    done = on_store(work, store=store, workspace=workspace, by=named)
    if as_json:
        print_json({"id": mission_id, "erased": done})
    else:
        say(f"erased {mission_id}" if done else f"{mission_id} was erased before")


acts: Mapping[str, Callable[..., None]] = {
    "suspend": said(
        Missions.suspend,
        "Stop a mission until somebody resumes it; what is running is ended by its supervisor.",
    ),
    "resume": said(
        Missions.resume,
        "Let a suspended mission go on; asked whether it is achieved, you say that it is not.",
    ),
    "extend": extend,
    "complete": said(Missions.complete, "End a mission: you say that its objective is achieved."),
    "fail": said(
        Missions.fail, "End a mission as failed: you say that its objective is not achieved."
    ),
    "change": change,
    "erase": erase,
}


def _do(
    act: Act, *, by: str, store: str | None, workspace: str, as_json: bool, hint: str = ""
) -> None:
    """Do what a person says; `hint` is for a mission that is suspended after it."""
    named = acting(by, field="--by")

    async def work(services: Services) -> tuple[Mission, datetime]:
        return await act(services.missions, named), services.clock.now()

    mission, now = on_store(work, store=store, workspace=workspace, by=named)
    if as_json:
        print_json(mission_json(mission, now=now))
    else:
        say(f"{mission.id} is {mission.state} ({mission.cause})")
        if hint and mission.state is MissionState.SUSPENDED:
            say(hint)
