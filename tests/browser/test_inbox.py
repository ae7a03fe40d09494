"""The inbox in a real browser: searched, kept as views and counted live, by keyboard alone."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sureline.application.ports.saved_views import SavedView
from sureline.web.settings import ServerSettings
from tests.browser.watched import Watched
from tests.web.served import ADMIN, REVIEWER, Served, awaited, serve

Enter = Callable[..., Watched]
ADD = """
import asyncio, sys
from sureline.application.intake import read_proposal
from sureline.bootstrap import open_services
services = open_services(sys.argv[1])
given = {"slice_key": "replies", "task": "t", "output": "Yes.", "force_human": True}
asyncio.run(services.decider.decide(read_proposal(given, workspace="default")))
services.close()
"""


def asked(served: Served, name: str, task: str = "answer the letter", **fields: Any) -> str:
    given = {"slice_key": "replies", "output": f"Dear {name}.", "force_human": True, **fields}
    made = served.decide(id=name, task=task, **given)
    assert made.status_code == 201, made.text
    return name


def listed(window: Watched) -> list[str]:
    return [str(one) for one in window.page.locator("[data-row] a").all_inner_texts()]


def test_search_and_views_by_keyboard(served: Served, sign_in: Enter) -> None:
    """`/` searches, `v` keeps the view under a name, its tab has the count and opens it again."""
    asked(served, "a", "answer the letter from the bakery")
    asked(served, "b", "answer the letter from the school")
    asked(served, "c", "answer the letter from the bakery again")
    window = sign_in()
    page = window.page
    window.press("/")
    page.keyboard.type("bakery")
    window.goes("Enter")
    assert listed(window) == ["a", "c"]
    window.press("v")
    page.keyboard.type("Bakeries")
    window.press("Tab", "Space")
    window.goes("Enter")
    tab = page.get_by_role("navigation", name="Views").get_by_role("link", name="Bakeries")
    assert tab.get_attribute("aria-current") == "page"
    page.get_by_role("link", name="Bakeries 2").wait_for()
    page = window.open("/")
    assert page.get_by_role("searchbox").input_value() == "bakery", "the inbox opens with it"
    window.goes("n")
    assert "/reviews/a?in=find%3Dbakery" in page.url
    window.goes("r")
    assert page.url.endswith("/reviews/c?done=a&in=find%3Dbakery")
    assert "You have rejected a" in page.get_by_role("status").first.inner_text()
    window.goes("a")
    assert page.url.endswith("/?find=bakery&done=c")
    assert listed(window) == []
    window.press("v")
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("link", name="Bakeries").wait_for(state="detached")


def test_the_answer_to_a_verdict_is_the_next_item(served: Served, sign_in: Enter) -> None:
    """One request leads from one item to the next, and a reload sends nothing again."""
    for name in ("a", "b", "c"):
        asked(served, name)
    window = sign_in()
    page = window.page
    window.goes("n")
    asked_for: list[tuple[str, str]] = []
    page.on(
        "request",
        lambda one: asked_for.append((one.method, one.url)) if one.is_navigation_request() else 0,
    )
    window.goes("r")
    assert [method for method, _ in asked_for] == ["POST"]
    assert page.url.endswith("/reviews/b?done=a")
    page.reload()
    assert [method for method, _ in asked_for] == ["POST", "GET"]
    assert page.get_by_role("heading", name="replies b").is_visible()
    window.goes("j")
    assert "/reviews/c" in page.url
    assert state(served, "b") == "pending"
    window.goes("k")
    assert "/reviews/b" in page.url
    assert state(served, "a") == "decided"


def state(served: Served, name: str) -> str:
    found = served.call("GET", f"/v1/reviews/{name}", REVIEWER).json()["review"]
    return str(found["state"])


def test_counts_move_when_another_process_adds_an_item(served: Served, sign_in: Enter) -> None:
    """Within two seconds, in each tab of the browser, over one stream for all of them."""
    asked(served, "a")
    window = sign_in()
    streams: list[Any] = []  # the tabs that opened one; a tab whose line broke opens it again
    window.page.context.on(
        "request", lambda one: streams.append(one.frame.page) if one.url.endswith("/events") else 0
    )
    window.open("/")
    second = window.page.context.new_page()
    second.goto(window.url + "/")
    for page in (window.page, second):
        page.locator("#counts", has_text="1 waiting").wait_for()
    page = window.page
    page.wait_for_function("navigator.locks.query().then(found => found.held.length === 1)")
    adding = subprocess.Popen([sys.executable, "-c", ADD, served.services.store.url])
    assert adding.wait(60) == 0
    began = time.perf_counter()
    for page in (window.page, second):
        page.locator("#counts", has_text="2 waiting").wait_for()
    assert time.perf_counter() - began < 2
    assert len({*streams}) == 1
    window.page.close()  # the tab that had the stream
    asked(served, "b")
    second.locator("#counts", has_text="3 waiting").wait_for()
    assert streams[-1] is second


def test_a_stream_that_is_refused_is_no_error(tmp_path: Path, browser: Any) -> None:
    """Where all streams are taken, the page works and asks now and then instead."""
    with serve(tmp_path, ServerSettings(count_seconds=0.001)) as served:
        asked(served, "a")
        window = Watched(browser.new_context(), served.url)
        window.page.route("**/events", lambda route: route.fulfill(status=429, body="later"))
        window.page.clock.install()
        window.sign_in(served.keys[REVIEWER])
        window.page.locator("#counts", has_text="1 waiting").wait_for()
        asked(served, "b")
        window.page.clock.run_for(31_000)
        window.page.locator("#counts", has_text="2 waiting").wait_for()
        window.close()
        assert window.complaints == []


VIEWS = {
    "light": {"color_scheme": "light", "viewport": {"width": 1200, "height": 900}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1200, "height": 900}},
    "telephone": {"color_scheme": "light", "viewport": {"width": 390, "height": 800}},
}


@pytest.mark.parametrize("view", VIEWS)
def test_the_inbox_is_accessible_and_fits(served: Served, sign_in: Enter, view: str) -> None:
    """With views of long names, a search that found nothing, and everything unfolded."""
    pytest.importorskip("axe_playwright_python", reason="axe is not installed")
    long = "w" * 40
    save = served.services.store.views.save
    for number in range(6):
        asked(served, f"{number}-{'x' * 100}", f"answer {'y' * 150} letter")
    for name in (long, "letters", "audits"):
        one = SavedView(name=name, filter="find=letter" if name == "letters" else "kind=audit")
        awaited(save("default", "a reviewer", one, most=9))
    window = sign_in(**VIEWS[view])
    for path in ("/?all=1", "/?find=letter", "/?find=nowhere&stakes=irreversible", "/?over=1"):
        page = window.open(path)
        window.press("v")
        assert window.faults() == []
        assert page.evaluate(
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )
    page = window.open("/?find=letter")
    window.goes("n")
    assert window.faults() == []


def test_somebody_else_s_verdict_shows_in_the_counts(served: Served, sign_in: Enter) -> None:
    """Two people at work see the same figures, and their own views."""
    asked(served, "a")
    asked(served, "b")
    first, second = sign_in(), sign_in(ADMIN)
    second.goes("n")
    second.goes("r")
    first.page.locator("#counts", has_text="1 waiting").wait_for()
