"""`sureline compare`: two prompts, models or settings on the same slice (L11)."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated

import typer

from sureline.application.compare import Comparer, Comparison, Side
from sureline.bootstrap import Services
from sureline.cli.options import JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import print_json, print_table, say
from sureline.cli.session import on_store


def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="The variant to compare with.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The variant that may be better.")],
    slice_key: Annotated[str, typer.Option("--slice", help="The slice.")],
    since: Annotated[
        datetime | None, typer.Option("--since", formats=["%Y-%m-%d"], help="Leave out older ones.")
    ] = None,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Compare two variants' accuracy and automation, with an interval on the difference.

    A proposal states its `variant`. Only first attempts count. Exit code 0 whatever comes out.
    """

    async def work(services: Services) -> Comparison:
        comparer = Comparer(
            ledger=services.ledger, policies=services.policies, workspace=services.workspace
        )
        earliest = None if since is None else since.replace(tzinfo=UTC)
        return await comparer.compare(slice_key, a, b, since=earliest)

    found = on_store(work, store=store, workspace=workspace)
    if as_json:
        print_json(asdict(found))
        return
    print_table(
        f"{slice_key}: first attempts",
        ("variant", "items", "automated", "labels", "accuracy"),
        [_row(found.a), _row(found.b)],
    )
    say(f"{found.shared} items were seen by both" + (", compared in pairs" * found.accuracy.paired))
    for sentence in found.verdict:
        say(sentence)


def _row(side: Side) -> tuple[str, str, str, str, str]:
    share = side.accuracy
    low, high = share.interval
    known = "unknown: no labels"
    if share.estimate is not None:
        known = f"{share.estimate:.3f} ({low:.3f} to {high:.3f})"
    automated = f"{side.automated / side.items:.1%}"
    return side.variant, str(side.items), automated, str(share.labels), known
