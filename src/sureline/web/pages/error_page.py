"""Problems as pages, for browsers: the same words that a program gets, and no more."""

from __future__ import annotations

import json
from dataclasses import replace
from http import HTTPStatus

from starlette.types import Scope

from sureline.web.pages.guarded import GUARDED, HTML
from sureline.web.pages.templates import render
from sureline.web.reply import Reply


def as_page(scope: Scope, problem: Reply) -> Reply:
    """Return a problem as a page where a browser asks for one, else as it is."""
    if scope["path"].startswith("/v1/") or not _wants_html(scope):
        return problem
    said = json.loads(problem.body)
    shared = {"who": None, "csrf": "", "fragment": False}
    title = HTTPStatus(problem.status).phrase
    body = render("error.html.j2", {**shared, "title": title, "error": said["detail"]})
    return replace(
        problem,
        body=body.encode("utf-8", "replace"),
        media_type=HTML,
        headers=(*GUARDED, *problem.headers),
    )


def _wants_html(scope: Scope) -> bool:
    accepted = b",".join(value for name, value in scope["headers"] if name == b"accept")
    return b"text/html" in accepted
