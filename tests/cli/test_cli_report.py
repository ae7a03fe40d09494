"""`sureline report`: tables, JSON and HTML with the same figures; nothing changes."""

from __future__ import annotations

import json
import math
import sqlite3
from pathlib import Path

import pytest

from sureline.adapters.storage.store import open_store
from tests.cli.conftest import Run
from tests.cli.test_cli_import import imported, row, write

DATA = Path(__file__).parents[3] / "shared" / "data" / "mmlupro_calibration.parquet"


@pytest.fixture
def labelled(started: Run, folder: Path) -> Run:
    """Return `run` in a folder with 200 labelled outputs, one in ten of them wrong."""
    write(folder / "log.jsonl", [row(n) for n in range(100, 300)])
    imported(started)
    return started


def test_without_labels_it_says_what_is_missing(started: Run) -> None:
    """The first line is what to do."""
    first = started("report").stdout.splitlines()[0]
    assert first.startswith("label more: invoices. No certificate yet: ")
    assert "more labels without an error" in first


def test_it_says_what_to_do_and_how(labelled: Run) -> None:
    """A slice that may act alone is loosened by the command that the report names."""
    said = labelled("report").stdout
    assert said.startswith("loosen: invoices. Nothing acts alone today, but the labels prove")
    name = said.split("calibration activate ")[1].split()[0]
    assert labelled("calibration", "activate", name, "--by", "Ada").exit_code == 2  # not proposed
    assert labelled("recalibrate").exit_code == 0
    assert labelled("calibration", "activate", name, "--by", "Ada").exit_code == 0
    later = labelled("report").stdout
    assert "to do so: set mode: route for this slice in the policy" in later


def test_json_and_html_are_the_same_report(labelled: Run, folder: Path) -> None:
    """The file is written beside either, and where it is goes to standard error."""
    result = labelled("report", "--json", "--html", "r.html")
    found = json.loads(result.stdout)
    assert found["slices"][0]["advice"] == "loosen"
    assert "r.html" in result.stderr
    html = (folder / "r.html").read_text("utf-8")
    assert found["calibration"] in html
    assert f"{found['slices'][0]['before']['brier']['value']:.3f}" in html


def test_tasks_that_are_always_wrong_are_shown_together(run: Run, folder: Path) -> None:
    """A kind of task that fails is found, with the same words in every form of the report.

    It is only shown: what is stored of the calibration has no word of a payload.
    """
    letter = "LETTER OF REMINDER\nPlease settle the overdue balance\nTotal due: £{}.00"
    bad = [row(n, text=letter.format(n), right=False) for n in range(501, 540)]
    write(folder / "log.jsonl", [*(row(n) for n in range(100, 300)), *bad])
    assert run("init", ".").exit_code == 0
    policy = (folder / "policy.yaml").read_text("utf-8")
    looked_up = policy.replace("{verification: 1.0}", "{verification: 0.7, history: 0.3}")
    assert looked_up != policy
    (folder / "policy.yaml").write_text(looked_up, "utf-8")
    imported(run, "--policy", "policy.yaml")
    said = run("report").stdout
    assert "worst cluster of rejected tasks: Of " in said
    assert "“reminder”" in said.split("proposed split: ")[1].splitlines()[0]
    (found,) = json.loads(run("report", "--json", "--html", "r.html").stdout)["slices"]
    worst = found["clusters"]["worst"]
    assert worst["right"]["whole"] >= 30
    assert len(worst["examples"]) == 3
    html = (folder / "r.html").read_text("utf-8")
    assert worst["split"] in html
    assert all(name in html and name in said for name in worst["examples"])
    assert run("recalibrate").exit_code == 0
    with sqlite3.connect(folder / "sureline.db") as store:
        kept = [str(one) for one in store.execute("SELECT * FROM calibrations")]
    store.close()
    assert kept
    assert "reminder" not in "".join(kept).casefold()


def test_recalibrate_writes_the_report_too(labelled: Run, folder: Path) -> None:
    """One command computes, stores and reports; the report is on what was stored."""
    result = labelled("recalibrate", "--report", "r.html", "--json")
    assert json.loads(result.stdout)["id"] in (folder / "r.html").read_text("utf-8")


def test_a_folder_that_is_not_there_is_said(labelled: Run) -> None:
    """The reason names the file; it is the caller's mistake."""
    result = labelled("report", "--html", "no/r.html")
    assert result.exit_code == 2
    assert "no/r.html" in result.stderr


def test_without_a_policy_there_is_no_report(run: Run, empty_store: None) -> None:
    """A store without a policy has no slices to report on."""
    assert run("report").exit_code == 2


def test_what_a_large_model_says_of_itself_is_overconfident(run: Run, folder: Path) -> None:
    """On public answers of GPT-4o: it says .95 and is right in .76; calibrated, it is not off.

    Each bucket's gap on unseen labels is within its interval, widened by what the map itself owes
    to the labels that it was fitted on (three in ten).
    """
    if not DATA.exists():
        pytest.skip(f"{DATA.name} is not in ../shared/data beside the project")
    _public_log(folder / "log.parquet")
    (folder / "policy.yaml").write_text(
        "version: 1\nslices:\n  mmlu-pro: {weights: {stated: 1}, output: {structured: false}}\n"
    )
    open_store("sqlite:///sureline.db").close()
    with sqlite3.connect(folder / "sureline.db") as store:  # which labels are unseen is drawn
        store.execute("UPDATE meta SET value = ? WHERE name = 'secret'", (b"0" * 32,))
    store.close()
    taken = run(
        "import", "log.parquet", "--policy", "policy.yaml", "--slice", "mmlu-pro",
        "--map", "signal.stated=self_verbal", "--map", "label=correct",
        "--label-source", "outcome", "--labelled", "all",
    )  # fmt: skip
    assert taken.exit_code == 0
    assert run("recalibrate", "--report", "r.html").exit_code == 0
    (found,) = json.loads(run("report", "--json").stdout)["slices"]
    top = found["before"]["table"]["buckets"][-1]
    assert top["verdict"] == "overconfident"
    assert (round(top["predicted"], 2), round(top["actual"], 2)) == (0.95, 0.76)
    assert "it says 0.95, and 0.76 of" in (folder / "r.html").read_text("utf-8")
    assert found["after"]["table"]["ece"] < 0.1 * found["before"]["table"]["ece"]
    for bucket in found["after"]["table"]["buckets"]:
        if bucket["n"] >= 10:
            low, high = bucket["interval"]
            assert abs(bucket["gap"]) < (high - low) / 2 * math.sqrt(1 + 0.7 / 0.3)


def _public_log(path: Path) -> None:
    """Write GPT-4o's stated confidences with whether it was right; some answers state none."""
    from pyarrow import compute, parquet

    rows = parquet.read_table(
        DATA,
        columns=["self_verbal", "correct"],
        filters=[("model", "=", "gpt-4o-2024-08-06")],
    )
    parquet.write_table(rows.filter(compute.is_finite(rows["self_verbal"])), path)
