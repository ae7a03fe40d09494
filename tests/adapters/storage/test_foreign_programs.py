"""A trigger, view or rule that is not sureline's swallows nothing unseen."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from sureline.adapters.storage.restored import MarkRestored
from sureline.adapters.storage.store import open_store
from sureline.bootstrap.backup import drill, mark_restored
from sureline.errors import Refused, StoreCorrupt
from tests.adapters.storage.samples import NOON, outcome, record, switch
from tests.postgres import Postgres

_SWALLOW = "CREATE TRIGGER sw BEFORE INSERT ON {} BEGIN SELECT RAISE(IGNORE); END"
_ON_POSTGRES = (
    "CREATE FUNCTION public.swallow() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RETURN NULL; END $$"
)
_ROW = "CREATE TRIGGER sw BEFORE INSERT ON {} FOR EACH ROW EXECUTE FUNCTION public.swallow()"


def _on_file(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()


def _on_server(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


@pytest.mark.parametrize(
    "table",
    ["switches", "decisions", "payloads", "outcomes", "activations", "consumptions", "heads"],
)
@pytest.mark.parametrize("kind", ["file", "postgres"])
async def test_a_swallowed_row_fails_whoever_wrote_it(
    kind: str, table: str, tmp_path: Path, postgres: Postgres
) -> None:
    """A switch, a decision, an outcome and the mark of a restored store are there, or an error."""
    path = tmp_path / "s.db"
    url = f"sqlite:///{path}" if kind == "file" else postgres.database()
    store = open_store(url)
    await store.ledger.append(record(1, route="auto_approve"))
    if kind == "file":
        _on_file(path, _SWALLOW.format(table))
    else:
        _on_server(url, _ON_POSTGRES, _ROW.format(table))
    failed: dict[str, str] = {}
    for name, job in {
        "switches": lambda: store.ledger.set_switch(switch()),
        "decisions": lambda: store.ledger.append(record(2)),
        "outcomes": lambda: store.ledger.record_outcome(outcome("o1", "d1")),
        "restored": lambda: store.database.write(MarkRestored("ada", "lost", NOON)),
    }.items():
        try:
            await job()
        except StoreCorrupt as error:
            failed[name] = error.message
    assert all("so nothing was written" in said for said in failed.values())
    assert (
        set(failed)
        == {
            "switches": {"switches", "restored"},
            "decisions": {"decisions"},
            "payloads": {"decisions"},
            "outcomes": {"outcomes"},
            "activations": {"restored"},
            "consumptions": {"restored"},
            "heads": {"switches", "decisions", "outcomes", "restored"},
        }[table]
    )
    store.close()


@pytest.mark.parametrize(
    "made",
    [
        _SWALLOW.format("switches"),
        "CREATE TRIGGER late AFTER INSERT ON jobs BEGIN DELETE FROM meta; END",
        "CREATE VIEW seen AS SELECT * FROM switches",
    ],
    ids=["swallows", "after", "view"],
)
async def test_a_file_with_foreign_programs_is_not_opened(tmp_path: Path, made: str) -> None:
    """Sureline makes no such thing, so it is named, and the drill and `restored` refuse as well."""
    url = f"sqlite:///{tmp_path / 's.db'}"
    store = open_store(url)
    await store.ledger.append(record(1))
    store.close()
    assert (await drill(tmp_path / "s.db", None)).faults == ()
    _on_file(tmp_path / "s.db", made)
    named = made.split(" ")[2]
    for to_write in (True, False):
        with pytest.raises(StoreCorrupt, match=f"'{named}'.* not sureline's"):
            open_store(url, to_write=to_write)
    with pytest.raises(Refused, match=f"do NOT rely on it: {tmp_path}.*'{named}'"):
        await drill(tmp_path / "s.db", None)
    with pytest.raises(StoreCorrupt, match="not sureline's"):
        await mark_restored(url, by="ada", reason="lost", erasures=())


async def test_a_file_that_lost_its_guards_does_not_pass(tmp_path: Path) -> None:
    """It can be opened and read, but a drill says what is gone, and nobody takes it into use."""
    url = f"sqlite:///{tmp_path / 's.db'}"
    store = open_store(url)
    await store.ledger.append(record(1))
    store.close()
    weak = "CREATE TRIGGER seals_no_delete BEFORE DELETE ON seals BEGIN SELECT 1; END"
    _on_file(tmp_path / "s.db", "DROP TRIGGER switches_no_update", "DROP TRIGGER seals_no_delete")
    _on_file(tmp_path / "s.db", weak)
    found = await drill(tmp_path / "s.db", None)
    assert sorted(found.faults) == [
        "the trigger 'seals_no_delete' on 'seals' is not as sureline makes it",
        "the trigger 'switches_no_update' is gone, which sureline makes",
    ]
    with pytest.raises(Refused, match=r"seals_no_delete.*try another backup"):
        await mark_restored(url, by="ada", reason="lost", erasures=())


_AFTER = (
    "CREATE TRIGGER copied AFTER INSERT ON switches FOR EACH ROW EXECUTE FUNCTION public.swallow()"
)
_RULE = "CREATE RULE quiet AS ON INSERT TO switches DO INSTEAD NOTHING"


@pytest.mark.parametrize(
    ("made", "foreign", "broken", "remarks"),
    [
        ((), [], [], []),
        ((_ON_POSTGRES, _ROW.format("switches")), ["'sw' on 'switches'"], [], []),
        ((_RULE,), ["rule 'quiet' on 'switches'"], [], []),
        ((_ON_POSTGRES, _AFTER), [], [], ["'copied' on 'switches'"]),
        (("DROP TRIGGER seals_append_only ON seals",), [], ["'seals_append_only' is gone"], []),
        (
            ("ALTER TABLE seals DISABLE TRIGGER seals_append_only",),
            [],
            ["'seals_append_only' on 'seals' is not as"],
            [],
        ),
        (
            (
                "CREATE OR REPLACE FUNCTION sureline_append_only() RETURNS trigger "
                "LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$",
            ),
            [],
            ["function 'sureline_append_only' is not as"],
            [],
        ),
        (("CREATE TABLE own (x int)", "CREATE VIEW seen AS SELECT * FROM switches"), [], [], []),
    ],
    ids=["none", "before", "rule", "after", "gone", "disabled", "replaced", "unrelated"],
)
def test_a_database_says_which_programs_are_not_its_own(
    postgres: Postgres,
    made: tuple[str, ...],
    foreign: list[str],
    broken: list[str],
    remarks: list[str],
) -> None:
    """What runs before a row, or instead, is a fault; what follows is remarked on."""
    url = postgres.database()
    _on_server(url, *made)
    store = open_store(url, to_write=False)
    found = store.derived.programs()
    store.close()
    for said, expected in (
        (found.foreign, foreign),
        (found.broken, broken),
        (found.remarks, remarks),
    ):
        assert len(said) == len(expected)
        assert all(words in one for words, one in zip(expected, said, strict=True))
    if foreign:
        with pytest.raises(StoreCorrupt, match="may swallow"):
            open_store(url)
    else:
        open_store(url).close()
