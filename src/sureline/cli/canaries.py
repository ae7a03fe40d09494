"""`sureline canaries`: whether the second models can tell bad from good (G3)."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from sureline.application.canaries import Examination
from sureline.application.canary_evaluators import Examinee
from sureline.application.canary_history import run_json, trails, trails_json
from sureline.bootstrap import Services, load_policy
from sureline.cli.canary_tables import show_history, show_runs
from sureline.cli.options import JsonOption, PolicyOption, StoreOption, WorkspaceOption
from sureline.cli.output import print_json, print_table, progress, say
from sureline.cli.session import on_store
from sureline.core.opinions.canary_run import LINE, CanaryOutcome, CanaryRun
from sureline.core.values.policy import Policy
from sureline.errors import InvalidInput

EXITS = {CanaryOutcome.PASSED: 0, CanaryOutcome.FAILED: 1, CanaryOutcome.INCOMPLETE: 3}

canaries_app = typer.Typer(
    help="Put outputs known to be bad, and good, to the second models of a policy.",
    add_completion=False,
    invoke_without_command=True,
)

SeedOption = Annotated[
    str | None,
    typer.Option("--seed", help="Make the bad ones that are made from this; default: a new one."),
]


@canaries_app.callback()
def canaries(
    ctx: typer.Context,
    policy: PolicyOption = None,
    slice_key: Annotated[
        str | None, typer.Option("--slice", help="Examine the models of this slice only.")
    ] = None,
    role: Annotated[
        str | None, typer.Option("--role", help="Only this role: judge or self_evaluation.")
    ] = None,
    line: Annotated[
        float,
        typer.Option("--line", help="A bad one that scores this or more passed for good."),
    ] = LINE,
    seed: SeedOption = None,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Ask each second model about 20 bad outputs and 10 good ones, and keep its scores.

    Exit code 1 if a model failed, 3 if one could not be asked often enough to tell, 2 if the
    policy names none, 0 if all passed.
    """
    if ctx.invoked_subcommand is not None:
        return
    file = None if policy is None else load_policy(policy).policy

    async def work(services: Services) -> tuple[tuple[Examinee, ...], tuple[CanaryRun, ...]]:
        found = await _examinees(services, file, slice_key, role)
        total = len(found) * len(services.canaries.written("-"))
        with progress("asking", total) as advance:
            how = Examination(line=line, seed=seed, advance=advance)
            return found, await services.canaries.run(found, how)

    asked, runs = on_store(work, store=store, workspace=workspace, create=file is not None)
    if as_json:
        print_json(_runs_json(asked, runs))
    else:
        show_runs(asked, runs)
    raise typer.Exit(_exit_code(runs))


async def _examinees(
    services: Services, file: Policy | None, slice_key: str | None, role: str | None
) -> tuple[Examinee, ...]:
    policy = file or await services.policies.latest()
    found = services.canaries.named(policy, slice_key=slice_key, role=role)
    if not found:
        raise InvalidInput(
            "the policy names no model to examine here: add `judge` or `self_evaluation` to a slice"
        )
    return found


def _exit_code(runs: tuple[CanaryRun, ...]) -> int:
    """Return what is worst: a failure is certain, an incomplete run is not known."""
    outcomes = {run.outcome for run in runs}
    worst = next(
        one
        for one in (CanaryOutcome.FAILED, CanaryOutcome.INCOMPLETE, CanaryOutcome.PASSED)
        if one in outcomes
    )
    return EXITS[worst]


def _runs_json(asked: tuple[Examinee, ...], runs: tuple[CanaryRun, ...]) -> dict[str, Any]:
    return {
        "passed": all(run.outcome is CanaryOutcome.PASSED for run in runs),
        "runs": [
            {**run_json(run), "slices": list(one.slices), "must_pass_in": list(one.bound)}
            for one, run in zip(asked, runs, strict=True)
        ],
    }


@canaries_app.command("history")
def history(
    store: StoreOption = None, workspace: WorkspaceOption = "default", as_json: JsonOption = False
) -> None:
    """Show the scores of all runs, and which changes between two are more than chance."""

    async def work(services: Services) -> tuple[CanaryRun, ...]:
        return tuple(await services.store.canaries.all(services.workspace))

    found = trails(on_store(work, store=store, workspace=workspace))
    if as_json:
        print_json({"trails": trails_json(found)})
    elif found:
        show_history(found)
    else:
        say("no run yet; `sureline canaries` makes one")


@canaries_app.command("list")
def list_(
    seed: Annotated[
        str, typer.Option("--seed", help="The seed of a run: then its very texts are shown.")
    ] = "example",
    as_json: JsonOption = False,
) -> None:
    """Show the canaries themselves, those included that a run with this seed makes."""
    from sureline.bootstrap import canaries_of

    found = [
        {
            "id": one.id,
            "mode": one.mode or "good",
            "made": one.made,
            "language": one.language,
            "task": one.task,
            "source": one.source,
            "output": one.output,
        }
        for one in canaries_of(seed)
    ]
    if as_json:
        print_json({"seed": seed, "canaries": found})
        return
    print_table(
        f"Canaries (made from the seed {seed!r}; --json shows the texts)",
        ("canary", "failure mode", "language", "made", "output"),
        [
            (one["id"], one["mode"], one["language"], "yes" if one["made"] else "no", short)
            for one in found
            for short in [" ".join(str(one["output"]).split())[:60]]
        ],
    )
