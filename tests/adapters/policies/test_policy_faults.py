"""A faulty policy is refused with file, line, column, key and what was expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from sureline.adapters.policies import load_policy
from sureline.errors import PolicyError

HEAD = "version: 1\nslices:\n  a:\n"


def in_slice(*lines: str) -> str:
    return HEAD + "".join(f"    {line}\n" for line in lines)


CASES = {
    "not-a-mapping": ("[1]", "policy:1:1: expected a mapping"),
    "no-version": ("slices: {a: {}}", 'policy:1:1: the key "version" is missing'),
    "version-as-text": ('version: "1"\nslices: {a: {}}', "policy:1:10: version: expected 1"),
    "version-true": ("version: true\nslices: {a: {}}", "version: expected 1, found true"),
    "no-slices": ("version: 1", 'the key "slices" is missing'),
    "empty-slices": ("version: 1\nslices: {}", "slices: expected at least one slice"),
    "slice-no-name": ("version: 1\nslices: {'a b': {}}", '"a b" is no name'),
    "defaults-list": ("version: 1\ndefaults: []\nslices: {a: {}}", "defaults: expected a mapping"),
    "top-typo": ("version: 1\nslice: {}\nslices: {a: {}}", 'did you mean "slices"'),
    "typo": (in_slice("audit_rat: 0.1"), '4:5: slices.a.audit_rat: .*did you mean "audit_rate"'),
    "no-near-key": (in_slice("zzz: 1"), 'unknown key "zzz"; known here: abstain_floor'),
    "rate-text": (in_slice("audit_rate: high"), '4:17: .*a number from 0 to 1, found the text "hi'),
    "rate-quoted": (in_slice('audit_rate: "0.5"'), "write it without quotes"),
    "rate-high": (in_slice("audit_rate: 1.2"), "from 0 to 1, found the number 1.2"),
    "rate-negative": (in_slice("audit_rate: -0.1"), "from 0 to 1"),
    "rate-true": (in_slice("audit_rate: true"), "from 0 to 1, found true"),
    "rate-nan": (in_slice("audit_rate: .nan"), "from 0 to 1"),
    "rate-huge": (in_slice("audit_rate: 1e400"), "from 0 to 1"),
    "rate-empty": (in_slice("audit_rate:"), "found nothing"),
    "yes": (in_slice("four_eyes: yes"), "expected true or false, .*; write true"),
    "octal": (in_slice("attempts: 010"), "without leading zeros"),
    "attempts-fraction": (in_slice("attempts: 2.5"), "a whole number from 1 to 20"),
    "attempts-zero": (in_slice("attempts: 0"), "a whole number from 1 to 20"),
    "mode": (in_slice("mode: automatic"), "expected log_only, route or human_only"),
    "stakes": (in_slice("stakes: mild"), "expected reversible, high_cost or irreversible"),
    "target-half": (in_slice("target_precision: 0.5"), "above 0.5 and below 1"),
    "target-one": (in_slice("target_precision: 1"), "above 0.5 and below 1"),
    "cost": (in_slice("target_from_cost: {wrong: 1, review: 1}"), "less than half"),
    "C25-list": (in_slice("weights: [0.6, 0.8, 0.6]"), "a mapping of signal to a number"),
    "C25-zero": (in_slice("weights: {verification: 0, history: 0}"), "at least one weight"),
    "C25-negative": (
        in_slice("weights: {verification: -0.3, history: 1}"),
        "weights are 0 or more",
    ),
    "C25-nan": (in_slice("weights: {verification: NaN, history: 1}"), "a mapping of signal"),
    "C25-real-nan": (in_slice("weights: {verification: .nan}"), "a mapping of signal"),
    "C25-infinite": (in_slice("weights: {verification: .inf}"), "a mapping of signal"),
    "G4-largest": (
        in_slice("weights: {self_report: 0.5, verification: 0.3}"),
        "weights.self_report: .*never have the largest weight",
    ),
    "G4-tie": (in_slice("weights: {self_report: 1, verification: 1}"), "never have the largest"),
    "G4-alone": (in_slice("weights: {self_report: 1}"), "never have the largest"),
    "G2-panel": (
        in_slice("generator: {model: 'm:a'}", "judge: {model: b, panel: [c, 'n:a']}"),
        r"judge.panel.1.: n:a is the same model as the generator",
    ),
    "G2-twice": (
        in_slice("judge: {model: 'one:a', panel: [b, 'two:a-latest']}"),
        "judge: panel names a model twice",
    ),
    "G11-quorum": (
        in_slice("judge: {model: a, panel: [b], quorum: 3}"),
        "judge: quorum is 3, but there are 2 judges",
    ),
    "G11-no-quorum": (in_slice("judge: {model: a, quorum: 0}"), "quorum: expected a whole number"),
    "G12-nobody-to-ask": (
        in_slice("consistency: {ask: true}"),
        "consistency.ask: .*there is no generator to ask",
    ),
    "objective": (
        in_slice("objective_only: true", "weights: {verification: 1, judge: 0.2}"),
        "objective only, so judge can have no weight",
    ),
    "objective-preset": (
        in_slice("preset: independent", "objective_only: true"),
        "objective only, so judge, self_report can have no weight",
    ),
    "G16": (
        in_slice("weights: {verification: 1, slice_accuracy: 0.2}"),
        "weights.slice_accuracy: .*counts the slice's reliability twice",
    ),
    "G27-class": (in_slice("action_class: refund"), 'there is no action class "refund"'),
    "G27-human": (
        "version: 1\naction_classes: {p: {stakes: irreversible, human: by_confidence}}\n"
        "slices: {a: {}}",
        "policy:2:21: action_classes.p: irreversible actions are never automated",
    ),
    "G21-no-start": (
        in_slice("hypothesis: {allow_uncertified: true}"),
        "allow_uncertified needs starts",
    ),
    "G21-stakes": (in_slice("stakes: high_cost", "hypothesis: {auto: 0.9}"), "only automate rever"),
    "G21-days": (in_slice("hypothesis: {days: 31}"), "a whole number from 1 to 30"),
    "G21-audit": (in_slice("hypothesis: {audit_rate: 0.1}"), "a number from 0.2 to 1"),
    "G21-order": (in_slice("hypothesis: {auto: 0.5, reject: 0.6}"), "reject 0.6 is above auto 0.5"),
    "G21-date": (in_slice("hypothesis: {starts: 01.12.2026}"), "a date as YYYY-MM-DD"),
    "G2-judge": (
        in_slice('generator: {model: "openai:gpt-5"}', 'judge: {model: "azure:GPT-5-2026-01-01"}'),
        "judge.model: .*same model as the generator",
    ),
    "G2-evaluator": (
        in_slice(
            "generator: {model: claude-sonnet-4-6}",
            "self_evaluation: {model: 'anthropic:claude-sonnet-4-6', deductions: "
            "[{id: a, points: 1, text: b}]}",
        ),
        "self_evaluation.model: .*same model as the generator",
    ),
    "judge-no-model": (in_slice("judge: {otherwise: 0.1}"), 'judge: the key "model" is missing'),
    "rule-none": (in_slice("rules: [{field: x}]"), "exactly one condition .*found none"),
    "rule-two": (
        in_slice("rules: [{field: x, required: true, one_of: [1]}]"),
        "found one_of and required",
    ),
    "rule-ends": (in_slice("rules: [{field: x, between: [5, 1]}]"), "starts at 5.0 above"),
    "rule-open": (in_slice("rules: [{field: x, between: [null, null]}]"), "at least one end"),
    "rule-three": (in_slice("rules: [{field: x, between: [1, 2, 3]}]"), "two numbers"),
    "rule-day": (in_slice("rules: [{field: x, not_before: tomorrow}]"), "today or a date"),
    "rule-type": (
        in_slice("rules: [{field: x, type: text, between: [1, 2]}]"),
        "needs type number",
    ),
    "rule-penalty": (
        in_slice("rules: [{field: x, required: true, penalty: 0.1234}]"),
        r"rules\[0\].penalty: expected at most three decimals",
    ),
    "rule-field": (in_slice("rules: [{field: 'a..b', required: true}]"), "a field of the output"),
    "rule-choice": (in_slice("rules: [{field: a, one_of: [[1]]}]"), "a text, a number"),
    "regex": (
        in_slice('rules: [{field: x, pattern: "(?=a)b"}]'),
        "linear time: .*invalid perl operator",
    ),
    "prose-regex": (in_slice('prose: [{forbidden_patterns: ["("]}]'), "regular expression"),
    "prose-ends": (in_slice("prose: [{min_length: 9, max_length: 1}]"), "min_length 9 is above"),
    "grounding-types": (in_slice("grounding: {fields: [a], types: {b: date}}"), "types names b"),
    "locale": (in_slice("reading: {locale: klingon}"), "a locale such as"),
    "timezone": (in_slice("reading: {timezone: Mars/Base}"), "a time zone such as"),
    "timezone-path": (in_slice("reading: {timezone: ../../etc/passwd}"), "a time zone such as"),
    "currency": (in_slice("reading: {currency: euro}"), "a currency code"),
    "currency-unknown": (in_slice("reading: {currency: ZZZ}"), "no such ISO 4217 code"),
    "choice-type": (in_slice("rules: [{field: a, type: date, one_of: [soon]}]"), "one_of"),
    "unstructured": (
        in_slice("output: {structured: false}", "grounding: {fields: [a]}"),
        "grounding: needs an output with fields",
    ),
    "schema": (in_slice("output: {json_schema: {type: strin}}"), "not a JSON Schema"),
    "schema-remote": (
        in_slice('output: {json_schema: {$ref: "http://localhost/x.json"}}'),
        "not a JSON Schema that can be used",
    ),
    "schema-file-over-the-wire": (
        in_slice("output: {json_schema: /etc/passwd}"),
        "cannot be read here; put its content here",
    ),
    "history": (in_slice("history: {neighbours: 10, window: 5}"), "smaller than neighbours"),
    "deduction": (
        in_slice("self_evaluation: {model: m, deductions: [{id: A, points: 1, text: d}]}"),
        r"deductions\[0\].id: expected a short name",
    ),
}


@pytest.mark.parametrize(("text", "message"), CASES.values(), ids=CASES.keys())
def test_a_fault_is_named(text: str, message: str) -> None:
    """Each fault is refused in words that name its place and what was expected."""
    with pytest.raises(PolicyError, match=message):
        load_policy(text)


def test_all_faults_are_told_at_once_in_file_order() -> None:
    """Shape, range, reference and contradiction are reported together, sorted by line."""
    text = (
        "version: 2\n"
        "defaults:\n"
        "  audit_rate: high\n"
        "slices:\n"
        "  a:\n"
        "    mode: fast\n"
        "    action_class: nowhere\n"
        "    weights: {self_report: 1}\n"
        "  b:\n"
        "    four_eyes: yes\n"
        "    four_eyes: no\n"
    )
    with pytest.raises(PolicyError) as caught:
        load_policy(text)
    lines = caught.value.message.splitlines()
    assert [int(line.split(":")[1]) for line in lines] == [1, 3, 6, 7, 8, 10, 11]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param(f"delta: {'9' * 5000}", "the number has too many digits", id="digits"),
        pytest.param(f"attempts: {'9' * 41}", "at most 40 are read", id="few digits more"),
        pytest.param("attempts: !!int 2", 'tags such as "tag:yaml.org,2002:int"', id="tag"),
        pytest.param(
            "reading: {timezone: utc}",
            'expected a time zone .*, found "utc"; write "UTC"$',
            id="zone",
        ),
    ],
)
def test_one_mistake_is_one_fault(line: str, message: str) -> None:
    """What could not be read is told once, and not again as a value that is missing."""
    with pytest.raises(PolicyError, match=message) as caught:
        load_policy(in_slice(line))
    assert len(caught.value.message.splitlines()) == 1
    assert "nothing" not in caught.value.message


def test_a_fault_in_defaults_is_told_once(tmp_path: Path) -> None:
    """What every slice inherits is wrong at one place only, with the file's own name."""
    file = tmp_path / "rules.yaml"
    file.write_text("version: 1\ndefaults: {delta: 0}\nslices: {a: {}, b: {}, c: {}}\n")
    with pytest.raises(PolicyError) as caught:
        load_policy(file)
    assert caught.value.message.splitlines() == [
        f"{file}:2:19: defaults.delta: expected a number above 0 and below 0.5, found the number 0"
    ]


def test_a_missing_policy_file_is_named(tmp_path: Path) -> None:
    """A file that is not there is a PolicyError with its name."""
    with pytest.raises(PolicyError, match=r"nowhere\.yaml: the policy cannot be read"):
        load_policy(tmp_path / "nowhere.yaml")


WARNINGS = {
    "C25-sum": (in_slice("weights: {verification: 0.6, history: 0.8}"), "weights sum to 1.4"),
    "target": (in_slice("target_precision: 0.99"), "at least 299 labels without one error"),
    "family": (
        in_slice("generator: {model: 'openai:gpt-5'}", "judge: {model: 'openai:gpt-5-mini'}"),
        "of the generator's family",
    ),
    "family-in-a-panel": (
        in_slice(
            "generator: {model: 'openai:gpt-5'}",
            "judge: {model: 'x:y', panel: ['openai:gpt-5-mini']}",
        ),
        "judge.panel[0]: openai:gpt-5-mini is of the generator's family",
    ),
    "same-allowed": (
        in_slice("generator: {model: m}", "judge: {model: m, allow_same_model: true}"),
        "it will overlook its own mistakes",
    ),
    "G12-agrees-with-itself": (
        in_slice("weights: {consistency: 0.5, verification: 0.5}", "consistency: {}"),
        "consistency counts most, and it comes from the generator itself",
    ),
    "G12-sure-of-itself": (
        in_slice("weights: {token_probability: 1}"),
        "token_probability counts most, and it comes from the generator itself",
    ),
    "no-judge": (in_slice("preset: independent"), "judge has a weight but is not set up"),
    "idle-hypothesis": (in_slice("hypothesis: {auto: 0.9}"), "not used until allow_uncertified"),
    "no-audit": (in_slice("mode: route", "audit_rate: 0"), "never noticed"),
    "nothing-checked": (in_slice("output: {structured: false}"), "nothing is checked"),
    "pooled": (
        in_slice("calibration: pooled", "weights: {verification: 0.8, slice_accuracy: 0.2}"),
        "slice_accuracy is not measured yet",
    ),
    "own-signal": (
        in_slice("weights: {verification: 1, foo: 1}"),
        "weights.foo: nothing built in measures this signal: a plug-in or an imported log must",
    ),
    "misspelt-signal": (
        in_slice("weights: {verification: 1, histroy: 1}"),
        "weights.histroy: nothing built in measures this signal: a plug-in or an imported log must "
        'bring it; did you mean "history"?',
    ),
}


@pytest.mark.parametrize(("text", "message"), WARNINGS.values(), ids=WARNINGS.keys())
def test_a_doubtful_setting_is_a_warning(text: str, message: str) -> None:
    """What can be used but may not be meant is said and not refused."""
    warnings = load_policy(text).warnings
    assert any(message in warning for warning in warnings), warnings


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("openai:gpt-5", "gpt-5", True),
        ("openai:gpt-5", "openrouter:openai/gpt-5", True),
        ("claude-haiku-4-5-20251001", "anthropic:claude-haiku-4-5", True),
        ("gemini-3-latest", "gemini-3", True),
        ("openai:gpt-5", "openai:gpt-5-mini", False),
        ("llama3:8b", "mistral:8b", False),
        ("ollama:llama3:8b", "llama3:8b", True),
        ("llama3:latest", "mistral:latest", False),
    ],
)
def test_model_names_are_compared_by_the_model(one: str, other: str, same: bool) -> None:
    """Provider, path and date of issue do not make another model (G2, M15)."""
    from sureline.core.values.model_names import same_model

    assert same_model(one, other) is same
    assert same_model(other, one) is same
