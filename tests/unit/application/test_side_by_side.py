"""Proposals are decided together only where neither is part of the other's past."""

from __future__ import annotations

from typing import Any

import pytest

from sureline.application.intake import read_proposal
from sureline.application.side_by_side import side_by_side


def of(**fields: Any) -> Any:
    """Write a proposal; without a task of its own it shares none."""
    return read_proposal({"slice_key": "a", "output": 1, **fields})


FREE = [of(task=f"task {number}", id=f"free {number}") for number in range(3)]


@pytest.mark.parametrize(
    ("proposals", "sizes"),
    [
        pytest.param([], [], id="none"),
        pytest.param(FREE, [3], id="independent"),
        pytest.param([*FREE, of(task="x", id="free 1")], [3, 1], id="same id"),
        pytest.param([*FREE, of(task="x", retry_of="free 1")], [3, 1], id="retry"),
        pytest.param([*FREE, of(task="x", retry_of="elsewhere")], [4], id="retry of an old one"),
        pytest.param([*FREE, of(task="TASK  1")], [3, 1], id="same task, written otherwise"),
        pytest.param([of(task="x", source="1"), of(task="x", source="2")], [2], id="other source"),
        pytest.param([of(task="x"), of(task="x", slice_key="b")], [2], id="other slice"),
        pytest.param([of(task="x")] * 3, [1, 1, 1], id="three attempts"),
        pytest.param([*FREE, of(task="x", deadline=1.0), of(task="y")], [3, 1, 1], id="deadline"),
    ],
)
def test_a_run_ends_before_one_that_depends_on_it(proposals: list[Any], sizes: list[int]) -> None:
    """The order stays, and each depends only on runs before its own."""
    runs = list(side_by_side(proposals))
    assert [one for run in runs for one in run] == proposals
    assert [len(run) for run in runs] == sizes
