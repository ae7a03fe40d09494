"""Too much at once is refused at once, and slow or large requests hold nobody else up."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from sureline.bootstrap import Services
from sureline.core.values.policy import SlicePolicy
from sureline.core.values.proposal import Proposal
from sureline.core.values.signal import Signal, SignalKind
from sureline.errors import StoreBusy, StoreFull
from sureline.web.body import BodyReader
from sureline.web.faults import Overloaded, TooSlow
from sureline.web.settings import ServerSettings
from tests.web.served import ADMIN, Served, serve


class HeldSource:
    """A signal source that answers when it is let go."""

    name, kind = "held", SignalKind.OBJECTIVE

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.entered = threading.Event()

    async def measure(self, proposal: Proposal, policy: SlicePolicy) -> Signal:
        self.entered.set()
        await asyncio.to_thread(self.let_go.wait, 10)
        return Signal.measured(self.name, self.kind, 1.0)


def test_more_decisions_than_it_can_work_on_are_refused(tmp_path: Path) -> None:
    """Beyond its capacity the answer is 503 with Retry-After; health goes on; then it recovers."""
    source = HeldSource()
    with serve(tmp_path, ServerSettings(deciding=1), signals=(source,)) as served:
        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(served.decide)
            source.entered.wait(10)
            second = served.decide(task="another")
            health = served.call("GET", "/healthz", None)
            source.let_go.set()
            assert first.result(10).status_code == 201
        assert (second.status_code, second.json()["code"]) == (503, "overloaded")
        assert second.headers["retry-after"] == "1"
        assert health.status_code == 200
        assert served.decide(task="another").status_code == 201


def test_a_slow_body_holds_nobody_up_and_times_out(tmp_path: Path) -> None:
    """A body that stops coming is given up after its time, while others are served."""
    with serve(tmp_path, ServerSettings(body_seconds=0.5)) as served:
        where = urlsplit(served.url)
        with socket.create_connection((where.hostname, where.port), timeout=10) as slow:
            slow.sendall(
                b"POST /v1/decisions HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n"
                b"authorization: Bearer " + served.keys[ADMIN].encode() + b"\r\n\r\n{"
            )
            assert served.decide().status_code == 201
            assert b" 408 " in slow.recv(4096).split(b"\r\n")[0]


def _object(keys: int) -> bytes:
    fields = b",".join(b'"%d":0' % number for number in range(keys))
    return b'{"slice_key":"replies","task":"t","output":{' + fields + b"}}"


HEAVY: dict[str, Callable[[], bytes]] = {
    "many values": lambda: (
        b'{"slice_key":"replies","task":"t","output":[' + b"1," * 900_000 + b"1]}"
    ),
    "many objects": lambda: (
        b'{"slice_key":"replies","task":"t","output":[' + b"{}," * 600_000 + b"1]}"
    ),
    "too many keys": lambda: _object(180_000),
    "many keys": lambda: _object(49_000),
    "long text": lambda: b'{"slice_key":"replies","task":"t","output":"' + b"a. " * 650_000 + b'"}',
    "brackets in text": lambda: (
        b'{"slice_key":"replies","task":"t","output":"' + b"[" * 2_000_000 + b'"}'
    ),
}


@pytest.mark.parametrize("body", HEAVY.values(), ids=HEAVY.keys())
def test_a_heavy_body_does_not_stop_the_loop(shared: Served, body: Callable[[], bytes]) -> None:
    """While a body near the limit is worked on, a probe is answered: the loop goes on."""
    content = body()
    slowest = 0.0
    with ThreadPoolExecutor(1) as pool:
        heavy = pool.submit(shared.call, "POST", "/v1/decisions", content=content)
        while not heavy.done():
            started = time.perf_counter()
            assert shared.call("GET", "/healthz", None).status_code == 200
            slowest = max(slowest, time.perf_counter() - started)
        assert heavy.result().status_code in {201, 413, 422}
    assert slowest < 2, "the loop stood still"


@pytest.mark.parametrize(
    ("error", "code"),
    [(StoreFull("/srv/store.db is full"), "store_full"), (StoreBusy(), "store_busy")],
)
def test_a_failing_store_is_503_without_its_place(
    tmp_path: Path, error: Exception, code: str
) -> None:
    """A store that cannot write says so, and asks to try again; paths stay in the log."""

    class Broken:
        async def prior(self, **asked: object) -> None:
            raise error

    def broken(services: Services) -> Services:
        return replace(services, decider=replace(services.decider, ledger=Broken()))  # type: ignore[arg-type]

    with serve(tmp_path, change=broken) as served:
        answer = served.decide()
    assert (answer.status_code, answer.json()["code"]) == (503, code)
    assert answer.headers["retry-after"] == "1"
    assert "/srv" not in answer.text


async def test_all_bodies_together_are_bounded() -> None:
    """Bodies being received share one budget of memory; it is given back."""
    reader = BodyReader(ServerSettings(buffered_bytes=10, body_bytes=8))
    chunk = {"type": "http.request", "body": b"1234567", "more_body": True}

    def hanging() -> tuple[Callable[[], object], asyncio.Event]:
        go, given = asyncio.Event(), iter([chunk])

        async def receive() -> object:
            for message in given:
                return message
            await go.wait()
            return {"type": "http.request", "body": b"", "more_body": False}

        return receive, go

    first, go = hanging()
    task = asyncio.ensure_future(reader.json_object({}, first))  # type: ignore[arg-type]
    await asyncio.sleep(0)
    with pytest.raises(Overloaded):
        await reader.json_object({}, hanging()[0])  # type: ignore[arg-type]
    go.set()
    with pytest.raises(Exception, match="JSON object"):
        await task


async def test_a_body_that_never_comes_is_given_up() -> None:
    """Waiting for a body has an end."""
    reader = BodyReader(ServerSettings(body_seconds=0.01))
    with pytest.raises(TooSlow):
        await reader.json_object({}, asyncio.Event().wait)  # type: ignore[arg-type]
