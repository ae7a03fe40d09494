"""Real Chromium before a real server; without Chromium these tests are skipped, and say so."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sureline.application.ports.keys import Role
from tests.browser.watched import Watched
from tests.web.served import REVIEWER, Served, serve

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """A browser, if there is one."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed, so the pages were not looked at")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A server of one test's own."""
    with serve(tmp_path) as one:
        yield one


@pytest.fixture
def sign_in(browser: Any, served: Served) -> Iterator[Callable[..., Watched]]:
    """Open a window in which somebody is signed in; what it complains of fails the test."""
    opened: list[Watched] = []

    def enter(role: Role = REVIEWER, *, secret: str | None = None, **context: Any) -> Watched:
        window = Watched(browser.new_context(**context), served.url)
        opened.append(window)
        window.sign_in(secret or served.keys[role])
        return window

    yield enter
    for window in opened:
        window.close()
    for window in opened:
        assert window.complaints == []
