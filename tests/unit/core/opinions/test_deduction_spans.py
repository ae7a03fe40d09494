"""Passages are found however a model sets them, and only where they are."""

from __future__ import annotations

import json
import time

import pytest

from sureline.core.opinions.spans import MOST_SHOWN, Passages, shortened

OUTPUT = json.dumps({"note": 'He said "pay\nnow".', "total": 860.0}, indent=1)
TASK = "Extract  the total,\nin pounds — only the total."
GIVEN = Passages((OUTPUT, TASK))


@pytest.mark.parametrize(
    "span",
    [
        pytest.param('"total": 860.0', id="verbatim"),
        pytest.param('"total":860.0', id="other-spaces"),
        pytest.param("“TOTAL”: 860.0", id="other-quotes-and-case"),
        pytest.param('He said "pay now"', id="as-json-reads"),
        pytest.param('He said \\"pay\\nnow\\"', id="as-json-is-written"),
        pytest.param('{"note": ... "total": 860.0}', id="left-out"),
        pytest.param("Extract … only the total", id="ellipsis"),
        pytest.param("'Extract the total.'", id="quoted-with-a-full-stop"),
        pytest.param("in pounds - only", id="hyphen"),
    ],
)
def test_a_passage_is_found(span: str) -> None:
    """White space, case, quotes, escapes, hyphens and gaps do not matter."""
    assert GIVEN.has(span)


@pytest.mark.parametrize(
    "span",
    [
        pytest.param("", id="empty"),
        pytest.param(" ... ", id="only-a-gap"),
        pytest.param('"."', id="only-edges"),
        pytest.param('"total": 861.0', id="another-number"),
        pytest.param("only the total ... Extract", id="out-of-order"),
        pytest.param("pay now Extract", id="across-texts"),
        pytest.param("t\u043etal", id="look-alike-letter"),
    ],
)
def test_a_passage_is_missed(span: str) -> None:
    """What is nowhere, or nothing, is no evidence."""
    assert not GIVEN.has(span)


@pytest.mark.parametrize(
    "span", [" " * 90_000 + "x", "." * 90_000 + "x", "\\" * 90_000, "a..." * 25_000]
)
def test_hostile_passages_take_no_time(span: str) -> None:
    """The time is linear in the passage and the texts."""
    started = time.process_time()
    Passages(("a" * 200_000,)).has(span)
    assert time.process_time() - started < 2.0


def test_what_is_kept_is_one_short_line_that_can_be_stored() -> None:
    """Line breaks, length and half characters are gone."""
    kept = shortened("first\n  second \ud800 " + "x" * 1000)
    assert kept.startswith("first second ? xxx")
    assert kept.endswith("...")
    assert len(kept) == MOST_SHOWN
    kept.encode("utf-8")
