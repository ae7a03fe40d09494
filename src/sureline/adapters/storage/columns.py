"""The columns that tables are made of, and what all tables are registered in."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Column, LargeBinary, MetaData, PrimaryKeyConstraint

from sureline.adapters.storage.text_type import TEXT

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)


def text_column(name: str, *, null: bool = False) -> Column[Any]:
    """Make a column of text."""
    return Column(name, TEXT, nullable=null)


def whole_column(name: str, *, null: bool = False) -> Column[Any]:
    """Make a column of whole numbers of 64 bits."""
    return Column(name, BigInteger, nullable=null)


def bytes_column(name: str, *, null: bool = False) -> Column[Any]:
    """Make a column of bytes."""
    return Column(name, LargeBinary, nullable=null)


def place() -> tuple[Column[Any], Column[Any], PrimaryKeyConstraint]:
    """Make the columns of a place in the chain, which are the key of its row."""
    return text_column("stream"), whole_column("seq"), PrimaryKeyConstraint("stream", "seq")
