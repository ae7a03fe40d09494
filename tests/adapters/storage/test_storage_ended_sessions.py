"""Which sessions were ended: kept as long as their cookies would hold."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sureline.adapters.storage.store import open_store

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)


def test_an_ended_session_is_over_for_every_process_on_the_store(tmp_path: Path) -> None:
    """Ending one says nothing of others, and may be done twice."""
    url = f"sqlite:///{tmp_path / 'store.db'}"
    here, there = open_store(url), open_store(url)
    try:
        for _ in range(2):
            asyncio.run(here.ended_sessions.end("default", "a", now=NOW, until=NOW + HOUR))
        for store in (here, there):
            assert asyncio.run(store.ended_sessions.is_over("default", "a"))
            assert not asyncio.run(store.ended_sessions.is_over("default", "b"))
    finally:
        here.close()
        there.close()


def test_what_would_have_ended_by_itself_is_forgotten() -> None:
    """The table does not grow: each ending clears those whose cookies have run out."""
    store = open_store("sqlite://")
    try:
        asyncio.run(store.ended_sessions.end("default", "a", now=NOW, until=NOW + HOUR))
        asyncio.run(
            store.ended_sessions.end("default", "b", now=NOW + HOUR / 2, until=NOW + 2 * HOUR)
        )
        assert asyncio.run(store.ended_sessions.is_over("default", "a"))
        asyncio.run(store.ended_sessions.end("default", "c", now=NOW + HOUR, until=NOW + 3 * HOUR))
        left = [asyncio.run(store.ended_sessions.is_over("default", one)) for one in "abc"]
        assert left == [False, True, True]
    finally:
        store.close()
