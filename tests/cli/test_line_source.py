"""Lines are taken as they come, and none waits for one that is not there."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from sureline.cli.line_source import LineSource, line_count


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(b"", [], id="empty"),
        pytest.param(b"a\nb\n", [(1, b"a"), (2, b"b")], id="two"),
        pytest.param(b"a\r\n\n  \nb", [(1, b"a"), (4, b"b")], id="blank, and no last end"),
        pytest.param(b"123456789\nb\n", [(1, b"123456"), (2, b"b")], id="overlong"),
        pytest.param(b"x" * 200_000 + b"\nb", [(1, b"xxxxxx"), (2, b"b")], id="over blocks"),
        pytest.param(b"a\x0bb\x85\n", [(1, b"a\x0bb\x85")], id="only line feeds end lines"),
    ],
)
def test_lines_keep_their_numbers(content: bytes, expected: list[tuple[int, bytes]]) -> None:
    """Blank lines count and are left out; of an overlong one the start is kept."""
    source = LineSource(io.BytesIO(content), longest=5)
    assert [line for batch in source.batches(64) for line in batch] == expected


def test_a_file_comes_in_full_batches(tmp_path: Path) -> None:
    """All lines of a file are there, so only the last batch is short."""
    path = tmp_path / "lines"
    path.write_bytes(b"".join(b"%d\n" % number for number in range(150)))
    with path.open("rb") as file:
        assert line_count(file) == 150
        batches = list(LineSource(file, longest=9).batches(64))
    assert [len(batch) for batch in batches] == [64, 64, 22]
    assert batches[2][-1] == (150, b"149")


def test_a_pipe_gives_what_is_there() -> None:
    """A line is given out while the pipe stays open, also with half of the next one behind it."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as stream, os.fdopen(writing, "wb", buffering=0) as pipe:
        batches = LineSource(stream, longest=99).batches(64)
        for sent, expected in (
            (b"one\n", [(1, b"one")]),
            (b"two\nthree\nfo", [(2, b"two"), (3, b"three")]),
            (b"ur\n", [(4, b"four")]),
        ):
            pipe.write(sent)
            assert next(batches) == expected
        pipe.write(b"".join(b"%d\n" % number for number in range(100)))
        pipe.close()
        assert [len(batch) for batch in batches] == [64, 36]
