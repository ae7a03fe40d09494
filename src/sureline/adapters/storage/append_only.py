"""Makes the database itself refuse to change or delete ledger rows."""

from __future__ import annotations


def refusals(table: str) -> tuple[str, str]:
    """Return the SQLite triggers that make an append-only table refuse UPDATE and DELETE."""
    return (
        f"CREATE TRIGGER {table}_no_update BEFORE UPDATE ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END",
        f"CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END",
    )
