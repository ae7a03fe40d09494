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


def test_a_slice_that_the_policy_has_not_is_refused(started: Run) -> None:
    """A switch that stops nothing is an error, unless a policy to come is to have the slice."""
    turn = ("switch", "on", "--slice", "invoice", *BY)
    refused = started(*turn)
    assert refused.exit_code == 2
    assert "no slice 'invoice' (it has: invoices)" in refused.stderr
    assert started("switch", "status").stdout == "no switch was ever turned on\n"
    forced = started(*turn, "--force")
    assert forced.exit_code == 0
    assert "no slice 'invoice' (it has: invoices)" in forced.stderr
    assert started("switch", "off", "--slice", "invoice", *BY).exit_code == 0


@pytest.mark.parametrize(
    "command",
    [
        ("switch", "on", "--reason", "a test", "--by"),
        ("switch", "off", "--reason", "a test", "--by"),
        ("ledger", "rebuild", "--by"),
        ("ledger", "erase", "d1", "--reason", "a test", "--by"),
        ("store", "restored", "--reason", "a test", "--by"),
        ("policy", "activate", "policy.yaml", "--by"),
        ("policy", "propose", "policy.yaml", "--by"),
        ("calibration", "rollback", "--by"),
        ("recalibrate", "--activate", "--by"),
        ("keys", "create", "--role", "admin", "--name"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
@pytest.mark.parametrize("name", ["guard", " Guard "])
def test_nobody_acts_under_the_guards_name(
    command: tuple[str, ...], name: str, started: Run
) -> None:
    """What the guard did must be told apart from what people do."""
    result = started(*command, name)
    assert result.exit_code == 2
    assert "the guard's own name" in result.stderr


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
