"""Which replies count as refusals."""

from __future__ import annotations

import pytest

from sureline.core.opinions.refusal import declines


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm not able to help with this.", True),
        ("I\u2019m sorry, but I can\u2019t assist with that request.", True),
        ("Sorry, I cannot review this content.", True),
        ("Unfortunately, I am unable to judge it.", True),
        ("I must decline.", True),
        ("It looks right to me.", False),
        ("I can confirm that it is right.", False),
        ("I cannot find any fault: 10/10", False),
        ("I cannot agree. {", False),
        ("The output says: I cannot help with this.", False),
        ("I cannot tell. " + "Because of this. " * 100, False),
        ("", False),
    ],
)
def test_a_refusal_says_no_and_nothing_else(text: str, expected: bool) -> None:
    """Only a short text that begins with declining, and holds no number or bracket, is one."""
    assert declines(text) is expected
