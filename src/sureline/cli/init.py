"""`sureline init`: a policy, proposals and deductions to start from."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from sureline.cli.options import JsonOption
from sureline.cli.output import print_json, say
from sureline.errors import InvalidInput

STARTER_FILES = ("policy.yaml", "proposals.jsonl", "deductions.yaml")


def init(
    folder: Annotated[Path, typer.Argument(help="Where; made if it is not there.")] = Path(),
    as_json: JsonOption = False,
) -> None:
    """Write a starter policy, proposals and deductions; what is there already is never touched."""
    targets = [folder / name for name in STARTER_FILES]
    for target in targets:
        if target.exists():
            raise InvalidInput(f"{target} is there already; nothing was written")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for target in targets:
            text = files("sureline.cli").joinpath("starter", target.name).read_text("utf-8")
            with target.open("x", encoding="utf-8", newline="\n") as out:
                out.write(text)
    except OSError as error:
        raise InvalidInput(f"{folder}: cannot write here ({error.strerror})") from None
    if as_json:
        print_json({"written": [str(target) for target in targets]})
        return
    for target in targets:
        say(f"wrote {target}")
    say(f"next: sureline decide {targets[1]} --policy {targets[0]}")
