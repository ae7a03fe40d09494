"""`sureline jobs`: what runs by itself, how it went, and running it by hand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

import typer

from sureline.application.ports.jobs import Job, JobState
from sureline.application.ports.verifications import Extent
from sureline.application.verify_ledger import VERIFY
from sureline.bootstrap import Services
from sureline.cli.options import JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import note, print_json, print_table, say
from sureline.cli.session import on_store
from sureline.errors import PolicyError

jobs_app = typer.Typer(
    help="Show and run the periodic jobs.", no_args_is_help=True, add_completion=False
)


@jobs_app.command("list")
def list_(
    store: StoreOption = None, workspace: WorkspaceOption = "default", as_json: JsonOption = False
) -> None:
    """List the jobs: when they ran, how that went, and when they run next."""

    async def work(services: Services) -> Sequence[tuple[Job, JobState | None]]:
        try:
            await services.policies.latest()
        except PolicyError:
            note(
                f"warning: no policy is active in the workspace {workspace!r} of this store, "
                f"so there is nothing for these jobs to do; is it the right one?"
            )
        return await services.jobs.states()

    found = [_json(job, state) for job, state in on_store(work, store=store, workspace=workspace)]
    if as_json:
        print_json({"jobs": found})
        return
    print_table(
        "Jobs (`sureline serve` or `sureline worker` runs them)",
        ("job", "every", "last run (UTC)", "next (UTC)", "result"),
        [
            (one["name"], one["every"], _short(one["finished_at"]), _short(one["due_at"]), said)
            for one in found
            for said in [_result(one)]
        ],
    )


@jobs_app.command("run")
def run(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Which job.")],
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Run a job now; exit code 1 if it fails, or while another process runs it.

    Of `verify` also where the ledger does not hold.
    """

    async def work(services: Services) -> tuple[JobState, bool]:
        state = await services.jobs.run(name)
        found = await services.store.verifications.latest() if name == VERIFY else ()
        whole = [one.ok for one in found if one.extent is Extent.WHOLE]
        return state, not state.failures and all(whole)

    state, ok = on_store(work, store=store, workspace=workspace)
    if as_json:
        print_json({"name": state.name, "ok": ok, "message": state.message})
    else:
        say(f"{state.name}: {'failed: ' if state.failures else ''}{state.message}")
    raise typer.Exit(0 if ok else 1)


def _json(job: Job, state: JobState | None) -> dict[str, Any]:
    return {
        "name": job.name,
        "about": job.about,
        "every": str(job.interval),
        "due_at": None if state is None else state.due_at.isoformat(),
        "finished_at": _iso(None if state is None else state.finished_at),
        "running_until": _iso(None if state is None else state.leased_until),
        "failures": 0 if state is None else state.failures,
        "message": None if state is None else state.message,
    }


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _short(moment: str | None) -> str:
    return "never" if moment is None else moment[:16].replace("T", " ")


def _result(one: dict[str, Any]) -> str:
    failed = f"failed {one['failures']} times: " if one["failures"] else ""
    return f"{failed}{one['message'] or ''}"
