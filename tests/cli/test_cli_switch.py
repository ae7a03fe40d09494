"""`sureline switch`: the kill switch by hand."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Run, proposal

BY = ("--reason", "a test", "--by", "Ada")


@pytest.mark.parametrize(
    ("where", "scope"),
    [
        pytest.param([], "global", id="everything"),
        pytest.param(["--slice", "invoices"], "slice:invoices", id="a slice"),
        pytest.param(["--batch", "night-7"], "batch:night-7", id="a batch"),
    ],
)
def test_on_holds_from_the_next_decision_and_off_ends_it(
    where: list[str], scope: str, started: Run
) -> None:
    """While a switch is on, decisions in its scope say so; afterwards they do not."""
    asked = proposal(batch_id="night-7")
    assert started("switch", "on", *where, *BY).exit_code == 0
    shown = json.loads(started("switch", "status", "--json").stdout)
    assert shown["on"] is True
    assert [(one["scope"], one["state"]) for one in shown["switches"]] == [(scope, "on")]
    assert "kill_switch" in started("decide", text=asked).stdout
    assert started("switch", "off", *where, *BY).exit_code == 0
    assert "kill_switch" not in started("decide", text=asked).stdout
    assert json.loads(started("switch", "status", "--json").stdout)["on"] is False


def test_two_scopes_at_once_are_refused(started: Run) -> None:
    """A switch has one scope."""
    result = started("switch", "on", "--slice", "a", "--batch", "b", *BY)
    assert result.exit_code == 2


def test_a_slice_that_the_policy_has_not_is_remarked(started: Run) -> None:
    """The switch is set all the same: a policy to come may have the slice."""
    result = started("switch", "on", "--slice", "invoice", *BY)
    assert result.exit_code == 0
    assert "no slice 'invoice' (it has: invoices)" in result.stderr


@pytest.mark.usefixtures("empty_store")
def test_a_store_without_a_policy_is_remarked(run: Run) -> None:
    """In an emergency, a switch in the wrong store must not look like a success."""
    result = run("switch", "on", *BY)
    assert result.exit_code == 0
    assert "no policy" in result.stderr
    assert "sqlite:///sureline.db" in result.stdout


def test_the_environment_is_shown(started: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The status lists the switch of the environment beside those of the store."""
    monkeypatch.setenv("SURELINE_FORCE_HUMAN", "yes")
    result = json.loads(started("switch", "status", "--json").stdout)
    assert [one["by"] for one in result["switches"]] == ["environment"]
    assert result["on"] is True


def test_nothing_was_ever_switched(started: Run) -> None:
    """An empty status is a sentence."""
    assert started("switch", "status").stdout == "no switch was ever turned on\n"
