"""A draft as a form of fields, and back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.errors import InvalidInput
from sureline.web.pages.draft import FieldKind, fields_of
from sureline.web.pages.typed import edited_output

SCHEMA: dict[str, Any] = {
    "required": ["total"],
    "properties": {
        "total": {"type": "number"},
        "count": {"type": ["integer", "null"]},
        "currency": {"enum": ["EUR", "USD", None]},
        "due": {"type": "string", "format": "date"},
        "paid": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
        "vendor": {"$ref": "#/$defs/vendor"},
        "lines": {"items": {"properties": {"price": {"type": "number"}}}},
    },
    "$defs": {
        "vendor": {"properties": {"name": {"type": "string"}}},
        "loop": {"$ref": "#/$defs/loop"},
    },
}
OUTPUT: dict[str, Any] = {
    "total": 12,
    "count": 3,
    "currency": "EUR",
    "due": "2026-01-14",
    "paid": True,
    "vendor": {"name": "Acme"},
    "lines": [{"price": 1.0}],
    "a/b~c": "x",
}

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


def edited(output: Any, form: dict[str, str], schema: Any = SCHEMA) -> Any:
    fields = fields_of(output, schema)
    assert fields is not None
    return edited_output(output, fields, form)


def test_each_value_gets_the_input_of_its_type() -> None:
    """Type, format and choices of the schema decide; nested fields have dotted paths."""
    kinds = {one.path: one.kind for one in fields_of(OUTPUT, SCHEMA) or ()}
    assert kinds == {
        "total": FieldKind.NUMBER,
        "count": FieldKind.NUMBER,
        "currency": FieldKind.CHOICE,
        "due": FieldKind.DATE,
        "paid": FieldKind.BOOLEAN,
        "vendor.name": FieldKind.LINE,
        "lines[0].price": FieldKind.NUMBER,
        "a/b~c": FieldKind.LINE,
    }


@pytest.mark.parametrize(
    ("form", "path", "expected"),
    [
        ({"field/total": "1240.50"}, "total", 1240.5),
        ({"field/total": "13"}, "total", 13),
        ({"field/count": ""}, "count", None),
        ({"field/currency": '"USD"'}, "currency", "USD"),
        ({"field/currency": "null"}, "currency", None),
        ({"field/due": "2026-02-01"}, "due", "2026-02-01"),
        ({"field/paid": "false"}, "paid", False),
        ({"field/paid": ""}, "paid", None),
        ({"field/a~1b~0c": ""}, "a/b~c", ""),
        ({"field/vendor/name": "A\r\nB"}, "vendor", {"name": "A\nB"}),
    ],
)
def test_what_is_typed_keeps_its_type(form: dict[str, str], path: str, expected: Any) -> None:
    """A number stays a number, a choice what it stands for, and nothing else changes."""
    found = edited(OUTPUT, form)
    assert found == {**OUTPUT, path: expected}
    assert type(found[path]) is type(expected)


@pytest.mark.parametrize(
    "form",
    [
        {"field/total": ""},
        {"field/total": "1,240.50"},
        {"field/total": "1e999"},
        {"field/total": "0x10"},
        {"field/currency": '"GBP"'},
        {"field/paid": "yes"},
    ],
)
def test_what_is_none_of_its_type_is_refused(form: dict[str, str]) -> None:
    """The error names the field, once."""
    with pytest.raises(InvalidInput) as refused:
        edited(OUTPUT, form)
    (path,) = refused.value.faults
    assert f"field/{path}" in form
    assert refused.value.message == f"{path}: {refused.value.faults[path]}"


def test_all_that_is_wrong_is_named_at_once() -> None:
    """One error names every field, in their order."""
    form = {"field/total": "x", "field/paid": "y", "field/currency": '"GBP"'}
    with pytest.raises(InvalidInput) as refused:
        edited(OUTPUT, form)
    assert set(refused.value.faults) == {"total", "paid", "currency"}


def test_a_field_that_the_draft_leaves_out_can_be_added() -> None:
    """Optional fields of the schema are there, empty, and stay away if nothing is typed."""
    assert edited({"total": 1}, {"field/due": ""}) == {"total": 1}
    assert edited({"total": 1}, {"field/due": "2026-01-14"}) == {"total": 1, "due": "2026-01-14"}
    assert edited({"total": 1, "due": "x"}, {}) == {"total": 1, "due": "x"}


def test_a_text_where_a_number_belongs_becomes_one() -> None:
    """The input gives the type that the schema asks for."""
    assert edited({"total": "12"}, {}) == {"total": 12}


def test_what_hides_is_edited_escaped() -> None:
    """A text with a direction override is a JSON text in its input."""
    (field,) = fields_of({"name": "invoice\u202etxt.exe"}, None) or ()
    assert (field.kind, field.text) == (FieldKind.JSON, '"invoice\\u202etxt.exe"')


@pytest.mark.parametrize(
    "output",
    [
        "text",
        [1],
        {},
        {str(number): number for number in range(101)},
        {"a" * 301: 1},
        {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": 1}}}}}}}}},
    ],
    ids=["text", "list", "empty", "many", "long", "deep"],
)
def test_what_makes_no_form_is_edited_as_a_whole(output: Any) -> None:
    """Texts, lists, and what is large or deep have no fields."""
    assert fields_of(output, None) is None


@given(st.dictionaries(st.text(max_size=4), JSON, min_size=1, max_size=4))
def test_a_form_that_comes_back_untouched_changes_nothing(output: dict[str, Any]) -> None:
    """Whatever the JSON is, sending its form as it is gives it back, types and all."""
    fields = fields_of(output, None)
    if fields is not None:
        form = {one.name: one.text.replace("\n", "\r\n") for one in fields}
        assert repr(edited_output(output, fields, form)) == repr(output)


@given(JSON, JSON)
def test_no_schema_breaks_the_form(output: Any, schema: Any) -> None:
    """A schema that makes no sense to us is ignored."""
    given = schema if isinstance(schema, dict) else {"$ref": "#/$defs/loop", "$defs": schema}
    fields_of({"a": output}, {"properties": {"a": given}, **given})
