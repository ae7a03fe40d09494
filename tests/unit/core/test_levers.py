"""The three levers: which way the figures speak, and what moving them does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sureline.core.learning.levers import LeverFacts, levers
from sureline.core.learning.slice_facts import Band, Share
from sureline.core.statistics.curves import CurvePoint

CURVE = tuple(
    CurvePoint(threshold=1 - share, coverage=share, precision=1 - share / 10)
    for share in (0.1, 0.2, 0.3, 0.4, 0.5, 1.0)
)
FACTS = LeverFacts(
    curve=CURVE,
    band=Band(threshold=0.7, coverage=0.3),
    self_report=0.25,
    gap=0.0,
    floor=0.4,
    below_floor=Share(part=5, whole=100),
    just_above=Share(part=20, whole=40),
    just_below=Share(part=4, whole=40),
)


@pytest.mark.parametrize(
    ("changes", "towards"),
    [
        pytest.param({}, [None, None, None], id="nothing speaks"),
        pytest.param({"gap": 0.2}, [None, "down", None], id="scores promise too much"),
        pytest.param({"gap": 0.2, "self_report": 0.0}, [None, None, None], id="no self-report"),
        pytest.param({"just_above": Share(part=2, whole=40)}, [None, None, "up"], id="bad drafts"),
        pytest.param(
            {"just_below": Share(part=30, whole=40)}, [None, None, "down"], id="good drafts lost"
        ),
        pytest.param({"just_above": Share(part=0, whole=5)}, [None, None, None], id="too few"),
    ],
)
def test_figures_speak_for_a_direction(
    changes: dict[str, object], towards: list[str | None]
) -> None:
    """Each lever has a direction only where enough labels show one."""
    found = levers(replace(FACTS, **changes))  # type: ignore[arg-type]
    assert [one.name for one in found] == ["threshold", "self-report weight", "abstain floor"]
    assert [one.towards for one in found] == towards


def test_a_threshold_is_shown_ten_points_either_way() -> None:
    """Up takes ten points less, down ten points more, with what was right there."""
    threshold = levers(FACTS)[0]
    assert threshold.up.startswith("0.8000 would take 20.0 % instead of 30.0 %")
    assert threshold.down.startswith("0.6000 would take 40.0 % instead of 30.0 %")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        pytest.param({"band": None}, "no threshold yet", id="no band"),
        pytest.param({"curve": ()}, "no threshold yet", id="no labels"),
        pytest.param(
            {"band": Band(threshold=0.0, coverage=1.0)}, "nothing further", id="at the end"
        ),
    ],
)
def test_no_number_is_made_up(changes: dict[str, object], words: str) -> None:
    """Where there is nothing to move to, that is what it says."""
    assert words in levers(replace(FACTS, **changes))[0].down  # type: ignore[arg-type]
