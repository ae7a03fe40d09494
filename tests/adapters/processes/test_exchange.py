"""The files between a supervisor and what it starts, whatever that does to them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sureline.adapters.processes.exchange import FileExchange
from sureline.errors import InvalidInput


def _gone(context: Path, evidence: Path) -> None:
    shutil.rmtree(evidence.parent)


def _pipes(context: Path, evidence: Path) -> None:
    context.unlink()
    os.mkfifo(context)
    os.mkfifo(evidence)


def _folders(context: Path, evidence: Path) -> None:
    context.unlink()
    context.mkdir()
    evidence.mkdir()


def _link(context: Path, evidence: Path) -> None:
    evidence.symlink_to("/etc/hostname")


def _pipe_for_folder(context: Path, evidence: Path) -> None:
    shutil.rmtree(evidence.parent)
    os.mkfifo(evidence.parent)


def _too_much(context: Path, evidence: Path) -> None:
    with evidence.open("wb") as opened:
        opened.truncate(64 * 1024 * 1024 + 1)


@pytest.mark.parametrize(
    "does",
    [_gone, _pipes, _folders, _link, _pipe_for_folder, _too_much],
    ids=lambda one: one.__name__,
)
def test_what_a_command_puts_in_place_of_the_files_stops_nothing(
    does: Callable[[Path, Path], None],
) -> None:
    """It is evidence that cannot be read, and the next invocation has files of its own."""
    exchange = FileExchange()
    first = exchange.hand("one")
    does(Path(first.context), Path(first.evidence))
    with pytest.raises(InvalidInput, match="evidence"):
        exchange.evidence()
    second = exchange.hand("two")
    assert Path(second.context).read_text() == "two\n"
    assert exchange.evidence() is None
    Path(second.evidence).write_bytes(b"{}")
    assert exchange.evidence() == b"{}"
    exchange.close()
    assert not Path(second.context).parent.exists()
    _remains(Path(first.context).parent)


def _remains(folder: Path) -> None:
    """Remove what stands where a folder was, which is not ours to remove any more."""
    if folder.is_fifo():
        folder.unlink()
    assert not folder.exists()


def test_a_disk_that_takes_nothing_is_said_with_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder for temporary files is gone: the error names it."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(InvalidInput, match="nowhere"):
        FileExchange().hand("one")
