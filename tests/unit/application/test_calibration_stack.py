"""Going back means what lies beneath, however the activations came about."""

from __future__ import annotations

import pytest

from sureline.application.calibrations import active_stack
from sureline.application.ports.registry import Activation
from sureline.testing import MOMENT


@pytest.mark.parametrize(
    ("activated", "stack"),
    [
        pytest.param("", "", id="none"),
        pytest.param("A", "A", id="one"),
        pytest.param("AB", "AB", id="two"),
        pytest.param("ABB", "AB", id="the same again changes nothing"),
        pytest.param("ABA", "A", id="back"),
        pytest.param("ABCB", "AB", id="back by one"),
        pytest.param("ABCBA", "A", id="back by two"),
        pytest.param("ABCBD", "ABD", id="back, and on"),
        pytest.param("ABCA", "ABCA", id="an older one, which is no going back"),
        pytest.param("ABCAC", "ABC", id="back from an older one"),
    ],
)
def test_what_lies_beneath(activated: str, stack: str) -> None:
    """The last is active; the one before it is where a rollback leads."""
    activations = [
        Activation(workspace="default", kind="calibration", subject=one, by="Ada", at=MOMENT)
        for one in activated
    ]
    assert active_stack(activations) == list(stack)
