"""Readers of CSV, JSONL and Parquet files."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sureline.adapters.tables import open_table
from sureline.adapters.tables.csv_table import CsvTable
from sureline.adapters.tables.jsonl_table import JsonlTable
from sureline.adapters.tables.lines import CHUNK
from sureline.adapters.tables.parquet_table import ParquetTable
from sureline.errors import InvalidInput, MissingExtra

CSV = b"model,score,ok\na,0.9,1\nb,0.8,0\na,0.7,1\n"
JSONL = (
    b'{"model": "a", "score": 0.9, "ok": true}\n\n'
    b'{"model": "b", "score": 0.8, "ok": false}\n'
    b'{"model": "a", "score": 0.7, "ok": true}\n'
)


def written(folder: Path, name: str, content: bytes) -> Path:
    """Write a file and return its path."""
    path = folder / name
    path.write_bytes(content)
    return path


def parquet(folder: Path, name: str = "t.parquet", rows: int = 3) -> Path:
    """Write a Parquet file of `rows` rows."""
    columns = {
        "model": ["a" if i % 2 == 0 else "b" for i in range(rows)],
        "score": [0.9 - 0.1 * (i % 3) for i in range(rows)],
        "ok": [i % 2 == 0 for i in range(rows)],
    }
    pq.write_table(pa.table(columns), folder / name)
    return folder / name


def read(path: Path, columns: list | None, where: tuple = ()) -> tuple[list, dict[str, list]]:
    """Return all places and columns of a file."""
    places: list = []
    values: dict[str, list] = {}
    for chunk in open_table(path).chunks(columns, where):
        places += chunk.places
        for name, part in chunk.columns.items():
            values.setdefault(name, []).extend(part)
    return places, values


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        pytest.param("t.csv", CSV, CsvTable, id="csv"),
        pytest.param("t.txt", CSV, CsvTable, id="csv-by-content"),
        pytest.param("t.jsonl", JSONL, JsonlTable, id="jsonl"),
        pytest.param("t.ndjson", JSONL, JsonlTable, id="ndjson"),
        pytest.param("t.log", b"\xef\xbb\xbf " + JSONL, JsonlTable, id="jsonl-by-content"),
        pytest.param("t.parquet", b"not parquet", ParquetTable, id="parquet-by-name"),
        pytest.param("t.bin", b"PAR1....", ParquetTable, id="parquet-by-content"),
    ],
)
def test_the_reader_is_chosen_by_content_and_name(
    tmp_path: Path, name: str, content: bytes, kind: type
) -> None:
    """First bytes and extension decide; neither has to be right alone."""
    assert isinstance(open_table(written(tmp_path, name, content)), kind)


def test_a_csv_row_has_its_line(tmp_path: Path) -> None:
    """CSV values are texts, and places are line numbers."""
    places, values = read(written(tmp_path, "t.csv", CSV), ["score", "ok"])
    assert places == [2, 3, 4]
    assert values == {"score": ["0.9", "0.8", "0.7"], "ok": ["1", "0", "1"]}


def test_a_json_line_keeps_its_types(tmp_path: Path) -> None:
    """JSONL values keep their types; blank lines are no rows but count as lines."""
    places, values = read(written(tmp_path, "t.jsonl", JSONL), ["score", "ok"])
    assert places == [1, 3, 4]
    assert values == {"score": [0.9, 0.8, 0.7], "ok": [True, False, True]}


def test_parquet_rows_are_counted_over_chunks(tmp_path: Path) -> None:
    """A file longer than a chunk is read in several, with row numbers running on."""
    rows = CHUNK + 5
    chunks = list(open_table(parquet(tmp_path, rows=rows)).chunks(["ok"]))
    assert [len(chunk.places) for chunk in chunks] == [CHUNK, 5]
    assert list(chunks[1].places) == list(range(CHUNK + 1, rows + 1))


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_long_texts_are_read_in_chunks(tmp_path: Path, kind: str) -> None:
    """A text file longer than a chunk is read in several."""
    row = b"0.5,1\n" if kind == "csv" else b'{"s": 0.5, "y": 1}\n'
    head = b"s,y\n" if kind == "csv" else b""
    path = written(tmp_path, f"t.{kind}", head + row * (CHUNK + 1))
    chunks = list(open_table(path).chunks(None))
    assert [len(chunk.places) for chunk in chunks] == [CHUNK, 1]
    assert set(chunks[0].columns) == {"s", "y"}


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(CSV, id="unix"),
        pytest.param(CSV.replace(b"\n", b"\r\n"), id="windows"),
        pytest.param(b"\xef\xbb\xbf" + CSV, id="byte-order-mark"),
        pytest.param(CSV.replace(b",", b";"), id="semicolons"),
        pytest.param(CSV.replace(b",", b"\t"), id="tabs"),
        pytest.param(CSV.replace(b"a,", b'"a",'), id="quotes"),
        pytest.param(CSV.rstrip(), id="no-last-newline"),
    ],
)
def test_usual_csv_is_read(tmp_path: Path, content: bytes) -> None:
    """Line ends, marks, separators and quotes as programs write them make no difference."""
    _, values = read(written(tmp_path, "t.csv", content), ["model", "score"])
    assert values == {"model": ["a", "b", "a"], "score": ["0.9", "0.8", "0.7"]}


def test_lines_are_counted_through_blank_and_long_ones(tmp_path: Path) -> None:
    """A blank line before the header, between rows or inside quotes is a line of the file."""
    content = b'\nmodel,score\na,0.9\n\n"b\nb",0.8\nc,0.7\n'
    places, values = read(written(tmp_path, "t.csv", content), None)
    assert places == [3, 6, 7]
    assert values["model"] == ["a", "b\nb", "c"]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    ("where", "scores"),
    [
        pytest.param((("model", "a"),), [0.9, 0.7], id="one"),
        pytest.param((("model", "a"), ("score", "0.9")), [0.9], id="two"),
    ],
)
def test_where_keeps_matching_rows(tmp_path: Path, kind: str, where: tuple, scores: list) -> None:
    """Conditions compare texts, whatever the format's types, and all must hold."""
    path = (
        parquet(tmp_path)
        if kind == "parquet"
        else written(tmp_path, f"t.{kind}", CSV if kind == "csv" else JSONL)
    )
    _, values = read(path, ["score"], where)
    assert [float(score) for score in values["score"]] == pytest.approx(scores)


def test_where_compares_truth_values_by_name(tmp_path: Path) -> None:
    """A boolean is `true` or `false`."""
    _, values = read(parquet(tmp_path), ["model"], (("ok", "false"),))
    assert values["model"] == ["b"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        pytest.param("t.csv", b"", "empty", id="empty"),
        pytest.param("t.csv", b" \n\n", "empty", id="blank"),
        pytest.param("t.csv", b"model,score,ok\n", "no rows", id="header-only"),
        pytest.param("t.csv", CSV.replace(b"score", b"points"), "no column 'score'", id="column"),
        pytest.param("t.csv", CSV + b"c,0.5\n", "line 5: expected 3 fields", id="short-row"),
        pytest.param("t.csv", CSV + b"c,0.5,1,1\n", "line 5: .*got 4", id="long-row"),
        pytest.param("t.csv", CSV + b"c,\xff,1\n", "line 5: expected UTF-8.*0xff", id="bytes"),
        pytest.param("t.csv", CSV + b'c,"0.5,1\n', "line 5: expected CSV", id="open-quote"),
        pytest.param("t.csv", b"ok,ok\n1,1\n", "'ok' appears more than once", id="twice"),
        pytest.param("t.csv.gz", b"\x1f\x8b\x08", "compressed", id="gzip"),
        pytest.param("t.json", b'[{"a": 1}]', "JSON array", id="array"),
        pytest.param("t.jsonl", JSONL + b"{\n", "line 5: expected a JSON object", id="broken"),
        pytest.param("t.jsonl", JSONL + b"[1]\n", "line 5: .*got list", id="not-an-object"),
        pytest.param("t.jsonl", JSONL + b'{"ok": 1}\n', "line 5: no key 'score'", id="no-key"),
        pytest.param(
            "t.jsonl", b'{"score": NaN, "ok": 1}\n', "line 1: .*NaN is not JSON", id="nan"
        ),
        pytest.param("t.jsonl", b'{"a":' * 90_000, "line 1: expected", id="deep"),
        pytest.param("t.parquet", b"not parquet", "expected a Parquet file", id="not-parquet"),
        pytest.param("t.parquet", b"PAR1" + b"\0" * 40, "expected a Parquet file", id="damaged"),
    ],
)
def test_a_bad_file_is_named_with_what_was_expected(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    """Every fault names the file, the line where there is one, and what was expected."""
    path = written(tmp_path, name, content)
    with pytest.raises(InvalidInput, match=message) as caught:
        read(path, ["score", "ok"])
    assert path.name in caught.value.message


def test_an_absent_file_is_an_error(tmp_path: Path) -> None:
    """A file that is not there, or a folder, is refused by name."""
    for path in (tmp_path / "absent.csv", tmp_path):
        with pytest.raises(InvalidInput, match="cannot open"):
            open_table(path)


def test_nothing_left_names_what_there_is(tmp_path: Path) -> None:
    """A condition that no row meets says which values the column has."""
    path = written(tmp_path, "t.csv", CSV)
    with pytest.raises(InvalidInput, match="no row with model=c; model is one of a, b"):
        read(path, ["score"], (("model", "c"),))
    with pytest.raises(InvalidInput, match="no column 'vendor'"):
        read(path, ["score"], (("vendor", "c"),))


def test_parquet_without_its_library_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A missing library is a missing extra, not a crash."""
    path = parquet(tmp_path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"sureline\[parquet\]"):
        read(path, ["score"])
