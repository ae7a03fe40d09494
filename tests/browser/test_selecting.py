"""Deciding about many items of the inbox at once, by keyboard, and what the list looks like."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.watched import Watched
from tests.web.served import POLICY, REVIEWER, Served, serve

Enter = Callable[..., Watched]
GROUNDED = """
  receipts:
    mode: human_only
    grounding: {fields: [total]}
"""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A server with three items of one kind, one of another, and one that needs a close look."""
    with serve(tmp_path, policy=POLICY.rstrip("\n") + GROUNDED) as one:
        source = [{"ref": "receipt", "text": "in all 12.50"}]
        for name, total in (("a", "2135.0"), ("b", "99.9"), ("c", "7.0")):
            one.decide(id=name, slice_key="receipts", output={"total": total}, source=source)
        one.decide(id="d", slice_key="replies", output="Dear Ada.", force_human=True)
        one.decide(
            id="hard",
            slice_key="replies",
            output="Dear Kim.",
            force_human=True,
            stakes="irreversible",
        )
        yield one


def state(served: Served, name: str) -> str:
    found = served.call("GET", f"/v1/reviews/{name}", REVIEWER).json()["review"]
    return str(found["state"])


def chosen(page: Any) -> int:
    """Return how many items are selected."""
    return int(page.locator("input[form=picked]:checked").count())


def test_items_are_selected_and_decided_by_keyboard(served: Served, sign_in: Enter) -> None:
    """j goes to a row, c selects it, f what has the same finding, C all; R rejects, u undoes."""
    window = sign_in()
    page = window.open("/?all=1")
    approve = page.get_by_role("button", name="Approve")
    assert approve.is_disabled(), "nothing is selected yet"
    page.get_by_role("link", name="a", exact=True).focus()
    window.press("c")
    assert chosen(page) == 1
    assert "Approve 1 selected" in approve.inner_text()
    window.press("f")
    assert chosen(page) == 3, "the other two with a total that is not in the source"
    window.press("C")
    assert chosen(page) == 4, "all but the irreversible one"
    window.press("C")
    assert chosen(page) == 0
    window.press("f")
    assert chosen(page) == 3
    window.goes("R")
    assert "3 of 3 rejected." in page.get_by_role("status").first.inner_text()
    assert page.url.endswith("/?all=1"), "a reload sends nothing again"
    assert [state(served, one) for one in ("a", "b", "c", "d", "hard")] == [
        *3 * ["decided"],
        *2 * ["pending"],
    ]
    window.goes("u")
    assert "3 of 3 taken back." in page.get_by_role("status").first.inner_text()
    assert state(served, "a") == "claimed"


def test_items_are_selected_without_a_script(served: Served, sign_in: Enter, browser: Any) -> None:
    """Checkboxes and buttons are a plain form."""
    window = Watched(browser.new_context(java_script_enabled=False), served.url)
    window.sign_in(served.keys[REVIEWER])
    page = window.open("/?all=1")
    page.get_by_role("checkbox", name="Select a").check()
    page.get_by_role("checkbox", name="Select d").check()
    page.get_by_role("button", name="Approve selected").click()
    assert "2 of 2 approved." in page.get_by_role("status").first.inner_text()
    window.close()


VIEWS = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 900}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1280, "height": 900}},
    "telephone": {"color_scheme": "light", "viewport": {"width": 390, "height": 800}},
    "telephone at night": {"color_scheme": "dark", "viewport": {"width": 390, "height": 800}},
}


@pytest.mark.parametrize("view", VIEWS)
def test_the_list_is_accessible_and_near_the_top(served: Served, sign_in: Enter, view: str) -> None:
    """axe finds nothing, nothing sticks out, and the first item is on the first screen."""
    pytest.importorskip("axe_playwright_python", reason="axe is not installed")
    window = sign_in(**VIEWS[view])
    for path in ("/?all=1", "/?slice=receipts&stakes=reversible", "/?find=2135.0"):
        page = window.open(path)
        assert window.faults() == []
        assert page.evaluate(
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )
        if path == "/?all=1":
            box = page.locator("[data-row]").first.bounding_box()
            assert box is not None
            assert box["y"] < VIEWS[view]["viewport"]["height"]  # type: ignore[index]
    window.press("C")
    window.goes("A")
    assert window.faults() == []
