"""A case is shown whole or not at all."""

from __future__ import annotations

import pytest

from sureline.core.opinions.shown import MOST_CHARACTERS, shown
from sureline.core.values.proposal import Proposal, SourceText
from sureline.errors import ModelFailed


def case(output: object, *sources: str, task: str = "t") -> Proposal:
    given = tuple(SourceText(ref=str(n), text=text) for n, text in enumerate(sources))
    return Proposal(slice_key="a", task=task, output=output, source=given)


@pytest.mark.parametrize(
    ("output", "text"),
    [
        pytest.param("plain", "plain", id="text"),
        pytest.param('{"a":1}', '{"a":1}', id="json-as-text"),
        pytest.param({"a": "é", "b": [1]}, '{\n "a": "é",\n "b": [\n  1\n ]\n}', id="object"),
        pytest.param(None, "null", id="null"),
        pytest.param("", "", id="empty"),
        pytest.param(b"bytes", "bytes", id="bytes"),
    ],
)
def test_an_output_is_shown_as_it_is(output: object, text: str) -> None:
    """A text is shown as it came, anything else as JSON."""
    assert shown(case(output)).output == text


@pytest.mark.parametrize(
    ("sources", "labels"),
    [((), []), (("x",), ["SOURCE"]), (("x", "y"), ["SOURCE 1", "SOURCE 2"])],
)
def test_sources_are_numbered_where_there_are_several(
    sources: tuple[str, ...], labels: list[str]
) -> None:
    """Their own names are not shown: an agent chose them."""
    assert [label for label, _ in shown(case("o", *sources)).parts] == ["TASK", *labels, "OUTPUT"]
    assert shown(case("o", *sources)).others == ("t", *sources)


@pytest.mark.parametrize(
    ("proposal", "reason"),
    [
        pytest.param(case(float("nan")), "unreadable_output", id="nan"),
        pytest.param(case({"a": object()}), "unreadable_output", id="no-json-value"),
        pytest.param(case("\ud800"), "unreadable_output", id="half-a-character"),
        pytest.param(case("o", "\ud800"), "unreadable_output", id="half-in-a-source"),
        pytest.param(case(b"\xff"), "unreadable_output", id="no-utf-8"),
        pytest.param(case("x" * MOST_CHARACTERS), "too_long", id="long-output"),
        pytest.param(case("", *["x" * 60_000] * 4), "too_long", id="long-sources"),
    ],
)
def test_what_cannot_be_shown_whole_is_not_shown(proposal: Proposal, reason: str) -> None:
    """The reason is a code, and nothing is left out instead."""
    with pytest.raises(ModelFailed) as caught:
        shown(proposal)
    assert caught.value.reason == reason


def test_the_limit_is_of_all_together() -> None:
    """Just as much as may be shown is shown."""
    assert shown(case("x" * (MOST_CHARACTERS - 1))).output
