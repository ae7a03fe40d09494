"""Rows of area 2-schema that need more than a list of outputs."""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, Field

from sureline.core.values.signal import SignalKind
from sureline.gate import Gate
from sureline.testing import MOMENT, FixedClock, FixedSignal, temporary_gate
from tests.cases.doors import Server, as_answer, ask, found, reasons, served
from tests.cases.schema_policy import schema_policy

POLICY = schema_policy(MOMENT.date())
Cases = dict[str, dict[str, Any]]


@pytest.fixture
def gate() -> Iterator[Gate]:
    with temporary_gate(POLICY) as one:
        yield one


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(tmp_path_factory.mktemp("served") / "store.db", POLICY) as one:
        yield one


def proposal(slice_key: str, output: Any, **more: Any) -> dict[str, Any]:
    return {"slice_key": slice_key, "task": f"Read {slice_key}", "output": output, **more}


class Bill(BaseModel):
    """What a program registers as a model: pydantic itself would take 12_000 for a Decimal."""

    amount: Decimal = Field(gt=0)


MODEL_POLICY = f"""\
version: 1
defaults: {{mode: route, attempts: 20, reject_audit_rate: 0, weights: {{verification: 1}}}}
slices:
  bills: {{output: {{model: Bill}}}}
  invoices:
    output: {{json_schema: {{type: object, properties: {{amount: {{type: number}}}}}}}}
  figures:
    rules: [{{field: amount, type: number, required: true, penalty: 0.3}}]
    hypothesis: {{auto: 0.9, allow_uncertified: true, starts: {MOMENT.date()}}}
"""


def test_s02_our_grammar_decides_what_a_number_is(cases: Cases) -> None:
    """An underscore is no number for the schema, for a model and for a rule, whoever reads it."""
    payload = cases["S02"]["input"]["payload"]
    with temporary_gate(MODEL_POLICY, models={"Bill": Bill}) as gate:
        answers = {name: ask(gate, proposal(name, payload)) for name in ("invoices", "bills")}
        ruled = ask(gate, proposal("figures", payload))
    assert {answer["route"] for answer in answers.values()} == {"auto_reject"}
    assert {reasons(answer)[0] for answer in answers.values()} == {"fatal_check"}
    assert found(answers["invoices"]) == ["schema_type"]
    assert found(answers["bills"]) == ["model_loose_number"]
    assert (ruled["route"], reasons(ruled)[0]) == ("human_review", "below_threshold")
    assert found(ruled) == ["unreadable"]


def test_s12_a_date_is_never_completed_from_today(cases: Cases) -> None:
    """A date without a year is unreadable on every day."""
    text = cases["S12"]["input"]["text"]
    for days in (0, 14, 29):
        clock = FixedClock(MOMENT + timedelta(days=days))
        with temporary_gate(POLICY, clock=clock) as gate:
            answer = ask(gate, proposal("dates", {"text": text}))
        assert (answer["route"], reasons(answer)[0]) == ("human_review", "below_threshold")
        assert found(answer) == ["unreadable"]


def test_s13_today_is_the_day_in_the_policy_zone(cases: Cases) -> None:
    """The 15th is no past day in Tokyo while it is the 14th in UTC; the 14th is over there."""
    given = cases["S13"]["input"]
    now = datetime.fromisoformat(given["now_utc"])
    policy = schema_policy(now.date())
    assert f"timezone: {given['business_tz']}" in policy
    with temporary_gate(policy, clock=FixedClock(now)) as gate:
        today = ask(gate, proposal("tokyo", {"due_date": given["due_date"]}))
        past = ask(gate, proposal("tokyo", {"due_date": "2026-06-14"}))
    assert (today["route"], reasons(today)[0]) == ("auto_approve", "above_hypothesis")
    assert found(today) == []
    assert (past["route"], reasons(past)[0]) == ("human_review", "below_threshold")
    assert found(past) == ["not_before"]


def test_s14_a_bad_item_does_not_lose_its_batch(cases: Cases, gate: Gate) -> None:
    """NaN goes back, and the proposals decided beside it are in the ledger."""
    outputs = ['{"amount": 1}', cases["S14"]["input"]["raw_output"], '{"amount": 3}']
    batch = [proposal("objects", text, id=f"b{n}", batch_id="b") for n, text in enumerate(outputs)]
    answers = [as_answer(one) for one in gate.run(gate.decide_many(batch))]
    assert [answer["route"] for answer in answers] == [
        "auto_approve",
        "auto_reject",
        "auto_approve",
    ]
    # The case calls it invalid_json; `non_finite` says what is wrong with it.
    assert reasons(answers[1])[0] == "unreadable_output"
    assert found(answers[1]) == ["non_finite"]
    ledger = gate.services.ledger
    for answer in answers:
        assert gate.run(ledger.decision("default", answer["id"])) is not None


def test_s18_big_integers_keep_every_digit(cases: Cases, server: Server) -> None:
    """Every digit is in the answer, as text too, and one digit makes it another proposal."""
    payload = cases["S18"]["input"]["payload"]
    given = proposal("objects", payload, id="S18")
    response = server.call("POST", "/v1/decisions", json=given)
    answer = response.json()
    assert (answer["route"], reasons(answer)[0]) == ("auto_approve", "above_hypothesis")
    assert answer["output"] == payload
    # A browser reads numbers as doubles: the number is then another one, the text is not.
    browser = json.loads(response.content, parse_int=float)
    assert int(browser["output"]["account_id"]) != payload["account_id"]
    assert json.loads(browser["output_text"]) == payload
    shown = server.call("GET", "/v1/decisions/S18")
    assert shown.content == response.content
    neighbour = {"account_id": payload["account_id"] + 1}
    other = server.call("POST", "/v1/decisions", json={**given, "output": neighbour})
    assert other.status_code == 409


def test_s25_a_lone_surrogate_goes_back(cases: Cases, gate: Gate) -> None:
    """Escaped or bare it is refused, the record of it is kept, and asking again repeats it."""
    text = cases["S25"]["input"]["raw_output"]
    for number, output in enumerate((text, json.loads(text), json.loads(text)["memo"])):
        given = proposal("objects", output, id=f"S25-{number}")
        first = ask(gate, given)
        assert (first["route"], reasons(first)[0]) == ("auto_reject", "unreadable_output")
        assert found(first) == ["invalid_unicode"]
        assert ask(gate, given) == first
    assert gate.run(gate.services.store.ledger.verify()).ok


def test_s28_presence_is_not_meaning(cases: Cases, server: Server) -> None:
    """A year is not found in a price; what is found in a denial is counted, and lifts nothing."""
    year, place = cases["S28"]["input"]
    first = server.decide(
        proposal("entities", {"entity": year["entity"]}, source=year["source_text"])
    )
    assert (first["route"], reasons(first)[0]) == ("human_review", "below_threshold")
    assert found(first) == ["not_grounded"]
    output = {place["field"]: place["entity"], "weight": 99}
    alone, grounded = (
        server.decide(proposal(name, output, source=place["source_text"]))
        for name in ("routes", "grounded_routes")
    )
    assert found(grounded) == ["between"]
    assert grounded["signals"]["verification"]["detail"]["presence"] == 1
    # Counted like the other checks, finding the name would give 2 of 3 instead of 1 of 2.
    assert grounded["confidence"] == alone["confidence"] < 0.9
    for answer in (alone, grounded):
        assert (answer["route"], reasons(answer)[0]) == ("human_review", "below_threshold")


HOSTILE = {
    "braces": ("", "{", "too_deep"),
    "fences": ("", "```json", "invalid_json"),
    "half-open texts": ("", '"[{', "too_deep"),
    "brackets in a text without end": ('{"a": "', '[\\"', "invalid_json"),
    "members without end": ("{", '"a":{},', "invalid_json"),
}
"""How a hostile text begins, what is repeated in it, and the finding that it gets."""


NOISE = 0.02
"""Seconds by which a measurement may be off; a quadratic reader would need minutes."""


def seconds(gate: Gate, text: str) -> float:
    """Return the processor time of deciding about a text, the best of three.

    Without the garbage collector, whose pauses depend on whatever else the tests keep alive.
    """
    best = float("inf")
    gc.collect()
    gc.disable()
    try:
        for number in range(3):
            started = time.process_time()
            ask(gate, proposal("objects", text, task=f"{len(text)}, try {number}"))
            best = min(best, time.process_time() - started)
    finally:
        gc.enable()
    return best


def test_s37_hostile_texts_take_linear_time(cases: Cases, gate: Gate) -> None:
    """Twice the text takes less than three times as long, up to 1 MB; beyond 2 MB it is refused.

    The case's text is a judge's reply; an output goes through the same reader.
    """
    assert "'{' * 25000" in cases["S37"]["input"]["judge_raw"]
    for name, (start, unit, code) in HOSTILE.items():
        half = start + unit * (500_000 // len(unit))
        answer = ask(gate, proposal("objects", half, task=name))
        assert (answer["route"], reasons(answer)[0]) == ("auto_reject", "unreadable_output")
        assert found(answer) == [code], name
        whole = start + unit * (1_000_000 // len(unit))
        assert seconds(gate, whole) < 3 * seconds(gate, half) + NOISE, name
    answer = ask(gate, proposal("objects", "{" * 3_000_000, task="too large"))
    assert (answer["route"], reasons(answer)[0]) == ("auto_reject", "unreadable_output")
    assert found(answer) == ["too_large"]


TENTHS = """\
version: 1
slices:
  tenths:
    mode: route
    reject_audit_rate: 0
    weights: {verification: 0.4, evaluation: 0.3, precedent: 0.3}
    rules:
"""


def test_s38_ten_tenths_are_exactly_nothing(cases: Cases) -> None:
    """Ten penalties of a tenth make the verification 0, which nothing else can outweigh."""
    given = cases["S38"]["input"]
    rules = [
        f"      - {{field: f{number}, required: true, penalty: {points}}}\n"
        for number, points in enumerate(given["deductions"])
    ]
    others = [
        FixedSignal("evaluation", SignalKind.OBJECTIVE, given["self_eval"]),
        FixedSignal("precedent", SignalKind.OBJECTIVE, given["historical"]),
    ]
    with temporary_gate(TENTHS + "".join(rules), signals=others) as gate:
        answer = ask(gate, proposal("tenths", {}))
    assert answer["signals"]["verification"]["value"] == 0.0
    assert answer["composite"] <= 0.2
    assert (answer["route"], reasons(answer)[0]) == ("auto_reject", "fatal_check")
    assert found(answer) == ["missing_field"]


def test_s39_duplicate_keys_end_before_anything_is_digested(cases: Cases, server: Server) -> None:
    """Neither an output nor an approval with a key twice is read; a digest is of canonical JSON."""
    token = cases["S39"]["input"]["approval_token_json"]
    answer = server.decide(proposal("objects", token, id="S39"))
    assert (answer["route"], reasons(answer)[0]) == ("auto_reject", "unreadable_output")
    assert found(answer) == ["duplicate_key"]
    twice = b'{"decision_id": "S39", "by": "Ada", "action": "reject", "action": "approve"}'
    refused = server.call("POST", "/v1/outcomes", content=twice)
    assert (refused.status_code, refused.json()["code"]) == (400, "duplicate_key")
    review = server.call("GET", "/v1/decisions/S39/review").json()
    assert review["state"] == "pending"
    first = proposal("objects", {"a": 1, "b": 2}, id="S39-order")
    again = {**first, "output": {"b": 2, "a": 1}}
    assert server.decide(first)["route"] == "auto_approve"
    assert server.call("POST", "/v1/decisions", json=again).status_code == 200
