"""The table of what came in from elsewhere."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, LargeBinary, PrimaryKeyConstraint, Table

from sureline.adapters.storage.columns import metadata, text_column, whole_column

arrivals = Table(
    "arrivals",
    metadata,
    text_column("workspace"),
    text_column("source"),
    text_column("id"),
    Column("digest", LargeBinary, nullable=False),
    whole_column("since"),
    whole_column("lease_until"),
    Column("acted", Integer, nullable=False),
    Column("status", Integer, nullable=True),
    Column("reply", LargeBinary, nullable=True),
    PrimaryKeyConstraint("workspace", "source", "id"),
)
"""One row for each delivery; without a status it is in work, until the lease ends.

The digest is keyed by the store's secret: what was said cannot be guessed from it.
"""

Index("ix_arrivals_digest", arrivals.c.workspace, arrivals.c.source, arrivals.c.digest)
Index("ix_arrivals_since", arrivals.c.workspace, arrivals.c.since)
