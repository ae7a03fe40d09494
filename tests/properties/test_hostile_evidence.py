"""Whatever stands in a file that somebody hands over, reading it ends with a sentence."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.core.chain import ZERO, ChainRow, Head, canonical_fields, row_hash
from sureline.core.chain_export import export_line, read_export_line, verify_export
from sureline.core.evidence import DERIVED, Period, PeriodViews
from sureline.core.evidence_manifest import Manifest, read_manifest
from sureline.core.signed_head import HeadsMet, HeadStatement, read_statement, store_identity
from sureline.errors import InvalidInput

AT = datetime(2026, 3, 1, tzinfo=UTC)
PERIOD = Period(workspace="default", since=AT, until=datetime(2026, 4, 1, tzinfo=UTC))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
DEEP = b"[" * 100_000


def _row(kind: str = "decision", body: bytes = b"{}") -> ChainRow:
    """Make a row as a forger would: its hash is right, whatever it says."""
    fields = {"workspace": "default"}
    return ChainRow(
        stream="common",
        seq=1,
        kind=kind,
        fields=fields,
        body=body,
        payload_digest=ZERO,
        hash=row_hash(ZERO, canonical_fields("common", 1, kind, fields), body, ZERO),
    )


@pytest.mark.parametrize(
    "change",
    [
        {"kind": ["decision"]},
        {"seq": "1"},
        {"seq": True},
        {"stream": ["common"]},
        {"hash": 5},
        {"fields": 7},
        {"payload": {"salt": 1}},
        {"body": None},
    ],
    ids=str,
)
def test_a_line_of_other_types_is_no_row(change: dict[str, Any]) -> None:
    """It is refused as a line, before anything is made of it."""
    line = json.dumps({**json.loads(export_line(_row())), **change})
    with pytest.raises(InvalidInput, match="not a line of a ledger export"):
        read_export_line(line)


@pytest.mark.parametrize("kind", ["erasure", "seal"])
def test_a_body_without_end_is_read_by_nobody(kind: str) -> None:
    """Brackets in brackets, where a list of rows or of heads is expected."""
    assert verify_export([export_line(_row(kind, DEEP))]).ok
    with pytest.raises(InvalidInput):
        read_export_line(DEEP.decode())


@given(
    kind=st.sampled_from(
        ["decision", "outcome", "activation", "calibration", "switch", "erasure", "other"]
    ),
    fields=st.dictionaries(
        st.sampled_from(
            ["id", "slice_key", "route", "audit", "source", "correct", "subject", "subject_kind"]
        ),
        JSON,
    ),
    moment=st.just(int(AT.timestamp()) * 1_000_000) | JSON,
)
def test_views_take_any_row(kind: str, fields: dict[str, Any], moment: Any) -> None:
    """Fields of any type are counted, listed or refused in words, never a crash."""
    names = ("created_at", "recorded_at", "at", "changed_at", "erased_at")
    views = PeriodViews(PERIOD, seed="s", sample=2)
    row = ChainRow(
        stream="common",
        seq=1,
        kind=kind,
        fields={"workspace": "default", **dict.fromkeys(names, moment), **fields},
        body=DEEP[:2_000],
        payload_digest=ZERO,
        hash=ZERO,
    )
    with suppress(InvalidInput):
        views.add(row)
        assert set(views.lines()) == set(DERIVED)


@given(st.binary(max_size=200) | JSON.map(lambda one: json.dumps(one).encode()))
def test_what_is_no_statement_or_manifest_is_said(data: bytes) -> None:
    """With the name of the file."""
    with pytest.raises(InvalidInput, match=r"h\.json"):
        read_statement(data, file="h.json")
    with pytest.raises(InvalidInput, match=r"h\.json"):
        read_manifest(data, file="h.json")


@given(st.sampled_from(["store", "from", "to", "seed", "sample", "streams", "files"]), JSON)
def test_a_manifest_with_other_values_is_said_or_the_same(name: str, value: Any) -> None:
    """What is read is written again byte by byte, or refused."""
    manifest = Manifest(
        version="1",
        store="s",
        period=PERIOD,
        seed="x",
        sample=1,
        payloads=False,
        streams={},
        files={},
    )
    content = {**json.loads(manifest.text()), name: value}
    data = (json.dumps(content, indent=2, sort_keys=True) + "\n").encode()
    with suppress(InvalidInput):
        assert read_manifest(data, file="m.json").text() == data


@given(st.lists(st.binary(min_size=32, max_size=32), min_size=1, max_size=3), st.integers(0, 5))
def test_a_statement_survives_its_file(hashes: list[bytes], seq: int) -> None:
    """What was written is read again, and signs the same bytes."""
    heads = {f"writer-{place}": Head(seq=seq, hash=one) for place, one in enumerate(hashes)}
    stated = HeadStatement(store=store_identity(b"secret"), at=AT, heads=heads)
    again = read_statement(stated.text().encode(), file="h.json")
    assert again == stated
    assert again.signed_bytes() == stated.signed_bytes()


def test_two_rows_at_the_place_of_a_head_are_told() -> None:
    """Though one of them fits: somebody put the other there."""
    met = HeadsMet(HeadStatement(store="s", at=AT, heads={"common": Head(seq=1, hash=b"a" * 32)}))
    met.look("common", 1, b"a" * 32)
    assert met.faults() == ()
    met.look("common", 1, b"b" * 32)
    assert met.contradicted
    assert len(met.faults()) == 1
