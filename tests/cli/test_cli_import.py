"""`sureline import`: a log comes in once, whatever happens on the way."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import GOOD, Run

MAPS = ("--map", "task=prompt", "--map", "output=answer", "--map", "source=text",
        "--map", "label=right", "--slice", "invoices")  # fmt: skip


def row(number: int, **changes: Any) -> dict[str, Any]:
    """Write a past output; one in ten is wrong."""
    total = number * 10 if number % 10 == 0 else number
    return {
        "prompt": GOOD["task"],
        "text": f"INVOICE\nSupplier {number % 7}\n14/01/2026\nTotal due: £{number}.00",
        "answer": {"vendor": f"Supplier {number % 7}", "date": "2026-01-14", "total": total},
        "right": number % 10 != 0,
        **changes,
    }


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), "utf-8")


def imported(run: Run, *arguments: str) -> dict[str, Any]:
    given = arguments if "--labelled" in arguments else ("--labelled", "all", *arguments)
    result = run("import", "log.jsonl", *MAPS, "--json", *given)
    assert result.exit_code in {0, 2}
    found: dict[str, Any] = json.loads(result.stdout)
    assert bool(found["rejected"]) == (result.exit_code == 2)
    return found


def labels(run: Run) -> int:
    found: int = json.loads(run("recalibrate", "--json").stdout)["reliability"]["invoices"]["n"]
    return found


def test_repeating_takes_in_nothing_twice(started: Run, folder: Path) -> None:
    """A second import of the same log adds neither decisions nor labels."""
    write(folder / "log.jsonl", [row(n) for n in range(100, 240)])
    first = imported(started)
    assert (first["new"], first["known"], first["labels"]) == (140, 0, 140)
    second = imported(started)
    assert (second["new"], second["known"], second["labels"]) == (0, 140, 140)
    assert labels(started) == 140


def test_labels_of_chosen_rows_certify_nothing(started: Run, folder: Path) -> None:
    """Who labelled only what looked odd has no fair sample; that is assumed unless told."""
    write(folder / "log.jsonl", [row(n) for n in range(100, 240)])
    assert imported(started, "--labelled", "reviewed")["labels"] == 140
    assert labels(started) == 0


def test_a_log_that_has_grown_adds_only_what_is_new(started: Run, folder: Path) -> None:
    """Rows are known by their content, so inserting and appending rows does not disturb others."""
    write(folder / "log.jsonl", [row(n) for n in range(100, 110)])
    imported(started)
    write(folder / "log.jsonl", [row(99), *(row(n) for n in range(100, 112))])
    again = imported(started)
    assert (again["new"], again["known"]) == (3, 10)


def test_equal_rows_are_separate_cases(started: Run, folder: Path) -> None:
    """Two equal rows of one log are two outputs, and stay two when imported again."""
    write(folder / "log.jsonl", [row(100), row(100)])
    assert imported(started)["new"] == 2
    assert imported(started)["known"] == 2


def test_a_corrected_label_overrides(started: Run, folder: Path) -> None:
    """A row whose label was corrected is the same row, and the newer label counts."""
    write(folder / "log.jsonl", [row(101, right=True)])
    imported(started)
    write(folder / "log.jsonl", [row(101, right=False)])
    assert imported(started)["known"] == 1
    assert labels(started) == 1
    buckets = json.loads(started("recalibrate", "--json").stdout)["reliability"]["invoices"]
    assert sum(one["n"] * (one["actual"] or 0) for one in buckets["buckets"]) == 0


@pytest.mark.parametrize(
    ("changes", "fragment"),
    [
        pytest.param({"right": "perhaps"}, "expected one of", id="label"),
        pytest.param({"prompt": None}, "task", id="no task"),
        pytest.param({"text": "x" * 2_000_001}, "source", id="too long"),
    ],
)
def test_a_bad_row_is_rejected_with_its_line(
    changes: dict[str, Any], fragment: str, started: Run, folder: Path
) -> None:
    """Other rows are in; the bad one is listed with line and reason, and the exit code is 2."""
    write(folder / "log.jsonl", [row(101), row(102, **changes), row(103)])
    found = imported(started)
    assert found["new"] == 2
    assert [one["line"] for one in found["rejected"]] == [2]
    assert fragment in found["rejected"][0]["error"]["message"]


@pytest.mark.parametrize(
    ("line", "fragment"),
    [
        pytest.param(b'{"prompt": "x", "answer": NaN}', "NaN is not JSON", id="nan"),
        pytest.param(b'{"prompt": "x", ', "expected a JSON object", id="cut off"),
        pytest.param(b'{"prompt": "\xff"}', "expected UTF-8", id="not UTF-8"),
        pytest.param(b"7", "got int", id="not an object"),
        pytest.param(b'{"prompt": "x"}', "no key 'answer'", id="no key"),
        pytest.param(
            b'{"prompt": "\\ud800", "answer": 1, "text": "", "right": 1}',
            "surrogate",
            id="half a character",
        ),
        pytest.param(
            b'{"prompt": "x", "answer": 1e999, "text": "", "right": 1}',
            "JSON",
            id="no finite number",
        ),
    ],
)
@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_line_that_cannot_be_read_is_rejected(
    line: bytes, fragment: str, at: int, started: Run, folder: Path
) -> None:
    """Wherever it stands, it is listed with its reason, and the other lines are in."""
    lines = [json.dumps(row(number)).encode() for number in (101, 102)]
    lines.insert(at, line)
    (folder / "log.jsonl").write_bytes(b"\n".join(lines))
    found = imported(started)
    assert (found["new"], found["labels"]) == (2, 2)
    assert [one["line"] for one in found["rejected"]] == [at + 1]
    assert fragment in found["rejected"][0]["error"]["message"]


def test_a_file_without_one_good_line_lists_them_all(started: Run, folder: Path) -> None:
    """Nothing is in, and every line says why."""
    (folder / "log.jsonl").write_bytes(b"nonsense\nNaN\n")
    found = imported(started)
    assert (found["new"], [one["line"] for one in found["rejected"]]) == (0, [1, 2])


def test_rows_of_another_width_are_rejected(started: Run, folder: Path) -> None:
    """A ragged or misquoted CSV row is listed with its line, and the others are in."""
    (folder / "log.csv").write_text('a,ok\n1,yes\n2\n"3"x,yes\n4,no,no\n5,no\n')
    result = started("import", "log.csv", "--slice", "invoices", "--task", "read", "--json",
                     "--map", "output=a", "--map", "label=ok")  # fmt: skip
    found = json.loads(result.stdout)
    assert (result.exit_code, found["new"]) == (2, 2)
    assert [one["line"] for one in found["rejected"]] == [3, 4, 5]


def test_an_empty_label_is_no_label(started: Run, folder: Path) -> None:
    """A row without a label waits for one, or is at fault where all were said to have one."""
    write(folder / "log.jsonl", [row(101, right=None), row(102, right="")])
    assert len(imported(started, "--labelled", "all")["rejected"]) == 2
    found = imported(started, "--labelled", "reviewed")
    assert (found["new"], found["labels"]) == (2, 0)


def test_nothing_acts_even_where_the_slice_routes(started: Run, folder: Path) -> None:
    """An import never approves: its decisions are log-only ones, whatever the slice's mode."""
    text = (folder / "policy.yaml").read_text().replace("mode: log_only", "mode: route")
    (folder / "policy.yaml").write_text(text)
    assert started("policy", "activate", "policy.yaml", "--by", "Ada").exit_code == 0
    write(folder / "log.jsonl", [row(n) for n in range(100, 300)])
    imported(started)
    assert started("recalibrate", "--activate", "--by", "Ada").exit_code == 0
    write(folder / "log.jsonl", [row(n) for n in range(300, 340)])
    assert imported(started)["new"] == 40
    exported = [json.loads(line) for line in started("ledger", "export").stdout.splitlines()]
    decisions = [one for one in exported if one["kind"] == "decision"]
    assert len(decisions) == 240
    assert "auto_approve" not in {one["fields"]["route"] for one in decisions}


def test_a_csv_with_its_own_ids_and_slices(started: Run, folder: Path) -> None:
    """Columns can hold the id and the slice; an output can be gathered from several columns."""
    with (folder / "log.csv").open("w", newline="") as file:
        log = csv.writer(file)
        log.writerow(["nr", "kind", "vendor", "date", "ok"])
        log.writerow(["a-1", "invoices", "Acme", "2026-01-14", "yes"])
        log.writerow(["a-2", "bills", "Acme", "2026-01-14", "no"])
    result = started(
        "import", "log.csv", "--task", "read", "--map", "id=nr", "--map", "slice=kind",
        "--map", "output.vendor=vendor", "--map", "output.date=date", "--map", "label=ok", "--json",
    )  # fmt: skip
    found = json.loads(result.stdout)
    assert found["new"] == 1
    assert "it has: invoices" in found["rejected"][0]["error"]["message"]
    assert started("outcome", "a-1", "--action", "approve", "--by", "Ada").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        pytest.param(["--map", "colour=x"], "no field 'colour'", id="unknown field"),
        pytest.param(["--map", "output"], "FIELD=COLUMN", id="no column"),
        pytest.param(["--map", "task=prompt"], "output", id="no output"),
        pytest.param(
            ["--map", "output=a", "--map", "output.b=c", "--map", "task=t"], "not both", id="both"
        ),
        pytest.param(["--map", "output=answer"], "task", id="no task"),
        pytest.param(["--map", "output=a", "--map", "output=b"], "twice", id="twice"),
        pytest.param(["--map", "output=nowhere", "--task", "x"], "nowhere", id="no such column"),
    ],
)
def test_a_wrong_mapping_is_said_before_anything_is_read(
    arguments: list[str], fragment: str, started: Run, folder: Path
) -> None:
    """The error names what is wrong with the mapping."""
    write(folder / "log.jsonl", [row(101)])
    result = started("import", "log.jsonl", "--slice", "invoices", *arguments)
    assert result.exit_code == 2
    assert fragment in result.stderr


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("no.csv", None, id="not there"),
        pytest.param("empty.csv", b"", id="empty"),
        pytest.param("fake.parquet", b"PAR1 and nothing else", id="damaged"),
    ],
)
def test_a_file_that_cannot_be_read_is_an_error(
    name: str, content: bytes | None, started: Run, folder: Path
) -> None:
    """The error names the file."""
    if content is not None:
        (folder / name).write_bytes(content)
    result = started("import", name, *MAPS)
    assert result.exit_code == 2
    assert name in result.stderr
