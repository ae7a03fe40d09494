"""The pages of control in a real browser: readable at every width, and the kill switch works."""

from __future__ import annotations

import asyncio
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.web.controlled import controlled
from tests.web.served import ADMIN, POLICY, Served, serve

sync_api = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")

PATHS = (
    "/dashboard",
    "/slices",
    "/slices/invoices",
    "/slices/letters",
    "/calibrations/",
    "/confident-rejects?slice=invoices",
    "/policy",
    "/switches",
    "/incidents?all=1",
    "/recall?until=2100-01-01",
    "/logbook",
    "/decisions/",
)
SEEN = {
    "light": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "telephone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server on half a year of decisions, with hostile text in them."""
    with controlled(tmp_path_factory.mktemp("world")) as one:
        yield one


def apart(work: Callable[..., Any], *given: Any) -> Any:
    """Run work on a thread of its own: the browser's loop runs on this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(work, *given).result()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A running server on a new store."""
    manager = serve(tmp_path)
    yield apart(manager.__enter__)
    apart(manager.__exit__, None, None, None)


def sign_in(browser: Any, served: Served, **options: Any) -> Any:
    """Return a page on which an admin has signed in; `page.faults` lists what went wrong."""
    page = browser.new_context(**options).new_page()
    page.faults = []
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.on("console", lambda said: said.type == "error" and page.faults.append(said.text))
    page.on(
        "request",
        lambda asked: asked.url.startswith(served.url) or page.faults.append(asked.url),
    )
    page.goto(f"{served.url}/login")
    page.fill("#key", served.keys[ADMIN])
    page.click("button.main")
    return page


def address(page: Any, served: Served, path: str) -> str:
    """Return a page's address: of the latest decision with hostile text, of a new calibration."""
    if path == "/calibrations/":
        work = served.services.recalibrator.recalibrate
        return f"{served.url}{path}{apart(lambda: asyncio.run(work())).id}"
    if path != "/decisions/":
        return served.url + path
    page.goto(f"{served.url}/slices/refunds")
    return served.url + str(page.get_attribute("#latest ~ table a", "href"))


@pytest.mark.parametrize("kind", SEEN)
def test_every_page_fits_and_axe_finds_nothing_serious(
    world: Served, browser: Any, kind: str
) -> None:
    """No page is wider than the window, breaks the CSP, or asks anybody else for anything."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = sign_in(browser, world, **SEEN[kind])
    found = {}
    for path in PATHS:
        page.goto(address(page, world, path))
        while page.get_by_text("being drawn up").count():
            page.reload()  # each request waits for the report a while
        wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0, path
        wrong = axe.run(page).response["violations"]
        found[path] = [
            f"{one['id']}: {node['html'][:160]}"
            for one in wrong
            if one["impact"] in {"serious", "critical"}
            for node in one["nodes"]
        ]
    assert not {path: wrong for path, wrong in found.items() if wrong}
    assert page.faults == []


def test_pages_are_read_without_script(world: Served, browser: Any) -> None:
    """Everything stands in the page as it comes, and forms work."""
    page = sign_in(browser, world, java_script_enabled=False)
    for path in PATHS:
        page.goto(address(page, world, path))
        assert page.locator("main h1").count() == 1
    page.goto(f"{world.url}/switches")
    assert page.get_by_role("button", name="Stop all automation").is_visible()


def test_the_kill_switch_stops_a_running_agent_within_a_second(
    served: Served, browser: Any
) -> None:
    """By keyboard alone; the agent's next decisions are a person's until it is turned off."""
    page = sign_in(browser, served)
    page.goto(f"{served.url}/switches")
    made: list[tuple[float, str]] = []
    done = threading.Event()

    def agent() -> None:
        number = 0
        while not done.is_set():
            number += 1
            route = served.decide(task=f"task {number}").json()["route"]
            made.append((time.perf_counter(), route))

    thread = threading.Thread(target=agent)
    thread.start()
    try:
        while not made:
            done.wait(0.01)  # it is running before anybody stops it
        page.get_by_label("Why? It is recorded and shown.").focus()
        page.keyboard.type("it went mad")
        page.keyboard.press("Tab")
        pressed = time.perf_counter()
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Nothing is automated").wait_for()
        while made[-1][0] < pressed + 1.5:
            done.wait(0.05)
    finally:
        done.set()
        thread.join()
    before = {route for at, route in made if at < pressed}
    after = {route for at, route in made if at > pressed + 1}
    assert before == {"auto_approve"}
    assert after == {"human_required"}
    page.get_by_label("Why may it automate again?").fill("found it")
    page.get_by_role("button", name="Let it automate again").click()
    page.get_by_role("heading", name="Stop everything").wait_for()
    assert served.decide(task="afterwards").json()["route"] == "auto_approve"


def test_a_policy_is_activated_after_its_changes_were_seen(served: Served, browser: Any) -> None:
    """From the list to what would change, with a note, to what holds."""
    changed = POLICY.replace("mode: log_only", "mode: human_only")
    proposed = apart(asyncio.run, served.services.policies.propose(changed, by="ada"))
    page = sign_in(browser, served)
    page.goto(f"{served.url}/policy")
    page.get_by_role("link", name=proposed.policy.hash[:12]).click()
    assert "people decide everything" in page.inner_text(".warning")
    page.get_by_label("Why? It stands in the logbook.").fill("too many slips")
    page.get_by_role("button", name="Activate it").click()
    page.get_by_text("too many slips").first.wait_for()
    assert apart(asyncio.run, served.services.policies.active_hash()) == proposed.policy.hash
