"""How a mission's timeline looks on a terminal."""

from __future__ import annotations

from datetime import timedelta

import pytest

from sureline.cli.mission_view import events_table, show_mission
from sureline.core.values.mission import Lease
from sureline.testing import MOMENT
from tests.web.staged_missions import mission, turns, waiting


def test_an_invocation_is_one_row_where_a_mission_is_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Shown, an invocation is a row with how long it took; the list of events has them all."""
    one = mission("m", invocations=2)
    events = turns(one, 2, {2: 0.8})
    show_mission(one, events, MOMENT)
    shown = capsys.readouterr().out
    assert shown.count("took 4 min, tokens") == 2
    assert "invocation begun" not in shown
    assert "invocation ended" not in shown
    events_table("Timeline", events)
    listed = capsys.readouterr().out
    assert listed.count("invocation begun") == listed.count("invocation ended") == 2
    assert "took" not in listed


def test_who_runs_what_is_asked_and_how_near_the_end_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The holder of a lease and its end, a fact as yes or no, and a near deadline in seconds."""
    show_mission(waiting().mission, [], MOMENT)
    assert "achieved yes" in capsys.readouterr().out
    lease = Lease(owner="key:bot", since=MOMENT, until=MOMENT + timedelta(seconds=90))
    near = mission("m", invocations=3, running=lease, deadline_at=MOMENT + timedelta(seconds=95))
    show_mission(near, [], MOMENT)
    shown = capsys.readouterr().out
    assert "invocation 3, by key:bot, until" in shown
    assert "(in 1 min 35 s)" in shown
