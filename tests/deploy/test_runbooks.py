"""The runbooks name commands and metrics that there are."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
import typer

from sureline.cli.app import app
from tests.deploy.exposed import exposed

PAGES = [
    Path(__file__).parents[2] / "docs/howto" / name
    for name in ("runbooks.md", "watch-in-production.md", "deploy.md")
]
TEXT = "\n".join(page.read_text("utf-8") for page in PAGES)
COMMANDS = sorted(set(re.findall(r"`sureline ((?:[a-z]+ ?)+)", TEXT)))


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_is_there(words: str) -> None:
    """Each word down to an argument is a command or a group."""
    found: click.Command = typer.main.get_command(app)
    context = click.Context(found)
    for word in words.split():
        if not isinstance(found, click.Group):
            break
        following = found.get_command(context, word)
        assert following is not None, f"there is no `sureline {words}`"
        found, context = following, click.Context(following, parent=context)


def test_a_metric_is_there() -> None:
    """Every name of ours that is written is exposed, with or without its ending."""
    named = set(re.findall(r"`(sureline_[a-z_]+)`", TEXT))
    known = {re.sub(r"_(total|bucket|sum|count|created)$", "", one) for one in exposed()}
    assert named
    assert {re.sub(r"_total$", "", one) for one in named} <= known
