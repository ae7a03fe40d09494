"""`kill -9` of a server at which people are working: nothing is lost, nothing is doubled."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from sureline.application.ports.keys import Role
from sureline.bootstrap import Services, open_services
from sureline.core.values.review import ReviewState
from tests.web.test_serve import started

ITEMS = 60
POLICY = """\
version: 1
slices:
  replies: {mode: log_only, output: {structured: false}, review: {undo_seconds: 0}}
"""


@dataclass
class Work:
    """What the reviewers were told before the server died."""

    claimed: dict[str, str] = field(default_factory=dict)
    decided: dict[str, str] = field(default_factory=dict)
    tried: dict[str, str] = field(default_factory=dict)
    enough: threading.Event = field(default_factory=threading.Event)


def reviewers(path: Path) -> dict[str, str]:
    """Make keys beside the running server; return their secrets by name."""
    services = open_services(f"sqlite:///{path}")
    made = {
        name: asyncio.run(
            services.keys.create(
                name=name,
                role=Role.REVIEWER,
                workspace="default",
                slices=(),
                at=services.clock.now(),
            )
        )[1]
        for name in ("ada", "kim", "lee", "max")
    }
    services.close()
    return made


def review(url: str, name: str, secret: str, work: Work, until: int) -> None:
    """Claim and decide until the server is gone; write down what it answered."""
    headers = {"authorization": f"Bearer {secret}"}
    with httpx.Client(base_url=url, headers=headers, timeout=20) as client:
        try:
            while (item := client.post("/v1/reviews/next").json()["review"]) is not None:
                work.claimed[item["id"]] = name
                action = "approve" if len(work.decided) % 2 else "reject"
                work.tried[item["id"]] = action
                body = {"action": action, "digest": item["digest"]}
                client.post(f"/v1/reviews/{item['id']}/decide", json=body).raise_for_status()
                work.decided[item["id"]] = action
                if len(work.decided) >= until:
                    work.enough.set()
        except httpx.TransportError:
            return


@pytest.mark.parametrize("until", [5, 20])
def test_nothing_is_lost_or_doubled_by_a_kill(tmp_path: Path, until: int) -> None:
    """Claims that were answered hold, verdicts that were answered stand, each with one outcome."""
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    work = Work()
    with started(tmp_path) as server:
        for number in range(ITEMS):
            proposal = {"slice_key": "replies", "task": f"t{number}", "output": "x"}
            assert server.post("/v1/decisions", id=f"d{number}", **proposal).status_code == 201
        with ThreadPoolExecutor(4) as pool:
            for name, secret in reviewers(tmp_path / "store.db").items():
                pool.submit(review, server.url, name, secret, work, until)
            assert work.enough.wait(60)
            os.kill(server.popen.pid, signal.SIGKILL)
            server.popen.wait(10)
    services = open_services(f"sqlite:///{tmp_path / 'store.db'}")
    asyncio.run(check(services, work))
    services.close()


async def check(services: Services, work: Work) -> None:
    await asyncio.gather(services.desk.settle(), services.desk.settle())
    for number in range(ITEMS):
        name = f"d{number}"
        item = await services.store.reviews.get("default", name)
        assert item is not None
        outcomes = await services.ledger.outcomes("default", name)
        assert len(outcomes) == int(item.state is ReviewState.DECIDED)
        assert [one.action for one in outcomes] == [work.tried[name] for _ in outcomes]
        if name in work.decided:
            assert item.state is ReviewState.DECIDED
        elif name in work.claimed and item.state is not ReviewState.DECIDED:
            assert item.claimed_by == work.claimed[name]
    assert sum(one.count for one in await services.desk.counts()) == ITEMS
    assert (await services.ledger.verify()).ok
