"""Missions in a real browser: accessible under hostile text, live, answered with one click."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest

from sureline.testing import FakeMissionJudge
from tests.browser.test_looks import VIEWS, fits
from tests.browser.watched import Watched
from tests.web.served import AGENT, REVIEWER, Served, serve
from tests.web.staged_missions import all_states, put
from tests.web.test_missions import MISSIONS, act, waiting

pytest.importorskip("axe_playwright_python", reason="axe is not installed")

PATHS = (
    "/missions",
    "/missions?state=active",
    "/missions/march-disputes",
    "/missions/" + quote("of <b>evil</b>/\u202e", safe=""),
    "/missions/april-disputes",
    "/missions/vendor-sweep",
    "/missions/new",
)


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with one mission of each state, and hostile text in one."""
    with serve(tmp_path_factory.mktemp("store"), policy=MISSIONS) as one:
        put(one, *all_states())
        yield one


@pytest.mark.parametrize("view", VIEWS)
def test_pages_are_accessible_and_fit(staged: Served, browser: Any, view: str) -> None:
    """axe finds nothing serious, nothing sticks out, no script or style is refused."""
    window = Watched(browser.new_context(**VIEWS[view]), staged.url)
    window.sign_in(staged.keys[REVIEWER])
    for path in PATHS:
        page = window.open(path)
        assert page.locator("main h1").count() == 1
        assert window.faults() == [], path
        assert fits(window), path
    window.close()
    assert window.complaints == []


def test_a_mission_moves_and_is_answered(tmp_path: Any, browser: Any) -> None:
    """What happens comes in without a reload; one click answers; Enter in the note does not."""
    with serve(tmp_path, policy=MISSIONS, mission_judge=FakeMissionJudge.saying(True, 0.5)) as one:
        one.call("POST", "/v1/missions", AGENT, json={"kind": "migration", "objective": "first"})
        waiting(one)
        window = Watched(browser.new_context(), one.url)
        window.sign_in(one.keys[REVIEWER])
        page = window.open("/missions/m1")
        page.wait_for_load_state("networkidle")  # it has asked for the part once
        one.clock.advance(timedelta(minutes=5))
        act(one, "extend", invocations=4)
        page.get_by_text("limits raised").wait_for(timeout=15_000)
        page.get_by_label("A note for the timeline").fill("the sixth is open")
        window.press("Enter")
        assert page.get_by_role("button", name="Resume").is_visible()
        page.get_by_role("button", name="Resume").click()
        page.get_by_text("Done: it may go on").wait_for()
        assert "the sixth is open" in page.inner_text("#timeline ~ table")
        window.close()
        assert window.complaints == []
