"""What a domain expert sees of a list of failure modes on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

SLICE = """\
version: 1
slices:
  invoices:
    weights: {verification: 0.7, self_evaluation: 0.3}
    self_evaluation: {model: "openai:gpt-5-mini", deductions: deductions.yaml}
"""


@pytest.fixture
def started(run: Run, folder: Path) -> Path:
    """Return a folder with the starter files and a policy that uses the starter deductions."""
    assert run("init", ".").exit_code == 0
    (folder / "policy.yaml").write_text(SLICE)
    return folder


def test_the_starter_deductions_are_sound_and_weigh_enough(run: Run, started: Path) -> None:
    """The list that `init` writes is the specification's, and no warning is needed about it."""
    result = run("policy", "check", str(started / "policy.yaml"), "--json")
    told = json.loads(result.stdout)
    assert told["warnings"] == []
    assert {
        one["id"]: (one["points"], one["highest"]) for one in told["slices"][0]["deductions"]
    } == {
        "invented_facts": (40, 0.88),
        "schema_violation": (30, 0.91),
        "off_task": (25, 0.925),
        "unstated_assumptions": (15, 0.955),
        "padding": (10, 0.97),
    }


def test_check_shows_what_each_failure_mode_does_to_a_score(run: Run, started: Path) -> None:
    """Beside the points stands the best score that an output with this mode can still get."""
    lines = run("policy", "check", str(started / "policy.yaml")).stdout.splitlines()
    (row,) = [line for line in lines if line.startswith("invented_facts")]
    assert row.split()[1:4] == ["40", "0.88", "The"]
    assert row.endswith("[...]")


def test_a_fault_in_the_list_is_one_line(run: Run, started: Path) -> None:
    """The line starts with the file that the expert edits, and the exit code is 2."""
    path = started / "deductions.yaml"
    path.write_text(path.read_text().replace("points: 40", "points: forty"))
    result = run("policy", "check", str(started / "policy.yaml"))
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert "deductions.yaml:10:13: invented_facts.points: expected a whole number" in line


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        pytest.param("points: 40", "points: 50", [".invented_facts.points: 40 -> 50"], id="points"),
        pytest.param(
            "deductions:\n",
            "deductions:\n  - {id: rude, points: 9, text: Rude.}\n",
            ['.rude: (absent) -> {"examples": [], "id": "rude", "points": 9, "text": "Rude."}'],
            id="one-more-on-top",
        ),
        pytest.param("points: 40", "points: 40 # a comment", [], id="comment"),
    ],
)
def test_diff_tells_what_changed_and_which_certificates_would_end(
    run: Run, started: Path, old: str, new: str, lines: list[str]
) -> None:
    """A failure mode is called by its id; a changed list is a changed measurement."""
    changed = started / "changed"
    changed.mkdir()
    (changed / "policy.yaml").write_text(SLICE)
    text = (started / "deductions.yaml").read_text()
    (changed / "deductions.yaml").write_text(text.replace(old, new))
    result = run("policy", "diff", str(started / "policy.yaml"), str(changed / "policy.yaml"))
    *told, last = result.stdout.splitlines()
    assert told == [f"slices.invoices.self_evaluation.deductions{line}" for line in lines]
    assert last.endswith("certificates would end: invoices" if lines else "say the same")


def test_diff_tells_another_order(run: Run, started: Path) -> None:
    """The order is what the model is shown, so changing it is a change."""
    entries = ["{id: a, points: 40, text: x}", "{id: b, points: 9, text: y}"]
    for name, listed in (("one", entries), ("two", entries[::-1])):
        text = SLICE.replace("deductions.yaml", f"[{', '.join(listed)}]")
        (started / f"{name}.yaml").write_text(text)
    result = run("policy", "diff", str(started / "one.yaml"), str(started / "two.yaml"))
    assert 'deductions (order): ["a", "b"] -> ["b", "a"]' in result.stdout
