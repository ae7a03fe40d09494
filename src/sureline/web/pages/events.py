"""The counts as they change, on one connection that stays open (server-sent events)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from starlette.types import Receive, Send

from sureline.errors import Unauthorized
from sureline.web.faults import ClientGone
from sureline.web.pages.counting import counts_part
from sureline.web.pages.guarded import GUARDED
from sureline.web.pages.page import Page, Visit
from sureline.web.reply import Reply

EVENTS = b"text/event-stream; charset=utf-8"
RETRY_MS = 3_000
"""How long a browser waits before it comes again."""
SEND_SECONDS = 5.0
"""After how long without taking anything somebody is taken for gone."""


async def events(visit: Visit) -> Reply:
    """Open the stream; whoever only asks for its headers gets those. Raises Unauthorized.

    Nobody is led to sign in here: a script would read that page as a broken stream.
    """
    if visit.session is None:
        raise Unauthorized("sign in to watch the counts")
    if visit.is_head:
        return Reply(body=b"", media_type=EVENTS, headers=GUARDED)
    return Stream(body=b"", media_type=EVENTS, headers=GUARDED, visit=visit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream(Reply):
    """Sends the counts whenever they change, and a comment when they do not.

    It ends when the server is about to stop, when the browser has gone, and when the session has
    ended or its key was revoked, which is looked at with each beat. No thread is held. Beats have
    a clock of their own: one that came when counts moved which somebody may not see would tell.
    """

    visit: Visit

    async def send(self, send: Send) -> None:
        """Send until one of the ends. Raises Overloaded before anything is sent."""
        context, key_id = self.visit.context, self.visit.signed_in.key.id
        with context.live.watch(key_id):
            gone = asyncio.create_task(_gone(self.visit.receive))
            closing = asyncio.create_task(context.closing.wait())
            try:
                await self._begin(send)
                await self._tell(send, {gone, closing})
            finally:
                gone.cancel()
                closing.cancel()

    async def _begin(self, send: Send) -> None:
        headers = [
            (b"content-type", self.media_type),
            (b"cache-control", b"no-store"),
            (b"x-accel-buffering", b"no"),  # a proxy that collects would hold the beats back
            (b"x-content-type-options", b"nosniff"),
            *self.headers,
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await _put(send, f"retry: {RETRY_MS}\n\n")

    async def _tell(self, send: Send, ends: set[asyncio.Task[Any]]) -> None:
        visit, told = self.visit, ""
        live, beat = visit.context.live, visit.context.settings.beat_seconds
        clock = asyncio.get_running_loop().time
        due = clock() + beat
        while not any(one.done() for one in ends):
            moved = asyncio.create_task(live.moved())
            try:
                part = await self._part()
                if part is None:
                    await _put(send, "event: end\ndata: signed out\n\n", more=False)
                    return
                is_due = clock() >= due
                if part != told:
                    await _put(send, _event("counts", part))
                elif is_due:
                    await _put(send, ": beat\n\n")
                told, due = part, due + beat if is_due else due
                left = max(0.0, due - clock())
                await asyncio.wait(
                    {*ends, moved}, timeout=left, return_when=asyncio.FIRST_COMPLETED
                )
            finally:
                moved.cancel()
        await _put(send, "", more=False)

    async def _part(self) -> str | None:
        """Return the counts that this person may see, None when the session has ended."""
        visit = self.visit
        now = visit.context.services.clock.now()
        cookie = visit.headers.get(b"cookie", b"")
        if visit.person is None:
            session = await visit.sessions.read(cookie, now)
        else:
            session = await visit.sessions.of(visit.person, cookie, now)
        if session is None:
            return None
        return counts_part(session.key, await visit.context.live.counts())


def _event(name: str, text: str) -> str:
    lines = "".join(f"data: {line}\n" for line in text.replace("\r", "\n").split("\n"))
    return f"event: {name}\n{lines}\n"


async def _put(send: Send, text: str, *, more: bool = True) -> None:
    message = {"type": "http.response.body", "body": text.encode(), "more_body": more}
    try:
        async with asyncio.timeout(SEND_SECONDS):
            await send(message)
    except TimeoutError:
        raise ClientGone from None


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


PAGES = (Page(method="GET", path="/events", run=events, roles=frozenset()),)
