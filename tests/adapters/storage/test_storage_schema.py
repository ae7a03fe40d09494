"""Migrations and tables agree, and an older file is brought up to date."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine
from sqlalchemy.pool import StaticPool
from sqlalchemy.schema import CreateIndex, CreateTable

from sureline.adapters.storage import migrating, schema
from sureline.adapters.storage.append_decision import INSERT_DECISION, fields_of
from sureline.adapters.storage.columns import metadata
from sureline.adapters.storage.migrating import Allowed
from sureline.adapters.storage.statement import SQLITE
from sureline.adapters.storage.store import open_store
from sureline.adapters.storage.tables import APPEND_ONLY, CHAINED, SCHEMA_REVISION
from tests.adapters.storage.samples import record


def _migrated() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    schema.prepare(connection, "memory", patience=1, allowed=Allowed(create=True, upgrade=True))
    return connection


def test_migrations_make_the_tables_of_the_code() -> None:
    """Alembic finds no difference between a migrated store and `tables.py`."""
    connection = _migrated()
    engine = create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)
    with engine.connect() as migrated:
        context = MigrationContext.configure(migrated, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
    connection.close()


def test_migrations_write_the_same_words_as_the_tables() -> None:
    """What SQLite remembers of each table and index is what the code would create."""
    connection = _migrated()
    stored = {
        name: " ".join(sql.split())
        for name, sql in connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND type != 'trigger'"
        )
        if name != "alembic_version"
    }
    connection.close()
    wanted = {
        item.name: " ".join(str(create(item).compile(dialect=SQLITE)).split())
        for table in metadata.sorted_tables
        for create, item in [
            (CreateTable, table),
            *((CreateIndex, index) for index in table.indexes),
        ]
    }
    assert stored == wanted


def test_the_last_migration_is_the_code_s_revision() -> None:
    """Whoever adds a migration must say so in `tables.py`."""
    assert ScriptDirectory(migrating._MIGRATIONS).get_current_head() == SCHEMA_REVISION


def test_every_append_only_table_has_its_triggers() -> None:
    """A ledger table cannot be added without the database refusing changes to it."""
    connection = _migrated()
    guarded = connection.execute(
        "SELECT tbl_name FROM sqlite_master WHERE type = 'trigger' GROUP BY 1 HAVING count(*) = 2"
    ).fetchall()
    connection.close()
    assert {name for (name,) in guarded} == {table.name for table in APPEND_ONLY}


def test_every_table_has_its_workspace() -> None:
    """Only what belongs to the store as a whole has none (G33)."""
    without = {table.name for table in metadata.sorted_tables if "workspace" not in table.c}
    assert without == {"heads", "meta", "verifications"}


def test_a_decision_s_row_follows_the_order_of_the_table() -> None:
    """The hot path builds tuples, so its order must be the insert's."""
    assert INSERT_DECISION.names == (
        "stream",
        "seq",
        "hash",
        *fields_of(record()),
        "payload_digest",
        "body",
    )


def test_no_ledger_column_hides_a_chain_column() -> None:
    """Fields are hashed beside stream, seq and kind, so none may bear those names."""
    assert not any("kind" in table.c for table in CHAINED.values())


def test_an_empty_file_becomes_a_store(path: Path) -> None:
    """A file of zero bytes, as temporary-file makers leave it, is taken as new."""
    path.touch()
    open_store(f"sqlite:///{path}").close()
    assert path.stat().st_size > 0


def test_opening_again_changes_nothing(path: Path) -> None:
    """The secret and the schema stay from one opening to the next."""
    first = open_store(f"sqlite:///{path}")
    first.close()
    before = path.read_bytes()
    second = open_store(f"sqlite:///{path}")
    second.close()
    assert (second.secret, len(second.secret)) == (first.secret, 32)
    assert path.read_bytes() == before


def test_an_older_store_is_upgraded_when_it_is_opened(
    path: Path, monkeypatch: object, tmp_path: Path
) -> None:
    """A file that lacks the newest migration gets it, in place."""
    open_store(f"sqlite:///{path}").close()
    later = tmp_path / "migrations" / "versions"
    later.mkdir(parents=True)
    for script in (migrating._MIGRATIONS / "versions").glob("*.py"):
        (later / script.name).write_bytes(script.read_bytes())
    (later / "m9999_later.py").write_text(
        '"""Add a column."""\n'
        "import sqlalchemy as sa\nfrom alembic import op\n"
        f'revision = "9999"\ndown_revision = "{SCHEMA_REVISION}"\n'
        "def upgrade():\n"
        '    op.add_column("decisions", sa.Column("colour", sa.Text()))\n',
        encoding="utf-8",
    )
    patch = monkeypatch
    patch.setattr(migrating, "_MIGRATIONS", later.parent)  # type: ignore[attr-defined]
    patch.setattr(schema, "SCHEMA_REVISION", "9999")  # type: ignore[attr-defined]
    open_store(f"sqlite:///{path}").close()
    connection = sqlite3.connect(path)
    columns = [row[1] for row in connection.execute("PRAGMA table_info(decisions)")]
    assert "colour" in columns
    assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == ("9999",)
    connection.close()
