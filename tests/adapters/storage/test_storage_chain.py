"""What verification finds in a store that someone has been at, and what it lets pass."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from sureline.adapters.storage.store import open_store
from sureline.application.ports.registry import Activation
from sureline.core.chain import Head
from sureline.core.chain_export import verify_export
from sureline.core.chain_verification import ChainReport, FaultKind
from sureline.core.values.outcome import Action
from sureline.errors import InvalidInput
from tests.adapters.storage.samples import NOON, outcome, record, switch

Tamper = Callable[[sqlite3.Connection], None]


async def _fill(path: Path) -> None:
    """Write twelve rows: ten of all kinds, then an erasure of decision d2, then a decision."""
    store = open_store(f"sqlite:///{path}")
    ledger, registry = store.ledger, store.registry
    for number in range(1, 5):
        await ledger.append(record(number))
    await ledger.record_outcome(outcome("o1", "d2", comment="about Acme"))
    await ledger.record_outcome(outcome("o2", "d1", action=Action.REJECT, correct=False))
    await ledger.set_switch(switch())
    await registry.propose_policy("p" * 64, '{"version": 1}', NOON)
    await registry.activate(
        Activation(workspace="default", kind="policy", subject="p" * 64, by="kim", at=NOON)
    )
    await registry.save_calibration(calibration_id="c1", workspace="default", body=b"{}", at=NOON)
    await ledger.erase("default", "d2", by="kim", reason="asked", at=NOON)
    await ledger.append(record(5, vector=None))
    store.close()


def _tampered(path: Path, tamper: Tamper) -> None:
    """Change the file as someone with full access would: triggers first."""
    connection = sqlite3.connect(path)
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
        connection.execute(f"DROP TRIGGER {name}")
    tamper(connection)
    connection.commit()
    connection.close()


async def _verified(path: Path, **options: Head) -> ChainReport:
    store = open_store(f"sqlite:///{path}")
    report = await store.ledger.verify(**options)
    store.close()
    return report


def _run(*statements: str) -> Tamper:
    def tamper(connection: sqlite3.Connection) -> None:
        for statement in statements:
            connection.execute(statement)

    return tamper


def _swap(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE decisions SET seq = 100 WHERE seq = 3")
    connection.execute("UPDATE decisions SET seq = 3 WHERE seq = 4")
    connection.execute("UPDATE decisions SET seq = 4 WHERE seq = 100")


async def test_an_untouched_store_verifies(path: Path) -> None:
    """Every kind of row is in the chain, and an erasure on record is no fault (O15)."""
    await _fill(path)
    report = await _verified(path)
    assert report.ok
    assert (report.rows, report.head.seq, report.erased) == (12, 12, 2)
    assert any("end" in spot for spot in report.cannot_see)


async def test_an_empty_store_verifies() -> None:
    """No rows are a whole chain."""
    store = open_store("sqlite://")
    report = await store.ledger.verify()
    store.close()
    assert (report.ok, report.rows, report.head) == (True, 0, Head())


@pytest.mark.parametrize(
    ("tamper", "kind", "seq"),
    [
        (_run("UPDATE decisions SET route = 'auto_approve' WHERE seq = 3"), "changed", 3),
        (_run("UPDATE decisions SET score = 0.99 WHERE seq = 3"), "changed", 3),
        (_run("UPDATE decisions SET workspace = 'b' WHERE seq = 3"), "changed", 3),
        (_run("UPDATE decisions SET audit = 1 WHERE seq = 3"), "changed", 3),
        (_run("UPDATE decisions SET body = '{}' WHERE seq = 3"), "changed", 3),
        (_run("UPDATE decisions SET score = NULL WHERE seq = 3"), "changed", 3),
        (_run("UPDATE decisions SET score = 9e999 WHERE seq = 3"), "changed", 3),
        (_run("UPDATE decisions SET route = CAST(X'FF' AS TEXT) WHERE seq = 3"), "changed", 3),
        (_run("UPDATE decisions SET body = 7 WHERE seq = 3"), "changed", 3),
        (_run("UPDATE outcomes SET correct = 0 WHERE seq = 5"), "changed", 5),
        (_run("UPDATE outcomes SET \"by\" = 'lee' WHERE seq = 6"), "changed", 6),
        (_run('UPDATE switches SET "on" = 0'), "changed", 7),
        (_run("UPDATE policies SET body = '{}'"), "changed", 8),
        (_run("UPDATE activations SET note = 'x'"), "changed", 9),
        (_run("UPDATE calibrations SET body = 'x'"), "changed", 10),
        (_run("UPDATE erasures SET reason = 'x'"), "changed", 11),
        (_run("UPDATE decisions SET hash = zeroblob(32) WHERE seq = 3"), "changed", 3),
        (_run("UPDATE decisions SET payload_digest = zeroblob(32) WHERE seq = 3"), "changed", 3),
        (_swap, "changed", 3),
        (_run("DELETE FROM decisions WHERE seq = 1"), "missing", 1),
        (_run("DELETE FROM decisions WHERE seq = 3"), "missing", 3),
        (_run("DELETE FROM erasures"), "missing", 11),
        (_run("DELETE FROM decisions WHERE seq > 11"), "cut", 12),
        (
            _run(
                "CREATE TABLE c AS SELECT * FROM decisions WHERE seq = 4",
                "UPDATE c SET seq = 12, id = 'copy'",
                "DELETE FROM decisions WHERE seq = 12",
                "INSERT INTO decisions SELECT * FROM c",
            ),
            "changed",
            12,
        ),
        (
            _run(
                "CREATE TABLE c AS SELECT * FROM switches",
                "UPDATE c SET seq = 13",
                "INSERT INTO switches SELECT * FROM c",
            ),
            "changed",
            13,
        ),
        (_run("UPDATE payloads SET answer = '{}' WHERE seq = 3"), "payload_changed", 3),
        (_run("UPDATE payloads SET salt = zeroblob(16) WHERE seq = 3"), "payload_changed", 3),
        (_run("DELETE FROM payloads WHERE seq = 3"), "payload_missing", 3),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
async def test_tampering_is_found_at_its_row(
    path: Path, tamper: Tamper, kind: str, seq: int
) -> None:
    """The report names the first row that is not what was written."""
    await _fill(path)
    _tampered(path, tamper)
    report = await _verified(path)
    assert report.fault is not None
    assert not report.ok
    assert (report.fault.kind, report.fault.seq) == (kind, seq)
    assert f"{seq}" in report.fault.message
    store = open_store(f"sqlite:///{path}")
    offline = verify_export(store.ledger.export())
    store.close()
    # An export ends at the recorded head and at the last row: it shows no more than that.
    assert offline.fault == (None if seq == 13 or kind == "cut" else report.fault)


def _alter_and_rebuild_on_it(connection: sqlite3.Connection) -> None:
    """Change row 3 and recompute its own hash, as if the rest were a harmless fork (O26)."""
    connection.execute(
        "UPDATE decisions SET route = 'auto_approve', hash = randomblob(32) WHERE seq = 3"
    )


async def test_a_broken_row_is_no_anchor(path: Path) -> None:
    """A row that was changed together with its hash is still the first fault."""
    await _fill(path)
    _tampered(path, _alter_and_rebuild_on_it)
    report = await _verified(path)
    assert report.fault is not None
    assert report.fault.seq == 3


async def test_a_cut_tail_with_an_edited_head_needs_an_expected_head(path: Path) -> None:
    """What verification alone cannot see, a head written down elsewhere shows."""
    await _fill(path)
    head = (await _verified(path)).head
    _tampered(
        path,
        _run(
            "DELETE FROM decisions WHERE seq = 12",
            "UPDATE heads SET seq = 11, hash = (SELECT hash FROM erasures WHERE seq = 11)",
        ),
    )
    blind = await _verified(path)
    assert blind.ok
    assert blind.cannot_see
    seen = await _verified(path, expected=Head.parse(str(head)))
    assert seen.fault is not None
    assert seen.fault.kind is FaultKind.CUT


async def test_an_expected_head_inside_the_chain_is_passed_through(path: Path) -> None:
    """A head noted a while ago must be met, with its hash."""
    await _fill(path)
    with sqlite3.connect(path) as connection:
        (digest,) = connection.execute("SELECT hash FROM switches").fetchone()
    connection.close()
    assert (await _verified(path, expected=Head(seq=7, hash=digest))).ok
    other = await _verified(path, expected=Head(seq=7, hash=bytes(32)))
    assert other.fault is not None
    assert other.fault.seq == 7


async def test_the_tail_alone_can_be_verified(path: Path) -> None:
    """From a head that was verified before, only the rows after it are read."""
    await _fill(path)
    with sqlite3.connect(path) as connection:
        (digest,) = connection.execute("SELECT hash FROM switches").fetchone()
    connection.close()
    report = await _verified(path, start=Head(seq=7, hash=digest))
    assert (report.ok, report.rows) == (True, 5)
    assert any("before" in spot for spot in report.cannot_see)
    assert not (await _verified(path, start=Head(seq=7, hash=bytes(32)))).ok


@pytest.mark.parametrize(
    ("edit", "kind"),
    [
        (lambda lines: lines[:2] + lines[3:], "missing"),
        (lambda lines: [*lines[:2], lines[3], lines[2], *lines[4:]], "missing"),
        (lambda lines: [*lines[:3], lines[2], *lines[3:]], "extra"),
        (lambda lines: [lines[0].replace("human_review", "auto_approve"), *lines[1:]], "changed"),
        (lambda lines: [lines[0].replace("Acme", "Evil"), *lines[1:]], "payload_changed"),
        (lambda lines: [lines[0].replace('"common"', '"other"'), *lines[1:]], "changed"),
        (lambda lines: [lines[0][:-9], *lines[1:]], "unreadable"),
        (lambda lines: [*lines[:5], "[]"], "unreadable"),
        (lambda lines: [lines[0], '{"stream": 1}'], "unreadable"),
    ],
    ids=["removed", "swapped", "twice", "row", "payload", "stream", "torn", "no object", "no row"],
)
async def test_an_export_is_verified_without_its_store(
    path: Path, edit: Callable[[list[str]], list[str]], kind: str
) -> None:
    """The exported lines carry all that verification needs."""
    await _fill(path)
    store = open_store(f"sqlite:///{path}")
    lines = list(store.ledger.export())
    store.close()
    assert verify_export(lines).ok
    assert verify_export([]).ok
    assert verify_export(["\n", *lines, ""]).rows == 12
    report = verify_export(edit(lines))
    assert report.fault is not None
    assert report.fault.kind == kind


async def test_an_export_without_payloads_says_so(path: Path) -> None:
    """It quotes nothing, verifies, and states what it left out."""
    await _fill(path)
    store = open_store(f"sqlite:///{path}")
    lines = list(store.ledger.export(payloads=False))
    store.close()
    assert "Acme" not in "".join(lines)
    report = verify_export(lines)
    assert report.ok
    assert any("payloads" in spot for spot in report.cannot_see)
    assert all(json.loads(line)["hash"] for line in lines)


async def test_verification_beside_writers_raises_no_false_alarm(path: Path) -> None:
    """Rows and erasures that come while it reads are no fault."""
    store = open_store(f"sqlite:///{path}")
    await asyncio.gather(*(store.ledger.append(record(number)) for number in range(120)))

    async def erase() -> None:
        for number in range(0, 120, 3):
            await store.ledger.erase("default", f"d{number}", by="kim", reason="asked", at=NOON)

    erasing = asyncio.create_task(erase())
    while not erasing.done():
        assert (await store.ledger.verify()).ok
        assert verify_export(store.ledger.export()).ok
        await asyncio.sleep(0)
    await erasing
    assert (await store.ledger.verify()).erased == 40
    store.close()


async def test_an_erased_text_is_nowhere_in_the_files(path: Path) -> None:
    """No table, free page or log keeps what was erased (O16)."""
    marker = b"Mme Zyx-7731"
    store = open_store(f"sqlite:///{path}")
    await store.ledger.append(
        record(answer=marker, request=b'{"task": "' + marker + b'"}', vector=marker * 4)
    )
    await store.ledger.record_outcome(outcome(comment=marker.decode()))
    await store.ledger.append(record(2))
    kept = b"".join(file.read_bytes() for file in path.parent.iterdir())
    await store.ledger.erase("default", "d1", by="kim", reason="asked", at=NOON)
    left = b"".join(file.read_bytes() for file in path.parent.iterdir())
    store.close()
    assert marker in kept
    assert marker not in left


async def test_an_erasure_is_scrubbed_once_the_reader_is_gone(path: Path) -> None:
    """A reader that is in the way delays the emptying of the log, no more."""
    marker = b"Mme Zyx-7731"
    store = open_store(f"sqlite:///{path}")
    await store.ledger.append(record(answer=marker))
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM decisions").fetchone()
    assert await store.ledger.erase("default", "d1", by="kim", reason="asked", at=NOON)
    assert await store.ledger.decision("default", "d1") is not None
    reader.close()
    await store.ledger.append(record(2))
    left = b"".join(file.read_bytes() for file in path.parent.iterdir())
    store.close()
    assert marker not in left


async def test_the_log_stays_small(path: Path) -> None:
    """Our own readers never keep the write-ahead log from being emptied (O03)."""
    store = open_store(f"sqlite:///{path}")
    for start in range(0, 300, 50):
        await asyncio.gather(
            *(
                store.ledger.append(record(start + number, request=b"r" * 100_000))
                for number in range(50)
            )
        )
        assert (await store.ledger.verify()).ok
    assert 0 < store.database.log_bytes() < 30_000_000
    store.close()


@pytest.mark.parametrize("text", ["", "7", "x:" + "0" * 64, "7:" + "z" * 64, "7:abc"])
def test_a_head_that_is_none_is_refused(text: str) -> None:
    """Only `seq:hash` is read as a head."""
    with pytest.raises(InvalidInput):
        Head.parse(text)
