"""The root command: help, usage errors, and where errors meet their exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sureline.cli.app import COMMANDS, load_command
from tests.cli.conftest import Run


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_loads_and_explains_itself(name: str, run: Run) -> None:
    """Each command of the list is there and has a help page that begins with a sentence."""
    assert load_command(name).name == name
    shown = run(name, "--help")
    assert shown.exit_code == 0
    assert "Usage: sureline" in shown.stdout


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_has_json(name: str) -> None:
    """Each command, or each of its sub-commands, takes `--json`, except what stays."""
    command = load_command(name)
    members = list(getattr(command, "commands", {}).values()) or [command]
    for member in members:
        options = [option for parameter in member.params for option in parameter.opts]
        stays = name in {"serve", "worker"} or (name, member.name) == ("mission", "run")
        assert ("--json" in options) != stays, member.name


def test_help_lists_all_commands(run: Run) -> None:
    """`--help` names every command with its line."""
    shown = run("--help").stdout
    for name in COMMANDS:
        assert name in shown


def test_the_version_is_printed(run: Run) -> None:
    """`--version` prints the version of the package."""
    assert run("--version").stdout.startswith("sureline 0.")


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        pytest.param(["decyde"], "Did you mean 'decide'", id="misspelt command"),
        pytest.param(["decide", "--polcy", "x"], "No such option", id="misspelt option"),
        pytest.param(["switch", "on"], "Missing option", id="missing option"),
        pytest.param(["outcome", "x", "--action", "bless", "--by", "A"], "bless", id="wrong value"),
        pytest.param(["switch", "on", "--reason", " ", "--by", "A"], "reason", id="empty value"),
    ],
)
def test_wrong_usage_exits_with_2(arguments: list[str], fragment: str, run: Run) -> None:
    """A slip of the pen exits with 2, says what it was, and leaves no store behind."""
    result = run(*arguments)
    assert result.exit_code == 2
    assert fragment in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "exit_code"),
    [
        pytest.param(["recalibrate", "--json"], "PolicyError", 2, id="no policy"),
        pytest.param(["switch", "on", "--json"], "InvalidInput", 2, id="usage"),
        pytest.param(
            ["keys", "list", "--store", "sqlite:///no/such.db", "--json"],
            "StoreUnavailable",
            3,
            id="no folder for the store",
        ),
        pytest.param(
            ["keys", "list", "--store", "ftp://x", "--json"], "InvalidInput", 2, id="no such scheme"
        ),
        pytest.param(
            ["outcome", "none", "--action", "approve", "--by", "A", "--json"],
            "NotFound",
            2,
            id="no such decision",
        ),
    ],
)
@pytest.mark.usefixtures("empty_store")
def test_with_json_an_error_is_one_json_object(
    arguments: list[str], code: str, exit_code: int, run: Run
) -> None:
    """With `--json` an error is an object on standard error, and nothing is on the output."""
    result = run(*arguments)
    assert result.exit_code == exit_code
    assert result.stdout == ""
    assert json.loads(result.stderr)["error"]["code"] == code


def test_a_damaged_store_exits_with_3(run: Run, folder: Path) -> None:
    """A store that is no database is left as it is, and reported in one line."""
    (folder / "sureline.db").write_bytes(b"not a database, whatever its name says" * 100)
    result = run("switch", "status")
    assert result.exit_code == 3
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1


def test_control_characters_cannot_steer_the_terminal(started: Run) -> None:
    """What a person typed or an agent sent is shown with its control characters spelled out."""
    started("switch", "on", "--reason", "a\x1b[2Jb\u202ec", "--by", "A")
    shown = started("switch", "status").stdout
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "a\\u001b[2Jb\\u202ec" in shown
