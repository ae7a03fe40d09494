"""Whom decisions are about: a table apart from the ledger, erased with the payload.

A subject stands here only as a keyed digest. What the chain covers names it nowhere, so that
after an erasure nothing is left that it could be guessed from.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Column, Index, LargeBinary, PrimaryKeyConstraint, Table

from sureline.adapters.storage.columns import metadata, text_column, whole_column
from sureline.adapters.storage.statement import insertion
from sureline.adapters.storage.transaction import Transaction

subjects = Table(
    "subjects",
    metadata,
    text_column("stream"),
    whole_column("seq"),
    text_column("workspace"),
    Column("subject", LargeBinary, nullable=False),
    PrimaryKeyConstraint("stream", "seq"),
)
"""One row for each decision that names somebody; under the decision's own place."""

Index(
    "ix_subjects_subject",
    subjects.c.workspace,
    subjects.c.subject,
    subjects.c.stream,
    subjects.c.seq,
)

_PUT = insertion(subjects)


def put_subjects(transaction: Transaction, rows: Iterable[tuple[str, int, str, bytes]]) -> None:
    """Write rows of the table."""
    transaction.insert(_PUT, list(rows))
