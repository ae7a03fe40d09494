"""The registry port on the store's tables: policies, calibrations, and who made them current."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, func, select

from sureline.adapters.storage.database import Database
from sureline.adapters.storage.moments import from_micros, to_micros
from sureline.adapters.storage.prior_knowledge import ACTIVATION_MARK
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.tables import activations, calibrations, policies
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.registry import Activation
from sureline.errors import Conflict

EVERY_WORKSPACE = "*"
"""The workspace of a policy's text: it is the same for all, its activation is per workspace."""

_newer = activations.alias("newer")
_NEWEST = activations.c.seq == (
    select(func.max(_newer.c.seq))
    .where(
        _newer.c.workspace == activations.c.workspace,
        _newer.c.subject_kind == activations.c.subject_kind,
    )
    .scalar_subquery()
)
_OF_KIND = select(
    activations.c.workspace,
    activations.c.subject_kind,
    activations.c.subject,
    activations.c.by,
    activations.c.at,
    activations.c.note,
    activations.c.share,
).where(
    activations.c.workspace == bindparam("workspace"),
    activations.c.subject_kind == bindparam("kind"),
)
_ACTIVATIONS = compiled(_OF_KIND.order_by(activations.c.seq))
_ACTIVE = compiled(_OF_KIND.where(_NEWEST))
_ACTIVE_POLICIES = compiled(
    select(activations.c.subject, activations.c.workspace)
    .where(activations.c.subject_kind == bindparam("kind"), _NEWEST)
    .order_by(activations.c.workspace)
)
_POLICY = compiled(
    select(policies.c.body).where(policies.c.policy_hash == bindparam("policy_hash"))
)
_POLICIES = compiled(
    select(policies.c.policy_hash, policies.c.proposed_at).order_by(policies.c.seq.desc())
)
_CALIBRATION = compiled(select(calibrations.c.body).where(calibrations.c.id == bindparam("id")))
_CALIBRATIONS = compiled(
    select(calibrations.c.id, calibrations.c.created_at)
    .where(calibrations.c.workspace == bindparam("workspace"))
    .order_by(calibrations.c.seq.desc())
)


class SqlRegistry:
    """Keeps policies, calibrations and activations; see the port `Registry`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def propose_policy(self, policy_hash: str, text: str, at: datetime) -> bool:
        """Store a validated policy's text; False if it is there already."""

        def write(transaction: Transaction) -> bool:
            if transaction.first(_POLICY, (policy_hash,)) is not None:
                return False
            transaction.chain(
                "policy",
                {
                    "workspace": EVERY_WORKSPACE,
                    "policy_hash": policy_hash,
                    "proposed_at": to_micros(at),
                },
                body=text.encode("utf-8"),
            )
            return True

        return await self._database.write(write)

    async def policy_text(self, policy_hash: str) -> str | None:
        """Return a stored policy's canonical text, or None."""
        rows = await self._database.read(_POLICY, (policy_hash,))
        return rows[0][0].decode("utf-8") if rows else None

    async def policies(self) -> Sequence[dict[str, Any]]:
        """Return all stored policies, newest first: hash, proposed_at, active, workspaces.

        `active` says whether it is current anywhere, `workspaces` where.
        """
        current: dict[str, list[str]] = {}
        for subject, workspace in await self._database.read(_ACTIVE_POLICIES, ("policy",)):
            current.setdefault(subject, []).append(workspace)
        return [
            {
                "hash": policy_hash,
                "proposed_at": from_micros(proposed_at),
                "active": policy_hash in current,
                "workspaces": current.get(policy_hash, []),
            }
            for policy_hash, proposed_at in await self._database.read(_POLICIES)
        ]

    async def activate(self, activation: Activation) -> None:
        """Make `subject` current, in the ledger; whether it exists is the use case's question."""

        def write(transaction: Transaction) -> None:
            chain_activation(transaction, activation)

        await self._database.write(write)

    async def active(self, workspace: str, kind: str) -> Activation | None:
        """Return what is current of `policy` or `calibration`, or None."""
        rows = await self._database.read(_ACTIVE, (workspace, kind))
        return _activation(rows[0]) if rows else None

    async def activations(self, workspace: str, kind: str) -> Sequence[Activation]:
        """Return every activation of `policy` or `calibration`, oldest first."""
        return [
            _activation(row) for row in await self._database.read(_ACTIVATIONS, (workspace, kind))
        ]

    async def activation_mark(self) -> int:
        """Return the number that grows with every activation."""
        rows = await self._database.read(ACTIVATION_MARK, (self._database.common_stream,))
        return int(rows[0][0])

    async def save_calibration(
        self,
        *,
        calibration_id: str,
        workspace: str,
        body: bytes,
        at: datetime,
    ) -> None:
        """Store a calibration as a proposal; the same again changes nothing. Raises Conflict."""

        def write(transaction: Transaction) -> None:
            stored = transaction.first(_CALIBRATION, (calibration_id,))
            if stored is None:
                transaction.chain(
                    "calibration",
                    {"workspace": workspace, "id": calibration_id, "created_at": to_micros(at)},
                    body=body,
                )
            elif stored[0] != body:
                raise Conflict(
                    f"calibration {calibration_id!r} was stored before with other content"
                )

        await self._database.write(write)

    async def calibration(self, calibration_id: str) -> bytes | None:
        """Return a stored calibration's JSON, or None."""
        rows = await self._database.read(_CALIBRATION, (calibration_id,))
        return rows[0][0] if rows else None

    async def calibrations(self, workspace: str) -> Sequence[dict[str, Any]]:
        """Return the stored calibrations, newest first: id, created_at, active."""
        active = await self.active(workspace, "calibration")
        current = None if active is None else active.subject
        return [
            {"id": id_, "created_at": from_micros(created_at), "active": id_ == current}
            for id_, created_at in await self._database.read(_CALIBRATIONS, (workspace,))
        ]


def chain_activation(transaction: Transaction, activation: Activation) -> None:
    """Write an activation as part of a transaction."""
    transaction.chain(
        "activation",
        {
            "workspace": activation.workspace,
            "subject_kind": activation.kind,
            "subject": activation.subject,
            "by": activation.by,
            "at": to_micros(activation.at),
            "note": activation.note,
            "share": float(activation.share),
        },
    )


def _activation(row: Sequence[Any]) -> Activation:
    home, kind, subject, by, at, note, share = row
    return Activation(
        workspace=home,
        kind=kind,
        subject=subject,
        by=by,
        at=from_micros(at),
        note=note,
        share=share if isinstance(share, float) else math.nan,
    )
