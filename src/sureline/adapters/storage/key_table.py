"""The table of API keys: state, no ledger."""

from __future__ import annotations

from sqlalchemy import Column, Integer, LargeBinary, PrimaryKeyConstraint, Table, UniqueConstraint

from sureline.adapters.storage.columns import metadata, text_column, whole_column

api_keys = Table(
    "api_keys",
    metadata,
    text_column("id"),
    text_column("workspace"),
    text_column("name"),
    text_column("role"),
    text_column("slices"),
    Column("secret_hash", LargeBinary, nullable=False),
    whole_column("created_at"),
    Column("trusted_sources", Integer, nullable=False),
    whole_column("revoked_at", null=True),
    PrimaryKeyConstraint("id"),
    UniqueConstraint("secret_hash"),
)
