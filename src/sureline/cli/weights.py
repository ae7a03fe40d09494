"""`sureline weights`: learned beside fixed weights, as a suggestion (G17)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from sureline.application.learn_weights import WeightLearner
from sureline.bootstrap import Services
from sureline.cli.options import JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import print_json, print_table, say
from sureline.cli.session import on_store
from sureline.core.statistics.weights import LearnedWeights
from sureline.core.values.counted import counted


def weights(
    slice_key: Annotated[str, typer.Option("--slice", help="The slice.")],
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Learn a slice's weights from its labels and say whether they are better; changes nothing.

    To use them, write them into the policy and activate it: the slice then needs new labels
    before anything in it is automated. Exit code 0 whatever comes out.
    """

    async def work(services: Services) -> LearnedWeights:
        learner = WeightLearner(
            ledger=services.ledger,
            policies=services.policies,
            secret=services.decider.secret,
            workspace=services.workspace,
        )
        return await learner.learn(slice_key)

    found = on_store(work, store=store, workspace=workspace)
    if as_json:
        print_json({"slice_key": slice_key, **asdict(found)})
    else:
        _show(slice_key, found)


def _show(slice_key: str, found: LearnedWeights) -> None:
    sides = [("fixed", found.fixed)]
    if found.learned is not None:
        sides.append(("learned", found.learned))
    print_table(
        f"{slice_key}: {counted(found.n, 'label')} for fitting, judged on held-out ones",
        ("weights", *found.names, "log loss", f"automates at {found.target:g}"),
        [
            (
                name,
                *(f"{one:.4f}" for one in side.weights),
                f"{side.log_loss:.4f}",
                f"{side.coverage:.1%}",
            )
            for name, side in sides
        ],
    )
    say(found.reason)
    if found.use and found.learned is not None:
        pairs = zip(found.names, found.learned.weights, strict=True)
        say("weights: {" + ", ".join(f"{name}: {weight:g}" for name, weight in pairs) + "}")
        say(f"learned from {found.digest[:12]}; nothing has changed: write them into the policy")
