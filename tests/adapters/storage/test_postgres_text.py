"""Every text comes back from PostgreSQL as it was written."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sureline.adapters.storage.postgres_text import as_it_was, storable
from sureline.adapters.storage.store import open_store
from tests.adapters.storage.samples import record
from tests.postgres import Postgres

_TEXTS = st.text(st.sampled_from("a0\x00\U0010ffff1"), max_size=8)


@given(_TEXTS, _TEXTS)
def test_what_is_stored_stands_for_one_text(one: str, other: str) -> None:
    """Nothing that cannot be stored is left, it is read back, and no two texts are stored alike."""
    assert "\x00" not in storable(one)
    assert as_it_was(storable(one)) == one
    assert (storable(one) == storable(other)) is (one == other)


async def test_a_name_with_a_nul_is_kept(postgres: Postgres) -> None:
    """As SQLite keeps it: found by its name, verified, and told apart from others."""
    store = open_store(postgres.database())
    for name in ("a\x00b", "ab", "\U0010ffff0", "\U0010ffff"):
        await store.ledger.append(record(name, slice_key=name))
    for name in ("a\x00b", "ab", "\U0010ffff0", "\U0010ffff"):
        found = await store.ledger.decision("default", f"d{name}")
        assert found is not None
        assert (found.id, found.slice_key) == (f"d{name}", name)
    assert (await store.ledger.verify()).fault is None
    store.close()
