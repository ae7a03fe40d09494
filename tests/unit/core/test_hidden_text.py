"""What hides in a text is spelled out, in one list for every way out, and nothing else changes."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.core.csv_text import csv_cell, csv_text
from sureline.core.hidden_text import LINES, is_hidden, spelled, spelled_json

ANY = st.text(st.characters(exclude_categories=["Cs"]))


@pytest.mark.parametrize(
    ("char", "written"),
    [
        ("\x1b", "\\u001b"),
        ("\x9b", "\\u009b"),
        ("\x07", "\\u0007"),
        ("\x7f", "\\u007f"),
        ("\u202e", "\\u202e"),
        ("\u200b", "\\u200b"),
        ("\u3164", "\\u3164"),
        ("\u2028", "\\u2028"),
        ("\U000e0041", "\\U000e0041"),
        ("\r", "\\u000d"),
    ],
    ids=["ESC", "C1 CSI", "BEL", "DEL", "override", "zero width", "filler", "line", "tag", "CR"],
)
def test_each_is_written_by_its_code(char: str, written: str) -> None:
    """Whatever steers or hides is its code point instead."""
    assert spelled(f"a{char}b") == f"a{written}b"


@given(ANY)
def test_nothing_hides_in_what_is_spelled(text: str) -> None:
    """Nothing hidden is left, what is seen stays, and a second time changes nothing."""
    written = spelled(text, keep=LINES)
    assert not any(is_hidden(char) for char in written if char not in LINES)
    assert spelled(written, keep=LINES) == written
    if not any(is_hidden(char) for char in text):
        assert written == text


@given(st.recursive(ANY | st.integers(), lambda one: st.lists(one) | st.dictionaries(ANY, one)))
def test_json_is_the_same_value(value: object) -> None:
    """JSON that hides nothing reads back as what it was."""
    written = spelled_json(json.dumps(value, ensure_ascii=False, indent=2))
    assert json.loads(written) == value
    assert not any(is_hidden(char) for char in written if char not in LINES)


@given(ANY)
def test_no_text_is_a_formula(text: str) -> None:
    """Whatever an agent wrote, its cell begins with nothing that a spreadsheet runs."""
    cell = csv_cell(text)
    assert cell.lstrip()[:1] not in tuple("=+-@")
    assert cell[:1] not in tuple("\t\r\n")
    (row,) = csv.reader(io.StringIO(csv_text([text], []), newline=""))
    assert row == [text]  # our own header is not touched


@given(st.lists(ANY, min_size=1, max_size=4))
def test_a_table_reads_back_as_its_cells(texts: list[str]) -> None:
    """Quotes, separators and line ends in a cell stay in it."""
    _, row = csv.reader(io.StringIO(csv_text(["c"] * len(texts), [texts]), newline=""))
    assert row == [csv_cell(one) for one in texts]


@pytest.mark.parametrize(
    ("value", "cell"),
    [(-5, "-5"), (0.5, "0.5"), (None, ""), ("-5", "'-5"), (" =1+1", "' =1+1"), ("a=b", "a=b")],
    ids=["a number", "a share", "nothing", "a text", "behind a space", "within"],
)
def test_numbers_stay_numbers(value: object, cell: str) -> None:
    """Only a text that would be taken for a formula is marked as a text."""
    assert csv_cell(value) == cell
