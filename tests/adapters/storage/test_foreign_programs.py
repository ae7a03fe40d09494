"""A trigger, view or rule that is not sureline's swallows nothing unseen."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from sureline.adapters.storage.restored import MarkRestored
from sureline.adapters.storage.store import open_store
from sureline.errors import StoreCorrupt
from tests.adapters.storage.samples import NOON, outcome, record, switch
from tests.postgres import Postgres

_SWALLOW = "CREATE TRIGGER sw BEFORE INSERT ON {} BEGIN SELECT RAISE(IGNORE); END"
_ON_POSTGRES = (
    "CREATE FUNCTION public.swallow() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RETURN NULL; END $$"
)
_ROW = "CREATE TRIGGER sw BEFORE INSERT ON {} FOR EACH ROW EXECUTE FUNCTION public.swallow()"


def _on_file(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()


def _on_server(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


@pytest.mark.parametrize(
    "table",
    ["switches", "decisions", "payloads", "outcomes", "activations", "consumptions", "heads"],
)
@pytest.mark.parametrize("kind", ["file", "postgres"])
async def test_a_swallowed_row_fails_whoever_wrote_it(
    kind: str, table: str, tmp_path: Path, postgres: Postgres
) -> None:
    """A switch, a decision, an outcome and the mark of a restored store are there, or an error."""
    path = tmp_path / "s.db"
    url = f"sqlite:///{path}" if kind == "file" else postgres.database()
    store = open_store(url)
    await store.ledger.append(record(1, route="auto_approve"))
    if kind == "file":
        _on_file(path, _SWALLOW.format(table))
    else:
        _on_server(url, _ON_POSTGRES, _ROW.format(table))
    failed: dict[str, str] = {}
    for name, job in {
        "switches": lambda: store.ledger.set_switch(switch()),
        "decisions": lambda: store.ledger.append(record(2)),
        "outcomes": lambda: store.ledger.record_outcome(outcome("o1", "d1")),
        "restored": lambda: store.database.write(MarkRestored("ada", "lost", NOON)),
    }.items():
        try:
            await job()
        except StoreCorrupt as error:
            failed[name] = error.message
    assert (
        failed
        == {
            "switches": {"switches", "restored"},
            "decisions": {"decisions"},
            "payloads": {"decisions"},
            "outcomes": {"outcomes"},
            "activations": {"restored"},
            "consumptions": {"restored"},
            "heads": {"switches", "decisions", "outcomes", "restored"},
        }[table]
    )
    store.close()
