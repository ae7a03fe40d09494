"""Rules about fields."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from sureline.core.checks.rules import compile_rule
from sureline.core.checks.values import compile_formats
from sureline.core.values.checks import FieldRule, FieldType, Reading
from sureline.errors import PolicyError

NOW = datetime(2026, 6, 14, 12, tzinfo=UTC)
FORMATS = compile_formats(Reading())


def findings(output: object, **rule: object) -> list[tuple[str, str | None, int]]:
    check = compile_rule(FieldRule(penalty=300, **rule), FORMATS, UTC)  # type: ignore[arg-type]
    return [(found.code, found.field, found.penalty) for found in check.check(output, NOW).findings]


@pytest.mark.parametrize(
    ("output", "rule", "code"),
    [
        pytest.param({"a": 1}, {"between": (1, 2)}, None, id="low-end"),
        pytest.param({"a": 2.0}, {"between": (1, 2)}, None, id="high-end"),
        pytest.param({"a": 0.1}, {"between": (0.1, None)}, None, id="decimal-end"),
        pytest.param({"a": 3}, {"between": (1, 2)}, "between", id="above"),
        pytest.param({"a": 10**30}, {"between": (None, 10**30 - 1)}, "between", id="exact"),
        pytest.param({"a": "1,5"}, {"between": (1, 2)}, "unreadable", id="text-number"),
        pytest.param(
            {"a": "$1.50"}, {"between": (1, 2), "type": FieldType.MONEY}, None, id="money"
        ),
        pytest.param({"a": True}, {"between": (0, 2)}, "wrong_type", id="boolean"),
        pytest.param({"a": [1]}, {"between": (0, 2)}, "wrong_type", id="list"),
        pytest.param({"a": None}, {"between": (0, 2)}, "missing_field", id="null"),
        pytest.param({}, {"between": (0, 2)}, "missing_field", id="missing"),
        pytest.param([], {"between": (0, 2)}, "missing_field", id="no-object"),
        pytest.param({"a": 0.1}, {"one_of": (0, 0.08, 0.1)}, None, id="choice"),
        pytest.param({"a": 0.0}, {"one_of": (0, 0.1)}, None, id="integer-choice"),
        pytest.param({"a": True}, {"one_of": (0, 1)}, "one_of", id="true-is-not-1"),
        pytest.param({"a": "0.1"}, {"one_of": (0.1,)}, "one_of", id="text-is-not-0.1"),
        pytest.param({"a": "JPY"}, {"one_of": ("JPY", "EUR")}, None, id="text-choice"),
        pytest.param({"a": "2026-06-14"}, {"not_before": "today"}, None, id="today"),
        pytest.param({"a": "2026-06-13"}, {"not_before": "today"}, "not_before", id="past"),
        pytest.param({"a": "2026-06-15"}, {"not_after": "2026-06-14"}, "not_after", id="late"),
        pytest.param({"a": 20260615}, {"not_before": "today"}, "wrong_type", id="number-date"),
        pytest.param({"a": "AB-12"}, {"pattern": "[A-Z]{2}-[0-9]+"}, None, id="pattern"),
        pytest.param({"a": "xAB-12"}, {"pattern": "[A-Z]{2}-[0-9]+"}, "pattern", id="whole-text"),
        pytest.param({"a": "a" * 5000 + "b"}, {"pattern": "(a+)+"}, "pattern", id="linear"),
        pytest.param({"a": 12}, {"pattern": "[0-9]+"}, "wrong_type", id="number-pattern"),
        pytest.param({"a": 0}, {"required": True}, None, id="zero-is-there"),
        pytest.param({"a": False}, {"required": True}, None, id="false-is-there"),
        pytest.param({"a": "  "}, {"required": True}, "required", id="blank"),
        pytest.param({"a": []}, {"required": True}, "required", id="empty-list"),
        pytest.param(
            {"a": "x"}, {"required": True, "type": FieldType.DATE}, "unreadable", id="no-date"
        ),
    ],
)
def test_one_value(output: object, rule: dict[str, object], code: str | None) -> None:
    """A rule passes or costs its penalty; nothing raises and nothing is coerced."""
    expected = [] if code is None else [(code, "a", 300)]
    assert findings(output, field="a", **rule) == expected


@pytest.mark.parametrize(
    ("output", "field", "expected"),
    [
        ({"lines": [{"p": 1}, {"p": 9}]}, "lines[1].p", ["lines[1].p"]),
        ({"lines": [{"p": 1}]}, "lines[1].p", ["lines[1].p"]),
        ({"lines": [{"p": 9}, {}, {"p": 1}]}, "lines[].p", ["lines[0].p", "lines[1].p"]),
        ({"lines": []}, "lines[].p", ["lines[].p"]),
        ({"lines": {}}, "lines[].p", ["lines[].p"]),
        ({"a": {"b": {"c": 9}}}, "a.b.c", ["a.b.c"]),
        ({"m": [[9]]}, "m[][0]", ["m[0][0]"]),
    ],
)
def test_paths(output: object, field: str, expected: list[str]) -> None:
    """Dotted paths lead into objects and lists, and what is missing on the way is a finding."""
    assert [where for _, where, _ in findings(output, field=field, between=(0, 5))] == expected


def test_many_violations_are_cut_at_no_discount() -> None:
    """The list ends, and the last finding carries what the others cost."""
    found = findings({"a": [9] * 100}, field="a[]", between=(0, 5))
    assert len(found) == 21
    assert sum(penalty for _, _, penalty in found) == 100 * 300


@pytest.mark.parametrize(
    "rule",
    [
        {"field": "a"},
        {"field": "a", "required": True, "pattern": "x"},
        {"field": "a..b", "required": True},
        {"field": "", "required": True},
        {"field": "a[x]", "required": True},
        {"field": "a", "pattern": "(?=x)"},
        {"field": "a", "pattern": "("},
        {"field": "a", "between": (2, 1)},
        {"field": "a", "between": (True, None)},
        {"field": "a", "between": (float("nan"), None)},
        {"field": "a", "between": (1, 2), "type": FieldType.DATE},
        {"field": "a", "not_before": "tomorrow"},
        {"field": "a", "one_of": ("x",), "type": FieldType.NUMBER},
        {"field": "a", "required": True, "penalty": -1},
    ],
)
def test_rules_that_make_no_sense_are_refused(rule: dict[str, object]) -> None:
    """A rule with no condition, two, a bad path, pattern or limit is a policy error."""
    with pytest.raises(PolicyError):
        compile_rule(FieldRule(**rule), FORMATS, UTC)  # type: ignore[arg-type]
