"""Small things that an operator reads at a bad moment say what is meant."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from sureline.bootstrap import open_services
from sureline.cli.log_options import notes
from sureline.cli.session import warn_if_forgetful
from sureline.web.log_format import LogFormat
from tests.cli.conftest import Run, proposal


def test_notes_have_the_form_of_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever reads JSON lines gets nothing else, what is said before serving included."""
    services = open_services("sqlite://")
    for form in (LogFormat.JSON, LogFormat.TEXT):
        warn_if_forgetful(services, notes(form))
        notes(form)("100% sure\nof it")
    services.close()
    *lines, warned, _ = capsys.readouterr().err.splitlines()
    read = [json.loads(line) for line in lines]
    assert [one["level"] for one in read] == ["info", "info"]
    assert read[0]["message"] == warned
    assert read[1]["message"] == "100% sure\nof it"


def test_signing_with_the_public_key_is_told(started: Run) -> None:
    """The message says which of the two files it is."""
    assert started("ledger", "keygen", "key").exit_code == 0
    told = started("ledger", "head", "--sign", "key.pub")
    assert (told.exit_code, "this is the public key" in told.stderr) == (2, True)


@pytest.mark.parametrize(
    "text",
    ["root:x:0:0:root:/root:/bin/sh\n", "[1]\n", '{"id": "d1"}\n', "\n"],
    ids=["accounts", "an array", "another JSON", "an empty line"],
)
def test_what_is_no_export_is_no_alarm(run: Run, folder: Path, text: str) -> None:
    """Bad input is told apart from a ledger that does not hold."""
    (folder / "file").write_text(text)
    told = run("ledger", "verify", "file")
    assert (told.exit_code, "not an export" in told.stderr) == (2, True)


@pytest.mark.parametrize("words", [("switch", "status"), ("outbox", "list")], ids=" ".join)
def test_a_database_that_is_away_acknowledges_nothing_unasked(
    run: Run, folder: Path, words: tuple[str, ...]
) -> None:
    """Who only reads is told that it cannot be reached, and no more."""
    away = f"postgresql://nobody@/none?host={folder}"
    told = run(*words, "--store", away)
    assert (told.exit_code, "cannot be reached" in told.stderr) == (3, True)
    assert "acknowledged" not in told.stderr


def test_nobody_knows_since_when_the_environment_stops(
    started: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A switch of the environment has no moment, rather than one of 1970."""
    monkeypatch.setenv("SURELINE_FORCE_HUMAN", "1")
    told = started("switch", "status")
    assert (told.exit_code, "1970" in told.stdout) == (0, False)
    assert (
        json.loads(started("switch", "status", "--json").stdout)["switches"][0]["changed_at"]
        is None
    )


def test_a_median_of_nothing_is_not_announced(started: Run) -> None:
    """Where there are no scores, none are summed up."""
    started("decide", text=proposal(id="d1"))
    told = started("report")
    assert "before: 0\n" in told.stdout


def test_jobs_of_a_workspace_that_is_not_used_are_told_of(started: Run) -> None:
    """A typing error in --workspace is seen."""
    assert started("jobs", "list").stderr == ""
    told = started("jobs", "list", "--workspace", "nosuch")
    assert (told.exit_code, "no policy is active in the workspace 'nosuch'" in told.stderr) == (
        0,
        True,
    )


@pytest.mark.parametrize("words", [("decide",), ("ledger", "verify")], ids=" ".join)
def test_help_is_wrapped_once(
    run: Run, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """No paragraph of it has a short line amid longer ones at 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    text = run(*words, "--help").stdout.partition("╭")[0]
    for paragraph in text.split("\n" + " " * 80 + "\n"):
        lines = [line.strip() for line in paragraph.splitlines() if line.strip()]
        for line, after in pairwise(lines):
            assert len(line) + 1 + len(after.split()[0]) > 78, line
