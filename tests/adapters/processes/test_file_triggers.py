"""Triggers that are files: settled, by content, nothing lost."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sureline.adapters.processes.file_triggers import FileTrigger, QueueTrigger
from sureline.errors import InvalidInput

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
    (tmp_path / "done" / "a").write_text("older")
    one.done(taken, ok=True)
    kept = sorted((tmp_path / "done").iterdir())
    assert [path.read_text() for path in kept] == ["older", "a"]


def test_of_two_programs_of_a_mission_one_has_a_file(tmp_path: Path) -> None:
    """While one works on what is claimed the other takes nothing, nor what is gone afterwards."""
    (tmp_path / "a").write_text("a")
    one, two = (QueueTrigger(directory=tmp_path, mission="m") for _ in range(2))
    found = [trigger.due(NOW, at) for at in (0.0, 1.5) for trigger in (one, two)][2]
    assert found is not None
    taken = one.take(found, NOW)
    assert taken is not None
    same = two.due(NOW, 2.0)
    assert same is not None
    assert two.take(same, NOW) is None
    one.done(taken, ok=None)
    assert two.take(same, NOW) == same
    two.done(same, ok=True)
    assert one.take(same, NOW) is None
    assert (tmp_path / "done" / "a").exists()


def test_a_name_that_is_no_utf_8_can_be_stored(tmp_path: Path) -> None:
    """The reason has a name that can be; the file is handled by its own."""
    path = os.fsencode(tmp_path) + b"/a\xff"
    Path(os.fsdecode(path)).write_text("a")
    queue = QueueTrigger(directory=tmp_path, mission="m")
    assert queue.due(NOW, 0.0) is None
    firing = queue.due(NOW, 1.5)
    assert firing is not None
    taken = queue.take(firing, NOW)
    assert taken is not None
    assert (taken.name, taken.file is not None) == ("file a?", True)
    queue.done(taken, ok=True)
    assert [os.fsencode(one.name) for one in (tmp_path / "done").iterdir()] == [b"a\xff"]


@pytest.mark.parametrize("name", ["done", "failed", "claimed"])
def test_a_file_in_place_of_a_folder_is_said_before_anything_begins(
    name: str, tmp_path: Path
) -> None:
    """The error names its path, and the file to be worked off stays where it is."""
    (tmp_path / "z").write_text("z")
    (tmp_path / name).write_text("no folder")
    os.utime(tmp_path / "z", (1, 1))
    queue = QueueTrigger(directory=tmp_path, mission="m")
    with pytest.raises(InvalidInput, match=f"/{name}"):
        _taken(queue)
    assert (tmp_path / "z").exists()


def _taken(queue: QueueTrigger) -> None:
    for at in (0.0, 1.5):
        firing = queue.due(NOW, at)
        if firing is not None:
            queue.take(firing, NOW)
