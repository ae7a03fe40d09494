"""`sureline compare`: two variants of an agent on the same slice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import GOOD, Run


def item(number: int, variant: str, **changes: Any) -> dict[str, Any]:
    return {
        **GOOD,
        "id": f"{variant}-{number}",
        "variant": variant,
        "source": f"INVOICE\nSupplier {number}\n14/01/2026\nTotal due: £{number}.00",
        "output": {"vendor": f"Supplier {number}", "date": "2026-01-14", "total": number},
        **changes,
    }


def decide(run: Run, items: list[dict[str, Any]]) -> None:
    run("decide", text="".join(json.dumps(one) + "\n" for one in items))


def label(run: Run, name: str, right: bool) -> None:
    action = "approve" if right else "reject"
    assert run("outcome", name, "--action", action, "--by", "kim").exit_code == 0


@pytest.fixture
def variants(started: Run, folder: Path) -> Run:
    """Return `run` where old is right on 10 of 20 invoices and new on 19 of the same ones."""
    decide(started, [item(n, variant) for n in range(100, 120) for variant in ("old", "new")])
    for number in range(100, 120):
        label(started, f"old-{number}", number % 2 == 0)
        label(started, f"new-{number}", number > 100)
    return started


def test_the_same_items_are_compared_in_pairs(variants: Run) -> None:
    """New is right on 9 more, and the verdict says so."""
    result = variants("compare", "old", "new", "--slice", "invoices")
    assert result.exit_code == 0, result.output
    assert "20 items were seen by both, compared in pairs" in result.stdout
    assert "accuracy: new is higher than old, +45.0" in result.stdout
    assert "automation: no difference shown" in result.stdout


def test_json_has_the_figures(variants: Run) -> None:
    """Programs get shares, labels and the interval."""
    found = json.loads(variants("compare", "new", "old", "--slice", "invoices", "--json").stdout)
    assert (found["a"]["accuracy"]["estimate"], found["accuracy"]["share_b"]) == (0.95, 0.5)
    assert found["accuracy"]["value"] == pytest.approx(-0.45)
    assert found["accuracy"]["interval"][1] < 0
    assert found["accuracy"]["paired"] is True


def test_other_items_are_compared_as_independent(started: Run) -> None:
    """Nothing is shared; with few labels no difference is shown, and how many it takes is said."""
    decide(started, [item(n, "old") for n in range(100, 110)])
    decide(started, [item(n, "new") for n in range(200, 210)])
    for number in range(10):
        label(started, f"old-{100 + number}", number > 2)
        label(started, f"new-{200 + number}", number > 1)
    result = started("compare", "old", "new", "--slice", "invoices")
    assert "0 items were seen by both\n" in result.stdout
    assert "accuracy: no difference shown, +10.0" in result.stdout
    assert "labels a side" in result.stdout


def test_without_labels_nothing_is_claimed(started: Run) -> None:
    """Unreviewed outputs are no labels."""
    decide(started, [item(100, "old"), item(100, "new")])
    result = started("compare", "old", "new", "--slice", "invoices")
    assert "accuracy: nothing is known yet" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(("old", "never", "--slice", "invoices"), "never", id="variant"),
        pytest.param(("old", "new", "--slice", "letters"), "letters", id="slice"),
    ],
)
def test_what_is_not_there_is_named(variants: Run, arguments: tuple[str, ...], said: str) -> None:
    """Exit code 2."""
    result = variants("compare", *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
