"""Rows of area 4-history about the store: rebuilding, sudden ends, and whose cases are whose."""

from __future__ import annotations

import inspect
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from sureline.adapters.embedders.hashing import HashingEmbedder
from sureline.adapters.search.check import check
from sureline.adapters.search.exact import ExactCaseIndex
from sureline.application.ports.cases import CaseIndex
from sureline.gate import Gate
from tests.cases.doors import Server, ask, served, sureline
from tests.cases.pasts import POLICY, history, open_gate, payment, teach
from tests.cases.test_history_cases import APPROVED, MISSING, TOO_FEW, Cases, decided

ROOT = Path(__file__).parents[2]
MODEL = HashingEmbedder()


def checked(gate: Gate) -> tuple[bool, int]:
    """Build an index from the ledger anew; say whether it agrees, and how many cases it has."""
    ledger = gate.services.ledger

    async def work() -> tuple[bool, int]:
        index = ExactCaseIndex(ledger, MODEL.model_id, dimension=MODEL.dimension)
        try:
            await index.refresh()
            report = await check(index, ledger)
        finally:
            index.close()
        return report.ok, report.cases

    return gate.run(work())


def damage(folder: Path, statement: str) -> None:
    """Change the store behind the product's back."""
    with closing(sqlite3.connect(folder / "store.db")) as database, database:
        triggers = database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in triggers.fetchall():
            database.execute(f'DROP TRIGGER "{name}"')
        database.execute(statement)


def test_h15_a_rebuilt_index_is_checked_against_the_ledger(cases: Cases, tmp_path: Path) -> None:
    """Every start rebuilds; the rebuilt index answers as before, and damage is not answered.

    The self-check compares counts and queries. Where it fails, so does the signal.
    """
    assert cases["H15"]["input"]["then"] == "query"
    with open_gate(tmp_path) as gate:
        taught = len(teach(gate))
        before = ask(gate, payment())
    with open_gate(tmp_path) as gate:
        after = ask(gate, payment())
        assert checked(gate) == (True, taught)
    assert decided(before) == decided(after) == APPROVED
    assert after["signals"]["history"] == before["signals"]["history"]
    oldest = "(SELECT min(seq) FROM vectors)"
    newest = "(SELECT vector FROM vectors ORDER BY seq DESC LIMIT 1)"
    for broken in (
        *(
            f"UPDATE vectors SET vector = {value} WHERE seq = {oldest}"
            for value in ("zeroblob(1024)", "x'00'", "zeroblob(4)", newest)
        ),
        f"UPDATE vectors SET model_id = 'other' WHERE seq = {oldest}",
        f"DELETE FROM vectors WHERE seq = {oldest}",
    ):
        damage(tmp_path, broken)
        with open_gate(tmp_path) as gate:
            assert checked(gate) == (False, taught - 1)
            answer = ask(gate, payment(amount=8))
        assert (decided(answer), history(answer)) == (MISSING, ("failed", "search_failed"))


WRITER = """
import sys
from contextlib import closing
from pathlib import Path
from tests.cases.doors import ask
from tests.cases.pasts import VENDORS, open_gate, payment

with open_gate(Path(sys.argv[1])) as gate:
    for number in range(700):
        answer = ask(gate, payment(VENDORS[number % 3], number + 1))
        gate.run(gate.record_outcome(answer["id"], action="approve", by="Ada"))
        print(answer["id"], flush=True)
"""


def test_h16_a_killed_writer_leaves_nothing_to_repair(cases: Cases, tmp_path: Path) -> None:
    """After `kill -9` amid 700 verdicts the next start has each that was confirmed, and agrees.

    The only index on disk is the ledger itself, so a start rebuilds instead of repairing.
    """
    assert "kill -9" in cases["H16"]["input"]["action"]
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE
    )
    assert writer.stdout is not None
    confirmed = [writer.stdout.readline().decode().strip() for _ in range(40)]
    writer.kill()
    confirmed += [line.decode().strip() for line in writer.stdout if line.endswith(b"\n")]
    writer.wait()
    writer.stdout.close()
    with open_gate(tmp_path) as gate:
        ok, count = checked(gate)
        answer = ask(gate, payment())
        kept = gate.run(gate.services.ledger.cases_since(0, MODEL.model_id))
    assert ok
    assert set(confirmed) <= {case.decision_id for case in kept}
    assert len(confirmed) <= count == len(kept) <= len(confirmed) + 1
    assert (decided(answer), history(answer)) == (APPROVED, ("measured", None))
    assert answer["signals"]["history"]["detail"]["cases"] == count
    store = f"sqlite:///{tmp_path / 'store.db'}"
    verified = sureline(tmp_path, "ledger", "verify", "--store", store)
    assert verified.returncode == 0, verified.stdout


def tables_with_a_workspace(folder: Path) -> dict[str, int]:
    """Return those tables of the store that have a workspace, with their numbers of rows."""
    database = sqlite3.connect(folder / "store.db")
    names = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    found = {}
    for (name,) in names:
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({name})")]
        if "workspace" in columns:
            found[name] = database.execute(f"SELECT count(*) FROM {name}").fetchone()[0]
    database.close()
    return found


def test_h17_there_are_no_cases_without_a_workspace(cases: Cases, tmp_path: Path) -> None:
    """The store has no place for one, the index takes none in, and so nobody's query finds any.

    No earlier version of the store knew rows without a workspace, so none has to be quarantined.
    """
    assert cases["H17"]["input"]["record"] == {"tenant": None}
    workspace = cases["H17"]["input"]["query_tenant"]
    with open_gate(tmp_path) as gate:
        teach(gate)
    tables = tables_with_a_workspace(tmp_path)
    assert {"decisions", "labels", "vectors", "outcomes", "payloads"} <= set(tables)
    for table in (name for name, rows in tables.items() if rows):
        with pytest.raises(sqlite3.IntegrityError, match="NOT NULL"):
            damage(tmp_path, f"UPDATE {table} SET workspace = NULL")
    damage(tmp_path, "UPDATE labels SET workspace = ''")
    with open_gate(tmp_path, workspace=workspace) as gate:
        answer = ask(gate, payment())
    assert (decided(answer), history(answer)) == (TOO_FEW, ("not_applicable", "too_few"))
    assert answer["signals"]["history"]["detail"]["cases"] == 0


READS = (
    "/v1/decisions/{id}",
    "/v1/decisions/{id}/review",
    "/v1/slices",
    "/v1/switches",
    "/v1/calibrations",
    "/v1/audits",
    "/v1/audits/{id}",
    "/v1/reviews",
    "/v1/reviews/{id}",
    "/v1/missions",
    "/v1/missions/{id}",
    "/v1/missions/{id}/events",
    "/v1/logbook",
    "/v1/reviewers",
    "/v1/incidents",
    "/v1/recalls",
    "/v1/reports/latest",
    "/metrics",
)
"""Every address that reads what a workspace holds; the test fails when one is added."""


def test_h19_every_read_is_scoped(cases: Cases, tmp_path: Path) -> None:
    """A workspace finds only its own cases, by similarity and by every address there is."""
    assert {"tenant_a", "tenant_b"} == set(cases["H19"]["input"])
    with open_gate(tmp_path, workspace="a") as gate:
        secret = ask(gate, payment(id="of-a"))["id"]
        taught = teach(gate)
        gate.run(gate.record_outcome(secret, action="approve", by="Ada"))
        assert decided(ask(gate, payment())) == APPROVED
    with served(tmp_path / "store.db", POLICY, workspace="b") as server:
        answer = server.decide(payment())
        assert (decided(answer), history(answer)) == (TOO_FEW, ("not_applicable", "too_few"))
        assert answer["signals"]["history"]["detail"]["cases"] == 0
        described = server.call("GET", "/openapi.json").json()["paths"]
        reading = {path for path, methods in described.items() if "get" in methods}
        assert reading - {"/healthz", "/readyz", "/openapi.json", "/v1/policies"} == set(READS)
        for path in READS:
            seen = server.call("GET", path.format(id=secret))
            assert seen.status_code == (404 if "{id}" in path else 200), path
            for decision in taught:
                assert decision not in seen.text
    # One way to the vectors, and it has no default scope.
    for search in (CaseIndex.search, ExactCaseIndex.search):
        scope = inspect.signature(search).parameters
        for name in ("workspace", "slice_key"):
            assert scope[name].default is inspect.Parameter.empty


def test_h23_nobody_finds_another_owners_phrases(cases: Cases, tmp_path: Path) -> None:
    """The very phrase of A gives B no neighbour and no id, and A's key opens nothing there."""
    assert cases["H23"]["input"]["user_b_query"] == "phrase from user A"
    phrase = "The heron stands in the reeds at noon"
    with served(tmp_path / "store.db", POLICY, workspace="a") as server:
        key_of_a, ids = server.secret, phrases(server, phrase)
        mine = server.decide(letter(phrase, "again"))
        assert (decided(mine), history(mine)) == (APPROVED, ("measured", None))
    with served(tmp_path / "store.db", POLICY, workspace="b") as server:
        response = server.call("POST", "/v1/decisions", json=letter(phrase, "again"))
        stranger = Server(server.url, key_of_a)
        refused: list[httpx.Response] = [
            stranger.call("POST", "/v1/decisions", json=letter(phrase, "again")),
            stranger.call("GET", f"/v1/decisions/{response.json()['id']}"),
        ]
    answer = response.json()
    assert (decided(answer), history(answer)) == (TOO_FEW, ("not_applicable", "too_few"))
    assert not any(decision in response.text for decision in ids)
    assert [one.status_code for one in refused] == [403, 403]


def letter(phrase: str, word: str) -> dict[str, Any]:
    return {"slice_key": "letters", "task": f"{phrase} {word}", "output": {"text": "Dear Sir"}}


def phrases(server: Server, phrase: str) -> list[str]:
    """Let a person approve letters with the phrase and others; return the decisions' ids."""
    tasks = [letter(phrase, word) for word in ("one", "two", "three", "four", "five")]
    tasks += [letter(f"Another matter {number}", "entirely") for number in range(3)]
    made = [server.decide(task)["id"] for task in tasks]
    for decision in made:
        outcome = {"decision_id": decision, "action": "approve", "by": "Ada"}
        assert server.label(outcome).status_code == 201
    return made
