"""Whoever looks at missions sees that somebody was not told of them."""

from __future__ import annotations

from pathlib import Path

from sureline.adapters.storage.outbox_rows import put_notices
from tests.outbox.test_mission_notices import told
from tests.web.controlled import signed_in
from tests.web.served import REVIEWER, awaited, serve


def test_what_was_not_delivered_is_seen(tmp_path: Path) -> None:
    """A notice that waits is counted, one that failed for good is called a warning."""
    with serve(tmp_path) as served:
        store = served.services.store
        with signed_in(served, REVIEWER) as reviewer:
            assert "delivered" not in reviewer.get("/missions").text
            awaited(store.database.write(lambda one: put_notices(one, [told("a")])))
            now = served.clock.now()
            awaited(store.outbox.spread("default", lambda _: ["pager"], now=now, limit=9))
            assert "1 notice is still to be delivered" in reviewer.get("/missions").text
            awaited(store.outbox.close_channel("default", "pager", now=now, said="status_404"))
            page = reviewer.get("/missions").text
    assert "1 notice could not be delivered" in page
    assert "sureline outbox list --state dead" in page
