"""The figures of people in a real browser, for the lead and for the person alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sureline.testing import PinnedSampling
from tests.browser.test_looks import VIEWS, fits
from tests.browser.watched import Watched
from tests.web.holder import Holder
from tests.web.served import ADMIN, REVIEWER, Served, serve
from tests.web.test_reviewers import LAZY, POLICY, fill

pytest.importorskip("axe_playwright_python", reason="axe is not installed")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Three people who decided, planted errors among it."""
    folder = tmp_path_factory.mktemp("reviewers")
    with serve(folder, policy=POLICY, change=PinnedSampling().pin) as served:
        fill(served)
        yield served


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("who", ["lead", "person"])
def test_figures_of_people_are_accessible_and_fit(
    world: Served, browser: Any, who: str, view: str
) -> None:
    """In both schemes and on a telephone axe finds nothing serious and nothing sticks out."""
    secret = world.keys[ADMIN] if who == "lead" else Holder(world, LAZY, REVIEWER).secret
    window = Watched(browser.new_context(**VIEWS[view]), world.url)
    window.sign_in(secret)
    page = window.open("/reviewers")
    assert page.locator("svg.interval").count() > 0
    assert page.locator("main .problem").count() == 1
    assert page.locator("main b b").count() == 0
    assert window.faults() == []
    assert fits(window)
    window.close()
    assert window.complaints == []
