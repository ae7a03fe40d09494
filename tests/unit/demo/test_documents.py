"""Your own documents: columns are mapped, and what is wrong is said."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from sureline.adapters.policies import load_policy
from sureline.demo.documents import Columns, read_documents, slice_name
from sureline.errors import InvalidInput

ROW = {"id": "1/total", "doc": "1", "slice": "total", "source_text": "TOTAL 9.00", "output": "9.00"}


def written(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    """Write rows as JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_document_is_remembered_for_its_later_rows(tmp_path: Path) -> None:
    """A row without source takes that of its document's first row."""
    rows = [ROW | {"correct": 1}, ROW | {"id": "1/date", "source_text": "", "correct": 0}]
    material = read_documents(written(tmp_path / "d.jsonl", rows), Columns())
    assert [item.source for item in material.items] == ["TOTAL 9.00", "TOTAL 9.00"]
    assert [item.correct for item in material.items] == [True, False]
    assert material.items[0].output == {"value": "9.00"}


def test_columns_can_be_named(tmp_path: Path) -> None:
    """Any column names will do, and only output and label must be there."""
    path = written(tmp_path / "d.jsonl", [{"answer": "a", "ok": True}])
    material = read_documents(path, Columns.parse(["output=answer", "correct=ok"]))
    assert material.items[0].slice_key == "documents"


def test_policy_that_fits_can_be_used(tmp_path: Path) -> None:
    """The policy written for a file is valid and log-only, with one slice per kind of output."""
    rows = [ROW | {"correct": 1}, ROW | {"id": "b", "slice": "ship to", "correct": 1}]
    material = read_documents(written(tmp_path / "d.jsonl", rows), Columns())
    policy = tmp_path / "policy.yaml"
    policy.write_text(material.policy, encoding="utf-8")
    loaded = load_policy(policy).policy
    assert set(loaded.slices) == {"total", "ship-to"}
    assert {one.mode.value for one in loaded.slices.values()} == {"log_only"}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        pytest.param([ROW], "expected a column 'correct'", id="no-label-column"),
        pytest.param([{"correct": 1}], "expected a column 'output'", id="no-output-column"),
        pytest.param([ROW | {"correct": 2}], "expected 0 or 1 as label, found 2", id="label"),
        pytest.param([ROW | {"correct": None}], "found None", id="null-label"),
        pytest.param([ROW | {"correct": 1}] * 2, "the id '1/total' is here twice", id="id-twice"),
        pytest.param([ROW | {"correct": 1, "source_text": 5}], "expected text as source", id="src"),
    ],
)
def test_bad_file_is_refused_by_place(
    rows: Sequence[Mapping[str, object]], said: str, tmp_path: Path
) -> None:
    """The message names the file and what was expected."""
    with pytest.raises(InvalidInput, match=said) as caught:
        read_documents(written(tmp_path / "d.jsonl", rows), Columns())
    assert "d.jsonl" in str(caught.value)


@pytest.mark.parametrize("pair", ["output", "=x", "output=", "nonsense=x"])
def test_bad_column_pair_is_refused(pair: str) -> None:
    """A pair that cannot be read names the known ones."""
    with pytest.raises(InvalidInput, match="expected NAME=COLUMN"):
        Columns.parse([pair])


@pytest.mark.parametrize(
    ("text", "name"),
    [("total", "total"), ("ship to!", "ship-to"), ("///", "documents"), ("日付", "日付")],
)
def test_any_text_gives_a_slice_name(text: str, name: str) -> None:
    """What a policy would refuse as a name is replaced."""
    assert slice_name(text) == name
