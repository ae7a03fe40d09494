"""`sureline review bulk`: say the same of many items, each as it was listed (R3)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from sureline.application.review.bulk import Bulk, Row, RowDone
from sureline.application.review.in_json import row_json
from sureline.bootstrap import Services
from sureline.cli.options import ByOption, JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import print_json, say
from sureline.cli.session import on_store
from sureline.core.gate.acting import acting
from sureline.core.values.outcome import Action
from sureline.errors import InvalidInput


def bulk(
    action: Annotated[
        Action, typer.Argument(help="approve (reversible items only), reject, skip or escalate.")
    ],
    listed: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="What `sureline review list --json` printed; `-` reads it here."
        ),
    ],
    by: ByOption,
    reason: Annotated[
        str | None, typer.Option("--reason", help="Why, in a word such as wrong_total.")
    ] = None,
    comment: Annotated[
        str | None, typer.Option("--comment", help="Anything worth keeping.")
    ] = None,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Say the same of all listed items; one that has changed since is left and named.

    Exits with 1 if any was left.
    """
    named = acting(by, field="--by")
    rows = _rows(sys.stdin.read() if listed == "-" else _text(Path(listed)))

    async def work(services: Services) -> list[RowDone]:
        given = Bulk(desk=services.desk, action=action, by=named, reason=reason, comment=comment)
        return await given.do(rows)

    done = on_store(work, store=store, workspace=workspace, by=named)
    left = [one for one in done if one.error is not None]
    if as_json:
        print_json({"items": [row_json(one) for one in done], "done": len(done) - len(left)})
    else:
        say(f"{len(done) - len(left)} of {len(done)}: {action}")
        for one in left:
            say(f"left as it was: {one.id}: {one.error}")
    if left:
        raise typer.Exit(1)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"cannot read {path}: {error}") from error


def _rows(text: str) -> list[Row]:
    """Return the items of a list. Raises InvalidInput."""
    expected = "expected what `sureline review list --json` prints"
    try:
        listed: Any = json.loads(text)
        rows = [Row(id=one["id"], digest=one["digest"]) for one in listed["reviews"]]
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(expected, field="FILE") from error
    if not all(isinstance(part, str) for row in rows for part in (row.id, row.digest)):
        raise InvalidInput(expected, field="FILE")
    return rows
