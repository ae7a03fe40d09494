"""Files are told apart by content, and a fault of ours does not end the watching."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from sureline.adapters.policies import load_policy
from sureline.adapters.policies.watching import PolicyThread, content_stamp
from sureline.errors import PolicyError


class Watch:
    """Counts looks, and raises at each where it is told to."""

    def __init__(self, error: Exception | None = None) -> None:
        self.looks = 0
        self.error = error

    async def look(self) -> None:
        self.looks += 1
        if self.error is not None:
            raise self.error


def test_only_another_content_has_another_stamp(tmp_path: Path) -> None:
    """Touching, replacing and linking change nothing; a byte does, and a file that is gone."""
    path, link = tmp_path / "p.yaml", tmp_path / "link.yaml"
    path.write_text("a: 1\n")
    link.symlink_to(path)
    before = content_stamp(path)
    os.utime(path, (1, 1))
    (tmp_path / "new").write_text("a: 1\n")
    (tmp_path / "new").replace(path)
    assert content_stamp(path) == content_stamp(link) == before
    path.write_text("a: 2\n")
    assert content_stamp(path) == content_stamp(link) != before
    path.unlink()
    assert content_stamp(path) is content_stamp(link) is content_stamp(tmp_path) is None


def test_the_thread_looks_at_once_and_ends_when_told() -> None:
    """Leaving the block stops the thread after the look that it was at."""
    watch = Watch()
    with PolicyThread(watch, tick=3600):
        pass
    assert watch.looks == 1


def test_a_fault_of_ours_is_logged_and_the_next_look_comes(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The log has the kind of the fault, and nothing of any file."""
    watch = Watch(ValueError("a secret"))
    thread = PolicyThread(watch)
    with caplog.at_level(logging.WARNING):
        thread.look()
        thread.look()
    assert watch.looks == 2
    assert "ValueError" in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.parametrize("sound", [True, False], ids=["sound", "broken"])
def test_a_policy_tells_which_files_it_names(tmp_path: Path, sound: bool) -> None:
    """Also where it cannot be used, so that it is known whose change could mend it."""
    (tmp_path / "s.json").write_text('{"type": "object"}' if sound else "{")
    (tmp_path / "d.yaml").write_text("deductions:\n  - {id: a, points: 99, text: t}\n")
    (tmp_path / "p.yaml").write_text(
        "version: 1\nslices:\n  a:\n    output: {json_schema: s.json}\n"
        "    self_evaluation: {model: m, deductions: d.yaml}\n"
    )
    if sound:
        files = load_policy(tmp_path / "p.yaml").files
    else:
        with pytest.raises(PolicyError) as caught:
            load_policy(tmp_path / "p.yaml")
        files = caught.value.files
    assert files == (tmp_path / "d.yaml", tmp_path / "s.json")
