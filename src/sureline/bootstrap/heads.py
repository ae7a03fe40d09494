"""Signed statements of where a ledger stands: made from a store, read from a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sureline.adapters.signing.ed25519 import KeyPair as KeyPair
from sureline.adapters.signing.ed25519 import make_key_pair as make_key_pair
from sureline.adapters.signing.ed25519 import sign, verify
from sureline.adapters.storage.stated_heads import heads_met, state_heads
from sureline.bootstrap.services import Services
from sureline.core.signed_head import (
    MOST_BYTES,
    HeadsMet,
    HeadStatement,
    read_statement,
    store_identity,
)
from sureline.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedHead:
    """A statement from a file; `signed_by` is the fingerprint of the key that was checked."""

    file: str
    statement: HeadStatement
    signed_by: str | None


def state_head(services: Services, key: Path | None) -> HeadStatement:
    """State where the ledger stands, signed if a key is given. Raises StoreError, InvalidInput."""
    statement = state_heads(services.store, services.clock.now())
    if key is None:
        return statement
    return statement.signed(sign(key, statement.signed_bytes()))


def read_head(path: Path, public_keys: Sequence[Path]) -> StatedHead:
    """Read a statement, and check its signature where keys are given. Raises InvalidInput."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InvalidInput(f"cannot read the file: {error.strerror}", field=str(path)) from None
    statement = read_statement(data, file=str(path))
    signed_by = None
    if public_keys:
        signed_by = verify(
            public_keys, statement.signed_bytes(), statement.signature, file=str(path)
        )
    return StatedHead(file=str(path), statement=statement, signed_by=signed_by)


def check_head(services: Services, stated: StatedHead) -> HeadsMet:
    """Look whether a store's ledger runs through it. Raises InvalidInput for another store's."""
    own = store_identity(services.store.secret)
    if stated.statement.store != own:
        raise InvalidInput(
            f"store: this is the head of store {stated.statement.store}, not of {own}, which is "
            f"looked at",
            field=stated.file,
        )
    return heads_met(services.store, stated.statement)
