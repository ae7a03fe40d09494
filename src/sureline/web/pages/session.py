"""Who is signed in: a signed cookie that names an API key and nothing more (DESIGN §6)."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.cookies import CookieError, SimpleCookie

from sureline.application.ports.ended_sessions import EndedSessions
from sureline.application.ports.keys import ApiKey, Keys

COOKIE = "sureline_session"
LASTS = timedelta(hours=12)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """Somebody who is signed in; `csrf` must come with every form. `id` is the session's own."""

    key: ApiKey
    csrf: str
    id: str
    ends: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Sessions:
    """Makes and reads session cookies of one store.

    `secret` is the store's. A cookie names a key and when it ends, signed; the key itself is
    looked up on every request, so that revoking it ends its sessions. So is whether its holder has
    signed out: a cookie that was copied is worth nothing after that, in any process.
    """

    keys: Keys
    over: EndedSessions
    secret: bytes
    workspace: str

    def cookie(self, key: ApiKey, now: datetime, *, secure: bool) -> str:
        """Return the header value that signs a key's holder in."""
        ends = int((now + LASTS).timestamp())
        body = f"{key.id}.{ends}.{secrets.token_hex(16)}"
        rest = f"Path=/; HttpOnly; SameSite=Lax; Max-Age={int(LASTS.total_seconds())}"
        return (
            f"{COOKIE}={body}.{self._sign('session', body)}; {rest}{'; Secure' if secure else ''}"
        )

    def shown(self, key: ApiKey, what: str, now: datetime) -> str:
        """Return a mark for a page that says when `what` was shown to a key's holder."""
        at = f"{now.timestamp():.3f}"
        return f"{at}.{self._sign('shown', f'{key.id}.{what}.{at}')}"

    def shown_at(self, key: ApiKey, what: str, mark: str) -> datetime | None:
        """Return when it was shown; None where the mark is not ours, or of something else."""
        at, _, signature = mark.rpartition(".")
        if not hmac.compare_digest(
            signature.encode("utf-8", "replace"),
            self._sign("shown", f"{key.id}.{what}.{at}").encode(),
        ):
            return None
        return datetime.fromtimestamp(float(at), UTC)

    @staticmethod
    def ended() -> str:
        """Return the header value that signs out."""
        return f"{COOKIE}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0"

    async def read(self, header: bytes, now: datetime) -> Session | None:
        """Return who a cookie header signs in; None for none, a forged or an old one."""
        body = await self._body(header, now)
        if body is None:
            return None
        key = await self.keys.get(self.workspace, _holder(body))
        if key is None or key.revoked_at is not None:
            return None
        return self._session(key, body)

    async def of(self, person: ApiKey, header: bytes, now: datetime) -> Session | None:
        """Return the session of somebody whom their company has signed in; None without one.

        It is theirs alone: behind the same browser may be somebody else by now.
        """
        body = await self._body(header, now)
        if body is None or _holder(body) != person.id:
            return None
        return self._session(person, body)

    async def end(self, session: Session, now: datetime) -> None:
        """End a session here and in every other process on the store."""
        await self.over.end(self.workspace, session.id, now=now, until=session.ends)

    def _session(self, key: ApiKey, body: str) -> Session:
        ends = datetime.fromtimestamp(_ends(body), UTC)
        return Session(key=key, csrf=self._sign("csrf", body), id=_named(body), ends=ends)

    async def _body(self, header: bytes, now: datetime) -> str | None:
        """Return what a cookie says if we signed it and it has not ended."""
        body, _, signature = _cookie_value(header).rpartition(".")
        if not hmac.compare_digest(signature, self._sign("session", body)):
            return None
        if now.timestamp() >= _ends(body):
            return None
        return None if await self.over.is_over(self.workspace, _named(body)) else body

    def _sign(self, purpose: str, text: str) -> str:
        message = f"{purpose}\x00{text}".encode("utf-8", "surrogatepass")
        return hmac.digest(self.secret, message, "sha256").hex()


def _holder(body: str) -> str:
    return body.rsplit(".", 2)[0]


def _ends(body: str) -> int:
    return int(body.rsplit(".", 2)[1])


def _named(body: str) -> str:
    return body.rsplit(".", 1)[1]


def _cookie_value(header: bytes) -> str:
    try:
        found = SimpleCookie(header.decode("latin-1")).get(COOKIE)
    except CookieError:
        return ""
    value = "" if found is None else found.value
    return value if value.isascii() else ""
