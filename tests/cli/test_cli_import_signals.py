"""`sureline import` of logs that bring signals of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.cli.conftest import Run

POLICY = """\
version: 1
slices:
  invoices: {weights: {verification: 0.7, self_report: 0.3}, mode: route}
  letters: {weights: {tone: 1}}
"""
MAPS = (
    "--map", "signal.verification=checks", "--map", "signal.self_report=claim",
    "--map", "label=ok",
)  # fmt: skip
ALL = ("--slice", "invoices", "--label-source", "human", "--labelled", "all")


def log(path: Path, rows: int, *, seed: int = 1, extra: str = "") -> None:
    """Write a CSV log; nine of ten outputs are right."""
    draw = Random(seed)
    lines = [
        f"{draw.random():.4f},{draw.random():.3f},{int(draw.random() < 0.9)}" for _ in range(rows)
    ]
    path.write_text("checks,claim,ok\n" + "\n".join(lines) + "\n" + extra)


@pytest.fixture
def ready(run: Run, folder: Path) -> Run:
    """Return `run` in a folder with a policy for imported signals."""
    (folder / "policy.yaml").write_text(POLICY)
    return run


def imported(run: Run, *arguments: str, file: str = "log.csv") -> dict[str, Any]:
    """Import a log and return what is said of it."""
    result = run("import", file, *arguments, "--policy", "policy.yaml", "--json")
    assert result.exit_code in {0, 2}, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    assert bool(found["rejected"]) == (result.exit_code == 2)
    return found


def rows_of(run: Run, kind: str) -> list[dict[str, Any]]:
    """Return the ledger's rows of one kind."""
    exported = map(json.loads, run("ledger", "export").stdout.splitlines())
    return [one for one in exported if one.get("kind") == kind]


def labels(run: Run) -> int:
    """Return how many labels of the slice count for its certificate."""
    found: int = json.loads(run("recalibrate", "--json").stdout)["reliability"]["invoices"]["n"]
    return found


def test_rows_become_decisions_of_their_own_time_with_labels(ready: Run, folder: Path) -> None:
    """They are composed and routed by the active policy, act on nothing, and keep their moment."""
    (folder / "log.jsonl").write_text(
        '{"checks": 1, "claim": 0.5, "ok": "yes", "when": "2026-03-01T09:00:00+02:00"}\n'
        '{"checks": 0.5, "claim": null, "ok": "no", "when": "2026-03-02"}\n'
    )
    found = imported(ready, *MAPS, "--map", "at=when", *ALL, "--by", "Ada", file="log.jsonl")
    assert (found["new"], found["labels"], found["rejected"]) == (2, 2, 0)
    first, second = (one["fields"] for one in rows_of(ready, "decision"))
    assert (first["route"], first["would_route"]) == ("human_review", "human_review")
    assert first["score"] == pytest.approx(0.85)
    assert first["created_at"] == 1_772_348_400_000_000
    assert second["route"] == "human_required", "a signal is missing"
    outcomes = [one["fields"] for one in rows_of(ready, "outcome")]
    assert [one["by"] for one in outcomes] == ["Ada (human)"] * 2
    assert [one["source"] for one in outcomes] == ["import"] * 2
    assert [one["correct"] for one in outcomes] == [1, 0]


@pytest.mark.parametrize(
    ("arguments", "counted"),
    [pytest.param(("--labelled", "all"), 40, id="all"), pytest.param((), 0, id="reviewed")],
)
def test_only_a_wholly_labelled_log_certifies(
    arguments: tuple[str, ...], counted: int, ready: Run, folder: Path
) -> None:
    """Labels of rows that somebody chose to review are recorded, but are no fair sample."""
    log(folder / "log.csv", 40)
    imported(ready, *MAPS, "--slice", "invoices", "--label-source", "outcome", *arguments)
    assert len(rows_of(ready, "outcome")) == 40
    assert labels(ready) == counted


def test_repeating_and_growing_take_in_only_what_is_new(ready: Run, folder: Path) -> None:
    """A row is known by its place and what stands before it."""
    log(folder / "log.csv", 30)
    assert imported(ready, *MAPS, *ALL)["new"] == 30
    assert imported(ready, *MAPS, *ALL)["known"] == 30
    log(folder / "log.csv", 30, extra="0.5,0.5,1\n0.5,0.5,1\n")
    found = imported(ready, *MAPS, *ALL)
    assert (found["new"], found["known"]) == (2, 30)
    assert labels(ready) == 32


def test_a_corrected_label_overrides(ready: Run, folder: Path) -> None:
    """The same row with another label is the same row, and the newer label counts."""
    (folder / "log.csv").write_text("checks,claim,ok\n0.9,0.9,1\n0.8,0.8,1\n")
    imported(ready, *MAPS, *ALL)
    (folder / "log.csv").write_text("checks,claim,ok\n0.9,0.9,0\n0.8,0.8,1\n")
    assert imported(ready, *MAPS, *ALL)["known"] == 2
    assert labels(ready) == 2
    assert len(rows_of(ready, "outcome")) == 3


def test_rows_at_fault_are_listed_and_the_rest_goes_on(ready: Run, folder: Path) -> None:
    """Each reject has its line and reason, in a file that exists only where there are any."""
    (folder / "log.csv").write_bytes(
        b"nr,checks,claim,ok,when\n"
        b"a,0.9,0.9,1,2026-01-01\n"
        b"b,1.5,0.9,1,2026-01-01\n"
        b"c,0.9,high,1,2026-01-01\n"
        b"d,0.9,0.9,maybe,2026-01-01\n"
        b"e,0.9,0.9,1,yesterday\n"
        b"f,0.9,0.9,1,2999-01-01\n"
        b"g,0.9,0.9\n"
        b"\xff,0.9,0.9,1,2026-01-01\n"
        b"i,0.9,0.9,,2026-01-01\n"
        b"a,0.1,0.9,1,2026-01-01\n"
        b",0.9,0.9,1,2026-01-01\n"
        b"j,0.9,0.9,1,2026-01-01\n"
    )
    found = imported(ready, *MAPS, "--map", "id=nr", "--map", "at=when", *ALL)
    assert (found["new"], found["rejected"]) == (2, 10)
    listed = [json.loads(one) for one in Path(found["rejects"]).read_text().splitlines()]
    reasons = {one["line"]: one["error"]["message"] for one in listed}
    assert sorted(reasons) == list(range(3, 13))
    for line, fragment in {
        3: "column 'checks': expected a number from 0 to 1, got '1.5'",
        4: "column 'claim': expected a number from 0 to 1, got 'high'",
        5: "column 'ok': expected one of 1,",
        6: "column 'when': expected a moment such as 2026-01-31T09:30:00Z, got 'yesterday'",
        7: "column 'when': expected a moment that has passed, got '2999-01-01'",
        8: "expected 5 fields as in the header, got 3",
        9: "expected UTF-8, got byte 0xff at position 1",
        10: "column 'ok': expected a label, because all rows are said to be labelled",
        11: "the id 'a' was used before for other content",
        12: "column 'nr': expected a text, got nothing",
    }.items():
        assert fragment in reasons[line]
    assert imported(ready, *MAPS, "--map", "id=nr", "--map", "at=when", *ALL)["known"] == 2


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param('{"checks": NaN, "claim": 1, "ok": 1}', id="nan"),
        pytest.param('{"checks": 1e999, "claim": 1, "ok": 1}', id="no finite number"),
        pytest.param('{"checks": "\\ud800", "claim": 1, "ok": 1}', id="half a character"),
        pytest.param('{"checks": 1, "ok": 1}', id="no key"),
        pytest.param("7", id="no object"),
    ],
)
@pytest.mark.parametrize("at", [0, 1])
def test_a_line_that_cannot_be_read_is_rejected(
    bad: str, at: int, ready: Run, folder: Path
) -> None:
    """Wherever it stands, it is listed, and the others are in."""
    lines = ['{"checks": 1, "claim": 1, "ok": 1}', '{"checks": 1, "claim": 0.5, "ok": 0}']
    lines.insert(at, bad)
    (folder / "log.jsonl").write_text("\n".join(lines))
    found = imported(ready, *MAPS, *ALL, file="log.jsonl")
    assert (found["new"], [one["line"] for one in found["first_rejected"]]) == (2, [at + 1])


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        pytest.param((*MAPS, "--slice", "invoices"), "where the labels come from", id="no source"),
        pytest.param(
            (*MAPS, "--slice", "invoices", "--label-source", "model"), "no label", id="model's"
        ),
        pytest.param((*MAPS, *ALL, "--task", "x"), "needs no task", id="task"),
        pytest.param((*MAPS, *ALL, "--map", "output=x"), "no field 'output'", id="output"),
        pytest.param((*MAPS, *ALL[2:]), "give the slice", id="no slice"),
        pytest.param((*MAPS[:4], "--slice", "invoices", "--labelled", "all"), "label column",
                     id="all of nothing"),
        pytest.param((*MAPS, "--slice", "letters", *ALL[2:]), "counts on the signal 'tone'",
                     id="signal missing"),
        pytest.param((*MAPS, "--slice", "nowhere", *ALL[2:]), "no slice 'nowhere'", id="slice"),
        pytest.param(("--map", "signal.=checks", *ALL), "no field 'signal.'", id="no name"),
        pytest.param((*MAPS[:4], "--map", "label=nix", *ALL), "no column 'nix'", id="no column"),
    ],
)  # fmt: skip
def test_what_would_be_wrong_for_every_row_is_said_at_once(
    arguments: tuple[str, ...], fragment: str, ready: Run, folder: Path
) -> None:
    """The error says what is wrong, and nothing is recorded."""
    log(folder / "log.csv", 3)
    result = ready("import", "log.csv", *arguments, "--policy", "policy.yaml")
    assert result.exit_code == 2
    assert fragment in result.stderr
    assert rows_of(ready, "decision") == []


def test_slices_can_come_from_a_column(ready: Run, folder: Path) -> None:
    """A row of a slice that is unknown, or counts on another signal, is rejected alone."""
    (folder / "log.csv").write_text(
        "kind,checks,claim\ninvoices,0.9,0.9\nletters,0.9,0.9\nbills,0.9,0.9\n"
    )
    found = imported(ready, *MAPS[:4], "--map", "slice=kind")
    assert (found["new"], found["rejected"], found["labels"]) == (1, 2, 0)
    reasons = [one["error"]["message"] for one in found["first_rejected"]]
    assert "counts on the signal 'tone'" in reasons[0]
    assert "no slice 'bills'" in reasons[1]


def in_own_process(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run an import in a process of its own; `program` runs before it."""
    arguments = ["sureline", "import", "log.csv", *MAPS, *ALL, "--policy", "policy.yaml"]
    source = f"import sys; sys.argv = {arguments!r}\n{program}\n"
    return subprocess.run(
        [sys.executable, "-c", source],
        cwd=folder, env=dict(os.environ), capture_output=True, text=True, check=False,
    )  # fmt: skip


KILLED = """
import os, signal
from sureline.application.import_signals import SignalImport
from sureline.cli.app import app
whole = SignalImport.run
async def stopped(self, table):
    batches = 0
    async for rows in whole(self, table):
        batches += bool(rows)
        if batches == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        yield rows
SignalImport.run = stopped
app()
"""


@pytest.mark.slow
def test_a_killed_import_goes_on_where_it_stopped(ready: Run, folder: Path) -> None:
    """After kill -9 nothing is doubled and nothing is lost, and the chain verifies."""
    (folder / "policy.yaml").write_text(POLICY)
    log(folder / "log.csv", 12_000)
    killed = in_own_process(KILLED, folder)
    assert killed.returncode == -signal.SIGKILL
    again = imported(ready, *MAPS, *ALL)
    assert (again["new"], again["known"]) == (2_000, 10_000)
    assert labels(ready) == 12_000
    assert ready("ledger", "verify").exit_code == 0


MEASURED = """
import resource
from sureline.cli.app import app
try:
    app()
except SystemExit as end:
    assert end.code in (0, None), end.code
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.fixture(scope="module")
def megabytes(tmp_path_factory: pytest.TempPathFactory) -> list[int]:
    """Return the most memory of an import of 30,000 rows and of one of 90,000."""
    found = []
    for rows in (30_000, 90_000):
        folder = tmp_path_factory.mktemp(f"rows{rows}")
        (folder / "policy.yaml").write_text(POLICY)
        log(folder / "log.csv", rows)
        done = in_own_process(MEASURED, folder)
        found.append(int(done.stdout.splitlines()[-1]))
    return found


@pytest.mark.slow
def test_memory_does_not_grow_with_the_rows(megabytes: list[int]) -> None:
    """Three times as many rows take at most a few megabytes more: the database's own cache."""
    small, large = megabytes
    assert large - small < 24
