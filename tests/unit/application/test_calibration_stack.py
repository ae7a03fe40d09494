"""Going back means what lies beneath, however the activations came about."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sureline.application.holding import Held, active_stack
from sureline.application.ports.registry import Activation
from sureline.bootstrap import open_services
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
    assert active_stack(activations) == [Held(subject=one) for one in stack]


@pytest.mark.parametrize(
    ("activated", "stack"),
    [
        pytest.param("A1 B.1", "A1 B.1", id="staged"),
        pytest.param("B.1", "B.1", id="staged over none"),
        pytest.param("A1 B.1 B1", "A1 B1", id="completed"),
        pytest.param("A1 B.1 B.3", "A1 B.3", id="widened"),
        pytest.param("A1 B1 B.1", "A1 B.1", id="narrowed"),
        pytest.param("A1 B.1 A1", "A1", id="back"),
        pytest.param("A1 B.1 A.5", "A1", id="what holds anyway"),
        pytest.param("A1 B.1 C.2", "A1 C.2", id="another instead"),
        pytest.param("A1 B.1 C1", "A1 C1", id="another in full"),
        pytest.param("A1 B1 A.1", "A1 B1 A.1", id="the earlier one staged"),
        pytest.param("B.1 none1", "", id="back to none"),
        pytest.param("A1 Bnan", "A1", id="unreadable"),
        pytest.param("A1 B0", "A1", id="for nobody"),
        pytest.param("A1 B2", "A1", id="for more than all"),
        pytest.param("A1 B.1 Bnan", "A1 B.1", id="unreadably completed"),
    ],
)
def test_what_is_staged_lies_on_top(activated: str, stack: str) -> None:
    """Only the last can be staged; it gives way to whatever is activated after it."""
    activations = [
        Activation(
            workspace="default",
            kind="calibration",
            subject=one.subject,
            share=one.share,
            by="Ada",
            at=MOMENT,
        )
        for one in held(activated)
    ]
    assert active_stack(activations) == held(stack)


def held(text: str) -> list[Held]:
    parts = [re.fullmatch("(none|[A-Z])(.+)", word) for word in text.split()]
    return [Held(subject=one[1], share=float(one[2])) for one in parts if one]


async def test_a_damaged_calibration_can_be_taken_back(tmp_path: Path) -> None:
    """Whoever goes back must not be stopped by what they flee from."""
    (tmp_path / "policy.yaml").write_text("version: 1\nslices:\n  notes: {}\n", "utf-8")
    async with open_services("sqlite://") as services:
        await services.prepare(tmp_path / "policy.yaml")
        good = await services.recalibrator.recalibrate()
        await services.calibrations.activate(good.id, by="Ada")
        await services.registry.save_calibration(
            calibration_id="cal_damaged", workspace="default", body=b"{", at=MOMENT
        )
        await services.registry.activate(
            Activation(
                workspace="default", kind="calibration", subject="cal_damaged", by="Ada", at=MOMENT
            )
        )
        change = await services.calibrations.rollback(by="Ada")
        assert (change.before, change.after) == ("cal_damaged", good.id)
        assert [one.slice_key for one in change.thresholds] == ["notes"]
