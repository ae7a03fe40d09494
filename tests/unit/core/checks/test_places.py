"""Where an output's values stand in its sources."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.core.checks.grounding import GroundingCheck, compile_grounding
from sureline.core.checks.values import compile_formats
from sureline.core.values.checks import FieldType, GroundingRules, Reading
from sureline.core.values.proposal import SourceText

FORMATS = compile_formats(Reading(date_order="DMY"))


def check(kind: FieldType | None) -> GroundingCheck:
    types = {} if kind is None else {"value": kind}
    return compile_grounding(GroundingRules(fields=("value",), types=types), FORMATS)


def found(value: Any, text: str, kind: FieldType | None = None) -> list[str]:
    source = (SourceText(ref="a", text=text, trusted=False),)
    places = check(kind).places({"value": value}, source)
    assert {(one.source, one.field) for one in places} <= {(0, "value")}
    return [text[one.start : one.end] for one in places]


@pytest.mark.parametrize(
    ("value", "text", "kind", "expected"),
    [
        ("Acme", "ACME and Acmes, acme.", None, ["ACME", "acme"]),
        ("Harbour Paper", "from Harbour\n   Paper Ltd", None, ["Harbour\n   Paper"]),
        ("it's", "  it\u2019s here", None, ["it\u2019s"]),
        (1240.5, "  Total 1,240.50 or 11,240.50", None, ["1,240.50"]),
        (12, "12 then 12.00 then 112", FieldType.NUMBER, ["12", "12.00"]),
        ("2026-01-14", "on 14/01/2026 or 2026-01-14", FieldType.DATE, ["14/01/2026", "2026-01-14"]),
        ("", "anything", None, []),
        (None, "None", None, []),
        (True, "True", None, []),
        ("x" * 3000, "x" * 3000, None, []),
        ("a", "a " * 100, None, ["a"] * 20),
    ],
)
def test_a_value_is_marked_where_it_stands(
    value: Any, text: str, kind: FieldType | None, expected: list[str]
) -> None:
    """Whole tokens in any presentation, numbers and dates by value, and not too many."""
    assert found(value, text, kind) == expected


@given(st.text(max_size=60), st.text(min_size=1, max_size=5))
def test_places_are_within_the_text(text: str, value: str) -> None:
    """Whatever the texts are, a place is a part of the source and not empty."""
    for one in check(None).places({"value": value}, (SourceText(ref="a", text=text),)):
        assert 0 <= one.start < one.end <= len(text)
