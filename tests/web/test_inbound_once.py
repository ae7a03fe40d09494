"""However often, however fast and from wherever a delivery comes: it acts once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from sureline.application.ports.inbound import Arrival, Standing, StoredReply
from sureline.application.ports.reviews import Step
from sureline.bootstrap import Services, open_services
from sureline.core.values.review import Review
from sureline.errors import StoreBusy
from sureline.web.settings import ServerSettings
from tests.receivers import SECRET
from tests.web.chatting import OTHER_SECRET, Chat, chatting
from tests.web.held_reviews import HeldReviews, held, until_answered, verdicts
from tests.web.served import running


@pytest.fixture(autouse=True)
def _secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAT_SECRET", SECRET)
    monkeypatch.setenv("TICKETS_SECRET", OTHER_SECRET)


def test_a_slow_verdict_is_acknowledged_at_once(tmp_path: Path) -> None:
    """While it is in work everybody hears 202; then the answer is there, and one verdict."""
    found: list[HeldReviews] = []
    settings = ServerSettings(ack_seconds=0.05)
    with chatting(tmp_path, settings=settings, change=held(found)) as chat:
        item = chat.item()
        said = {**item, "action": "approve", "reviewer": "U1"}
        early = [chat.say(said, as_id=one) for one in ("msg_1", "msg_1", "msg_2")]
        assert [(one.status_code, one.json()) for one in early] == [(202, {"state": "in_work"})] * 3
        found[0].go.set()
        last = until_answered(chat, said)
        assert (last.status_code, last.json()["state"]) == (200, "decided")
        assert found[0].changes == 1
        assert len(verdicts(chat, item)) == 1


def test_work_that_was_acknowledged_is_finished_before_the_server_stops(tmp_path: Path) -> None:
    """A server that is told to stop does not lose what it has said to be in work."""
    found: list[HeldReviews] = []
    with chatting(tmp_path, settings=ServerSettings(ack_seconds=0.05), change=held(found)) as chat:
        item = chat.item()
        early = chat.say({**item, "action": "reject", "reviewer": "U1"})
        assert early.status_code == 202
        threading.Timer(0.2, found[0].go.set).start()
    with chatting(tmp_path) as again:
        assert again.state(item["review_id"])["verdict"]["action"] == "reject"


@pytest.mark.parametrize("action", ["approve", "reject", "skip", "escalate"])
def test_many_at_once_over_two_servers_act_once(tmp_path: Path, action: str) -> None:
    """The same body under one id and under several, at two servers on one store: one act."""
    with chatting(tmp_path) as chat, second_server(chat) as other:
        item = chat.item()
        said = {**item, "action": action, "reviewer": "U1"}

        def send(number: int) -> httpx.Response:
            to = (chat, other)[number % 2]
            return to.say(said, as_id=f"msg_{number % 3}")

        with ThreadPoolExecutor(8) as threads:
            answers = list(threads.map(send, range(24)))
        assert {one.status_code for one in answers} <= {200, 202}
        first = [one for one in answers if one.status_code == 200 and not _is_repeated(one)]
        assert len(first) == 1
        assert {one.content for one in answers if one.status_code == 200} == {first[0].content}
        assert verdicts(chat, item) == [action]
        assert chat.state(item["review_id"])["level"] == (1 if action == "escalate" else 0)


def _is_repeated(answer: httpx.Response) -> bool:
    return "sureline-repeated" in answer.headers


@contextmanager
def second_server(chat: Chat) -> Iterator[Chat]:
    """Run a server of its own on the same store."""
    first = chat.served
    services = open_services(first.services.store.url, plugins=first.services.plugins)
    with running(services) as url:
        served = replace(first, services=services, url=url, clients={})
        served.clients[None] = served.client(None)
        yield Chat(served=served)
        for client in served.clients.values():
            client.close()


@dataclass
class DyingDeliveries:
    """Deliveries of a process that dies before it writes down its first answer."""

    inner: Any
    dies: bool = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def finish(self, arrival: Arrival, reply: StoredReply) -> None:
        if self.dies:
            self.dies = False
            return
        await self.inner.finish(arrival, reply)


def dying(services: Services) -> Services:
    store: Any = replace(services.store, inbound=DyingDeliveries(services.store.inbound))
    return replace(services, store=store)


@pytest.mark.parametrize("redelivered", ["msg_1", "msg_2"], ids=["same id", "new id"])
@pytest.mark.parametrize("action", ["approve", "reject", "edit", "skip", "escalate"])
def test_what_was_done_before_a_crash_is_not_done_again(
    tmp_path: Path, action: str, redelivered: str
) -> None:
    """Done but not answered: for a minute it is in work, then the delivery is told what stands."""
    with chatting(tmp_path, change=dying) as chat:
        item = chat.item()
        output = {"output": "No."} if action == "edit" else {}
        said = {**item, "action": action, "reviewer": "U1", **output}
        assert chat.say(said, as_id="msg_1").status_code == 200
        assert chat.say(said, as_id=redelivered).status_code == 202
        chat.served.clock.advance(timedelta(seconds=61))
        before = chat.state(item["review_id"])
        after = chat.say(said, as_id=redelivered)
        assert (after.status_code, after.json()["version"]) == (200, before["version"])
        assert after.json()["level"] == before["level"]
        assert verdicts(chat, item) == [action]
        last = chat.say(said, as_id="msg_1")
        assert (last.content, _is_repeated(last)) == (after.content, True)


@dataclass
class BusyReviews:
    """A queue that cannot be written once."""

    inner: Any
    busy: bool = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def change(self, workspace: str, review_id: str, step: Step) -> Review:
        if self.busy:
            self.busy = False
            raise StoreBusy
        changed: Review = await self.inner.change(workspace, review_id, step)
        return changed


def test_a_store_that_cannot_be_written_keeps_no_answer(tmp_path: Path) -> None:
    """503 is no answer to keep: the delivery that comes again is carried out."""

    def change(services: Services) -> Services:
        return replace(
            services, desk=replace(services.desk, store=BusyReviews(services.desk.store))
        )

    with chatting(tmp_path, change=change) as chat:
        said = {**chat.item(), "action": "approve", "reviewer": "U1"}
        assert chat.say(said, as_id="msg_1").status_code == 503
        assert chat.say(said, as_id="msg_1").status_code == 200


def test_taking_is_told_apart(tmp_path: Path) -> None:
    """New, in work, taken over, answered, refused under another id: each as the port says."""
    with chatting(tmp_path) as chat:
        asyncio.run(_table(chat))


async def _table(chat: Chat) -> None:
    store, now = chat.served.services.store.inbound, chat.served.clock.now()
    later = now + timedelta(minutes=1)

    def arrival(number: int, digest: bytes = b"a") -> Arrival:
        return Arrival(workspace="default", source="chat", id=f"m{number}", digest=digest)

    async def take(one: Arrival, at: Any = now) -> Standing:
        return await store.take(one, now=at, until=at + timedelta(minutes=1))

    assert await take(arrival(1)) == Standing(since=now)
    assert (await take(arrival(2))).in_work
    assert await take(arrival(2), later) == Standing(since=now, begun=True)
    refused = StoredReply(status=409, body=b"no", acted=False)
    await store.finish(arrival(2), refused)
    assert (await take(arrival(2), later)).reply == refused
    assert await take(arrival(3), later) == Standing(since=now, begun=True)  # m1 died
    done = StoredReply(status=200, body=b"yes", acted=True)
    await store.finish(arrival(3), done)
    assert (await take(arrival(1), later)).reply == done
    assert (await take(arrival(4), later)).reply == done
    assert await take(arrival(5, b"b"), later) == Standing(since=later)
    await store.give_up(arrival(5, b"b"))
    await store.give_up(arrival(3))  # what is answered stays
    assert await take(arrival(6, b"b"), later) == Standing(since=later)
    assert (await take(arrival(3), later)).reply == done
