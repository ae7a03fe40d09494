"""`sureline mission`: agents at work on an objective, and what people say about them (M1-M12)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any

import typer

from sureline.application.mission.in_json import event_json, mission_json
from sureline.application.mission.new_mission import NewMission
from sureline.application.ports.missions import MissionFilter
from sureline.bootstrap import Services
from sureline.cli.mission_acts import acts
from sureline.cli.mission_run import run
from sureline.cli.mission_view import events_table, show_mission, state_cell
from sureline.cli.options import JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import print_json, print_table, say
from sureline.cli.session import on_store
from sureline.core.values.mission import Mission, MissionEvent, MissionState
from sureline.errors import InvalidInput, Refused

mission_app = typer.Typer(
    help="See agents at work on an objective, answer for them, and run one.",
    no_args_is_help=True,
    add_completion=False,
)
mission_app.command(
    "run", context_settings={"allow_interspersed_args": False, "ignore_unknown_options": False}
)(run)
for name, act in acts.items():
    mission_app.command(name)(act)

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The mission's id.")]
_STATES = ", ".join(MissionState)
_STOPPED = frozenset({MissionState.SUSPENDED, MissionState.FAILED})


@mission_app.command("list")
def list_(
    state: Annotated[
        list[str] | None,
        typer.Option("--state", help=f"Only in this state ({_STATES}); repeatable."),
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option("--kind", help="Only of this kind; repeatable.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="How many.")] = 50,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """List missions: those that wait for a person first, then by their latest change."""
    wanted = MissionFilter(
        states=_states(state) if state else None, kinds=frozenset(kind) if kind else None
    )

    async def work(services: Services) -> tuple[Sequence[Mission], Any]:
        there = await services.missions.list(wanted, limit=limit)
        if not there:  # one that left the policy may still have missions
            for one in kind or ():
                await services.missions.kinds.known(one)
        return there, services.clock.now()

    found, now = on_store(work, store=store, workspace=workspace)
    if as_json:
        print_json({"missions": [mission_json(one, now=now) for one in found]})
    elif found:
        columns = ("id", "kind", "state", "cause", "invocations", "confidence", "deadline (UTC)")
        print_table("Missions", columns, [_row(one) for one in found])
    else:
        say(
            "there are no missions" if state is None and kind is None else "there are none of those"
        )


@mission_app.command("show")
def show(
    mission_id: IdArgument,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Show how a mission stands: objective, limits, what was found, and its timeline."""

    async def work(services: Services) -> tuple[Mission, Sequence[MissionEvent], Any]:
        mission = await services.missions.mission(mission_id)
        return mission, await services.missions.events(mission_id), services.clock.now()

    mission, events, now = on_store(work, store=store, workspace=workspace)
    if as_json:
        print_json(
            {**mission_json(mission, now=now), "events": [event_json(one) for one in events]}
        )
    else:
        show_mission(mission, events, now)


@mission_app.command("events")
def events_(
    mission_id: IdArgument,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """List what happened to a mission, oldest first; it is kept for ever."""

    async def work(services: Services) -> Sequence[MissionEvent]:
        return await services.missions.events(mission_id)

    found = on_store(work, store=store, workspace=workspace)
    if as_json:
        print_json({"events": [event_json(one) for one in found]})
    else:
        events_table(f"Timeline of {mission_id}", found)


@mission_app.command("create")
def create(
    kind: Annotated[str, typer.Option("--kind", help="A kind of mission of the policy.")],
    objective: Annotated[str, typer.Option("--objective", help="What is to be achieved.")],
    criteria: Annotated[
        list[str] | None, typer.Option("--criterion", help="What must hold; repeatable.")
    ] = None,
    mission_id: Annotated[
        str | None,
        typer.Option("--id", help="Its id; the same id with the same content is the same mission."),
    ] = None,
    hours: Annotated[
        float | None, typer.Option("--hours", help="To its deadline; at most the kind's.")
    ] = None,
    max_invocations: Annotated[
        int | None, typer.Option("--max-invocations", help="At most the kind's.")
    ] = None,
    subject: Annotated[
        str | None, typer.Option("--subject", help="Whom it is about, for erasing it later.")
    ] = None,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Make a mission. It may be held to tighter limits than its kind's, never to wider ones."""
    new = NewMission(
        kind=kind,
        objective=objective,
        criteria=tuple(criteria or ()),
        id=mission_id,
        hours=hours,
        max_invocations=max_invocations,
        subject=subject,
    )
    _told(lambda services: services.missions.create(new), store, workspace, as_json)


@mission_app.command("evaluate")
def evaluate(
    mission_id: IdArgument,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Find out now whether the objective is achieved, if there is evidence that nobody judged.

    The kind's judge is asked. Exit code 1: the mission waits for a person, or has failed.
    """

    judged = True

    async def work(services: Services) -> Mission:
        nonlocal judged
        before = await services.missions.mission(mission_id)
        after = await services.missions.evaluate(mission_id, owner=services.plugins.new_id())
        judged = (after.last, after.faults) != (before.last, before.faults)
        return after

    mission = _told(work, store, workspace, as_json)
    if not (judged or as_json):
        say(
            "nothing was evaluated: it is over or suspended, nothing was done since the last "
            "evaluation, or somebody else is at it"
        )
    if mission.state in _STOPPED:
        raise typer.Exit(Refused.exit_code)


def _states(names: Sequence[str]) -> frozenset[MissionState]:
    for one in names:
        if one not in set(MissionState):
            raise InvalidInput(f"expected one of {_STATES}, got {one!r}", field="--state")
    return frozenset(MissionState(one) for one in names)


def _told(
    work: Callable[[Services], Awaitable[Mission]],
    store: str | None,
    workspace: str,
    as_json: bool,
) -> Mission:
    async def done(services: Services) -> tuple[Mission, Any]:
        return await work(services), services.clock.now()

    mission, now = on_store(done, store=store, workspace=workspace)
    if as_json:
        print_json(mission_json(mission, now=now))
    else:
        say(f"{mission.id} is {mission.state} ({mission.cause})")
    return mission


def _row(one: Mission) -> tuple[Any, ...]:
    last = one.last
    confidence = None
    if last is not None and last.confidence is not None:
        confidence = f"{'' if last.achieved else 'not '}achieved, {last.confidence:.2f}"
    return (
        one.id,
        one.kind,
        state_cell(one.state),
        one.cause,
        f"{one.invocations} of {one.max_invocations}",
        confidence,
        f"{one.deadline_at:%Y-%m-%d %H:%M}",
    )
