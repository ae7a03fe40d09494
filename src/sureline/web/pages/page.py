"""A page as data, and what answers its requests: signed in, allowed, and not forged."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from urllib.parse import parse_qsl, quote, unquote_to_bytes, urlsplit

from starlette.types import Receive, Scope, Send

from sureline.application.ports.keys import ApiKey, Role
from sureline.core.values.mission import MissionState
from sureline.errors import Forbidden, InvalidInput, NotFound, StoreError, SurelineError
from sureline.web.context import ServerContext
from sureline.web.faults import MethodNotAllowed
from sureline.web.pages.company import Company
from sureline.web.pages.filters import Filters
from sureline.web.pages.guarded import GUARDED, HTML
from sureline.web.pages.session import Session, Sessions
from sureline.web.pages.templates import render
from sureline.web.reply import Reply

PEOPLE = frozenset({Role.REVIEWER, Role.ADMIN, Role.AUDITOR})
ENDED = "ended"
"""Says in an address that a form was sent without a session, and nothing was recorded."""
MOST_FIELDS = 2_000
FURTHEST = 10_000_000
"""The largest number that an address may ask for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One request for a page; `session` is None only on pages that anybody may see.

    `person` is who the company's sign-in says is there, None where there is no such sign-in.
    `client` is the address that it came from, which behind a proxy is the proxy's; `is_secure`
    says that the browser speaks TLS, with us or with a proxy. `address` is where the page that is
    shown is to be found, if not at the address of the request. `missions_waiting` is how many wait
    for a person, for the badge.
    """

    context: ServerContext
    person: ApiKey | None
    session: Session | None
    sessions: Sessions
    params: Mapping[str, str]
    query: Mapping[str, str]
    form: Mapping[str, str]
    headers: Mapping[bytes, bytes]
    receive: Receive
    client: str = ""
    is_secure: bool = False
    is_head: bool = False
    address: str = ""
    missions_waiting: int = 0

    @property
    def signed_in(self) -> Session:
        """Return the session, on pages that need one."""
        assert self.session is not None
        return self.session

    @property
    def view(self) -> Filters:
        """Return the view of the list in which somebody works: the address carries it along."""
        return Filters.read(self.form.get("in") or self.query.get("in", ""))

    @property
    def is_fragment(self) -> bool:
        """Tell whether a script asks for a part of the page."""
        return self.headers.get(b"hx-request") == b"true"

    def number(self, name: str) -> int:
        """Return a count that the address gives; 0 where it gives none or nonsense."""
        text = self.query.get(name, "")
        return (
            min(int(text), FURTHEST) if text.isascii() and text.isdigit() and len(text) < 20 else 0
        )

    def html(self, template: str, *, status: int = 200, **values: object) -> Reply:
        """Reply with a filled template; every text in `values` is escaped."""
        session = self.session
        shared = {
            "who": None if session is None else session.key,
            "csrf": "" if session is None else session.csrf,
            "fragment": self.is_fragment,
            "within": self.view.query,
            "at": self.address,
            "missions_waiting": self.missions_waiting,
        }
        body = render(template, {**shared, **values}).encode("utf-8", "replace")
        return Reply(body=body, status=status, media_type=HTML, headers=GUARDED)


def redirect(to: str, *headers: tuple[bytes, bytes]) -> Reply:
    """Send the browser on to an address of our own, as a GET."""
    place = (b"location", quote(to, safe="/?=&%#").encode())
    return Reply(body=b"", status=303, media_type=HTML, headers=(*GUARDED, place, *headers))


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One method of one address for people; no `roles` means that anybody may see it.

    What `is_public` does not even ask who is there.
    """

    method: str
    path: str
    run: Callable[[Visit], Awaitable[Reply]]
    roles: frozenset[Role] = field(default=PEOPLE)
    is_public: bool = False


class PageEndpoint:
    """An ASGI application for one path of pages."""

    def __init__(self, context: ServerContext, pages: Sequence[Page]) -> None:
        self._context = context
        self._pages = {page.method: page for page in pages}
        services = context.services
        self._sessions = Sessions(
            keys=services.keys,
            over=services.store.ended_sessions,
            secret=services.store.secret,
            workspace=services.workspace,
        )
        sign_in = context.settings.company
        self._company = (
            None if sign_in is None else Company(settings=sign_in, workspace=services.workspace)
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; what goes wrong becomes a page too."""
        page = self._pages.get("GET" if scope["method"] == "HEAD" else scope["method"])
        if page is None:
            raise MethodNotAllowed(", ".join(sorted(self._pages)))
        visit = await self._visit(page, scope, receive)
        if page.roles and visit.session is None:
            reply = redirect(_sign_in_address(scope, visit, is_page="GET" in self._pages))
        else:
            reply = await self._answer(page, visit)
        await reply.send(send)

    async def _visit(self, page: Page, scope: Scope, receive: Receive) -> Visit:
        headers = dict(scope["headers"])
        person, session = (None, None) if page.is_public else await self._who(scope, headers)
        is_secure = b"https" in {headers.get(b"x-forwarded-proto"), scope["scheme"].encode()}
        query = scope["query_string"].decode("latin-1")
        return Visit(
            context=self._context,
            person=person,
            session=session,
            sessions=self._sessions,
            params=_decoded(scope["path_params"]),
            query=dict(parse_qsl(query, keep_blank_values=True)),
            form={},
            headers=headers,
            receive=receive,
            client=_peer(scope),
            is_secure=is_secure,
            is_head=scope["method"] == "HEAD",
            missions_waiting=0 if session is None else await self._waiting(session.key),
        )

    async def _who(
        self, scope: Scope, headers: Mapping[bytes, bytes]
    ) -> tuple[ApiKey | None, Session | None]:
        """Return who the company says is there, and the session; with the one, keys have none."""
        cookie, now = headers.get(b"cookie", b""), self._context.services.clock.now()
        if self._company is None:
            return None, await self._sessions.read(cookie, now)
        person = self._company.person(_peer(scope), scope["headers"], now)
        return person, await self._sessions.of(person, cookie, now)

    async def _waiting(self, key: ApiKey) -> int:
        counts = await self._context.mission_counts.seen(key)
        return counts[MissionState.SUSPENDED]

    async def _answer(self, page: Page, visit: Visit) -> Reply:
        try:
            _check_role(page, visit)
            if page.method == "POST":
                visit = replace(visit, form=await self._form(visit.headers, visit.receive))
                _check_origin(visit)
            return await page.run(visit)
        except StoreError:
            raise  # its words are for the log
        except SurelineError as error:
            if error.status == HTTPStatus.INTERNAL_SERVER_ERROR or visit.session is None:
                raise
            title = HTTPStatus(error.status).phrase
            return visit.html(
                "error.html.j2", status=error.status, title=title, error=error.message
            )

    async def _form(self, headers: Mapping[bytes, bytes], receive: Receive) -> Mapping[str, str]:
        body = await self._context.bodies.form(headers, receive)
        try:
            pairs = parse_qsl(
                body.decode("utf-8"), keep_blank_values=True, max_num_fields=MOST_FIELDS
            )
        except (UnicodeDecodeError, ValueError):
            raise InvalidInput("the form cannot be read") from None
        return dict(pairs)


def _peer(scope: Scope) -> str:
    """Return the address that is connected to us, whatever a header says of another."""
    return str((scope.get("client") or ("",))[0])


def _check_role(page: Page, visit: Visit) -> None:
    session = visit.session
    if page.roles and session is not None and session.key.role not in page.roles:
        allowed = ", ".join(role for role in Role if role in page.roles)
        raise Forbidden(f"this takes a key with the role {allowed}")


def _check_origin(visit: Visit) -> None:
    """Refuse forms that were not ours: by what the browser says, and by the session's token."""
    headers, session = visit.headers, visit.session
    site, origin = headers.get(b"sec-fetch-site"), headers.get(b"origin")
    if site is None and origin is not None:  # a browser that is old, or on an address without TLS
        host = _host(origin)
        site = b"same-origin" if host and host == headers.get(b"host") else b"cross-site"
    if site not in {None, b"same-origin", b"none"}:
        raise Forbidden("this form came from another site")
    given = visit.form.get("csrf", "").encode("utf-8", "replace")
    if session is not None and not hmac.compare_digest(given, session.csrf.encode()):
        raise Forbidden("this form is out of date; load the page again")


def _sign_in_address(scope: Scope, visit: Visit, *, is_page: bool) -> str:
    """Return where to sign in, and from there back; a form's way back is the page that sent it."""
    if scope["method"] != "POST":
        asked = scope["query_string"].decode("latin-1")
        return f"/login?next={quote(scope['path'] + ('?' + asked if asked else ''))}"
    sender = _page_of(visit.headers.get(b"referer", b""), visit.headers.get(b"host", b""))
    back = sender or (scope["path"] if is_page else "/")
    return f"/login?{ENDED}=1&next={quote(back)}"


def _page_of(referer: bytes, host: bytes) -> str:
    """Return the address, on this server, of the page that sent a form; empty where unknown."""
    try:
        parts = urlsplit(referer.decode("latin-1"))
    except ValueError:
        return ""
    if not host or parts.netloc.encode("latin-1") != host:
        return ""
    return parts.path + (f"?{parts.query}" if parts.query else "")


def _host(origin: bytes) -> bytes:
    """Return the host that an origin names, an empty one where it names none."""
    try:
        return urlsplit(origin).netloc
    except ValueError:  # such as `http://[`
        return b""


def _decoded(params: Mapping[str, str]) -> Mapping[str, str]:
    try:
        return {
            name: unquote_to_bytes(value).decode("utf-8", "strict")
            for name, value in params.items()
        }
    except UnicodeDecodeError:
        raise NotFound("the address is not UTF-8") from None
