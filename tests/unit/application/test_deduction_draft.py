"""Drafts of deductions in the report."""

from __future__ import annotations

import pytest

from sureline.application.mistakes import draft_of
from tests.reported import deductions_in


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param((), "wrong_output", id="no field is known"),
        pytest.param(("vendor.name", "Total"), "wrong_vendor_name_total", id="two fields"),
        pytest.param(("größe",), "wrong_gr_e", id="letters that an id has not"),
        pytest.param(("日付",), "wrong_output", id="no letter that an id has"),
        pytest.param(('a"b: #\n\x7f',), "wrong_a_b", id="what YAML could misread"),
        pytest.param(tuple(f"field_{n}" for n in range(90)), None, id="very many fields"),
        pytest.param(("x" * 5000,), None, id="a very long field"),
    ],
)
def test_a_draft_is_an_entry_of_a_deductions_file(
    fields: tuple[str, ...], expected: str | None
) -> None:
    """Whatever the fields are called, the reader of deductions files takes it as it is."""
    (entry,) = deductions_in(draft_of(fields, {"verification": 0.93}))
    assert expected in {None, entry["id"]}
    assert "SAY HERE" in entry["text"] or len(fields) == 1
