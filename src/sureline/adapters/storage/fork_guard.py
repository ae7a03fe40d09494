"""Closes databases for the moment of a fork.

A child that inherits an open SQLite connection believes to hold the parent's locks, and closing
it gives the parent's away: both can damage the file. One that inherits a connection to PostgreSQL
ends the parent's session with its own. So nothing is open while the process forks; parent and
child open the database again at next use.
"""

from __future__ import annotations

import os
from typing import Protocol
from weakref import WeakSet


class Forking(Protocol):
    """What must know about a fork."""

    def before_fork(self) -> None:
        """Close everything and let no thread open it again until the fork is over."""

    def after_fork_in_parent(self) -> None:
        """Let threads open it again."""

    def after_fork_in_child(self) -> None:
        """Forget the parent's threads and locks."""


_open: WeakSet[Forking] = WeakSet()


def guard(database: Forking) -> None:
    """Tell `database` about every fork as long as it lives."""
    _open.add(database)


def _before() -> None:
    for database in list(_open):
        database.before_fork()


def _in_parent() -> None:
    for database in list(_open):
        database.after_fork_in_parent()


def _in_child() -> None:
    for database in list(_open):
        database.after_fork_in_child()


if hasattr(os, "register_at_fork"):  # absent on Windows, which cannot fork
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
