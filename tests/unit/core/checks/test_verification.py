"""All checks together."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from sureline.core.checks.compiled import check_policy_patterns, compile_checks
from sureline.core.checks.result import Validator
from sureline.core.checks.verification import Verification, verify
from sureline.core.values.checks import (
    ChecksPolicy,
    FieldRule,
    GroundingRules,
    ProseRules,
    Reading,
)
from sureline.core.values.finding import Finding
from sureline.core.values.signal import SignalKind, SignalState

NOW = datetime(2026, 6, 14, tzinfo=UTC)
RULES = (
    FieldRule(field="amount", between=(1, 1_000_000), penalty=300),
    FieldRule(field="due_date", not_before="today", penalty=400),
    FieldRule(field="tax_rate", one_of=(0, 0.08, 0.1), penalty=200),
)


def run(output: object, policy: ChecksPolicy, validator: Validator | None = None) -> Verification:
    return verify(output, policy=policy, task="", source=(), now=NOW, validator=validator)


@pytest.mark.parametrize(
    ("changes", "penalties", "fraction"),
    [
        ({}, 1.0, 1.0),
        ({"amount": 0}, 0.7, 0.75),
        ({"tax_rate": 0.2}, 0.8, 0.75),
        ({"amount": 0, "due_date": "2026-06-13"}, 0.3, 0.5),
        ({"amount": 0, "due_date": "2026-06-13", "tax_rate": 1}, 0.1, 0.25),
    ],
)
def test_scores(changes: dict[str, object], penalties: float, fraction: float) -> None:
    """Penalties are subtracted exactly; the other score is the share of checks passed."""
    output = {"amount": 5, "due_date": "2026-06-14", "tax_rate": 0.1, **changes}
    assert run(output, ChecksPolicy(rules=RULES)).signal.value == penalties
    assert run(output, ChecksPolicy(rules=RULES, score="fraction")).signal.value == fraction


def test_a_fatal_rule_makes_the_score_nothing() -> None:
    """A rule can be fatal too."""
    rule = FieldRule(field="amount", required=True, fatal=True)
    result = run({}, ChecksPolicy(rules=(rule,)))
    assert (result.fatal, result.parse_failed, result.signal.value) == (True, False, 0.0)


def test_nothing_configured_is_not_applicable() -> None:
    """No checks is no good mark."""
    signal = run("any text", ChecksPolicy(structured=False)).signal
    assert (signal.state, signal.reason) == (SignalState.NOT_APPLICABLE, "no_checks")


def test_nothing_configured_still_refuses_what_no_store_takes() -> None:
    """A lone surrogate is refused even where nothing else is checked."""
    assert run("\ud83d", ChecksPolicy(structured=False)).parse_failed


def test_the_detail_never_quotes_the_output() -> None:
    """What stays in the ledger holds counts and codes; what quotes is in the findings."""
    policy = ChecksPolicy(
        rules=(FieldRule(field="amount", pattern="[0-9]+", penalty=100),),
        grounding=GroundingRules(fields=("amount",)),
    )
    signal = run({"amount": "SECRET"}, policy).signal
    assert signal.kind is SignalKind.DETERMINISTIC
    codes = {"no_source": 1, "pattern": 1}
    assert signal.detail == {"checks": 3, "failed": 2, "codes": codes, "presence": 0}
    assert "SECRET" in signal.findings[0].message
    json.dumps(signal.detail)


def broken(_: object) -> tuple[Finding, ...]:
    raise RuntimeError("no")


def refusing(_: object) -> tuple[Finding, ...]:
    return (Finding(code="model_missing", message="Missing.", field="a", fatal=True),)


@pytest.mark.parametrize(
    ("validator", "state", "reason"),
    [
        pytest.param(None, SignalState.FAILED, "validator_missing", id="missing"),
        pytest.param(broken, SignalState.FAILED, "validator_failed", id="broken"),
        pytest.param(refusing, SignalState.MEASURED, None, id="refusing"),
        pytest.param(lambda _: (), SignalState.MEASURED, None, id="content"),
    ],
)
def test_validators(validator: Validator | None, state: SignalState, reason: str | None) -> None:
    """A model that is missing or breaks is a failed measurement, never a pass."""
    result = run({}, ChecksPolicy(model="Invoice"), validator)
    assert (result.signal.state, result.signal.reason) == (state, reason)
    assert result.fatal is (validator is refusing)


def test_a_fatal_finding_outweighs_a_missing_validator() -> None:
    """What is known to be wrong is not hidden by what could not be measured."""
    result = run({}, ChecksPolicy(model="Invoice", json_schema={"required": ["a"]}))
    assert (result.fatal, result.signal.value) == (True, 0.0)


BROKEN = ChecksPolicy(
    json_schema={"pattern": "(?=x)"},
    rules=(FieldRule(field="a", pattern="("), FieldRule(field="b")),
    prose=(ProseRules(forbidden_patterns=("(?!x)",)),),
    grounding=GroundingRules(),
)


def test_a_policy_that_cannot_be_compiled_is_a_failed_measurement() -> None:
    """A broken policy never passes an output."""
    signal = run({}, BROKEN).signal
    assert (signal.state, signal.reason) == (SignalState.FAILED, "checks_broken")


def test_all_faults_of_a_policy_are_listed() -> None:
    """The loader can say everything that is wrong, and where."""
    faults = check_policy_patterns(BROKEN)
    assert [fault.split(":")[0] for fault in faults] == [
        "json_schema",
        "rule for a",
        "rule for b",
        "prose for the whole output",
        "grounding.fields",
    ]


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (ChecksPolicy(score="best"), "score"),
        (ChecksPolicy(reading=Reading(timezone="Mars/Base")), "reading.timezone"),
        (ChecksPolicy(reading=Reading(locale="tlh_XX")), "reading.locale"),
        (ChecksPolicy(json_schema={"$ref": "http://127.0.0.1:1/a"}), "never fetched"),
        (ChecksPolicy(json_schema={"$ref": "file:///etc/passwd"}), "never fetched"),
        (ChecksPolicy(json_schema={"format": "dat"}), "format"),
        (ChecksPolicy(json_schema={"type": "strin"}), "type"),
    ],
)
def test_faults_name_their_place(policy: ChecksPolicy, said: str) -> None:
    """A fault says which part of the policy is wrong; references are never fetched."""
    (fault,) = check_policy_patterns(policy)
    assert said in fault


def test_a_policy_is_compiled_once() -> None:
    """A decision compiles nothing."""
    policy = ChecksPolicy(rules=RULES)
    assert compile_checks(policy) is compile_checks(policy)


def test_schema_violations_are_listed_with_their_fields() -> None:
    """Each violation has its path; very many end with one that says so."""
    schema = {
        "properties": {"lines": {"items": {"type": "number"}}, "d": {"format": "date"}},
        "required": ["id"],
        "additionalProperties": False,
    }
    policy = ChecksPolicy(json_schema=schema)
    found = run({"lines": [1, "x"], "d": "2026-02-30", "z": 1}, policy).findings
    assert {(one.code, one.field) for one in found} == {
        ("schema_type", "lines[1]"),
        ("schema_format", "d"),
        ("schema_required", "id"),
        ("schema_additional_properties", "z"),
    }
    assert len(run({"id": 1, "lines": ["x"] * 100}, policy).findings) == 21
    assert len(run({"id": 1, "lines": ["x"] * 9000}, policy).findings) == 1


def test_schema_patterns_are_linear() -> None:
    """A pattern that explodes in other engines does not here."""
    policy = ChecksPolicy(json_schema={"properties": {"a": {"pattern": "^(a+)+$"}}})
    assert run({"a": "a" * 100_000 + "b"}, policy).fatal
