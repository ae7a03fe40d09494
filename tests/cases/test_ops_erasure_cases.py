"""Rows of area 7-ops about erasing, and about what happens when the ledger cannot be written."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import psycopg
import pytest

from sureline.adapters.storage.columns import metadata
from sureline.adapters.storage.store import open_store
from sureline.application.intake import read_proposal
from sureline.bootstrap import Plugins, Services, open_services
from sureline.bootstrap.erasing import subject_eraser
from sureline.core.chain_export import verify_export
from sureline.core.values.decision import Route
from sureline.errors import NotFound, StoreError
from sureline.testing import FixedClock
from tests.adapters.storage.samples import outcome, record
from tests.cases.stores import both, on_file, path_of, rows
from tests.cases.test_history_cases import Cases
from tests.cases.told import ToldSignal, told, told_policy
from tests.erasure.marked import MARK, SUBJECT, Marked, counts, files_of, fill, places_of
from tests.postgres import Postgres

ASKED = {"by": "dpo", "reason": "asked for by the person"}


def test_o15_an_erasure_is_on_record_and_no_alarm(
    cases: Cases, tmp_path: Path, postgres: Postgres
) -> None:
    """Somebody who is a subject here and an actor there is erased; the chain verifies and says so.

    What it says of who acted stays: a name under an answer is not about them, but by them.
    """
    subject = cases["O15"]["input"]["erase_subject"]
    for url in both(tmp_path, postgres):
        store = Marked(url)
        services = store.services
        about = [store.decide(subject=subject, output={"vendor": "Acme"}) for _ in range(3)]
        by = store.decide(subject="somebody else")
        store.say(by, by=subject)
        store.say(about[0], comment="well done")
        statistics = counts(store)
        done = store.run(subject_eraser(services).erase(subject, **ASKED))
        assert (done.erased, done.left) == (3, 0)
        report = store.run(services.ledger.verify())
        assert report.fault is None
        assert report.erased == len(about) + 1  # the comment on the first
        listed = store.run(services.ledger.erasures("default"))
        assert {one.decision_id for one in listed} == set(about)
        assert counts(store) == statistics
        exported = verify_export(services.store.ledger.export(payloads=True))
        assert (exported.fault, exported.erased) == (None, report.erased)
        kept = store.run(services.ledger.decision("default", by))
        assert kept is not None
        assert kept.answer is not None
        store.close()


def test_o16_nothing_is_left_in_any_table_or_file(
    cases: Cases, tmp_path: Path, postgres: Postgres
) -> None:
    """A mark in every field that an agent or a person can fill is searched for everywhere after."""
    assert {"payload", "embedding", "reason"} <= set(cases["O16"]["input"]["pii_in"])
    for url in both(tmp_path, postgres):
        store = Marked(url)
        about = fill(store)
        assert {"payloads.answer", "payloads.request", "review_lines.task"} <= set(
            places_of(store.services)
        )
        named = ", ".join(f"'{one}'" for one in about)
        vectors = (
            "SELECT count(*) FROM vectors JOIN decisions ON decisions.stream = vectors.stream "
            f"AND decisions.seq = vectors.seq WHERE decisions.id IN ({named})"
        )
        assert rows(url, vectors) > [(0,)]
        statistics = counts(store)
        store.run(subject_eraser(store.services).erase(SUBJECT, **ASKED))
        assert places_of(store.services) == []
        assert rows(url, vectors) == [(0,)]
        assert MARK not in "".join(store.services.store.ledger.export(payloads=True))
        assert counts(store) == statistics
        assert store.run(store.services.ledger.verify()).ok
        store.close()
        for file in files_of(url):
            assert MARK.lower().encode() not in file.read_bytes().lower()


FAIL_FILE = (
    "CREATE TRIGGER failing BEFORE INSERT ON decisions "
    "BEGIN SELECT RAISE(ABORT, 'disk on fire'); END"
)
FAIL_SERVER = (
    "CREATE FUNCTION failing() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION 'disk on fire'; END $$",
    "CREATE TRIGGER failing BEFORE INSERT ON decisions EXECUTE FUNCTION failing()",
)


def run_there(url: str, *statements: str) -> None:
    """Run statements past the product, triggers included."""
    if on_file(url):
        with sqlite3.connect(path_of(url)) as database:
            for statement in statements:
                database.execute(statement)
        database.close()
        return
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


async def decided(services: Services, name: str) -> Route:
    proposal = read_proposal(told(0.95, id=name))
    return (await services.decider.decide(proposal)).decision.route


async def test_o17_without_its_row_nothing_acts_and_no_row_goes(
    cases: Cases, tmp_path: Path, postgres: Postgres
) -> None:
    """Where the row cannot be written there is no approval, and nobody can use one or is told.

    Rows are never deleted, whoever asks: no table hangs on another, and the database refuses.
    """
    assert cases["O17"]["input"]["fault"] == "ledger insert fails"
    for url in both(tmp_path, postgres):
        services = open_services(url, plugins=Plugins(clock=FixedClock(), signals=[ToldSignal()]))
        await services.policies.introduce(told_policy())
        assert await decided(services, "good") is Route.AUTO_APPROVE
        run_there(url, *([FAIL_FILE] if on_file(url) else FAIL_SERVER))
        with pytest.raises(StoreError):
            await decided(services, "lost")
        with pytest.raises(NotFound):
            await services.consumer.consume("default", "lost")
        for table in ("decisions", "payloads", "route_counts"):
            counted = "sum(count)" if table == "route_counts" else "count(*)"
            assert rows(url, f"SELECT {counted} FROM {table}") == [(1,)]
        assert rows(url, "SELECT count(*) FROM consumptions") == [(0,)]
        services.close()
        await nothing_is_deleted(url)


async def nothing_is_deleted(url: str) -> None:
    """Try to delete a workspace's ledger as an organisation's deletion would."""
    run_there(
        url, *(["DROP TRIGGER failing"] if on_file(url) else ["DROP TRIGGER failing ON decisions"])
    )
    assert not any(table.foreign_keys for table in metadata.tables.values())
    store = open_store(url)
    await store.ledger.append(record(1))
    await store.ledger.record_outcome(outcome("o1", "d1"))
    store.close()
    for table in ("decisions", "outcomes"):
        with pytest.raises((sqlite3.Error, psycopg.Error), match="append-only"):
            run_there(url, f"DELETE FROM {table} WHERE workspace = 'default'")
    store = open_store(url)
    assert (await store.ledger.verify()).fault is None
    store.close()
