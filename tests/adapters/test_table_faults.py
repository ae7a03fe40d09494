"""Readers that go on past a row which cannot be read, and that say how much there is."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sureline.adapters.tables import open_table
from sureline.errors import InvalidInput

CSV = b'a,b\n1,2\n3\n\xff,4\n"5"x,6\n5,6\n'
JSONL = b'{"a": 1, "b": 2}\nnonsense\n\n{"a": 3}\n[1]\n{"a": 5, "b": 6}\n'
NAN = b'{"a": 1, "b": NaN}\n{"a": 5, "b": 6}\n'


@pytest.mark.parametrize(
    ("name", "content", "kept", "faults"),
    [
        pytest.param("t.csv", CSV, [["1", "2"], ["5", "6"]], [3, 4, 5], id="csv"),
        pytest.param(
            "t.csv", b'a,b\n1,"2\n3,4\n5,6\n', [["3", "4"], ["5", "6"]], [2], id="csv, open quote"
        ),
        pytest.param(
            "t.csv",
            b'a,b\n1,"2 "x\ntold",yes\n3,"""4"""\n5,"6\n7"\n',
            [["3", '"4"'], ["5", "6\n7"]],
            [2, 3],
            id="csv, the rest of a broken text is no row",
        ),
        pytest.param(
            "t.csv", b'a,b\n1,"x\n\xff"\n5,6\n', [["5", "6"]], [2, 3], id="csv, bytes inside a text"
        ),
        pytest.param("t.csv", b"a,b\n1\n2\n", [], [2, 3], id="csv, nothing else"),
        pytest.param("t.jsonl", JSONL, [[1, 2], [5, 6]], [2, 4, 5], id="jsonl"),
        pytest.param("t.jsonl", NAN, [[5, 6]], [1], id="jsonl, nan first"),
        pytest.param("t.jsonl", b'{"a": 1}\n' + NAN, [[5, 6]], [1, 2], id="jsonl, no key first"),
        pytest.param("t.jsonl", b"nonsense\n", [], [1], id="jsonl, nothing else"),
        pytest.param(
            "t.jsonl",
            b'{"a": 1, "b": 2, "a": 3}\n{"a": 5, "b": 6}\n',
            [[5, 6]],
            [1],
            id="jsonl, a key twice",
        ),
    ],
)
def test_faults_are_told_with_their_places(
    name: str, content: bytes, kept: list[list[object]], faults: list[int], tmp_path: Path
) -> None:
    """The rows around a fault are read; its place and reason are told."""
    (tmp_path / name).write_bytes(content)
    table, told = open_table(tmp_path / name), {}
    chunks = table.chunks(["a", "b"], on_fault=lambda place, error: told.update({place: error}))
    rows = [list(row) for chunk in chunks for row in zip(*chunk.columns.values(), strict=True)]
    assert rows == kept
    assert sorted(told) == faults
    assert all("expected" in str(error) or "no key" in str(error) for error in told.values())


def test_a_long_field_is_read(tmp_path: Path) -> None:
    """A source may be as long as a proposal's."""
    (tmp_path / "t.csv").write_text("a,b\n1," + "x" * 1_900_000 + "\n")
    (chunk,) = open_table(tmp_path / "t.csv").chunks(["b"])
    assert len(chunk.columns["b"][0]) == 1_900_000


@pytest.mark.parametrize(("name", "content"), [("t.csv", CSV), ("t.jsonl", JSONL)])
def test_without_a_listener_the_first_fault_is_raised(
    name: str, content: bytes, tmp_path: Path
) -> None:
    """Nothing is skipped where nobody would hear of it."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInput, match=r"line [23]"):
        list(open_table(tmp_path / name).chunks(["a", "b"]))


def test_the_number_of_rows_is_estimated(tmp_path: Path) -> None:
    """Lines without the header, lines, or what a Parquet file says of itself."""
    (tmp_path / "t.csv").write_bytes(CSV)
    (tmp_path / "t.jsonl").write_bytes(JSONL.rstrip())
    pq.write_table(pa.table({"a": [1, 2, 3]}), tmp_path / "t.parquet")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and nothing else")
    names = ("t.csv", "t.jsonl", "t.parquet", "broken.parquet")
    assert [open_table(tmp_path / name).estimated_rows() for name in names] == [5, 6, 3, 0]
