"""Sign in with an API key or as the company says, and out."""

from __future__ import annotations

from dataclasses import replace

from sureline.application.ports.keys import ApiKey
from sureline.errors import Forbidden, RateLimited
from sureline.web.access import LONGEST_SECRET
from sureline.web.pages.page import ENDED, PEOPLE, Page, Visit, redirect
from sureline.web.reply import Reply

HOME = "/"


async def ask(visit: Visit) -> Reply:
    """Show the form; whom the company has signed in needs none, and gets a session."""
    if visit.person is not None:
        return _let_in(visit, visit.person)
    target = _own(visit.query.get("next", HOME))
    ended = visit.query.get(ENDED) == "1"
    return visit.html("sign_in.html.j2", error=None, next=target, ended=ended)


async def sign_in(visit: Visit) -> Reply:
    """Check the key and start a session. Raises RateLimited, and Forbidden with a company's."""
    if visit.person is not None:
        raise Forbidden(
            "people come in through their company's sign-in here; keys are for programs"
        )
    services = visit.context.services
    try:
        visit.context.sign_ins.take(visit.client)
    except RateLimited:
        raise RateLimited("too many attempts to sign in from your address; wait a moment") from None
    target = _own(visit.form.get("next", HOME))
    secret = visit.form.get("key", "").strip()
    key = await services.keys.find(secret) if 0 < len(secret) <= LONGEST_SECRET else None
    if refused := _refusal(secret, key, services.workspace):
        return visit.html("sign_in.html.j2", status=401, error=refused, next=target, ended=False)
    assert key is not None
    return redirect(target, _cookie(visit, key))


def _refusal(secret: str, key: ApiKey | None, workspace: str) -> str | None:
    """Say why nobody is signed in, None where somebody is.

    Of keys that are not known, were revoked or are another workspace's it says one and the same.
    """
    if not secret:
        return "enter your key: what `sureline keys create` printed when it was made"
    if key is None or key.workspace != workspace:
        return "this is no key of a reviewer, an admin or an auditor"
    if key.role not in PEOPLE:
        return "this key is an agent's: it is for programs, and opens /v1 alone; sign in with yours"
    return None


async def sign_out(visit: Visit) -> Reply:
    """End the session, for whoever else holds its cookie as well."""
    await visit.sessions.end(visit.signed_in, visit.context.services.clock.now())
    if left := visit.form.get("leaving"):  # the item in front of whoever goes
        await visit.context.services.inbox.give_back(left, visit.signed_in.key.name)
    ended = (b"set-cookie", visit.sessions.ended().encode("ascii"))
    if visit.person is None:
        return redirect("/login", ended)
    shown = replace(visit, session=None).html("signed_out.html.j2", name=visit.person.name)
    return replace(shown, headers=(*shown.headers, ended))


def _let_in(visit: Visit, person: ApiKey) -> Reply:
    """Go on to what was asked for; a session that there is goes on, and open forms with it."""
    target = _own(visit.query.get("next", HOME))
    if visit.query.get(ENDED) == "1" and target.startswith("/reviews/"):  # said on the page itself
        target += f"{'&' if '?' in target else '?'}{ENDED}=1"
    return redirect(target) if visit.session else redirect(target, _cookie(visit, person))


def _cookie(visit: Visit, key: ApiKey) -> tuple[bytes, bytes]:
    now = visit.context.services.clock.now()
    cookie = visit.sessions.cookie(key, now, secure=visit.is_secure)
    return b"set-cookie", cookie.encode("ascii")


def _own(target: str) -> str:
    """Return an address of ours: never another site's, whatever the link said."""
    safe = target.startswith("/") and not target.startswith(("//", "/\\")) and target.isprintable()
    return target if safe else HOME


PAGES = (
    Page(method="GET", path="/login", run=ask, roles=frozenset()),
    Page(method="POST", path="/login", run=sign_in, roles=frozenset()),
    Page(method="POST", path="/logout", run=sign_out),
)
