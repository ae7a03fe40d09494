"""Rows of area 3-calibration about thresholds, from tables of scores and labels."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from sureline.cli.app import app
from sureline.core.statistics.rank import quantile_rank
from sureline.testing import temporary_gate
from tests.cases.doors import Answer
from tests.cases.told import ToldSignal, ask, label, told_policy

Cases = dict[str, dict[str, Any]]
Row = tuple[float, int]


def certified(
    folder: Path, rows: Sequence[tuple[Any, ...]], *options: str
) -> tuple[int, list[Answer]]:
    """Certify rows of (score, label) or (score, label, slice); return exit code and results."""
    path = folder / "labels.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("score", "label", "kind")[: len(rows[0])])
        writer.writerows(rows)
    arguments = ["certify", str(path), "--score", "score", "--label", "label", "--json", *options]
    done = CliRunner().invoke(app, arguments)
    assert isinstance(done.exception, SystemExit | None), done.exception
    return done.exit_code, json.loads(done.stdout)["results"]


def certified_alone(folder: Path, rows: Sequence[Row], target: float) -> tuple[int, Answer]:
    code, (entry,) = certified(folder, rows, "--target", str(target))
    return code, entry


def naive(entry: Answer) -> float | None:
    """Return the threshold of the rule that people copy."""
    threshold: float | None = entry["comparison"]["rules"][0]["threshold"]
    return threshold


def test_c01_too_few_labels_give_no_threshold(cases: Cases, tmp_path: Path) -> None:
    """Eight labels are `insufficient_data`: no threshold comes out, and the present one stays."""
    given = cases["C01"]["input"]
    rows = list(zip(given["scores"], given["labels"], strict=True))
    code, entry = certified_alone(tmp_path, rows, given["target"])
    assert (code, entry["status"], entry["n"]) == (1, "insufficient_data", 8)
    assert entry["certificate"] is None
    assert "threshold" not in entry
    assert entry["labels_missing"] == 55
    with temporary_gate(told_policy(auto=0.85), signals=[ToldSignal()]) as gate:
        before = ask(gate, 0.5)["threshold"]
        for score, correct in rows:
            label(gate, ask(gate, score), correct=bool(correct))
        found = gate.run(gate.recalibrate())
        assert found.slices[0].certificate is None
        gate.run(gate.services.recalibrator.activate(found.id, by="Ada"))
        assert ask(gate, 0.5)["threshold"] == before == 0.85


def test_c02_no_threshold_below_what_was_supported(cases: Cases, tmp_path: Path) -> None:
    """300 correct labels from .2 to 1 prove the target down to .2, never to .5's luck or below."""
    n = cases["C02"]["input"]["n"]
    rows = [(round(0.2 + 0.8 * i / (n - 1), 6), 1) for i in range(n)]
    code, entry = certified_alone(tmp_path, rows, 0.95)
    certificate = entry["certificate"]
    assert (code, certificate["threshold"]) == (0, min(score for score, _ in rows))
    assert certificate["lower_bound"] >= 0.95
    assert certificate["in_band"] == n


def test_c03_ties_are_one_block(cases: Cases, tmp_path: Path) -> None:
    """A hundred equal scores, 60 correct: no threshold, whatever the order of the rows."""
    given = cases["C03"]["input"]
    rows = list(zip(given["scores"], given["labels"], strict=True))
    found = [
        certified_alone(tmp_path, order, given["target"])
        for order in (rows, rows[::-1], rows[::2] + rows[1::2])
    ]
    code, entry = found[0]
    assert (code, entry["status"]) == (1, "no_certifiable_threshold")
    assert entry["certificate"] is None
    assert entry["best_threshold"] == 0.9
    assert entry["best_lower_bound"] < 0.6
    assert found[0] == found[1] == found[2]


def test_c04_a_wrong_top_counts(cases: Cases, tmp_path: Path) -> None:
    """The 19 best of 400 are wrong: no band without them, so nothing below target is approved."""
    given = cases["C04"]["input"]
    n = len(given["labels"])
    rows = [(round(1 - i / n, 6), correct) for i, correct in enumerate(given["labels"])]
    code, entry = certified_alone(tmp_path, rows, given["target"])
    assert code == 1
    assert entry["status"] == "insufficient_data"  # the whole is at .9525: more labels may do
    assert entry["certificate"] is None
    assert naive(entry) is None
    looser = certified_alone(tmp_path, rows, 0.85)[1]["certificate"]
    chosen = [correct for score, correct in rows if score >= looser["threshold"]]
    assert sum(chosen) / len(chosen) >= 0.85


def test_c05_a_few_labels_prove_little(cases: Cases, tmp_path: Path) -> None:
    """19 of 20 correct is a lower bound far below .95; what is missing is said."""
    given = cases["C05"]["input"]
    rows = [(0.9, int(i < given["k"])) for i in range(given["n"])]
    code, entry = certified_alone(tmp_path, rows, given["target"])
    assert (code, entry["status"]) == (1, "insufficient_data")
    assert entry["best_lower_bound"] < 0.8
    assert entry["labels_missing"] == 73
    more = rows + [(0.9, 1)] * entry["labels_missing"]
    assert certified_alone(tmp_path, more, given["target"])[0] == 0


def test_c08_too_few_and_not_good_enough_differ(cases: Cases, tmp_path: Path) -> None:
    """Enough labels with too many errors is another answer than too few, with its best bound."""
    given = cases["C08"]["input"]
    rows = [(0.9, int(i >= given["errors"])) for i in range(given["n"])]
    code, wrong = certified_alone(tmp_path, rows, given["target"])
    assert (code, wrong["status"]) == (1, "no_certifiable_threshold")
    assert wrong["labels_missing"] is None
    assert 0.7 < wrong["best_lower_bound"] < given["target"]
    assert wrong["best_threshold"] == 0.9
    few = certified_alone(tmp_path, [(0.9, 1)] * 28, given["target"])[1]
    assert (few["status"], few["labels_missing"]) == ("insufficient_data", 31)
    assert few["message"] != wrong["message"]


def test_c28_ranks_are_exact(cases: Cases, tmp_path: Path) -> None:
    """Where whole numbers decide, none is one too high: n labels without an error certify exactly
    when target^n <= delta, also where both are equal; and the k-th of n is a whole-number rank.
    """
    given = cases["C28"]["input"]
    assert quantile_rank(given["n"], given["alpha"]) == 19
    for n in range(5, 201):
        for alpha in ("0.01", "0.05", "0.1", "0.2", "0.3", "0.35"):
            exact = math.ceil((n + 1) * (1 - Fraction(alpha)))
            assert quantile_rank(n, float(alpha)) == (exact if exact <= n else None)
    rows = [(0.9, 1, f"{n:03}") for n in range(5, 201) for _ in range(n)]
    for target, delta in (("0.95", "0.05"), ("0.5", "0.015625"), ("0.9", "0.1")):
        options = ("--slice", "kind", "--target", target, "--delta", delta)
        found = {
            entry["n"]: entry["status"] == "certified"
            for entry in certified(tmp_path, rows, *options)[1]
        }
        assert found == {n: Fraction(target) ** n <= Fraction(delta) for n in range(5, 201)}
