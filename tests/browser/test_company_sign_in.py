"""Signing in as the company says, in a browser: in, out, and not in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sureline.application.company_sign_in import CompanySignIn
from sureline.web.settings import ServerSettings
from tests.browser.watched import Watched
from tests.web.served import REVIEWER, serve

SETTINGS = ServerSettings(
    company=CompanySignIn(
        header="x-forwarded-email",
        groups="x-forwarded-groups",
        proxies=frozenset({"127.0.0.1"}),
        roles={"claims": REVIEWER},
    )
)


@pytest.fixture
def arrive(browser: Any, tmp_path: Path) -> Iterator[Callable[[str], Watched]]:
    """Open a window whose requests bear somebody's groups."""
    opened: list[Watched] = []
    with serve(tmp_path, SETTINGS) as served:

        def come(groups: str) -> Watched:
            headers = {"x-forwarded-email": "ada@example.com", "x-forwarded-groups": groups}
            context = browser.new_context(extra_http_headers=headers)
            opened.append(Watched(context, served.url))
            return opened[-1]

        yield come
        for window in opened:
            window.close()
            assert window.complaints == []


def test_the_inbox_opens_and_signing_out_is_explained(arrive: Callable[[str], Watched]) -> None:
    """Nothing is asked; the page after signing out says what goes on, and leads back in."""
    window = arrive("claims")
    page = window.open("/")
    page.get_by_role("heading", name="Inbox").wait_for()
    assert page.get_by_text("company:ada@example.com (reviewer)").is_visible()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("heading", name="Signed out").wait_for()
    assert window.faults() == []
    page.get_by_role("link", name="Come in again").click()
    page.get_by_role("heading", name="Inbox").wait_for()


def test_who_has_no_role_reads_so(arrive: Callable[[str], Watched]) -> None:
    """The page names the person and says whom to ask; axe finds nothing."""
    window = arrive("others")
    page = window.open("/")
    assert "none of your groups may do anything here" in page.get_by_role("alert").inner_text()
    assert window.faults() == []
