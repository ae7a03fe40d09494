"""A browser without scripts: signs in, follows pages, sends their forms."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import httpx

from sureline.application.ports.keys import Role
from tests.web.served import REVIEWER, Served


class Visitor:
    """Somebody who is signed in; every form of theirs carries the token of their session."""

    def __init__(self, served: Served, role: Role = REVIEWER, *, secret: str | None = None) -> None:
        self.client = httpx.Client(base_url=served.url, headers={"accept": "text/html"}, timeout=20)
        served.clients[self] = self.client  # closed with the server
        self.client.post("/login", data={"key": secret or served.keys[role]})
        self.csrf = value_of(self.get("/").text, "csrf")

    def get(self, path: str) -> httpx.Response:
        """Open a page."""
        return self.client.get(path)

    def post(self, path: str, **form: Any) -> httpx.Response:
        """Send a form."""
        return self.client.post(path, data={"csrf": self.csrf, **form})

    def decide(self, review_id: str, act: str, **form: Any) -> httpx.Response:
        """Press one of an item's buttons, as its page has them."""
        page = self.get(f"/reviews/{review_id}").text
        given = {"digest": value_of(page, "digest"), "as": value_of(page, "as"), **form}
        return self.post(f"/reviews/{review_id}", act=act, **given)


def value_of(page: str, name: str) -> str:
    """Return the value of a page's first input with this name, an empty text without one."""
    found = re.search(rf'<input [^>]*name="{re.escape(name)}" [^>]*value="([^"]*)"', page)
    return unescape(found.group(1)) if found else ""
