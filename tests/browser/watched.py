"""A window of a browser that notes what no page may do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

SERIOUS = frozenset({"serious", "critical"})
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


class Watched:
    """A page with its complaints: errors, violations of the policy, requests to others."""

    def __init__(self, context: Any, url: str) -> None:
        self._context = context
        self.url = url
        self.complaints: list[str] = []
        self.page = context.new_page()
        self.page.set_default_timeout(10_000)
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.on("request", self._on_request)

    def _on_console(self, message: Any) -> None:
        # A refused form is answered with 4xx, which the browser logs by itself.
        if "status of 4" not in message.text:
            self.complaints.append(message.text)

    def _on_request(self, request: Any) -> None:
        if not request.url.startswith(self.url):
            self.complaints.append(f"a request to {request.url}")

    def open(self, path: str) -> Any:
        """Open one of our pages."""
        self.page.goto(self.url + path)
        return self.page

    def sign_in(self, secret: str) -> None:
        """Sign in as a person does."""
        self.open("/")
        self.page.get_by_label("API key").fill(secret)
        self.press("Enter")
        self.page.get_by_role("heading", name="Inbox").wait_for()

    def press(self, *keys: str) -> None:
        """Press keys, one after the other, in the page that is open."""
        for key in keys:
            self.page.keyboard.press(key)

    def goes(self, *keys: str) -> None:
        """Press keys of which the last leads to another page, and wait for it."""
        self.press(*keys[:-1])
        with self.page.expect_navigation():
            self.press(keys[-1])

    def faults(self) -> Sequence[str]:
        """Return what axe finds serious on the page that is open."""
        from axe_playwright_python.sync_playwright import Axe

        options = {"runOnly": {"type": "tag", "values": RULES}, "resultTypes": ["violations"]}
        found = Axe().run(self.page, options=options).response["violations"]
        return [
            f"{one['id']}: {first['html'][:200]} {first['failureSummary'][:300]}"
            for one in found
            if one["impact"] in SERIOUS
            for first in one["nodes"][:1]
        ]

    def close(self) -> None:
        """Close the window."""
        self._context.close()
