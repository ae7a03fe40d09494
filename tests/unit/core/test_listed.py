"""Some of many names, in one line."""

from __future__ import annotations

import pytest

from sureline.core.values.listed import listed


@pytest.mark.parametrize(
    ("names", "said"),
    [
        pytest.param([], "", id="none"),
        pytest.param(["a", "b", "c"], "a, b, c", id="all fit"),
        pytest.param(["a", "b", "c", "d", "e"], "a, b, c and 2 more", id="too many"),
    ],
)
def test_the_first_are_named_and_the_rest_counted(names: list[str], said: str) -> None:
    """A sentence stays short however many there are."""
    assert listed(names) == said
