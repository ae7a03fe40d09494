"""`sureline review answer`: say what is right before the output is shown (R7)."""

from __future__ import annotations

from typing import Annotated

import typer

from sureline.application.review.in_json import item_json
from sureline.application.review.item import ReviewItem
from sureline.bootstrap import Services
from sureline.cli.options import ByOption, JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import print_json, say
from sureline.cli.review_text import item_lines
from sureline.cli.session import on_store
from sureline.core.gate.acting import acting


def answer(
    review_id: Annotated[str, typer.Argument(metavar="ID", help="The review's id.")],
    by: ByOption,
    own: Annotated[str, typer.Option("--output", help="What the output should be.")],
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Say what is right, where an item asks for that first; then its output is shown."""
    named = acting(by, field="--by")

    async def work(services: Services) -> ReviewItem:
        await services.answer_first.answer(review_id, named, own)
        return await services.desk.show(review_id, named)

    item = on_store(work, store=store, workspace=workspace, by=named)
    if as_json:
        print_json(item_json(item))
        return
    for line in item_lines(item):
        say(line)
