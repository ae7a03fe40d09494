"""What others wrote, made inert and visible."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from sureline.web.pages.shown_text import Span, brief, marked, shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\u202eb", "aU+202Eb"),
        ("\u200b" * 3, "U+200B ×3"),
        ("\x1b[1A\x9b", "U+001B[1AU+009B"),
        ("\U000e0061", "U+E0061"),
        ("a\tb\nc", "a\tb\nc"),
        ("\u3164\u2800", "U+3164U+2800"),
        ("Z" + "\u0310" * 9, "Z" + "\u0310" * 4 + "5 more marks"),
        ("\u05e9\u05dc", "\u05e9\u05dc"),
        ("\x00\ufeff\uffff", "U+0000U+FEFFU+FFFF"),
    ],
)
def test_what_hides_is_spelled_out(text: str, expected: str) -> None:
    """Marks that steer or hide become their code points; letters of any script stay."""
    assert shown(text).striptags() == Markup(expected).striptags()


@given(st.text())
def test_nothing_hidden_and_no_markup_of_others_is_left(text: str) -> None:
    """Of any text, only our own marks are elements, and no character hides."""
    found = str(shown(text))
    rest = found.replace('<span class="hidden-mark">', "").replace("</span>", "")
    assert not set(rest) & set("<>\"'")
    hidden = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
    assert not [one for one in found if unicodedata.category(one) in hidden and one not in "\n\t"]


@given(st.text(), st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=5))
def test_marks_change_no_text(text: str, places: list[tuple[int, int]]) -> None:
    """Whatever the spans are, the text is the same without the marks."""
    spans = [
        Span(min(one), min(max(one), len(text)), "<f>") for one in places if min(one) <= len(text)
    ]
    found = str(marked(text, spans)).replace('<mark title="&lt;f&gt;">', "").replace("</mark>", "")
    assert len(found) >= len(str(shown(text))) or spans
    if all(unicodedata.category(one)[0] not in "CMZ" for one in text):
        assert found == str(shown(text))


def test_a_brief_text_is_one_short_line() -> None:
    """Line ends become spaces, and what is long ends with an ellipsis."""
    assert brief("a\n b", 10) == "a b"
    assert brief("x" * 99, 10) == "x" * 10 + "…"
