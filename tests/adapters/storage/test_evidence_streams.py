"""A pack of a store with several writers has a stretch of each one's stream."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from sureline.adapters.storage.store import open_store
from sureline.application.evidence import Wanted
from sureline.bootstrap import open_services
from sureline.bootstrap.evidence import check_pack_file, make_pack
from sureline.bootstrap.heads import StatedHead, state_head
from sureline.core.evidence import Period
from tests.adapters.storage.samples import NOON, outcome, record, switch
from tests.postgres import Postgres

DAY = timedelta(days=1)
PERIOD = Period(workspace="default", since=NOON, until=NOON + DAY)


async def test_every_writer_s_stretch_is_verified(postgres: Postgres, tmp_path: Path) -> None:
    """With a head from the middle of the period; a head from before it lies outside."""
    url = postgres.database()
    first, second = open_store(url), open_store(url)
    services = open_services(url)
    policy = '{"version": 1}'
    await first.registry.propose_policy("p" * 64, policy, NOON)
    for store, name in ((first, "a"), (second, "b")):
        await store.ledger.append(record(f"{name}early", created_at=NOON - DAY))
    early = state_head(services, None)
    for store, name in ((first, "a"), (second, "b")):
        for number in range(3):
            await store.ledger.append(record(f"{name}{number}"))
        await store.ledger.seal(NOON)
    middle = state_head(services, None)
    await first.ledger.set_switch(switch())
    await first.ledger.record_outcome(outcome(decision_id="db1", recorded_at=NOON))
    await second.ledger.append(record("late", created_at=NOON + 2 * DAY))
    wanted = Wanted(period=PERIOD, seed="s", sample=2, payloads=True)
    manifest = await make_pack(services, wanted, tmp_path / "p.zip", None)
    assert sorted(manifest.streams) == ["common", "writer-1", "writer-2"]
    assert [one.before.seq for name, one in manifest.streams.items() if name != "common"] == [1, 1]
    for statement, sentence in (
        (middle, "through the head in 3 streams; in 0 streams"),
        (early, "through the head in 3 streams"),
        (None, "the chain holds: 11 rows"),
    ):
        head = (
            None if statement is None else StatedHead(file="h", statement=statement, signed_by=None)
        )
        found = check_pack_file(tmp_path / "p.zip", (), head)
        said = [one.sentence for one in found.report.findings if one.file == "chain.jsonl"]
        assert any(sentence in one for one in said), said
        wrong = [one for one in found.report.findings if not one.ok]
        # the samples' hash is none, so that no page is made of them
        assert [one.file for one in wrong] == ["policies.jsonl", "summary.html"]
    for one in (first, second, services):
        one.close()
