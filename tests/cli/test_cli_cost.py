"""`sureline cost`: what a gate would save."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Run

OFFICE = ("cost", "--items", "500", "--seconds", "30", "--to-people", "0.3")


def test_the_minutes_are_said_in_one_line(run: Run) -> None:
    """250 minutes become 75, and nothing speaks against it."""
    result = run(*OFFICE)
    assert result.exit_code == 0
    assert "250 minutes of reviewing a day become 75" in result.stdout
    assert "break-even at 43 items a day" in result.stdout
    assert result.stdout.endswith("\nworth it\n")


def test_json_has_the_same_figures(run: Run) -> None:
    """Programs get numbers."""
    found = json.loads(run(*OFFICE, "--wage", "30", "--wrong", "12.5", "--json").stdout)
    assert found["savings"]["minutes_after"] == 75
    assert found["review_price"] == 0.25
    assert found["target_precision"] == 0.98
    assert found["worth_it"] is True


def test_thresholds_follow_from_the_prices(run: Run) -> None:
    """The policy's keys are named, so that they can be copied."""
    result = run(*OFFICE, "--wage", "30", "--retry-price", "0.05", "--retry-correct", "0.8")
    assert "reject_threshold: 0.667" in result.stdout


def test_it_says_when_it_is_not_worth_it(run: Run) -> None:
    """Few irreversible items: two reasons and a verdict."""
    result = run("cost", "--items", "40", "--seconds", "30", "--to-people", "0.3", "--irreversible")
    assert result.exit_code == 0
    assert "never automated" in result.stdout
    assert "40 items a day are few" in result.stdout
    assert result.stdout.endswith("NOT worth it\n")


def test_an_error_that_costs_little_gives_no_target(run: Run) -> None:
    """A target of one half or less is not a target."""
    found = json.loads(run(*OFFICE, "--wage", "30", "--wrong", "0.4", "--json").stdout)
    assert found["target_precision"] is None
    assert "half of an error" in found["notes"][0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(("--wrong", "10"), "wage", id="no-wage"),
        pytest.param(("--retry-price", "1", "--wage", "9"), "retry", id="half-a-retry"),
        pytest.param(("--judge-share", "2"), "judge_share", id="no-share"),
    ],
)
def test_what_is_missing_or_wrong_is_bad_input(
    run: Run, arguments: tuple[str, ...], said: str
) -> None:
    """Exit code 2, and the field is named."""
    result = run(*OFFICE, *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
