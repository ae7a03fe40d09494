"""A server that is told to stop while it is busy: what it took it answers, and nothing is lost."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest

from sureline.adapters.storage.store import open_store
from tests.postgres import Postgres
from tests.postgres import postgres as postgres
from tests.web.test_serve import Process, started

CALLERS = 24


async def _load(server: Process) -> dict[str, int]:
    """Decide until nobody listens any more, and stop the server meanwhile."""
    answered: dict[str, int] = {}

    async def call(client: httpx.AsyncClient, caller: int) -> None:
        number = 0
        while True:
            number += 1
            name = f"d{caller}-{number}"
            body = {"id": name, "slice_key": "replies", "task": "t", "output": "o"}
            try:
                answer = await client.post("/v1/decisions", json=body)
            except httpx.TransportError:
                return
            answered[name] = answer.status_code
            if len(answered) == 20 * CALLERS:
                server.popen.terminate()

    headers = {"authorization": f"Bearer {server.key}"}
    async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=20) as client:
        await asyncio.gather(*(call(client, caller) for caller in range(CALLERS)))
    return answered


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["file", "postgres"])
async def test_stopping_under_load_loses_nothing_that_was_answered(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Every answer is a decision that is stored, or a refusal; the process ends by itself."""
    url = f"sqlite:///{tmp_path / 'store.db'}"
    if kind == "postgres":
        server: Postgres = request.getfixturevalue("postgres")
        url = server.database()
    with started(tmp_path, "--store", url) as process:
        answered = await _load(process)
        assert await asyncio.to_thread(process.popen.wait, 20) == 0
    assert set(answered.values()) <= {201, 503}
    store = open_store(url)
    for name, status in answered.items():
        if status == 201:
            assert await store.ledger.decision("default", name) is not None
    assert (await store.ledger.verify()).fault is None
    store.close()
