"""The keys port on the store's tables.

A secret is 32 random bytes, so SHA-256 of it is as hard to invert as the secret is to guess; a
slow password hash would only slow the server down.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from hmac import compare_digest
from typing import Any

from sqlalchemy import bindparam, select, update

from sureline.adapters.storage.database import Database
from sureline.adapters.storage.key_table import api_keys
from sureline.adapters.storage.moments import from_micros, moment_or_none, to_micros
from sureline.adapters.storage.statement import compiled, insertion
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.keys import ApiKey, Role
from sureline.errors import NotFound

SECRET_BYTES = 32

_COLUMNS = (
    api_keys.c.id,
    api_keys.c.name,
    api_keys.c.role,
    api_keys.c.workspace,
    api_keys.c.slices,
    api_keys.c.created_at,
    api_keys.c.trusted_sources,
    api_keys.c.revoked_at,
)
_INSERT = insertion(api_keys)
_BY_HASH = compiled(
    select(*_COLUMNS, api_keys.c.secret_hash).where(
        api_keys.c.secret_hash == bindparam("secret_hash")
    )
)
_ALL = compiled(
    select(*_COLUMNS)
    .where(api_keys.c.workspace == bindparam("workspace"))
    .order_by(api_keys.c.created_at, api_keys.c.id)
)
_BY_ID = compiled(
    select(*_COLUMNS).where(
        api_keys.c.workspace == bindparam("workspace"), api_keys.c.id == bindparam("id")
    )
)
_REVOKE = compiled(
    update(api_keys)
    .values(revoked_at=bindparam("at"))
    .where(
        api_keys.c.workspace == bindparam("in_workspace"),
        api_keys.c.id == bindparam("key_id"),
        api_keys.c.revoked_at.is_(None),
    )
)
_USABLE = compiled(
    select(api_keys.c.id).where(
        api_keys.c.workspace == bindparam("workspace"), api_keys.c.revoked_at.is_(None)
    )
)
_EXISTS = compiled(
    select(api_keys.c.id).where(
        api_keys.c.workspace == bindparam("workspace"), api_keys.c.id == bindparam("id")
    )
)


class SqlKeys:
    """Keeps API keys; see the port `Keys` for the contract."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(
        self,
        *,
        name: str,
        role: Role,
        workspace: str,
        slices: Sequence[str],
        at: datetime,
        trusted_sources: bool = False,
    ) -> tuple[ApiKey, str]:
        """Make a key and return it with its secret, `sl_<role>_<random>`."""
        key = ApiKey(
            id=secrets.token_hex(8),
            name=name,
            role=role,
            workspace=workspace,
            slices=tuple(slices),
            created_at=at,
            trusted_sources=trusted_sources,
        )
        secret = _new_secret(role)
        row = _row(key, secret)
        await self._database.write(lambda transaction: transaction.run(_INSERT, row))
        return key, secret

    async def create_first(
        self, *, name: str, role: Role, workspace: str, at: datetime
    ) -> tuple[ApiKey, str] | None:
        """Make a key unless the workspace has one that is not revoked: then return None."""
        key = ApiKey(
            id=secrets.token_hex(8),
            name=name,
            role=role,
            workspace=workspace,
            slices=(),
            created_at=at,
            trusted_sources=False,
        )
        secret = _new_secret(role)
        row = _row(key, secret)

        def write(transaction: Transaction) -> bool:
            if transaction.first(_USABLE, (workspace,)) is not None:
                return False
            transaction.run(_INSERT, row)
            return True

        return (key, secret) if await self._database.write(write) else None

    async def find(self, secret: str) -> ApiKey | None:
        """Return the key with this secret unless it is unknown or revoked."""
        wanted = _hash(secret)
        for *columns, stored in await self._database.read(_BY_HASH, (wanted,)):
            if compare_digest(stored, wanted):
                key = _api_key(columns)
                return None if key.revoked_at is not None else key
        return None

    async def get(self, workspace: str, key_id: str) -> ApiKey | None:
        """Return a key by its id, revoked or not, or None."""
        rows = await self._database.read(_BY_ID, (workspace, key_id))
        return _api_key(rows[0]) if rows else None

    async def all(self, workspace: str) -> Sequence[ApiKey]:
        """Return the workspace's keys, oldest first, revoked ones included."""
        return [_api_key(row) for row in await self._database.read(_ALL, (workspace,))]

    async def revoke(self, workspace: str, key_id: str, at: datetime) -> None:
        """Revoke a key for ever; a second time changes nothing. Raises NotFound."""

        def write(transaction: Transaction) -> None:
            if transaction.first(_EXISTS, (workspace, key_id)) is None:
                raise NotFound(f"there is no key {key_id!r} in this workspace")
            transaction.run(_REVOKE, (to_micros(at), workspace, key_id))

        await self._database.write(write)


def _new_secret(role: Role) -> str:
    return f"sl_{role.value}_{secrets.token_urlsafe(SECRET_BYTES)}"


def _row(key: ApiKey, secret: str) -> Sequence[Any]:
    return _INSERT.row(
        {
            "id": key.id,
            "workspace": key.workspace,
            "name": key.name,
            "role": key.role.value,
            "slices": json.dumps(key.slices, ensure_ascii=False),
            "secret_hash": _hash(secret),
            "created_at": to_micros(key.created_at),
            "trusted_sources": int(key.trusted_sources),
            "revoked_at": None,
        }
    )


def _hash(secret: str) -> bytes:
    return sha256(secret.encode("utf-8", "surrogatepass")).digest()


def _api_key(row: Sequence[Any]) -> ApiKey:
    return ApiKey(
        id=row[0],
        name=row[1],
        role=Role(row[2]),
        workspace=row[3],
        slices=tuple(json.loads(row[4])),
        created_at=from_micros(row[5]),
        trusted_sources=row[6] == 1,
        revoked_at=moment_or_none(row[7]),
    )
