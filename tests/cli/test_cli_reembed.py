"""`sureline reembed`: after a change of embedder the past is compared with again."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.embedding_server import MODEL, EmbeddingServer, Reply

pytest.importorskip("pydantic_ai", reason="the extra `models` is not installed")

POLICY = """\
version: 1
slices:
  payments:
    mode: log_only
    weights: {{verification: 0.5, history: 0.5}}
    history: {{neighbours: 4, fields: [vendor], embedder: "{embedder}"}}
  letters: {{}}
"""
NUMBER = 150


def write(name: str, embedder: str) -> None:
    Path(name).write_text(POLICY.format(embedder=embedder), encoding="utf-8")


def payment(number: int) -> str:
    output = {"vendor": f"Vendor {number}"}
    fields = {"slice_key": "payments", "task": "Pay it", "output": output, "id": f"p{number}"}
    return json.dumps(fields) + "\n"


@pytest.fixture
def taught(run: Run) -> Run:
    """A store with 150 labelled payments, recorded with the built-in embedder."""
    write("hashing.yaml", "hashing")
    write("remote.yaml", MODEL)
    proposals = "".join(map(payment, range(NUMBER)))
    assert run("decide", "--policy", "hashing.yaml", text=proposals).exit_code == 1
    outcomes = "".join(
        json.dumps({"id": f"p{number}", "action": "approve", "by": "Ada"}) + "\n"
        for number in range(NUMBER)
    )
    Path("outcomes.jsonl").write_text(outcomes, encoding="utf-8")
    for number in range(NUMBER):
        told = run("outcome", f"p{number}", "--action", "approve", "--by", "Ada")
        assert told.exit_code == 0, told.output
    return run


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Any:
    with EmbeddingServer() as server:
        server.use(monkeypatch)
        yield server


def slices(run: Run, *arguments: str) -> dict[str, Any]:
    result = run("reembed", "--json", *arguments)
    assert result.exit_code == 0, result.output
    return {one["slice"]: one for one in json.loads(result.stdout)["slices"]}


def history(run: Run, number: int) -> Any:
    result = run("decide", text=payment(number))
    return json.loads(result.stdout)["signals"]["history"]


def test_the_whole_way(taught: Run, server: EmbeddingServer) -> None:
    """Activating says what to do; a dry run says how much; the run does it; history speaks."""
    run = taught
    told = run("policy", "activate", "remote.yaml", "--by", "Ada")
    assert "sureline reembed --slice payments" in told.stderr
    assert history(run, 1000)["reason"] == "too_few"

    dry = slices(run, "--dry-run")["payments"]
    assert (dry["to_make"], dry["made"]) == (NUMBER, None)
    assert dry["model_id"].startswith("openai:text-embedding-test:")
    assert slices(run, "--slice", "payments")["payments"]["made"] == NUMBER

    signal = history(run, 1001)
    assert (signal["state"], signal["detail"]["cases"]) == ("measured", NUMBER)
    again = slices(run)["payments"]
    assert (again["remade"], again["to_make"]) == (NUMBER, 0)
    verified = run("ledger", "verify", "--json")
    assert verified.exit_code == 0
    assert json.loads(verified.stdout)["cases"]["usable"] == 2 * NUMBER


def test_a_person_reads_a_table(taught: Run, server: EmbeddingServer) -> None:
    """Without --json there is a row a slice."""
    assert taught("policy", "activate", "remote.yaml", "--by", "Ada").exit_code == 0
    told = taught("reembed", "--slice", "payments")
    row = next(line for line in told.stdout.splitlines() if line.startswith("payments"))
    assert row.split() == ["payments", MODEL, "0", "0", "0", str(NUMBER), str(NUMBER), "0"]


def test_a_model_that_is_away_is_an_error(taught: Run, server: EmbeddingServer) -> None:
    """Nothing is made, and the message says why."""
    taught("policy", "activate", "remote.yaml", "--by", "Ada")
    server.script(*[lambda body: Reply(401)] * 9)
    told = taught("reembed")
    assert told.exit_code == 2
    assert "unauthorized" in told.stderr


def test_a_killed_run_loses_nothing(taught: Run, server: EmbeddingServer, folder: Path) -> None:
    """Killed in the middle of its second batch, the first one is kept and the next run ends it."""
    taught("policy", "activate", "remote.yaml", "--by", "Ada")
    begun = threading.Event()

    def hang(body: dict[str, Any]) -> Reply:
        begun.set()
        return server.never(body)

    # One text to learn the model; 64 decisions and their one task take three requests.
    server.script(*[lambda body: body] * 4, hang)
    command = [sys.executable, "-m", "sureline", "reembed", "--json"]
    environment = {**os.environ, **server.variables}
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE) as process:
        assert begun.wait(60)
        process.kill()
    assert process.returncode == -9
    with closing(sqlite3.connect("sureline.db")) as store:
        assert store.execute("SELECT count(*) FROM remade_vectors").fetchone() == (64,)

    done = slices(taught)["payments"]
    assert (done["remade"], done["made"]) == (64, NUMBER - 64)


def test_a_policy_with_another_embedder_says_so(run: Run) -> None:
    """`policy check` and `policy diff` name the command; the built-in embedder needs none."""
    write("hashing.yaml", "hashing")
    write("local.yaml", "local")
    assert "reembed" not in run("policy", "check", "hashing.yaml").output
    assert "sureline reembed --slice payments" in run("policy", "check", "local.yaml").stderr
    checked = json.loads(run("policy", "check", "local.yaml", "--json").stdout)
    assert "sureline reembed --slice payments" in checked["warnings"][0]
    told = run("policy", "diff", "hashing.yaml", "local.yaml").stdout
    assert "history.embedder changes from hashing to local" in told


@pytest.mark.parametrize("name", ["other", "remote:", ":x", ""])
def test_a_name_that_is_no_embedder_is_refused(run: Run, name: str) -> None:
    """A policy names one of the two built in, or a provider's model."""
    write("bad.yaml", name)
    told = run("policy", "check", "bad.yaml")
    assert told.exit_code == 2
    assert "history.embedder" in told.stderr
