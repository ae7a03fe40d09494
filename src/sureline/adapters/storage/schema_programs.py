"""Compares what runs inside the database (triggers, rules, functions) with what sureline makes.

A trigger that somebody else put there can swallow a switch without an error. On PostgreSQL event
triggers, and what extensions hook into the server, are out of reach; and sureline's triggers that
only follow the ledger (wake workers, read cases again) are not compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Executable
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.expression import ClauseElement

from sureline.adapters.storage.columns import metadata
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.tables import APPEND_ONLY
from sureline.core.schema_verification import Program, SchemaReport, compare_programs

REMEDY = "look at what it does and drop it, or restore a backup"
"""What to do about a foreign one."""

_ON_SQLITE = """
SELECT 'database', 'sqlite', '', '', 1
UNION ALL SELECT type, name, tbl_name, sql, 1 FROM sqlite_master WHERE type IN ('trigger', 'view')
"""
_ON_POSTGRES = """
WITH own AS (SELECT relnamespace AS id FROM pg_class WHERE oid = to_regclass('decisions'))
SELECT 'database', 'postgresql', '', '', 1
UNION ALL SELECT 'trigger', t.tgname::text, c.relname::text, pg_get_triggerdef(t.oid, true),
    CASE WHEN t.tgenabled IN ('O', 'A') THEN 1 ELSE 0 END
FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid JOIN own ON own.id = c.relnamespace
WHERE NOT t.tgisinternal
UNION ALL SELECT 'rule', r.rulename::text, c.relname::text, pg_get_ruledef(r.oid), 1
FROM pg_rewrite AS r JOIN pg_class AS c ON c.oid = r.ev_class JOIN own ON own.id = c.relnamespace
WHERE r.rulename <> '_RETURN'
UNION ALL SELECT 'function', p.proname::text, '',
    encode(sha256(convert_to(p.prosrc, 'UTF8')), 'hex'), 1
FROM pg_proc AS p JOIN own ON own.id = p.pronamespace WHERE starts_with(p.proname, 'sureline_')
"""

_FUNCTIONS = {
    "sureline_append_only": "17f5671c6c163837ee0e22eef51a6eadd11b98ae5dd707bdf8bea12109e3b4af",
    "sureline_switched": "7ad8bcc5e1a81ace594f535ef76f41b18003a9852fa6efc897c4ef47a82b9719",
}
"""SHA-256 of the functions' bodies, as the migrations make them."""


class _Programs(Executable, ClauseElement):
    """What is there, in a query for each database; the first row names it."""

    inherit_cache = True


@compiles(_Programs, "sqlite")
def _on_sqlite(_: _Programs, __: Any, **___: Any) -> str:
    return _ON_SQLITE


@compiles(_Programs, "postgresql")
def _on_postgres(_: _Programs, __: Any, **___: Any) -> str:
    return _ON_POSTGRES


PROGRAMS = compiled(_Programs())
"""Every trigger, view and rule on the tables, and the functions by their digests."""


def compare_schema(rows: Sequence[Sequence[Any]]) -> SchemaReport:
    """Return how what `PROGRAMS` found compares with what the migrations make."""
    (_, database, *_), *found = rows
    on_sqlite = database == "sqlite"
    programs = [
        Program(kind=kind, name=name, table=table, text=text, enabled=bool(enabled))
        for kind, name, table, text, enabled in found
        if on_sqlite or name in _FUNCTIONS or table in metadata.tables
    ]
    return compare_programs(
        programs, _made_on_sqlite() if on_sqlite else _made_on_postgres(), strict=on_sqlite
    )


def _made_on_sqlite() -> dict[tuple[str, str], str]:
    return {
        ("trigger", f"{table.name}_no_{act.lower()}"): f"CREATE TRIGGER {table.name}_no_"
        f"{act.lower()} BEFORE {act} ON {table.name} BEGIN SELECT RAISE(ABORT, "
        f"'{table.name} is append-only'); END"
        for table in APPEND_ONLY
        for act in ("UPDATE", "DELETE")
    }


def _made_on_postgres() -> dict[tuple[str, str], str]:
    triggers = {
        f"{table.name}_append_only": f"BEFORE DELETE OR UPDATE OR TRUNCATE ON {table.name} "
        f"FOR EACH STATEMENT EXECUTE FUNCTION sureline_append_only()"
        for table in APPEND_ONLY
    }
    triggers["switches_tell"] = (
        "AFTER INSERT ON switches FOR EACH STATEMENT EXECUTE FUNCTION sureline_switched()"
    )
    made = {("trigger", name): f"CREATE TRIGGER {name} {rest}" for name, rest in triggers.items()}
    return {**made, **{("function", name): text for name, text in _FUNCTIONS.items()}}
