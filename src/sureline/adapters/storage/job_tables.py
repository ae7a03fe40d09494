"""The job server's own tables: installed, compared with what is installed here, and upgraded.

They belong to procrastinate and change with its versions, not with ours: so they are made from the
files of the package, and the name of the last of its migrations is kept beside the store's secret.
"""

from __future__ import annotations

from importlib.resources import files

from sureline.adapters.storage.postgres_driver import LOCKS, MIGRATION_LOCK, Connection
from sureline.adapters.storage.postgres_schema import check_schema
from sureline.errors import MissingExtra, StoreTooNew, StoreTooOld

_KNOWN = "job_tables"
_WORDS = "the tables of the job server"


def install(connection: Connection) -> None:
    """Make the tables, inside the transaction that is open. Raises MissingExtra."""
    schema, newest = _schema(), newest_version()
    connection.execute(schema.encode())
    _remember(connection, newest)


def newest_version() -> str:
    """Return which tables the installed procrastinate knows, as the name of its last migration.

    Names sort by version. Raises MissingExtra.
    """
    return _migrations()[-1]


def check(connection: Connection, where: str) -> None:
    """Compare the tables with what is installed here, sureline and procrastinate.

    Raises StoreTooNew for tables of a later version, StoreTooOld for older ones, MissingExtra.
    """
    check_schema(connection, where)
    known, newest = _known(connection), newest_version()
    if known > newest:
        raise StoreTooNew(
            f"{where}: a worker of another version: {_WORDS} are {known}, this one knows only "
            f"{newest}; install the procrastinate that the other workers have"
        )
    if known < newest:
        raise StoreTooOld(
            f"{where}: a worker of another version: {_WORDS} are {known or 'missing'}, this one "
            f"needs {newest}; stop the older workers and run `sureline store upgrade`"
        )


def upgrade(connection: Connection) -> None:
    """Bring the tables to the installed procrastinate, in one transaction. Raises MissingExtra.

    `connection` is in autocommit mode. Tables that are later already stay as they are: the
    package's migrations are for going forward.
    """
    with connection.transaction():
        connection.execute("SET LOCAL lock_timeout = 0")
        connection.execute("SELECT pg_advisory_xact_lock(%s, %s)", (LOCKS, MIGRATION_LOCK))
        known = _known(connection)
        if not known:
            install(connection)
            return
        for name in _migrations():
            if name > known:
                connection.execute(_text("migrations", name).encode())
                _remember(connection, name)


def _known(connection: Connection) -> str:
    """Return which tables there are, or nothing."""
    row = connection.execute("SELECT value FROM meta WHERE name = %s", (_KNOWN,)).fetchone()
    return "" if row is None else bytes(row[0]).decode()


def _remember(connection: Connection, version: str) -> None:
    connection.execute(
        "INSERT INTO meta (name, value) VALUES (%s, %s) "
        "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (_KNOWN, version.encode()),
    )


def _migrations() -> list[str]:
    try:
        folder = files("procrastinate.sql") / "migrations"
    except ImportError as error:
        raise MissingExtra(
            "a store on PostgreSQL needs the job server: pip install 'sureline[postgres]'"
        ) from error
    return sorted(one.name for one in folder.iterdir() if one.name.endswith(".sql"))


def _schema() -> str:
    _migrations()
    return _text("schema.sql")


def _text(*path: str) -> str:
    return files("procrastinate.sql").joinpath(*path).read_text(encoding="utf-8")
