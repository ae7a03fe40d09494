"""What the policy redacts is neither stored nor shown to anybody, and cannot be guessed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sureline.application.intake import read_proposal
from sureline.errors import Conflict, PolicyError
from sureline.gate import Gate
from sureline.testing import FakeJudge, temporary_gate
from tests.erasure.marked import places_of

CARD, MAIL, IBAN, SECRET = "4111 1111 1111 1111", "ada@example.com", "DE89370400440532013000", "Zq7"
POLICY = """\
version: 1
slices:
  invoices:
    mode: route
    weights: {verification: 0.7, history: 0.2, judge: 0.1}
    judge: {model: "a:b", high_stakes: 1, borderline: 1, otherwise: 1}
    output: {json_schema: {type: object, properties: {iban: {type: string}}}}
    grounding: {fields: [iban, mail]}
    rules: [{field: iban, pattern: "^DE.*$", penalty: 0.5}]
    redact:
      forms: [email, iban, card_number]
      patterns: [{name: customer, pattern: "K-[0-9]{6}"}]
      fields: [secret, "lines[].secret"]
      hide_from_models: [salary]
  texts:
    weights: {verification: 1}
    output: {structured: false}
    prose: [{max_length: 500}]
    redact: {forms: [email, card_number]}
"""
OUTPUT = {
    "iban": IBAN,
    "mail": MAIL,
    "secret": SECRET,
    "lines": [{"secret": SECRET, MAIL: 1}, {"card": 4111111111111111}],
    "salary": 4711,
}
EVERYWHERE = {
    "task": f"Read the mail of {MAIL} about K-123456",
    "output": OUTPUT,
    "source": [{"ref": MAIL, "text": f"{IBAN}\n{MAIL}\n{CARD} K-123456"}],
    "self_report": MAIL,
    "reasoning": MAIL,
    "evidence": [{"x": [MAIL]}],
    "alternatives": [{"secret": SECRET, "mail": MAIL}],
    "generations": [{"secret": SECRET, "mail": MAIL}],
    "metadata": {MAIL: CARD},
}


def decide(gate: Gate, **fields: Any) -> Any:
    raw = {"slice_key": "invoices", "task": "t", "output": {}, "id": "d1", **fields}
    return gate.run(gate.services.decider.decide(read_proposal(raw)))


def test_nothing_redacted_is_stored_or_shown() -> None:
    """Not in a table, not in the answer, not in what a judge is asked."""
    judge = FakeJudge()
    with temporary_gate(POLICY, judge=judge) as gate:
        answer = decide(gate, **EVERYWHERE)
        for word in (MAIL, IBAN, CARD, CARD.replace(" ", ""), "K-123456", SECRET):
            assert places_of(gate.services, word) == []
            assert word not in answer.response.decode()
        (asked,) = judge.asked
        shown = repr(asked)
        assert not [one for one in (MAIL, IBAN, CARD, SECRET, "4711") if one in shown]
        assert "4711" in answer.response.decode()
        said = json.loads(answer.response)["redacted"]
        assert set(said) == {"card_number", "customer", "email", "field", "iban"}
        assert said["field"] == 4
        output = json.loads(answer.response)["output"]
        assert output["lines"][0] == {"secret": "[redacted:field]", "[redacted:email]": 1}


def test_checks_see_what_came() -> None:
    """What is redacted to the same mark is not the same: grounding and rules compare the values."""
    with temporary_gate(POLICY) as gate:
        source = f"{IBAN} {MAIL}"
        good = decide(gate, id="good", output={"iban": IBAN, "mail": MAIL}, source=source)
        wrong = {"iban": "GB82WEST12345698765432", "mail": "eve@example.com"}
        bad = decide(gate, id="bad", output=wrong, source=source)
        scores = [
            next(one for one in answer.decision.signals if one.name == "verification").value
            for answer in (good, bad)
        ]
        assert scores[0] == 1.0
        assert scores[1] == 0.0 or scores[1] < 0.6
        assert "eve@" not in bad.response.decode()
        assert "GB82" not in bad.response.decode()
        codes = [one.code for one in bad.decision.feedback]
        assert len(codes) >= 2
        assert {one.field for one in bad.decision.feedback} >= {"iban"}


def test_findings_about_other_fields_keep_their_words() -> None:
    """A finding that the redacted form gives as well says what it always says."""
    policy = POLICY.replace("rules: [", "rules: [{field: total, between: [1, 9], penalty: 0.1}, ")
    with temporary_gate(policy) as gate:
        answer = decide(gate, output={"iban": IBAN, "total": 77}, source=IBAN)
        (found,) = [one for one in answer.decision.feedback if one.field == "total"]
        assert "77" in found.message


def test_the_same_again_is_the_same_decision() -> None:
    """A retry with what came is answered from the store; other redacted content is no conflict."""
    with temporary_gate(POLICY) as gate:
        first = decide(gate, **EVERYWHERE)
        assert decide(gate, **EVERYWHERE).response == first.response
        other = decide(gate, **{**EVERYWHERE, "reasoning": "eve@example.com"})
        assert not other.created
        with pytest.raises(Conflict):
            decide(gate, **{**EVERYWHERE, "reasoning": "none"})


def test_a_retry_after_the_policy_changed_is_the_same_decision() -> None:
    """A decision is compared as it was redacted then, with more rules and with fewer."""
    with temporary_gate(POLICY) as gate:
        before = decide(gate, **EVERYWHERE)
        book = gate.services.policies
        for number, form in enumerate(("[email, card_number]", "[iban]", "[]")):
            changed = POLICY.replace("[email, iban, card_number]", form)
            found = gate.run(book.propose(changed))
            gate.run(book.activate(found.policy.hash, by="ann"))
            decide(gate, id=f"new-{number}", task="another")
            assert decide(gate, **EVERYWHERE).response == before.response


def test_a_process_that_knows_no_policy_yet_redacts_at_once() -> None:
    """The first decision of a process is redacted like any other."""
    with temporary_gate(POLICY) as gate:
        gate.services.decider.redacting.clear()
        assert decide(gate, task=MAIL).decision.redacted == {"email": 1}
        assert places_of(gate.services, MAIL) == []


@pytest.mark.parametrize(
    ("slice_key", "output"),
    [
        ("invoices", f'{{"iban": "{IBAN}"'),
        ("invoices", f'["{MAIL}"]'),
        ("invoices", {"mail": float("nan"), "x": MAIL}),
        ("invoices", {"x": object(), "mail": MAIL}),
        ("texts", {"x": {MAIL}}),
        ("texts", f"{MAIL}\ud800"),
        ("texts", f"a\u200bda@example.com and {CARD}"),
        ("texts", [MAIL, {MAIL: [MAIL]}]),
    ],
    ids=["cut off", "a list", "NaN", "object", "set", "half a character", "invisible", "list"],
)
def test_odd_outputs_betray_nothing(slice_key: str, output: Any) -> None:
    """What cannot be read as expected is not kept at all; everything else without its forms."""
    with temporary_gate(POLICY) as gate:
        raw = {"slice_key": slice_key, "task": "t", "output": output}
        answer = gate.run(gate.services.decider.decide(read_proposal(raw)))
        for word in (MAIL, IBAN, CARD):
            assert places_of(gate.services, word) == []
            assert word not in answer.response.decode()
        assert not answer.decision.approved


def test_a_json_text_is_redacted_as_what_it_says() -> None:
    """Escapes hide nothing, and what is kept is still readable."""
    escaped = "".join(f"\\u{ord(one):04x}" for one in MAIL)
    with temporary_gate(POLICY) as gate:
        answer = decide(gate, output=f'{{"mail": "{escaped}", "card": 4111111111111111}}')
        assert answer.decision.output == {
            "mail": "[redacted:email]",
            "card": "[redacted:card_number]",
        }


def test_without_rules_nothing_changes() -> None:
    """A policy that redacts nothing stores what came, and its answers say nothing of it."""
    plain = "\n".join(line for line in POLICY.splitlines() if "redact" not in line)
    plain = plain.replace("      forms: [email, iban, card_number]\n", "")
    plain = "\n".join(
        line
        for line in plain.splitlines()
        if not line.startswith(("      forms", "      patterns", "      fields", "      hide"))
    )
    with temporary_gate(plain) as gate:
        answer = decide(gate, output={"mail": MAIL})
        assert "redacted" not in json.loads(answer.response)
        assert answer.decision.output == {"mail": MAIL}


@pytest.mark.parametrize(
    ("redact", "said"),
    [
        ("{forms: [phone]}", "expected one of card_number, email, iban"),
        ("{patterns: [{name: a, pattern: '('}]}", "linear time"),
        ("{patterns: [{name: a, pattern: 'x*'}]}", "empty text"),
        ("{patterns: [{name: A b, pattern: x}]}", "small letters"),
        ("{patterns: [{name: email, pattern: x}], forms: [email]}", "stands for two things"),
        ("{patterns: [{name: field, pattern: x}]}", "stands for two things"),
        ("{fields: ['a..b']}", "field of the output"),
        ("{what: 1}", "what"),
    ],
    ids=["form", "syntax", "empty", "name", "twice", "own name", "path", "key"],
)
def test_a_faulty_redaction_is_refused_by_name(redact: str, said: str) -> None:
    """The author is told what is wrong; no policy with a fault holds."""
    head, tail = POLICY.split("    redact:\n")[0], ""
    with (
        pytest.raises(PolicyError, match=said),
        temporary_gate(f"{head}    redact: {redact}{tail}"),
    ):
        pass


def test_a_text_has_no_fields() -> None:
    """Fields are refused where outputs are texts, and vectors of what models must not see."""
    text = POLICY.replace("redact: {forms: [email, card_number]}", "redact: {fields: [a]}")
    with pytest.raises(PolicyError, match="a text has no fields"), temporary_gate(text):
        pass
    shown = POLICY.replace("    redact:\n", "    history: {fields: [salary]}\n    redact:\n")
    with pytest.raises(PolicyError, match="hidden from models"), temporary_gate(shown):
        pass
