"""`sureline certify`, as a user calls it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sureline.cli.app import app

SHARED = Path(__file__).parents[3] / "shared" / "data"
needs_data = pytest.mark.skipif(
    not (SHARED / "msp_mcqa.parquet").exists(), reason="../shared/data is not here"
)
COLUMNS = ("--score", "score", "--label", "label")


def table(folder: Path, *runs: tuple[str, float, int, int]) -> Path:
    """Write runs of (slice, score, labels, errors) as CSV."""
    path = folder / "labels.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["kind", "score", "label"])
        for kind, score, count, errors in runs:
            rows.writerows([kind, score, int(i >= errors)] for i in range(count))
    return path


def certify(path: Path, *options: str) -> tuple[int, str, str]:
    """Run the command and return exit code, output and errors."""
    found = CliRunner().invoke(app, ["certify", str(path), *options])
    return found.exit_code, found.stdout, found.stderr


def test_enough_labels_give_a_certificate(tmp_path: Path) -> None:
    """A proven threshold is printed in JSON with all that it rests on, and the exit code is 0."""
    code, out, _ = certify(table(tmp_path, ("a", 0.9, 80, 0)), *COLUMNS, "--json")
    assert code == 0
    document = json.loads(out)
    (entry,) = document["results"]
    assert document["certified"] is True
    assert (entry["slice_key"], entry["status"], entry["n"]) == ("all", "certified", 80)
    certificate = entry["certificate"]
    assert (certificate["threshold"], certificate["in_band"]) == (0.9, 80)
    assert certificate["lower_bound"] >= 0.95
    assert [rule["rule"] for rule in entry["comparison"]["rules"]] == [
        "naive_running_precision",
        "naive_largest_band",
    ]


@pytest.mark.parametrize(
    ("runs", "status", "missing"),
    [
        pytest.param((("a", 0.9, 28, 0),), "insufficient_data", 31, id="too-few"),
        pytest.param((("a", 0.9, 20, 1),), "insufficient_data", 73, id="C05"),
        pytest.param((("a", 0.9, 100, 40),), "no_certifiable_threshold", None, id="C03"),
        pytest.param((("a", 0.9, 80, 11),), "no_certifiable_threshold", None, id="C08"),
    ],
)
def test_no_certificate_says_why_and_exits_with_1(
    tmp_path: Path, runs: tuple, status: str, missing: int | None
) -> None:
    """Too few labels and not good enough are different answers, and neither has a threshold."""
    code, out, _ = certify(table(tmp_path, *runs), *COLUMNS, "--json")
    assert code == 1
    document = json.loads(out)
    (entry,) = document["results"]
    assert document["certified"] is False
    assert entry["certificate"] is None
    assert (entry["status"], entry["labels_missing"]) == (status, missing)
    assert "threshold" not in entry
    assert entry["message"]


def test_c01_eight_labels_are_insufficient(tmp_path: Path) -> None:
    """C01: the example whose naive answer is .5 gets `insufficient_data` and exit code 1."""
    scores = [0.95, 0.9, 0.88, 0.85, 0.8, 0.7, 0.55, 0.4]
    runs = [("a", score, 1, int(i >= 4)) for i, score in enumerate(scores)]
    code, out, _ = certify(table(tmp_path, *runs), *COLUMNS)
    assert code == 1
    assert "insufficient_data" in out
    assert "55 more labels without an error" in out


def test_c02_no_threshold_is_below_the_lowest_score_seen(tmp_path: Path) -> None:
    """C02: 300 correct labels from .2 to 1 are certified down to .2, never below."""
    runs = [("a", round(0.2 + 0.8 * i / 299, 6), 1, 0) for i in range(300)]
    code, out, _ = certify(table(tmp_path, *runs), *COLUMNS, "--json")
    assert code == 0
    certificate = json.loads(out)["results"][0]["certificate"]
    assert certificate["threshold"] == 0.2
    assert certificate["lower_bound"] >= 0.95


def test_c04_a_wrong_top_counts_in_every_band(tmp_path: Path) -> None:
    """C04: with the 19 best of 400 wrong, nothing is certified and the naive rule finds none."""
    runs = [("a", round(1 - i / 400, 6), 1, int(i < 19)) for i in range(400)]
    code, out, _ = certify(table(tmp_path, *runs), *COLUMNS, "--json")
    assert code == 1
    (entry,) = json.loads(out)["results"]
    assert entry["status"] == "insufficient_data"
    assert entry["labels_missing"] > 0
    assert entry["comparison"]["rules"][0]["threshold"] is None


def test_plain_text_is_printed_where_nobody_watches(tmp_path: Path) -> None:
    """Piped output has no frames or colours, and marks the naive figure as proving nothing."""
    path = table(tmp_path, ("a", 0.9, 80, 0), ("b", 0.9, 20, 0))
    code, out, _ = certify(path, *COLUMNS, "--slice", "kind")
    assert code == 1
    assert "\x1b" not in out
    assert "│" not in out
    assert "certified" in out
    assert "b: insufficient_data: 20 labels are too few" in out
    assert "proves nothing" in out


def test_where_and_slice_choose_rows(tmp_path: Path) -> None:
    """`--where` narrows the rows, `--slice` certifies each value by itself."""
    path = table(tmp_path, ("a", 0.9, 80, 0), ("b", 0.9, 80, 40))
    assert certify(path, *COLUMNS, "--where", "kind=a")[0] == 0
    assert certify(path, *COLUMNS, "--where", "kind=b")[0] == 1
    code, out, _ = certify(path, *COLUMNS, "--slice", "kind", "--json")
    assert code == 1
    assert [r["slice_key"] for r in json.loads(out)["results"]] == ["a", "b"]


def test_a_family_is_stricter(tmp_path: Path) -> None:
    """`--error-rate family` shares delta over the slices, and the certificate says so."""
    path = table(tmp_path, ("a", 0.9, 80, 0), ("b", 0.9, 80, 0))
    options = (*COLUMNS, "--slice", "kind", "--json", "--error-rate", "family")
    code, out, _ = certify(path, *options)
    assert code == 0
    certificate = json.loads(out)["results"][0]["certificate"]
    assert certificate["error_rate"] == "family"
    assert certificate["delta"] == 0.025


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param(("--score", "points", "--label", "label"), "no column 'points'", id="column"),
        pytest.param(("--score", "kind", "--label", "label"), "line 2, column 'kind'", id="word"),
        pytest.param(("--score", "score", "--label", "score"), "expected 0, 1, true", id="label"),
        pytest.param((*COLUMNS, "--target", "1"), "target", id="target"),
        pytest.param((*COLUMNS, "--delta", "nan"), "delta", id="delta"),
        pytest.param((*COLUMNS, "--where", "kind"), "COLUMN=VALUE", id="where"),
        pytest.param((*COLUMNS, "--where", "kind=z"), "kind is one of a", id="nothing-left"),
        pytest.param((*COLUMNS, "--error-rate", "each"), "error-rate", id="error-rate"),
        pytest.param(("--score", "score"), "label", id="usage"),
    ],
)
def test_bad_input_exits_with_2_and_says_what_was_expected(
    tmp_path: Path, options: tuple, message: str
) -> None:
    """Faults of the file or of the call are told on standard error; nothing is printed."""
    code, out, err = certify(table(tmp_path, ("a", 0.9, 80, 0)), *options)
    assert code == 2
    assert out == ""
    assert message in err


@pytest.mark.parametrize("score", ["nan", "inf", "1.7", "-1"], ids=lambda s: f"C26-{s}")
def test_what_is_no_score_is_refused_by_line(tmp_path: Path, score: str) -> None:
    """C26: a score that is not a number from 0 to 1 refuses the file, naming the line."""
    path = table(tmp_path, ("a", 0.9, 80, 0))
    path.write_text(path.read_text().replace("a,0.9,1", f"a,{score},1", 1))
    code, _, err = certify(path, *COLUMNS)
    assert code == 2
    assert "labels.csv, line 2, column 'score'" in err


def test_an_absent_file_exits_with_2(tmp_path: Path) -> None:
    """A file that is not there is bad input."""
    code, _, err = certify(tmp_path / "absent.csv", *COLUMNS)
    assert code == 2
    assert "absent.csv" in err


@needs_data
def test_public_data_get_a_certificate() -> None:
    """On the published scores of one model the certified band is close to the largest possible."""
    options = ("--score", "msp", "--label", "correct", "--where", "model=gpt-4-turbo", "--json")
    code, out, _ = certify(SHARED / "msp_mcqa.parquet", *options)
    assert code == 0
    (entry,) = json.loads(out)["results"]
    certificate = entry["certificate"]
    assert certificate["n"] == 21407
    assert 0.65 < certificate["coverage"] < 0.70
    assert certificate["lower_bound"] >= 0.95
    assert certify(SHARED / "msp_gpt4_turbo.csv", *options[:4])[0] == 0
