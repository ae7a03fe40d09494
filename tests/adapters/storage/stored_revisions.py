"""Which tables a store has, read before anything upgrades it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from sureline.adapters.storage.sqlite_errors import translated

_FILE = "sqlite:///"
_VERSION = "SELECT version_num FROM alembic_version"


def stored_revision(url: str) -> str | None:
    """Return the revision of a store's tables; None where there are none. Raises StoreError."""
    if not url.startswith("sqlite"):
        return _on_postgres(url)
    path = Path(url.removeprefix(_FILE))
    if not url.startswith(_FILE) or not path.is_file():
        return None
    with (
        translated(str(path)),
        closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection,
    ):
        known = "SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'"
        row = connection.execute(known).fetchone() and connection.execute(_VERSION).fetchone()
    return None if row is None else str(row[0])


def _on_postgres(url: str) -> str | None:
    import psycopg

    from sureline.adapters.storage.postgres_database import readable_address
    from sureline.adapters.storage.postgres_errors import translated as translated_there

    with translated_there(readable_address(url)), psycopg.connect(url) as connection:
        found = connection.execute("SELECT to_regclass('alembic_version') IS NULL").fetchone()
        row = None if found == (True,) else connection.execute(_VERSION).fetchone()
    return None if row is None else str(row[0])
