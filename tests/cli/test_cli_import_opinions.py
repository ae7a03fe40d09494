"""`sureline import` with a policy that asks models: a fault of a provider is no measurement."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sureline.application.import_outage import TRIAL, Outage
from sureline.errors import InvalidInput, ModelFailed
from tests.cli.conftest import Run
from tests.cli.test_cli_import import MAPS, row, write
from tests.model_servers import Asked, Fault, ModelServer, Step

POLICY = """\
version: 1
slices:
  invoices:
    mode: log_only
    weights: {verification: 0.5, judge: 0.5}
    judge: {model: "openai-chat:gpt-4o-mini", otherwise: 1}
"""
AGREES = '{"reason": "none", "failure_mode": null, "agrees": true, "confidence": 0.9}'
ROWS = 50


@pytest.fixture
def server(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """Return a server that speaks for the judge, beside a policy and a log."""
    (folder / "judged.yaml").write_text(POLICY, "utf-8")
    write(folder / "log.jsonl", [row(number) for number in range(100, 100 + ROWS)])
    with ModelServer(lambda asked: AGREES) as served:
        served.use(monkeypatch)
        yield served


def imported(run: Run) -> tuple[int, dict[str, Any]]:
    result = run(
        "import", "log.jsonl", *MAPS, "--policy", "judged.yaml", "--labelled", "all", "--json"
    )
    return result.exit_code, json.loads(result.stdout)


@pytest.mark.parametrize(
    ("status", "reason", "advice"),
    [
        pytest.param(401, "unauthorized", "refuses the key", id="unauthorized"),
        pytest.param(404, "not_found", "no such model", id="not-found"),
        pytest.param(400, "rejected", "refuses the request", id="rejected"),
    ],
)
def test_a_dead_provider_ends_an_import_early_and_is_mended(
    run: Run, server: ModelServer, status: int, reason: str, advice: str
) -> None:
    """Nothing is recorded while no judge answers, and few calls are made; later all is measured."""
    server.says = lambda asked: Fault(status)
    code, found = imported(run)
    assert (code, found["new"], found["labels"]) == (2, 0, 0)
    assert len(found["rejected"]) == len(server.asked) == TRIAL
    first = found["rejected"][0]["error"]["message"]
    assert f"judge could not be had ({reason}: " in first
    assert advice in first
    assert advice in found["stopped"]["message"]
    server.says = lambda asked: AGREES
    code, found = imported(run)
    assert (code, found["new"], found["known"], found["labels"]) == (0, ROWS, 0, ROWS)
    assert found["stopped"] is None
    answers = json.loads(run("opinions", "--json").stdout)["opinions"]
    assert [(one["asked"], one["failures"]["part"]) for one in answers] == [(ROWS, 0)]


def test_rows_that_some_fault_hit_are_rejected_and_the_others_are_in(
    run: Run, server: ModelServer
) -> None:
    """A fault here and there ends nothing; the same file again takes in only what was hit."""

    def says(asked: Asked) -> str | Step:
        return Fault(401) if "Total due: £107." in asked.content else AGREES

    server.says = says
    code, found = imported(run)
    assert (code, found["new"], found["labels"], found["stopped"]) == (2, ROWS - 1, ROWS - 1, None)
    assert [one["line"] for one in found["rejected"]] == [8]
    server.says = lambda asked: AGREES
    code, found = imported(run)
    assert (code, found["new"], found["known"], found["labels"]) == (0, 1, ROWS - 1, ROWS)


def test_without_a_key_the_variable_is_named_and_nothing_is_asked(
    run: Run, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person reads which variable is missing, and that the file can be brought again."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name)
    result = run("import", "log.jsonl", *MAPS, "--policy", "judged.yaml")
    assert result.exit_code == 2
    assert "stopped after 20 rows" in result.stderr
    assert "set OPENAI_API_KEY in the environment" in result.stderr
    assert f"0 new, 0 there already, 0 labels, {TRIAL} rejected" in result.stdout
    assert not server.asked


def test_what_a_model_said_is_recorded_even_if_it_cannot_be_read(
    run: Run, server: ModelServer
) -> None:
    """A reply that is no verdict is a measurement that failed: asking again is no remedy."""
    server.says = lambda asked: "I like it."
    code, found = imported(run)
    assert (code, found["new"], found["rejected"]) == (0, ROWS, [])


def test_only_a_signal_that_is_given_again_ends_an_outage() -> None:
    """An evaluator that answers says nothing of a judge that does not."""
    outage, lost = Outage(), ModelFailed("timeout", "late", detail={"signal": "judge"})
    for _ in range(TRIAL - 1):
        outage.watch(lost, ())
        outage.watch(None, {"self_evaluation"})
        outage.watch(InvalidInput("no label"), ())
    outage.stop_if_lasting()
    outage.watch(None, {"judge"})
    outage.watch(lost, ())
    outage.stop_if_lasting()
    for _ in range(TRIAL):
        outage.watch(lost, ())
    with pytest.raises(ModelFailed, match="stopped after 21 rows"):
        outage.stop_if_lasting()
