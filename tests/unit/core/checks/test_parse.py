"""What the strict JSON reader takes and refuses."""

from __future__ import annotations

import json

import pytest

from sureline.core.checks.json_value import MAX_BYTES, MAX_DEPTH, MAX_DIGITS
from sureline.core.checks.parse import parse_output


def nested(depth: int) -> str:
    return '{"a":' + "[" * (depth - 1) + "]" * (depth - 1) + "}"


@pytest.mark.parametrize(
    ("output", "code", "where"),
    [
        pytest.param('{"a": 1,}', "invalid_json", "line 1 column 9 (character 8)", id="comma"),
        pytest.param('{"a":\n oops}', "invalid_json", "line 2 column 2 (character 7)", id="word"),
        pytest.param('{"a": 1} {}', "invalid_json", "line 1 column 10", id="extra"),
        pytest.param("", "invalid_json", "line 1 column 1 (character 0)", id="empty"),
        pytest.param('{"a": 1, "b": -Infinity}', "non_finite", "line 1 column 15", id="infinity"),
        pytest.param('{"NaN": 1, "b": NaN}', "non_finite", "line 1 column 17", id="nan"),
        pytest.param('{"a": [1e999]}', "non_finite", "line 1 column 8", id="overflow"),
        pytest.param('{"x": {"k": 1,\n"k": 2}}', "duplicate_key", "line 2 column 1", id="deep"),
        pytest.param('{"k": [{}, {"q": 1}], "k": 0}', "duplicate_key", "column 23", id="outer"),
        pytest.param('{"k": 1, "\\u006b": 2}', "duplicate_key", "column 10", id="escaped"),
        pytest.param('{"a": 0.' + "1" * 500 + "}", "number_too_long", "column 7", id="fraction"),
        pytest.param(nested(MAX_DEPTH + 1), "too_deep", "column 69", id="depth"),
        pytest.param('\ud83d{"a": 1}', "invalid_unicode", "line 1 column 1", id="surrogate"),
        pytest.param(b'{"a": "\xff"}', "invalid_unicode", "Byte 7", id="bytes"),
        pytest.param("x" * (MAX_BYTES + 1), "too_large", str(MAX_BYTES), id="large"),
        pytest.param("é" * (MAX_BYTES // 2 + 1), "too_large", str(MAX_BYTES), id="large-utf-8"),
        pytest.param(b"\xfe\xff", "invalid_unicode", "Byte 0", id="utf-16"),
        pytest.param('\ufeff\ufeff{"a": 1}', "invalid_json", "column 1", id="two-boms"),
    ],
)
def test_refusals_name_the_place(output: str | bytes, code: str, where: str) -> None:
    """Each refusal has its code, is fatal and says where the error is."""
    parsed = parse_output(output)
    assert not parsed.ok
    found = parsed.findings[-1]
    assert (found.code, found.fatal) == (code, True)
    assert where in found.message


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(nested(MAX_DEPTH), id="depth"),
        pytest.param('{"a": "' + "[" * 500 + '"}', id="brackets-in-text"),
        pytest.param('{"a": "' + '\\"[' * 500 + '"}', id="brackets-after-quotes"),
        pytest.param('{"a": ' + "9" * MAX_DIGITS + "}", id="digits"),
        pytest.param('{"a": "\\ud83d\\ude00"}', id="surrogate-pair"),
        pytest.param('{"a": [{"b": 1}, {"b": 2}]}', id="same-key-elsewhere"),
        pytest.param(' \n{"a": -0.5e-3}\t', id="space"),
    ],
)
def test_ordinary_json_is_read_as_it_stands(text: str) -> None:
    """Strictness refuses nothing that every reader reads the same way."""
    parsed = parse_output(text)
    assert parsed.ok
    assert parsed.value == json.loads(text)
    assert parsed == parse_output(text.encode())


LOOP: list[object] = []
LOOP.extend((LOOP, LOOP))


@pytest.mark.parametrize(
    ("value", "code", "field"),
    [
        pytest.param({"a": float("nan")}, "non_finite", "a", id="nan"),
        pytest.param({"a": [1, float("inf")]}, "non_finite", "a[1]", id="infinity"),
        pytest.param({"a": {"b": "\ud83d"}}, "invalid_unicode", "a.b", id="surrogate"),
        pytest.param({"\ud83d": 1}, "invalid_unicode", "?", id="surrogate-key"),
        pytest.param({1: 2}, "not_json", None, id="key"),
        pytest.param({"a": {1, 2}}, "not_json", "a", id="set"),
        pytest.param({"a": b"x"}, "not_json", "a", id="bytes"),
        pytest.param({"a": 10**5000}, "number_too_long", "a", id="digits"),
        pytest.param([1], "not_an_object", None, id="list"),
        pytest.param(None, "not_an_object", None, id="null"),
        pytest.param({"a": ["x" * MAX_BYTES, "y"]}, "too_large", "a[0]", id="large"),
    ],
)
def test_python_values_meet_the_same_checks(value: object, code: str, field: str | None) -> None:
    """A value that a caller parsed is refused for what its text would be refused for."""
    parsed = parse_output(value)
    assert not parsed.ok
    assert [(found.code, found.field) for found in parsed.findings] == [(code, field)]


def test_a_value_that_contains_itself_is_too_deep() -> None:
    """A loop ends at the depth cap and does not multiply."""
    assert [found.code for found in parse_output({"a": LOOP}).findings] == ["too_deep"]


def test_shared_parts_do_not_multiply() -> None:
    """A value whose copy would be astronomically large is too large."""
    value: object = "x"
    for _ in range(40):
        value = [value, value]
    assert [found.code for found in parse_output({"a": value}).findings] == ["too_large"]


def test_a_python_value_comes_back_as_a_plain_copy() -> None:
    """The caller's later changes do not reach what was decided on."""
    inner = [1]
    given = {"a": inner, "b": (True, None)}
    parsed = parse_output(given)
    inner.append(2)
    assert parsed.value == {"a": [1], "b": [True, None]}


def test_text_without_structure_is_left_as_it_is() -> None:
    """Where no structure is expected, text is text, and only its encoding and size count."""
    assert parse_output("{not json", structured=False).value == "{not json"
    assert not parse_output("\ud83d", structured=False).ok


def test_what_cannot_be_stored_is_not_handed_on() -> None:
    """A refused text is kept for a person unless no store could take it."""
    assert parse_output("{oops").value == "{oops"
    assert parse_output('{"a": "\\ud83d"}').value is None
    assert parse_output("x" * (MAX_BYTES + 1)).value is None
