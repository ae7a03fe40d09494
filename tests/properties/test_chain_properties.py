"""The hash chain: what is whole verifies, what was touched is found where it was touched."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sureline.core.chain import (
    ZERO,
    ChainRow,
    FieldValue,
    Head,
    Payload,
    canonical_fields,
    payload_digest,
    row_hash,
)
from sureline.core.chain_export import export_line, read_export_line, verify_export
from sureline.core.chain_verification import ChainReport, ChainVerifier
from sureline.errors import InvalidInput

_values: st.SearchStrategy[FieldValue] = st.one_of(
    st.none(),
    st.text(max_size=8),
    st.integers(-(2**60), 2**60),
    st.floats(allow_nan=False, allow_infinity=False),
)
_fields = st.dictionaries(
    st.sampled_from(["route", "score", "workspace", "by", "größe"]), _values, max_size=4
)
_payloads = st.none() | st.builds(
    Payload,
    salt=st.binary(min_size=16, max_size=16),
    answer=st.binary(max_size=12),
    request=st.binary(max_size=12),
)
_contents = st.lists(st.tuples(_fields, st.binary(max_size=12), _payloads), min_size=1, max_size=8)

Content = tuple[dict[str, FieldValue], bytes, Payload | None]


def _chain(contents: list[Content]) -> list[ChainRow]:
    rows, previous = [], ZERO
    for seq, (fields, body, payload) in enumerate(contents, start=1):
        digest = ZERO if payload is None else payload.digest()
        previous = row_hash(previous, canonical_fields("s", seq, "decision", fields), body, digest)
        rows.append(
            ChainRow(
                stream="s",
                seq=seq,
                kind="decision",
                fields=fields,
                body=body,
                payload_digest=digest,
                hash=previous,
                payload=payload,
            )
        )
    return rows


def _verified(rows: list[ChainRow], expected: Head | None = None) -> ChainReport:
    verifier = ChainVerifier("s", expected=expected)
    for row in rows:
        if not verifier.add(row):
            break
    return verifier.finish()


@given(_contents)
def test_a_whole_chain_verifies(contents: list[Content]) -> None:
    """Whatever the rows hold, an untouched chain is whole, in the store and exported."""
    rows = _chain(contents)
    report = _verified(rows)
    assert report.ok
    assert report.head == Head(seq=len(rows), hash=rows[-1].hash)
    assert verify_export(map(export_line, rows)) == report


@given(_contents)
def test_an_exported_row_reads_back_the_same(contents: list[Content]) -> None:
    """No byte and no number changes on the way through a line of JSON."""
    for row in _chain(contents):
        read = read_export_line(export_line(row))
        present = {name: value for name, value in row.fields.items() if value is not None}
        assert read == replace(row, fields=present)


@given(_contents, st.data())
def test_a_changed_row_is_found_at_its_place(contents: list[Content], data: st.DataObject) -> None:
    """Changing anything of one row gives a fault at exactly that row."""
    rows = _chain(contents)
    place = data.draw(st.integers(0, len(rows) - 1))
    row = rows[place]
    flipped = bytes([row.hash[0] ^ 1]) + row.hash[1:]
    rows[place] = data.draw(
        st.sampled_from(
            [
                replace(row, fields={**row.fields, "route": "another route"}),
                replace(row, fields={**row.fields, "new": 0}),
                replace(row, body=row.body + b" "),
                replace(row, kind="outcome"),
                replace(row, hash=flipped),
                replace(row, payload_digest=flipped),
                replace(row, payload=Payload(salt=b"", answer=b"", request=b"x")),
            ]
        )
    )
    fault = _verified(rows).fault
    assert fault is not None
    assert fault.seq == place + 1


@given(_contents, st.data())
def test_a_removed_row_is_found(contents: list[Content], data: st.DataObject) -> None:
    """A gap is found where the row was; at the end only with an expected head."""
    rows = _chain(contents)
    head = Head(seq=len(rows), hash=rows[-1].hash)
    place = data.draw(st.integers(0, len(rows) - 1))
    del rows[place]
    fault = _verified(rows, expected=head).fault
    assert fault is not None
    assert fault.seq == place + 1
    assert _verified(rows).ok == (place == len(rows))


@given(_contents.filter(lambda contents: len(contents) > 1), st.data())
def test_swapped_rows_are_found(contents: list[Content], data: st.DataObject) -> None:
    """Two rows that trade places, even with their numbers fixed up, are found at the first."""
    rows = _chain(contents)
    low = data.draw(st.integers(0, len(rows) - 2))
    high = data.draw(st.integers(low + 1, len(rows) - 1))
    rows[low], rows[high] = rows[high], rows[low]
    if data.draw(st.booleans()):
        rows[low] = replace(rows[low], seq=low + 1)
        rows[high] = replace(rows[high], seq=high + 1)
    fault = _verified(rows).fault
    assert fault is not None
    assert fault.seq == low + 1


@given(_fields, st.integers(1, 9))
def test_a_later_column_changes_no_old_hash(fields: dict[str, FieldValue], seq: int) -> None:
    """A field that is None counts as absent."""
    plain = canonical_fields("s", seq, "decision", fields)
    assert canonical_fields("s", seq, "decision", {**fields, "later": None}) == plain


@given(st.binary(max_size=6), st.binary(min_size=1, max_size=6))
def test_a_payload_s_parts_are_kept_apart(answer: bytes, request: bytes) -> None:
    """Moving a byte from one part to the other gives another digest."""
    moved = payload_digest(b"salt", answer + request[:1], request[1:])
    assert moved != payload_digest(b"salt", answer, request)


@settings(max_examples=20)
@given(st.binary(min_size=16, max_size=16), st.binary(min_size=16, max_size=16))
def test_the_salt_hides_the_payload(salt: bytes, other: bytes) -> None:
    """The same payload has another digest under another salt."""
    same = payload_digest(salt, b"a", b"r") == payload_digest(other, b"a", b"r")
    assert same == (salt == other)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_json_cannot_carry_are_refused(value: float) -> None:
    """No row is ever hashed over a number that cannot be written down."""
    with pytest.raises(InvalidInput):
        canonical_fields("s", 1, "decision", {"score": value})


@given(st.lists(st.text(max_size=30), max_size=4))
def test_any_lines_give_a_report(lines: list[str]) -> None:
    """Whatever is offered as an export, verification answers and never passes rubbish."""
    report = verify_export(lines)
    assert report.ok == (not any(line.strip() for line in lines))


def test_a_row_s_hash_never_changes() -> None:
    """The recipe is part of the format: this hash was written by the first version."""
    row = _chain([({"route": "human_review", "score": 0.1}, b"{}", None)])[0]
    assert row.hash.hex() == "28f0211eeacf1f6c63acd37c176f0e6f22c5b92eb6f7886cae07c1039e0032d6"
