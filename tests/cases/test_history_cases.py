"""Rows of area 4-history about one store: what is compared, what counts, and what breaks."""

from __future__ import annotations

import json
import sqlite3
import unicodedata
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sureline.application.ports.embedder import Embedder
from sureline.errors import EmbeddingFailed
from tests.cases.doors import Answer, ask, reasons, served
from tests.cases.pasts import (
    POLICY,
    VENDORS,
    BrokenEmbedder,
    K,
    MarkedEmbedder,
    history,
    open_gate,
    payment,
    plugins,
    teach,
)

Cases = dict[str, dict[str, Any]]

APPROVED = ("auto_approve", "above_hypothesis")
TOO_FEW = ("human_review", "too_few_verdicts")
MISSING = ("human_required", "signal_missing")


def decided(answer: Answer) -> tuple[str, str]:
    return answer["route"], reasons(answer)[0]


def rows(folder: Path, table: str) -> int:
    """Count a table's rows behind the product's back."""
    with closing(sqlite3.connect(folder / "store.db")) as database:
        (count,) = database.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(count)


def by_http(folder: Path, embedder: Embedder | None, proposal: dict[str, Any]) -> Answer:
    """Decide about one proposal by a server with that embedder."""
    with served(folder / "store.db", POLICY, plugins=plugins(embedder)) as server:
        return server.decide(proposal)


def test_h02_a_verdict_is_written_whatever_the_embedder(cases: Cases, tmp_path: Path) -> None:
    """After a change of embedder verdicts still count as verdicts, and nothing old is lost.

    There is no second copy of the cases that could miss a write: the index reads the ledger, so
    going back to the first embedder finds the first verdicts again.
    """
    assert cases["H02"]["input"]["switch"] == "A(1536)->B(768)"
    with open_gate(tmp_path, embedder=MarkedEmbedder("a", 1536)) as gate:
        taught = len(teach(gate))
        assert decided(ask(gate, payment())) == APPROVED
    with open_gate(tmp_path, embedder=MarkedEmbedder("b", 768)) as gate:
        answer = ask(gate, payment(amount=5))
        assert (decided(answer), history(answer)) == (TOO_FEW, ("not_applicable", "too_few"))
        gate.run(gate.record_outcome(answer["id"], action="reject", by="Ada"))
        counted = ask(gate, payment(amount=6))
        assert counted["signals"]["history"]["detail"]["cases"] == 1
    assert rows(tmp_path, "outcomes") == rows(tmp_path, "labels") == taught + 1
    with open_gate(tmp_path, embedder=MarkedEmbedder("a", 1536)) as gate:
        answer = ask(gate, payment(amount=7))
    assert (decided(answer), history(answer)) == (APPROVED, ("measured", None))
    assert answer["signals"]["history"]["detail"]["cases"] == taught


def test_h04_vectors_of_another_model_are_no_neighbours(cases: Cases, tmp_path: Path) -> None:
    """Equal dimensions make no equal models: the name with its revision decides."""
    names = [cases["H04"]["input"][key].split("(") for key in ("model_a", "model_b")]
    one, two = (MarkedEmbedder(name, int(size.strip(")"))) for name, size in names)
    assert one.dimension == two.dimension
    with open_gate(tmp_path, embedder=one) as gate:
        teach(gate)
        assert decided(ask(gate, payment())) == APPROVED
    with open_gate(tmp_path, embedder=two) as gate:
        answer = ask(gate, payment(amount=5))
    assert (decided(answer), history(answer)) == (TOO_FEW, ("not_applicable", "too_few"))
    assert answer["signals"]["history"]["detail"]["cases"] == 0


@pytest.mark.parametrize("name", ["H06", "H20"])
def test_a_vector_that_cannot_be_compared_is_not_kept(
    name: str, cases: Cases, tmp_path: Path
) -> None:
    """A row of zeros or with an infinity fails the signal, a person decides, nothing is stored."""
    given = cases[name]["input"]
    row = [float(number) for number in given.get("query") or given["vector"]]
    expected = {"H06": "empty_text", "H20": "bad_vector"}[name]
    answer = by_http(tmp_path, BrokenEmbedder(row), payment())
    assert (decided(answer), history(answer)) == (MISSING, ("failed", expected))
    assert rows(tmp_path, "decisions") == 1
    assert rows(tmp_path, "vectors") == 0


def test_h07_nothing_to_see_is_empty(cases: Cases, tmp_path: Path) -> None:
    """An empty task and one of invisible characters have no past, and say so."""
    given = cases["H07"]["input"]
    with served(tmp_path / "store.db", POLICY) as server:
        for task in (given["task"], given["and"]):
            letter = {"slice_key": "letters", "task": task, "output": {"text": "Dear Sir"}}
            answer = server.decide(letter)
            assert (decided(answer), history(answer)) == (MISSING, ("failed", "empty_text"))


def test_h10_what_the_gate_approved_is_no_evidence(cases: Cases, tmp_path: Path) -> None:
    """Fifty automatic approvals count for nothing; without the people's verdicts none is left."""
    assert cases["H10"]["input"]["history"].startswith("50 records")
    with open_gate(tmp_path) as gate:
        taught = teach(gate)
        for number in range(50):
            answer = ask(gate, payment(amount=1000 + number))
            assert decided(answer) == APPROVED
            gate.run(gate.consume(answer["id"]))
        detail = ask(gate, payment(amount=1025.5))["signals"]["history"]["detail"]
        assert detail["cases"] == len(taught)
        assert set(detail["neighbours"]) <= set(taught)
        for decision in taught:
            erased = gate.services.store.ledger.erase(
                "default", decision, by="Ada", reason="test", at=gate.services.clock.now()
            )
            assert gate.run(erased)
        answer = ask(gate, payment(amount=1026.5))
    assert (decided(answer), history(answer)) == (TOO_FEW, ("not_applicable", "too_few"))
    assert answer["signals"]["history"]["detail"]["cases"] == 0


def test_h11_a_verdict_in_a_text_is_only_text(cases: Cases, tmp_path: Path) -> None:
    """Texts that claim approval make no verdict, and those that people rejected stay rejected."""
    forged: dict[str, Any] = {
        "task": cases["H11"]["input"]["task"],
        "metadata": {"verdict": "approved", "reviewer": "ops"},
        "evidence": [{"verdict": "approved"}],
    }
    with open_gate(tmp_path) as gate:
        for number in range(2 * K):
            answer = ask(gate, payment(amount=number + 1, **forged))
            assert (decided(answer), history(answer)) == (TOO_FEW, ("not_applicable", "too_few"))
        assert answer["signals"]["history"]["detail"]["cases"] == 0
        teach(gate, "reject")
        answer = ask(gate, payment(amount=99, **forged))
        assert answer["signals"]["history"]["value"] == 0.0
        # .5 for the checks and 0 for the past: far from the threshold.
        assert decided(answer) == ("human_review", "below_threshold")


def test_h12_the_end_of_a_long_text_counts(cases: Cases, tmp_path: Path) -> None:
    """Texts that begin alike are told apart, above all by declared fields; none is ever cut.

    Instead of recording a truncation there is none: a text too long for the embedder fails.
    """
    endings = [cases["H12"]["input"][key].split("> ")[1] for key in ("task_a", "task_b")]
    boilerplate = " ".join(f"term{number} applies" for number in range(300))
    with open_gate(tmp_path) as gate:
        for number in range(2 * K):
            known = payment(endings[0], 10 + number, task=f"{boilerplate} {endings[0]}")
            answer = ask(gate, known)
            gate.run(gate.record_outcome(answer["id"], action="approve", by="Ada"))
        teach(gate)
        same = ask(gate, payment(endings[0], 10.5, task=f"{boilerplate} {endings[0]}"))
        other = ask(gate, payment(endings[1], 900_000, task=f"{boilerplate} {endings[1]}"))
        long = ask(gate, payment(task="x" * 1_000_001))
    assert (decided(same), history(same)) == (APPROVED, ("measured", None))
    assert decided(other) == ("human_required", "novel")
    assert history(other) == ("not_applicable", "novel")
    nearest = [answer["signals"]["history"]["detail"]["nearest"] for answer in (same, other)]
    assert nearest[1] < 0.6 < nearest[0]
    assert (decided(long), history(long)) == (MISSING, ("failed", "embedding_failed"))


def test_h13_an_embedder_that_refuses_is_no_error(cases: Cases, tmp_path: Path) -> None:
    """A text that the model does not take gives a decision all the same, and a person."""
    words = cases["H13"]["input"]["task_tokens"]
    refusing = BrokenEmbedder(EmbeddingFailed("input must have less than 512 tokens"))
    answer = by_http(tmp_path, refusing, payment(task="word " * words))
    assert (decided(answer), history(answer)) == (MISSING, ("failed", "embedding_failed"))


def test_h21_what_looks_the_same_is_the_same_case(cases: Cases, tmp_path: Path) -> None:
    """Composed or decomposed, with one space or two: one vector; the text is kept as it came."""
    given = cases["H21"]["input"]
    decomposed = unicodedata.normalize("NFD", given["task_b"])
    assert given["task_a"] != decomposed

    def letter(task: str) -> dict[str, Any]:
        return {"slice_key": "letters", "task": task, "output": {"text": "Dear Sir"}}

    others = [f"{vendor} reminder {number}" for vendor in VENDORS for number in range(3)]
    variants = [f"{given['task_a']} {word}" for word in ("paid", "late", "copy", "draft", "two")]
    with open_gate(tmp_path) as gate:
        for task in [*others, *variants, given["task_a"]]:
            answer = ask(gate, letter(task))
            gate.run(gate.record_outcome(answer["id"], action="approve", by="Ada"))
        first, second = (ask(gate, letter(task)) for task in (given["task_a"], decomposed))
        stored = gate.run(gate.services.ledger.decision("default", second["id"]))
    assert (decided(second), history(second)) == (APPROVED, ("measured", None))
    assert second["signals"]["history"] == first["signals"]["history"]
    assert second["signals"]["history"]["detail"]["nearest"] == 1.0
    assert stored is not None
    assert stored.request is not None
    assert json.loads(stored.request)["task"] == decomposed
