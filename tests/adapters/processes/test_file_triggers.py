"""Triggers that are files: settled, by content, nothing lost."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from sureline.adapters.processes.file_triggers import FileTrigger, QueueTrigger

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_file_fires_by_content_once_it_has_settled(tmp_path: Path) -> None:
    """A half-written file waits, and a touch alone is no change."""
    path = tmp_path / "in.csv"
    trigger = FileTrigger(path)
    assert trigger.due(NOW, 0.0) is None
    path.write_text("half")
    assert trigger.due(NOW, 1.0) is None
    path.write_text("half and half")
    assert trigger.due(NOW, 2.0) is None
    firing = trigger.due(NOW, 3.1)
    assert firing is not None
    trigger.take(firing, NOW)
    assert trigger.due(NOW, 4.0) is None
    os.utime(path, (1, 1))
    assert [trigger.due(NOW, at) for at in (5.0, 6.1, 7.0)] == [None, None, None]


def test_of_two_missions_on_a_queue_one_has_a_file(tmp_path: Path) -> None:
    """A file is claimed by being moved; under a name that is taken it is kept all the same."""
    (tmp_path / "a").write_text("a")
    one, two = (QueueTrigger(directory=tmp_path, mission=name) for name in ("one", "two"))
    found = [trigger.due(NOW, at) for at in (0.0, 1.5) for trigger in (one, two)]
    assert found[:2] == [None, None]
    assert found[2] is not None
    assert found[3] is not None
    taken = one.take(found[2], NOW)
    assert taken is not None
    assert two.take(found[3], NOW) is None
    (tmp_path / "done").mkdir()
    (tmp_path / "done" / "a").write_text("older")
    one.done(taken, ok=True)
    kept = sorted((tmp_path / "done").iterdir())
    assert [path.read_text() for path in kept] == ["older", "a"]
