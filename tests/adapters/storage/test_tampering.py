"""What somebody with full access does to streams and seals, and what verification says of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from sureline.adapters.storage.store import open_store
from sureline.core.chain import Head
from sureline.core.chain_verification import ChainReport, FaultKind
from tests.adapters.storage.samples import NOON, outcome, record
from tests.postgres import Postgres

Tamper = Callable[[psycopg.Connection, str], object]


async def two_writers(url: str, *, first: int = 0) -> None:
    """Write three decisions into each of two streams, a label, an erasure and a seal."""
    one, two = open_store(url), open_store(url)
    for number in range(first, first + 3):
        await one.ledger.append(record(f"a{number}"))
        await two.ledger.append(record(f"b{number}"))
    await one.ledger.record_outcome(outcome("o1", f"db{first}"))
    await two.ledger.erase("default", f"da{first}", by="kim", reason="asked", at=NOON)
    assert await one.ledger.seal(NOON)
    one.close()
    two.close()


async def verified(url: str, **options: Head) -> ChainReport:
    store = open_store(url)
    report = await store.ledger.verify(**options)
    store.close()
    return report


def columns(connection: psycopg.Connection, table: str) -> str:
    found = connection.execute(
        "SELECT column_name FROM information_schema.columns WHERE table_name = %s "
        "AND column_name NOT IN ('stream', 'id') ORDER BY ordinal_position",
        (table,),
    ).fetchall()
    return ", ".join(f'"{name}"' for (name,) in found)


def duplicated(connection: psycopg.Connection, _: str) -> None:
    """Copy a whole stream under another name, with a head, so that each counts twice."""
    rest = columns(connection, "decisions")
    run(
        connection,
        f"INSERT INTO decisions (stream, id, {rest}) "
        f"SELECT 'writer-9', id || '-again', {rest} FROM decisions WHERE stream = 'writer-1'",
        "INSERT INTO heads SELECT 'writer-9', seq, hash FROM heads WHERE stream = 'writer-1'",
    )


def ghost(connection: psycopg.Connection, _: str) -> None:
    """Add a row in a stream that no head and no seal names."""
    rest = columns(connection, "decisions")
    run(
        connection,
        f"INSERT INTO decisions (stream, id, {rest}) "
        f"SELECT 'elsewhere', id || '-again', {rest} FROM decisions "
        f"WHERE stream = 'writer-1' AND seq = 1",
    )


def before_the_first(connection: psycopg.Connection, _: str) -> None:
    """Move a row to a number that no chain has, and close the gap behind the others' backs."""
    run(connection, "UPDATE decisions SET seq = -7 WHERE stream = 'writer-1' AND seq = 3")
    run(
        connection,
        "UPDATE heads SET (seq, hash) = (SELECT seq, hash FROM decisions "
        "WHERE stream = 'writer-1' AND seq = 2) WHERE stream = 'writer-1'",
    )


def swapped_streams(connection: psycopg.Connection, _: str) -> None:
    """Let two streams change their names, heads and payloads included."""
    for table in ("decisions", "heads", "payloads", "vectors"):
        for old, new in (("writer-1", "x"), ("writer-2", "writer-1"), ("x", "writer-2")):
            run(connection, f"UPDATE {table} SET stream = '{new}' WHERE stream = '{old}'")


def cut_stream(connection: psycopg.Connection, _: str) -> None:
    """Cut the last row off a sealed stream, and set its head back."""
    for table in ("decisions", "payloads", "vectors"):
        run(connection, f"DELETE FROM {table} WHERE stream = 'writer-2' AND seq = 3")
    run(
        connection,
        "UPDATE heads SET (seq, hash) = (SELECT seq, hash FROM decisions "
        "WHERE stream = 'writer-2' AND seq = 2) WHERE stream = 'writer-2'",
    )


def sealed_elsewhere(connection: psycopg.Connection, other: str) -> None:
    """Put the seal of another store in the place of this one's, hash and body."""
    with psycopg.connect(other) as there:
        row = there.execute("SELECT hash, body FROM seals ORDER BY seq DESC LIMIT 1").fetchone()
    assert row is not None
    connection.execute("UPDATE seals SET hash = %s, body = %s", row)
    connection.execute("UPDATE heads SET hash = %s WHERE stream = 'common'", row[:1])


def seal_removed(connection: psycopg.Connection, _: str) -> None:
    """Remove the seal and close the end of the common stream over it; the rest stays."""
    run(
        connection,
        "DELETE FROM seals",
        "UPDATE heads SET (seq, hash) = (SELECT seq, hash FROM erasures) WHERE stream = 'common'",
    )


def erasure_moved(connection: psycopg.Connection, _: str) -> None:
    """Let the record of an erasure name another decision, whose payload goes instead."""
    run(connection, "UPDATE erasures SET decision_id = 'db1'")


def run(connection: psycopg.Connection, *statements: str) -> None:
    for statement in statements:
        connection.execute(statement.encode())


@pytest.mark.parametrize(
    ("tamper", "kind", "words"),
    [
        (duplicated, FaultKind.CHANGED, "'writer-9'"),
        (ghost, FaultKind.CHANGED, "'elsewhere'"),
        (before_the_first, FaultKind.EXTRA, "row -7 comes twice or out of order"),
        (swapped_streams, FaultKind.CHANGED, "'writer-1'"),
        (cut_stream, FaultKind.CUT, "the expected head is row 3 (stream 'writer-2')"),
        (sealed_elsewhere, FaultKind.CHANGED, "(seal) was changed or replaced"),
        (erasure_moved, FaultKind.CHANGED, "(erasure) was changed or replaced"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
async def test_what_is_done_to_streams_and_seals_is_named(
    postgres: Postgres, tamper: Tamper, kind: FaultKind, words: str
) -> None:
    """Each is found at its place, with the stream in which it is."""
    url, other = postgres.database(), postgres.database()
    await two_writers(url)
    if tamper is sealed_elsewhere:
        await two_writers(other, first=50)
    assert (await verified(url)).fault is None
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        tamper(connection, other)
    found = await verified(url)
    assert found.fault is not None
    assert found.fault.kind is kind
    assert words in found.fault.message


async def test_what_cannot_be_seen_is_said(postgres: Postgres) -> None:
    """A seal cut off with the head set back is unseen, until a head from elsewhere is given.

    The report says both: that ends may be cut, and how many decisions no seal covers.
    """
    url = postgres.database()
    await two_writers(url)
    known = (await verified(url)).head
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        seal_removed(connection, "")
    found = await verified(url)
    assert found.fault is None
    assert any("rows cut off at the end" in one for one in found.cannot_see)
    assert any("the last 6 decisions" in one for one in found.cannot_see)
    against = await verified(url, expected=known)
    assert against.fault is not None
    assert against.fault.kind is FaultKind.CUT


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("UPDATE decisions SET stream = 'elsewhere' WHERE seq = 3", FaultKind.MISSING),
        ("UPDATE decisions SET seq = 0 WHERE seq = 3", FaultKind.EXTRA),
        ("UPDATE decisions SET stream = '' WHERE seq = 3", FaultKind.MISSING),
        ("INSERT INTO heads VALUES ('writer-1', 4, zeroblob(32))", FaultKind.CUT),
        (
            "INSERT INTO seals VALUES ('elsewhere', 1, zeroblob(32), '', 0, '{}')",
            FaultKind.CHANGED,
        ),
    ],
    ids=["another stream", "number 0", "a stream without name", "a head of nothing", "a ghost"],
)
async def test_a_file_has_no_room_for_other_streams_either(
    path: Path, statement: str, kind: FaultKind
) -> None:
    """On SQLite there is one stream; rows and heads of others are found."""
    store = open_store(f"sqlite:///{path}")
    for number in range(1, 5):
        await store.ledger.append(record(number))
    store.close()
    with closing(sqlite3.connect(path)) as database, database:
        triggers = database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in triggers.fetchall():
            database.execute(f"DROP TRIGGER {name}")
        database.execute(statement)
    found = await verified(f"sqlite:///{path}")
    assert found.fault is not None
    assert found.fault.kind is kind
