"""`sureline policy accept`: make a proposed policy of what the report suggests (R8)."""

from __future__ import annotations

from typing import Annotated

import typer

from sureline.application.acceptance import Accepted, accepted_json, file_lines
from sureline.bootstrap import Services
from sureline.cli.options import ByOption, JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import note, print_json, say
from sureline.cli.session import on_store
from sureline.core.gate.acting import acting

SliceArgument = Annotated[str, typer.Argument(metavar="SLICE", help="The slice it is about.")]
SuggestionArgument = Annotated[
    str, typer.Argument(metavar="SUGGESTION", help="What the report calls it.")
]
MarkOption = Annotated[
    str | None,
    typer.Option("--mark", help="The mark that you read in the report; refused if it is old."),
]


def accept(
    slice_key: SliceArgument,
    suggestion: SuggestionArgument,
    by: ByOption,
    mark: MarkOption = None,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Propose the policy that holds with the one key changed that a suggestion names.

    It changes no routing until somebody activates it; only what it gives to people goes there now.
    """
    named = acting(by, field="--by")

    async def work(services: Services) -> Accepted:
        report = await services.reporter.report()
        return await services.acceptance.accept(report, slice_key, suggestion, by=named, mark=mark)

    made = on_store(work, store=store, workspace=workspace, by=named)
    if as_json:
        print_json(accepted_json(made))
        return
    for warning in made.warnings:
        note(f"warning: {warning}")
    short = made.policy.hash[:12]
    say(f"proposed the policy {short}, in which {made.key} is changed")
    if made.restricted:
        say(f"people decide in the slice {slice_key} from now on: its switch was turned on")
    say(f"to see what it changes: sureline policy diff active {short}")
    say(f"to use it: sureline policy activate {short} --by NAME")
    say("if you keep the policy in a file, write this there too:")
    for line in file_lines(slice_key, made.change):
        say(f"    {line}")
