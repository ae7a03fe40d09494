"""Policies, calibrations, activations and API keys."""

from __future__ import annotations

import asyncio
import math
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from sureline.adapters.storage.store import Store, open_store
from sureline.application.ports.keys import ApiKey, Role
from sureline.application.ports.registry import Activation
from sureline.errors import Conflict, NotFound
from tests.adapters.storage.samples import NOON

LATER = NOON + timedelta(hours=1)


def _activation(subject: str, kind: str = "policy", workspace: str = "default") -> Activation:
    return Activation(
        workspace=workspace, kind=kind, subject=subject, by="kim", at=NOON, note="reviewed"
    )


async def test_a_proposed_policy_is_kept_once(store: Store) -> None:
    """The text comes back as it was; the same hash again changes nothing."""
    assert await store.registry.propose_policy("a" * 64, '{"größe": 1}', NOON)
    assert not await store.registry.propose_policy("a" * 64, "other", LATER)
    assert await store.registry.policy_text("a" * 64) == '{"größe": 1}'
    assert await store.registry.policy_text("b" * 64) is None


async def test_policies_come_newest_first_and_say_where_they_hold(store: Store) -> None:
    """Each shows whether it is current, and in which workspaces."""
    await store.registry.propose_policy("a" * 64, "{}", NOON)
    await store.registry.propose_policy("b" * 64, "{}", LATER)
    await store.registry.activate(_activation("a" * 64))
    await store.registry.activate(_activation("a" * 64, workspace="other"))
    await store.registry.activate(_activation("b" * 64))
    assert await store.registry.policies() == [
        {"hash": "b" * 64, "proposed_at": LATER, "active": True, "workspaces": ["default"]},
        {"hash": "a" * 64, "proposed_at": NOON, "active": True, "workspaces": ["other"]},
    ]


async def test_the_last_activation_holds(store: Store) -> None:
    """What is current is read from the ledger, per workspace and kind."""
    assert await store.registry.active("default", "policy") is None
    await store.registry.activate(_activation("a"))
    await store.registry.activate(_activation("c", "calibration"))
    await store.registry.activate(_activation("b"))
    assert await store.registry.active("default", "policy") == _activation("b")
    assert await store.registry.active("default", "calibration") == _activation("c", "calibration")
    assert await store.registry.active("other", "policy") is None


async def test_a_share_is_read_as_it_was_written(store: Store) -> None:
    """It is part of the activation, in the ledger."""
    staged = replace(_activation("c", "calibration"), share=0.1)
    await store.registry.activate(staged)
    assert await store.registry.activations("default", "calibration") == [staged]


async def test_a_share_that_was_overwritten_is_no_number(tmp_path: Path) -> None:
    """What somebody wrote in its place counts for nothing, rather than for everything."""
    address = f"sqlite:///{tmp_path / 's.db'}"
    store = open_store(address)
    await store.registry.activate(_activation("c", "calibration"))
    store.close()
    with closing(sqlite3.connect(tmp_path / "s.db")) as database, database:
        database.execute("DROP TRIGGER activations_no_update")
        database.execute("UPDATE activations SET share = 'all'")
    store = open_store(address)
    found = await store.registry.active("default", "calibration")
    assert found is not None
    assert math.isnan(found.share)
    store.close()


async def test_the_activation_mark_grows(store: Store) -> None:
    """Every process learns of an activation from its next cheap read."""

    async def mark() -> int:
        prior = await store.ledger.prior(
            workspace="default",
            slice_key="s",
            decision_id=None,
            task_digest=b"",
            retry_of=None,
            since=NOON,
        )
        return prior.activation_mark

    before = await mark()
    await store.registry.activate(_activation("a"))
    assert await mark() > before


async def test_calibrations_are_proposals_until_activated(store: Store) -> None:
    """They are listed newest first; only the activated one is active."""
    for name, at in (("c1", NOON), ("c2", LATER)):
        await store.registry.save_calibration(
            calibration_id=name, workspace="default", body=b"{}", at=at
        )
    await store.registry.activate(_activation("c1", "calibration"))
    assert await store.registry.calibrations("default") == [
        {"id": "c2", "created_at": LATER, "active": False},
        {"id": "c1", "created_at": NOON, "active": True},
    ]
    assert await store.registry.calibrations("other") == []
    assert await store.registry.calibration("c1") == b"{}"
    assert await store.registry.calibration("c9") is None


async def test_a_calibration_keeps_its_content(store: Store) -> None:
    """The same again is fine, other content under its id is not."""
    for _ in range(2):
        await store.registry.save_calibration(
            calibration_id="c", workspace="default", body=b"1", at=NOON
        )
    with pytest.raises(Conflict):
        await store.registry.save_calibration(
            calibration_id="c", workspace="default", body=b"2", at=NOON
        )


@pytest.mark.parametrize("role", list(Role))
async def test_a_key_is_found_by_its_secret(store: Store, role: Role) -> None:
    """The secret says its role, and leads to the key with its scope."""
    key, secret = await store.keys.create(
        name="ci", role=role, workspace="default", slices=["invoices", "größe"], at=NOON
    )
    assert secret.startswith(f"sl_{role}_")
    assert await store.keys.find(secret) == key
    assert (key.slices, key.created_at, key.revoked_at) == (("invoices", "größe"), NOON, None)
    assert await store.keys.all("default") == [key]
    assert await store.keys.all("other") == []


@pytest.mark.parametrize("secret", ["", "sl_admin_", "sl_admin_x", "\udcff", "'; DROP TABLE meta"])
async def test_an_unknown_secret_finds_nothing(store: Store, secret: str) -> None:
    """Whatever is presented, only a stored secret opens."""
    await store.keys.create(name="ci", role=Role.ADMIN, workspace="default", slices=(), at=NOON)
    assert await store.keys.find(secret) is None


async def test_of_several_first_keys_one_is_made(store: Store) -> None:
    """Servers that start together make one key; where all are revoked, there is a first again."""

    async def first() -> tuple[ApiKey, str] | None:
        return await store.keys.create_first(
            name="first admin", role=Role.ADMIN, workspace="default", at=NOON
        )

    made = [one for one in await asyncio.gather(*(first() for _ in range(4))) if one is not None]
    assert await store.keys.all("default") == [key for key, _ in made]
    ((key, secret),) = made
    assert await store.keys.find(secret) == key
    await store.keys.revoke("default", key.id, LATER)
    assert await first() is not None


async def test_a_revoked_key_finds_nothing(store: Store) -> None:
    """Revoking is for ever, keeps the first time, and needs the key's own workspace."""
    key, secret = await store.keys.create(
        name="ci", role=Role.AGENT, workspace="default", slices=(), at=NOON
    )
    with pytest.raises(NotFound):
        await store.keys.revoke("other", key.id, LATER)
    assert await store.keys.find(secret) is not None
    await store.keys.revoke("default", key.id, LATER)
    await store.keys.revoke("default", key.id, LATER + timedelta(days=1))
    assert await store.keys.find(secret) is None
    assert [key.revoked_at for key in await store.keys.all("default")] == [LATER]


async def test_no_secret_is_in_the_file(path: Path) -> None:
    """Only a hash is kept."""
    store = open_store(f"sqlite:///{path}")
    _, secret = await store.keys.create(
        name="ci", role=Role.ADMIN, workspace="default", slices=(), at=NOON
    )
    store.close()
    assert sqlite3.connect(path).execute("SELECT count(*) FROM api_keys").fetchone() == (1,)
    content = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert secret.encode() not in content
    assert secret.split("_", 2)[2].encode() not in content
