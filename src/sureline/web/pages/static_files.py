"""Serve scripts and styles."""

from __future__ import annotations

from sureline.web.pages.assets import asset
from sureline.web.pages.page import Page, Visit
from sureline.web.reply import Reply


async def file(visit: Visit) -> Reply:
    """Return a file; its address changes with its content, so it is kept for ever."""
    found = asset(visit.params["name"])
    kept = b"public, max-age=31536000, immutable"
    return Reply(body=found.content, media_type=found.media_type, cache=kept)


PAGES = (Page(method="GET", path="/static/{name}", run=file, roles=frozenset(), is_public=True),)
