"""Stores of both kinds for the rows of area 7-ops, and what can be done to them behind its back."""

from __future__ import annotations

import multiprocessing
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg

from tests.postgres import Postgres

_FORK = multiprocessing.get_context("fork")
"""A child need not import everything anew: ten of them would take most of a minute."""


def both(folder: Path, postgres: Postgres, *, empty: bool = False) -> tuple[str, str]:
    """Return the addresses of a fresh store in a file and of one on PostgreSQL."""
    return f"sqlite:///{folder / 'store.db'}", postgres.database(empty=empty)


def on_file(url: str) -> bool:
    """Tell whether a store is a file."""
    return url.startswith("sqlite")


def path_of(url: str) -> Path:
    """Return the file of a store."""
    return Path(url.removeprefix("sqlite:///"))


def rows(url: str, query: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query, past the product."""
    if on_file(url):
        with closing(sqlite3.connect(path_of(url))) as database:
            return database.execute(query).fetchall()
    with psycopg.connect(url) as connection:
        return connection.execute(query.encode()).fetchall()


def damage(url: str, *statements: str) -> None:
    """Change a store as someone with full access would: without triggers."""
    if not on_file(url):
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("SET session_replication_role = replica")
            for statement in statements:
                connection.execute(statement.encode())
        return
    with closing(sqlite3.connect(path_of(url))) as database, database:
        triggers = database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in triggers.fetchall():
            database.execute(f'DROP TRIGGER "{name}"')
        for statement in statements:
            database.execute(statement)


def in_processes(work: Callable[..., None], arguments: Sequence[tuple[Any, ...]]) -> list[int]:
    """Run a function of a module at once in processes of their own; return their exit codes."""
    children = [_FORK.Process(target=work, args=given) for given in arguments]
    for child in children:
        child.start()
    for child in children:
        child.join(120)
    return [-1 if child.exitcode is None else child.exitcode for child in children]
