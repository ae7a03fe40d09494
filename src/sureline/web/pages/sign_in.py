"""Sign in with an API key, and out."""

from __future__ import annotations

from sureline.errors import RateLimited, Unauthorized
from sureline.web.access import LONGEST_SECRET
from sureline.web.pages.page import PEOPLE, Page, Visit, redirect
from sureline.web.reply import Reply

HOME = "/"


async def ask(visit: Visit) -> Reply:
    """Show the form."""
    return visit.html("sign_in.html.j2", error=None, next=_own(visit.query.get("next", HOME)))


async def sign_in(visit: Visit) -> Reply:
    """Check the key and start a session. Raises RateLimited."""
    services = visit.context.services
    try:
        visit.context.sign_ins.take(visit.client)
    except RateLimited:
        raise RateLimited("too many attempts to sign in from your address; wait a moment") from None
    target = _own(visit.form.get("next", HOME))
    secret = visit.form.get("key", "").strip()
    key = await services.keys.find(secret) if 0 < len(secret) <= LONGEST_SECRET else None
    if key is None or key.workspace != services.workspace or key.role not in PEOPLE:
        error = Unauthorized("this is no key of a reviewer, an admin or an auditor")
        return visit.html("sign_in.html.j2", status=401, error=error.message, next=target)
    cookie = visit.sessions.cookie(key, services.clock.now(), secure=visit.is_secure)
    return redirect(target, (b"set-cookie", cookie.encode("ascii")))


async def sign_out(visit: Visit) -> Reply:
    """End the session in this browser."""
    return redirect("/login", (b"set-cookie", visit.sessions.ended().encode("ascii")))


def _own(target: str) -> str:
    """Return an address of ours: never another site's, whatever the link said."""
    safe = target.startswith("/") and not target.startswith(("//", "/\\")) and target.isprintable()
    return target if safe else HOME


PAGES = (
    Page(method="GET", path="/login", run=ask, roles=frozenset()),
    Page(method="POST", path="/login", run=sign_in, roles=frozenset()),
    Page(method="POST", path="/logout", run=sign_out),
)
