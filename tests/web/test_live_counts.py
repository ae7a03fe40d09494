"""The counts as they change: a stream for each browser, over real HTTP."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from sureline.application.review.desk import ReviewDesk
from sureline.bootstrap import Plugins, Services, open_services
from sureline.web.settings import ServerSettings
from tests.web.browsing import Visitor
from tests.web.served import ADMIN, REVIEWER, Served, awaited, serve

QUICK = ServerSettings(count_seconds=0.05, beat_seconds=0.05, streams=3, streams_of_one=2)


def asked(served: Served, slice_key: str = "replies") -> str:
    given = {"slice_key": slice_key, "output": {"total": 1}, "force_human": True}
    if slice_key == "replies":
        given["output"] = "Dear Ada, yes."
    return str(served.decide(**given).json()["id"])


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A server whose streams are quick."""
    with serve(tmp_path, QUICK) as one:
        yield one


Lines = Iterator[str]


@contextmanager
def watching(visitor: Visitor) -> Iterator[Lines]:
    """Open a stream and yield its lines."""
    with visitor.client.stream("GET", "/events", headers={"accept": "text/event-stream"}) as reply:
        assert reply.status_code == 200
        assert reply.headers["content-type"].startswith("text/event-stream")
        assert reply.headers["cache-control"] == "no-store"
        assert "default-src 'none'" in reply.headers["content-security-policy"]
        yield reply.iter_lines()


def until(lines: Lines, found: Callable[[str], bool]) -> list[str]:
    """Read lines up to one; a stream that ends before it fails the test."""
    read = []
    for line in lines:
        read.append(line)
        if found(line):
            return read
    raise AssertionError(f"the stream ended after {read}")


def test_a_stream_begins_with_the_counts_and_tells_each_change(served: Served) -> None:
    """What waits is told at once, and again when another process adds an item."""
    asked(served)
    with watching(Visitor(served)) as lines:
        begun = until(lines, lambda line: "</li>" in line)
        assert begun[0] == "retry: 3000"
        assert "event: counts" in begun
        assert "<b>1</b>" in begun[-1]
        url = served.services.store.url
        other = open_services(url, plugins=Plugins(clock=served.clock))
        awaited(_decide(other))
        other.close()
        assert "<b>2</b>" in until(lines, lambda line: "</li>" in line)[-1]


def test_what_others_do_shows_in_no_beat(tmp_path: Path) -> None:
    """Whoever may not see a slice does not see either when its counts move."""
    settings = replace(QUICK, beat_seconds=3600.0)
    with serve(tmp_path, settings) as served:
        secret = served.make_key(REVIEWER, name="Bo", slices=("invoices",))
        whole, bound = Visitor(served), Visitor(served, secret=secret)
        asked(served, "invoices")
        with watching(whole) as all_lines, watching(bound) as lines:
            until(lines, lambda line: "<b>1</b>" in line)
            for _ in range(2):
                asked(served)
                until(all_lines, lambda line: "replies" in line)
            asked(served, "invoices")
            told = until(lines, lambda line: "<b>2</b>" in line)
    assert ": beat" not in told
    assert told.count("event: counts") == 1


async def _decide(services: Services) -> None:
    from sureline.application.intake import read_proposal

    given = {"slice_key": "replies", "task": "t", "output": "Yes.", "force_human": True}
    await services.decider.decide(read_proposal(given, workspace="default"))


def test_a_quiet_stream_beats(served: Served) -> None:
    """Where nothing changes a comment is sent, so that a proxy keeps the connection."""
    with watching(Visitor(served)) as lines:
        read = until(lines, lambda line: line == ": beat")
        assert until(lines, lambda line: line == ": beat")
        assert not any("event: end" in line for line in read)


@pytest.mark.parametrize("end", ["revoked", "old"])
def test_a_stream_ends_with_its_session(served: Served, end: str) -> None:
    """Revoking the key, or twelve hours, end what was opened before."""
    secret = served.make_key(REVIEWER)
    with watching(Visitor(served, secret=secret)) as lines:
        until(lines, lambda line: line == ": beat")
        if end == "old":
            served.clock.advance(timedelta(hours=13))
        else:
            key = awaited(served.services.keys.find(secret))
            assert key is not None
            awaited(served.services.keys.revoke("default", key.id, at=served.clock.now()))
        until(lines, lambda line: line == "event: end")
        assert list(lines)[-1] == ""


def test_nobody_unknown_watches(served: Served) -> None:
    """Without a session there is no stream, and no page to sign in either."""
    with httpx.Client(base_url=served.url) as client:
        assert client.get("/events").status_code == 401
    assert Visitor(served).client.head("/events").status_code == 200


def test_a_bound_key_hears_of_its_slices_alone(served: Served) -> None:
    """Counts of other slices are not told."""
    asked(served, "invoices")
    asked(served, "replies")
    bound = Visitor(served, secret=served.make_key(REVIEWER, slices=("replies",)))
    with watching(bound) as lines:
        read = until(lines, lambda line: line == ": beat")
    assert any("replies" in line for line in read)
    assert not any("invoices" in line for line in read)


def test_streams_are_bounded_by_key_and_in_all(served: Served) -> None:
    """Who comes too many is told so at once; a seat is free again when its holder goes."""
    one, other = Visitor(served), Visitor(served, ADMIN)
    with watching(one) as first, watching(one) as second:
        until(first, lambda line: line == ": beat")
        until(second, lambda line: line == ": beat")
        assert one.get("/events").status_code == 503
        with watching(other) as third:
            until(third, lambda line: line == ": beat")
            assert other.get("/events").status_code == 503
    for _ in range(200):
        with one.client.stream("GET", "/events") as reply:
            if reply.status_code == 200:
                return
    raise AssertionError("no seat was given back")


def test_the_server_stops_while_somebody_watches(tmp_path: Path) -> None:
    """A stream holds up no shutdown: it is ended, and completely."""
    ended: list[str] = []
    begun = threading.Event()

    def watch(visitor: Visitor) -> None:
        with watching(visitor) as lines:
            until(lines, lambda line: line == ": beat")
            begun.set()
            ended.extend(lines)

    with serve(tmp_path, QUICK) as served:
        thread = threading.Thread(target=watch, args=(Visitor(served),))
        thread.start()
        assert begun.wait(10)
        visitors, served.clients = dict(served.clients), {}
    thread.join(10)
    assert not thread.is_alive()
    for client in visitors.values():
        client.close()


def test_the_counts_are_read_once_for_all_who_watch(tmp_path: Path) -> None:
    """However many watch or ask, the queue is counted once in a while."""
    desks: list[Counting] = []

    def change(services: Services) -> Services:
        desks.append(Counting.of(services.desk))
        return replace(services, desk=desks[0])

    settings = ServerSettings(count_seconds=3600, beat_seconds=0.02)
    with serve(tmp_path, settings, change=change) as served:
        visitors = [Visitor(served, secret=served.make_key(REVIEWER)) for _ in range(3)]
        Counting.read = 0
        with (
            watching(visitors[0]) as first,
            watching(visitors[1]) as second,
            watching(visitors[2]) as third,
        ):
            for lines in (first, second, third):
                for _ in range(3):
                    until(lines, lambda line: line == ": beat")
            assert visitors[0].get("/counts").status_code == 200
        assert Counting.read == 1


class Counting(ReviewDesk):
    """A desk that notes how often it counts."""

    read = 0

    @classmethod
    def of(cls, desk: ReviewDesk) -> Counting:
        return cls(**{name: getattr(desk, name) for name in ReviewDesk.__dataclass_fields__})

    async def counts(self) -> Any:
        Counting.read += 1
        await asyncio.sleep(0)
        return await ReviewDesk.counts(self)
