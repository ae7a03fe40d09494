"""A sound policy becomes frozen values with every default resolved."""

from __future__ import annotations

from datetime import date
from importlib.resources import files
from pathlib import Path

import pytest

from sureline.adapters.policies import load_policy, policy_from_canonical
from sureline.adapters.policies.explain import validated
from sureline.adapters.policies.faults import Faults
from sureline.adapters.policies.model_settings import DeductionsFile
from sureline.adapters.policies.yaml_reader import read_tree
from sureline.core.values.checks import FieldRule, FieldType
from sureline.core.values.policy import (
    ActionClass,
    HistoryPolicy,
    Hypothesis,
    JudgePolicy,
    Mode,
    SlicePolicy,
)
from sureline.core.values.proposal import Generator, Stakes
from sureline.errors import PolicyError

STARTER = files("sureline.cli").joinpath("starter")

DESIGNED = """
version: 1
defaults:
  preset: independent            # graduated | independent | objective
  mode: log_only                 # log_only | route | human_only
  target_precision: 0.95
  delta: 0.05
  generator: {model: "anthropic:claude-sonnet-4-6"}
  abstain_floor: 0.40
  attempts: 2
  audit_rate: 0.05
  history: {neighbours: 10, similarity_floor: 0.6}
  judge: {model: "openai:gpt-5-mini", high_stakes: 1.0, borderline: 0.05, otherwise: 0.08, refute_at: 0.6}
  self_evaluation: {model: "anthropic:claude-haiku-4-5", deductions: deductions.yaml}
action_classes:
  payment: {stakes: irreversible, human: always}
slices:
  invoices:
    output: {json_schema: invoice.schema.json}
    rules:
      - {field: amount, between: [1, 1000000], penalty: 0.3}
      - {field: due_date, not_before: today, penalty: 0.4}
      - {field: tax_rate, one_of: [0, 0.08, 0.1], penalty: 0.2}
    grounding: {fields: [amount, due_date, vendor]}
    hypothesis: {auto: 0.85, reject: 0.55}
"""  # noqa: E501 - the policy as DESIGN §3 has it


def one_slice(*lines: str, defaults: str = "{}") -> SlicePolicy:
    text = f"version: 1\ndefaults: {defaults}\naction_classes: {{pay: {{stakes: high_cost}}}}\n"
    text += "slices:\n  a:\n" + "".join(f"    {line}\n" for line in lines)
    return load_policy(text).policy.slices["a"]


def test_the_designed_policy_is_read_as_meant(tmp_path: Path) -> None:
    """The policy of the design page loads, with its files, into the values it describes."""
    (tmp_path / "policy.yaml").write_text(DESIGNED)
    (tmp_path / "deductions.yaml").write_text(STARTER.joinpath("deductions.yaml").read_text())
    (tmp_path / "invoice.schema.json").write_text('{"type": "object", "required": ["amount"]}')
    policy = load_policy(tmp_path / "policy.yaml").policy
    invoices = policy.slices["invoices"]
    assert policy.action_classes == {
        "payment": ActionClass(name="payment", stakes=Stakes.IRREVERSIBLE, human=True)
    }
    assert invoices.weights == {
        "history": 0.15, "judge": 0.25, "self_report": 0.25, "verification": 0.35,
    }  # fmt: skip
    assert invoices.judge == JudgePolicy(model="openai:gpt-5-mini")
    assert invoices.generator == Generator(model="anthropic:claude-sonnet-4-6")
    assert invoices.history == HistoryPolicy()
    assert invoices.hypothesis == Hypothesis(auto=0.85, reject=0.55)
    assert invoices.checks.json_schema == {"type": "object", "required": ["amount"]}
    assert invoices.checks.rules == (
        FieldRule(field="amount", between=(1.0, 1000000.0), penalty=300),
        FieldRule(field="due_date", not_before="today", penalty=400),
        FieldRule(field="tax_rate", one_of=(0, 0.08, 0.1), penalty=200),
    )
    assert invoices.checks.grounding is not None
    assert invoices.checks.grounding.fields == ("amount", "due_date", "vendor")
    assert invoices.self_evaluation is not None
    assert '"id":"invented_facts"' in invoices.self_evaluation.deductions


def test_a_slice_without_settings_has_the_programs_defaults() -> None:
    """Nothing written means the core's own defaults, which only log."""
    assert one_slice() == SlicePolicy(key="a")
    assert one_slice().mode is Mode.LOG_ONLY


def test_a_slice_lays_its_settings_over_the_defaults() -> None:
    """Mappings are merged, lists and single values replaced, null turns a default off."""
    defaults = (
        "{judge: {model: m, otherwise: 0.5}, history: {neighbours: 7}, attempts: 3,"
        " hypothesis: {auto: 0.9}, cosmetic_fields: [x, y]}"
    )
    got = one_slice(
        "judge: {refute_at: 0.7}",
        "history: {window: 50}",
        "hypothesis: null",
        "cosmetic_fields: [z]",
        defaults=defaults,
    )
    assert got.judge == JudgePolicy(model="m", otherwise=0.5, refute_at=0.7)
    assert got.history == HistoryPolicy(neighbours=7, window=50)
    assert (got.attempts, got.hypothesis, got.cosmetic_fields) == (3, None, ("z",))


@pytest.mark.parametrize(
    ("defaults", "lines", "weights"),
    [
        ("{}", [], {"verification": 0.7, "history": 0.3}),
        ("{preset: graduated}", [], {"self_evaluation": 0.3, "verification": 0.4, "history": 0.3}),
        ("{preset: graduated}", ["weights: {verification: 1}"], {"verification": 1.0}),
        ("{weights: {judge: 1}}", ["preset: objective"], {"verification": 0.7, "history": 0.3}),
        ("{weights: {verification: 1}}", ["weights: {history: 2}"], {"history": 2.0}),
        ("{}", ["weights: {verification: 1, history: 0}"], {"verification": 1.0}),
        ("{weights: {verification: 1}}", ["weights: null"], {"verification": 0.7, "history": 0.3}),
    ],
)  # fmt: skip
def test_the_nearest_statement_of_weights_holds(
    defaults: str, lines: list[str], weights: dict[str, float]
) -> None:
    """Weights are one whole: a slice's own preset or weights put the defaults' aside."""
    assert one_slice(*lines, defaults=defaults).weights == weights


def test_a_target_can_come_from_costs() -> None:
    """Acting may cost no more than reviewing: 1 - 2 / 100 = .98 (G24)."""
    assert one_slice("target_from_cost: {wrong: 100, review: 2}").target_precision == 0.98
    own = one_slice("target_precision: 0.9", defaults="{target_from_cost: {wrong: 100, review: 2}}")
    assert own.target_precision == 0.9


def test_a_hypothesis_has_a_date_and_an_audit() -> None:
    """A stated hypothesis starts at a day and is audited at a fifth at least (G21)."""
    got = one_slice("hypothesis: {auto: 0.85, allow_uncertified: true, starts: 2026-12-01}")
    assert got.hypothesis == Hypothesis(
        auto=0.85, allow_uncertified=True, starts=date(2026, 12, 1), days=30, audit_rate=0.2
    )


def test_high_stakes_classes_are_human_unless_said_otherwise() -> None:
    """A class with high stakes stays with people by default; high_cost may say by_confidence."""
    text = (
        "version: 1\nslices: {a: {}}\naction_classes:\n  one: {stakes: high_cost}\n"
        "  two: {stakes: high_cost, human: by_confidence}\n  three: {stakes: reversible}\n"
        "  four: {stakes: reversible, human: always}\n"
    )
    classes = load_policy(text).policy.action_classes
    human = {name: one.human for name, one in classes.items()}
    assert human == {"one": True, "two": False, "three": False, "four": True}


@pytest.mark.parametrize(
    ("rule", "penalty"),
    [
        ("between: [0, 1]", 300),
        ("not_before: today", 400),
        ("not_after: 2026-01-01", 400),
        ("one_of: [1]", 200),
        ("pattern: a+", 200),
        ("required: true", 300),
        ("required: true, penalty: 0", 0),
        ("required: true, fatal: true", 0),
        ("required: true, penalty: 0.125", 125),
    ],
)
def test_a_rule_that_states_no_penalty_costs_the_usual(rule: str, penalty: int) -> None:
    """Penalties are points of a thousand; each condition has its own default (G5)."""
    (got,) = one_slice(f"rules: [{{field: x, {rule}}}]").checks.rules
    assert got.penalty == penalty


def test_prose_and_reading_arrive_whole() -> None:
    """Every limit on a text and every way of reading reaches the core."""
    checks = one_slice(
        "output: {structured: false}",
        "prose: [{min_sentences: 1, max_length: 9, keywords: [a], forbidden_patterns: ['b+'],"
        " allowed_hosts: [c.org], penalty: 0.1}]",
        "reading: {locale: de, date_order: DMY, timezone: Asia/Tokyo, currency: EUR}",
        "verification: fraction",
    ).checks
    (prose,) = checks.prose
    assert (prose.min_sentences, prose.max_length, prose.penalty) == (1, 9, 100)
    assert (prose.keywords, prose.forbidden_patterns) == (("a",), ("b+",))
    assert (prose.allowed_hosts, prose.forbidden_hosts) == (("c.org",), ())
    assert (checks.reading.locale, checks.reading.date_order) == ("de", "DMY")
    assert (checks.structured, checks.score) == (False, "fraction")


def test_grounding_types_are_field_types() -> None:
    """A field that is compared as money or date says so in the core's own words."""
    grounding = one_slice("grounding: {fields: [a], types: {a: money}}").checks.grounding
    assert grounding is not None
    assert grounding.types == {"a": FieldType.MONEY}


def test_the_starter_policy_is_sound_and_only_logs() -> None:
    """What init writes has no fault, no warning, and automates nothing."""
    loaded = load_policy(STARTER.joinpath("policy.yaml").read_text())
    assert loaded.warnings == ()
    assert {one.mode for one in loaded.policy.slices.values()} == {Mode.LOG_ONLY}


def test_the_starter_deductions_are_those_of_the_product() -> None:
    """The shipped failure modes cost 40, 30, 25, 15 and 10 points (G1)."""
    faults = Faults()
    tree = read_tree(STARTER.joinpath("deductions.yaml").read_text(), "d.yaml", faults)
    found = validated(DeductionsFile, tree, faults)
    assert found is not None
    assert [one.points for one in found.deductions] == [40, 30, 25, 15, 10]


def test_what_is_stored_needs_no_file(tmp_path: Path) -> None:
    """The canonical text gives the same policy when its files are gone, and loads as a policy."""
    test_the_designed_policy_is_read_as_meant(tmp_path)
    loaded = load_policy(tmp_path / "policy.yaml")
    for file in tmp_path.iterdir():
        file.unlink()
    assert policy_from_canonical(loaded.text) == loaded.policy
    assert load_policy(loaded.text).policy == loaded.policy


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"version": 2}', '{"version": 1, "slices": {"a": {"x": 1}}}']
)
def test_a_stored_text_that_is_no_policy_is_refused(text: str) -> None:
    """A damaged or newer stored policy is an error, never a policy with gaps."""
    with pytest.raises(PolicyError, match="stored policy"):
        policy_from_canonical(text)
