"""Finding items of the queue: exactly what is asked for, along the indexes, and nothing erased."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sureline.adapters.storage import candidates, inbox
from sureline.adapters.storage.line_rows import put_lines
from sureline.adapters.storage.queued import put_reviews
from sureline.adapters.storage.transaction import Transaction
from sureline.application.intake import read_proposal
from sureline.application.ports.inbox import Sought
from sureline.application.ports.reviews import Wanted
from sureline.application.ports.saved_views import SavedView
from sureline.bootstrap import Plugins, Services, open_services
from sureline.core.review.honeypot import Planted, PlantedFor, planted_review
from sureline.core.review.line import line_of
from sureline.core.values.finding import Finding
from sureline.core.values.review import Review, ReviewKind, ReviewRules, ReviewState
from sureline.core.values.review_line import LONGEST_FOUND, LONGEST_TASK, ReviewLine
from sureline.errors import Conflict
from sureline.testing import MOMENT, FixedClock

WORDS = ("letter", "invoice", "Zürich", "bakery")
CODES = ("forced", "novel", "below_threshold")
SLICES = ("replies", "invoices", "notes")
SAID = ("2135.0 is not in the source.", "Letter or invoice?")
NAMES = ("ada", "kim")


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    path = tmp_path_factory.mktemp("store") / "s.db"
    opened = open_services(f"sqlite:///{path}", plugins=Plugins(clock=FixedClock()))
    yield opened
    opened.close()


def items(seed: int, workspace: str, size: int) -> list[tuple[Review, ReviewLine]]:
    """Return a queue of all sorts."""
    draw = Random(seed)
    found = []
    for number in range(size):
        kind = draw.choice((ReviewKind.REVIEW, ReviewKind.REVIEW, ReviewKind.AUDIT))
        state = draw.choice(
            (ReviewState.PENDING, ReviewState.CLAIMED, ReviewState.ESCALATED, ReviewState.EXPIRED)
        )
        is_held = state is ReviewState.CLAIMED
        item = Review(
            workspace=workspace,
            id=f"{workspace}-{number:03}",
            decision_id=f"{workspace}-{number:03}",
            slice_key=draw.choice(SLICES),
            kind=kind,
            state=state,
            rank=-1 if kind is ReviewKind.AUDIT else draw.randrange(3),
            level=draw.randrange(3),
            uncertainty=draw.choice((0.0, 0.5, 1.0)),
            digest="0" * 64,
            opened_at=MOMENT - timedelta(seconds=draw.randrange(1000)),
            deadline=MOMENT + timedelta(hours=draw.randrange(48)),
            rules=ReviewRules(),
            claimed_by=draw.choice(NAMES) if is_held else None,
            lease_until=MOMENT + timedelta(minutes=draw.choice((-5, 5))) if is_held else None,
        )
        task = " ".join(draw.sample(WORDS, 2))
        line = line_of(
            item,
            task,
            draw.sample(CODES, 2),
            findings=[Finding(code="x", message=draw.choice(SAID))],
            confidence=draw.choice((None, 0.0, 0.5, 1.0)),
        )
        found.append((item, line))
    return found


SOUGHT = st.builds(
    Sought,
    text=st.sampled_from(("", "LETTER", "zürich invoice", "replies", "2135.0", "nowhere")),
    reason=st.sampled_from(("", *CODES)),
    rank=st.sampled_from((None, 0, 1, 2)),
    due_by=st.sampled_from((None, MOMENT + timedelta(hours=9))),
    is_up=st.booleans(),
    is_held=st.booleans(),
    held_by=st.sampled_from((None, None, *NAMES)),
)
WANTED = st.builds(
    Wanted,
    slices=st.sampled_from(((), ("replies",), ("notes", "invoices"), ("unknown",))),
    kinds=st.sampled_from((tuple(ReviewKind), (ReviewKind.AUDIT,), (ReviewKind.REVIEW,))),
    is_open=st.just(True),
)


def meant(item: Review, line: ReviewLine, wanted: Wanted, sought: Sought) -> bool:
    """Say the same in the plainest way."""
    parts = (line.task, item.slice_key, item.id, " ".join(line.reasons), line.found)
    text = "\n".join(parts).casefold()
    return (
        item.state.is_open
        and (not wanted.slices or item.slice_key in wanted.slices)
        and item.kind in wanted.kinds
        and all(word in text for word in sought.words)
        and (not sought.reason or sought.reason in line.reasons)
        and sought.rank in {None, item.rank}
        and (sought.due_by is None or item.deadline <= sought.due_by)
        and (not sought.is_up or item.level > 0)
        and (not sought.is_held or item.is_held(MOMENT))
        and (sought.held_by is None or (item.is_held(MOMENT) and item.claimed_by == sought.held_by))
    )


def urgency(item: Review) -> Any:
    return -item.level, -item.rank, item.deadline, -item.uncertainty, item.id


NUMBERS = count()


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 5), wanted=WANTED, sought=SOUGHT, limit=st.integers(1, 9))
def test_what_is_found_is_what_is_meant(
    services: Services, seed: int, wanted: Wanted, sought: Sought, limit: int
) -> None:
    """In every combination, in working order, page by page without a gap, and counted alike."""
    workspace = f"w{next(NUMBERS)}"
    made = items(seed, workspace, 60)
    asyncio.run(fill(services, made))
    lines = {item.id: line for item, line in made}
    expected = [
        one.id
        for one in sorted((item for item, _ in made), key=urgency)
        if meant(one, lines[one.id], wanted, sought)
    ]

    async def look() -> list[str]:
        store, seen, offset = services.store.inbox, [], 0
        while True:
            page = await store.find(
                workspace, wanted, sought, now=MOMENT, limit=limit, offset=offset
            )
            seen += [one.id for one in page.items]
            assert set(page.lines) == {one.id for one in page.items}
            assert page.is_whole
            offset += limit
            if not page.more:
                break
        counted = await store.count(workspace, wanted, sought, now=MOMENT, most=99)
        assert (counted.count, counted.is_whole) == (len(seen), True)
        return seen

    assert asyncio.run(look()) == expected


async def fill(services: Services, made: list[tuple[Review, ReviewLine]]) -> None:
    def write(transaction: Transaction) -> None:
        put_reviews(transaction, [(None, item) for item, _ in made])
        put_lines(transaction, made)

    await services.store.database.write(write)


@pytest.mark.parametrize(
    "name", ["QUEUE", "QUEUE_RUN", "BAND", "BAND_RUN", "HELD", "OVER", "OVER_RUN"]
)
def test_every_search_reads_along_an_index(services: Services, name: str) -> None:
    """No search scans or sorts the queue, however long it is."""
    statement = getattr(candidates, name)
    path = services.store.url.removeprefix("sqlite:///")
    with sqlite3.connect(path) as connection:
        plan = connection.execute(
            "EXPLAIN QUERY PLAN " + statement.sql, [1] * len(statement.names)
        ).fetchall()
    connection.close()
    said = [row[3] for row in plan]
    assert all(one.startswith("SEARCH") for one in said), said
    index = {"HELD": "ix_reviews_held", "OVER": "ix_reviews_over", "OVER_RUN": "ix_reviews_state"}
    assert index.get(name, "ix_reviews_open") in said[0]
    if name == "HELD":
        assert "claimed_by>?" in said[0]


def test_a_search_stops_and_says_so(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    """After so many items compared it ends; what was found until then is shown."""
    monkeypatch.setattr(inbox, "LOOKED_AT", 10)
    workspace = f"w{next(NUMBERS)}"
    made = items(1, workspace, 60)
    asyncio.run(fill(services, made))
    store, wanted = services.store.inbox, Wanted()
    found = asyncio.run(store.find(workspace, wanted, Sought(text="nowhere"), now=MOMENT, limit=5))
    assert (found.items, found.more, found.is_whole) == ([], False, False)
    counted = asyncio.run(
        store.count(workspace, wanted, Sought(text="letter"), now=MOMENT, most=99)
    )
    assert not counted.is_whole
    assert counted.count < 10


def test_counting_stops_where_nobody_reads_on(services: Services) -> None:
    """Beyond `most` it is "more", not a figure."""
    workspace = f"w{next(NUMBERS)}"
    asyncio.run(fill(services, items(1, workspace, 60)))
    counted = asyncio.run(
        services.store.inbox.count(workspace, Wanted(), Sought(rank=0), now=MOMENT, most=2)
    )
    assert (counted.count, counted.is_whole) == (2, False)


def test_a_damaged_row_holds_up_no_search(tmp_path: Path) -> None:
    """What cannot be read is left out of the page."""
    path = tmp_path / "s.db"
    services = open_services(f"sqlite:///{path}", plugins=Plugins(clock=FixedClock()))
    made = items(1, "default", 20)
    asyncio.run(fill(services, made))
    wanted, sought = Wanted(), Sought(reason="forced")
    before = asyncio.run(services.inbox.page(wanted, sought, limit=50)).items
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE reviews SET rules = '[' WHERE id = ?", (before[0].id,))
    connection.close()
    after = asyncio.run(services.inbox.page(wanted, sought, limit=50)).items
    assert [one.id for one in after] == [one.id for one in before[1:]]
    services.close()


@pytest.mark.parametrize(
    ("task", "shown"),
    [
        ("  two \n words\t", "two words"),
        ("x" * 5_000, "x" * LONGEST_TASK),
        ("a\ud800b", "a?b"),
        ("", ""),
        ("nul\x00here", "nul\x00here"),
    ],
)
def test_a_line_is_short_and_can_be_stored(services: Services, task: str, shown: str) -> None:
    """Whatever an agent calls a task, its item can be written and read."""
    workspace = f"w{next(NUMBERS)}"
    (item, _), *_ = items(1, workspace, 1)
    line = line_of(item, task, ["forced", "forced"])
    asyncio.run(fill(services, [(item, line)]))
    found = asyncio.run(services.store.inbox.lines(workspace, [item.id]))
    assert found[item.id] == line
    assert line.task == shown


@pytest.mark.parametrize("blind", ["audit", "answer_first"])
def test_the_gate_s_view_is_not_in_the_line_of_a_blind_item(blind: str) -> None:
    """Neither an auditor nor who answers first learns it from the list or by searching it."""
    rules = ReviewRules(answer_first=blind == "answer_first")
    item = Review(
        workspace="default",
        id="a",
        decision_id="a",
        slice_key="replies",
        kind=ReviewKind.AUDIT if blind == "audit" else ReviewKind.REVIEW,
        rank=0,
        uncertainty=1.0,
        digest="0" * 64,
        opened_at=MOMENT,
        deadline=MOMENT,
        rules=rules,
    )
    found = [Finding(code="not_grounded", message="It is not in the source.", fatal=True)]
    line = line_of(item, "a task", ["forced"], findings=found, confidence=0.3)
    assert line == ReviewLine(task="a task")


NOTE = Finding(code="note", message="A note.")
COSTLY = Finding(code="not_grounded", message='"2135.0"  is not\nin the source.', field="total")


@pytest.mark.parametrize(
    ("findings", "found"),
    [
        ([], ""),
        ([NOTE], "A note"),
        ([NOTE, replace(COSTLY, penalty=300)], 'total: "2135.0" is not in the source'),
        ([replace(COSTLY, penalty=300), replace(NOTE, fatal=True)], "A note"),
        ([replace(NOTE, message="x" * 5_000)], "x" * LONGEST_FOUND),
        ([replace(NOTE, message="half \ud800")], "half ?"),
    ],
    ids=["none", "a note", "what costs", "what is fatal", "cut", "half a character"],
)
def test_a_line_has_the_finding_that_matters_most(
    services: Services, findings: list[Finding], found: str
) -> None:
    """It is short, on one line, comes back from the store, and its confidence with it."""
    workspace = f"w{next(NUMBERS)}"
    (item, _), *_ = items(1, workspace, 1)
    line = line_of(item, "a task", ["forced"], findings=findings, confidence=0.25)
    assert line.found == found
    asyncio.run(fill(services, [(item, line)]))
    assert asyncio.run(services.store.inbox.lines(workspace, [item.id]))[item.id] == line


def test_views_are_each_person_s_own(services: Services) -> None:
    """They are kept by name; one opens the inbox, and there is an end to them."""
    views = services.store.views

    async def work() -> None:
        for name in ("b", "a"):
            view = SavedView(name=name, filter=f"find={name}", opens=True)
            await views.save("default", "ada", view, most=2)
        found = await views.list("default", "ada")
        assert [(one.name, one.opens) for one in found] == [("a", True), ("b", False)]
        with pytest.raises(Conflict, match="2 views already"):
            await views.save("default", "ada", SavedView(name="c", filter=""), most=2)
        await views.save("default", "ada", SavedView(name="b", filter="due=4"), most=2)
        assert (await views.list("default", "ada"))[1].filter == "due=4"
        assert await views.list("default", "kim") == []
        assert await views.list("other", "ada") == []
        assert await views.delete("default", "ada", "a") is True
        assert await views.delete("default", "ada", "a") is False

    asyncio.run(work())


POLICY = """\
version: 1
slices:
  replies: {output: {structured: false}, weights: {verification: 1}}
"""


def test_a_planted_item_is_found_like_any_other_and_forgotten_with_its_source(
    tmp_path: Path,
) -> None:
    """Its line is the task that it shows; an erasure of that task takes it along."""
    services = open_services(f"sqlite:///{tmp_path / 's.db'}", plugins=Plugins(clock=FixedClock()))

    async def work() -> None:
        await services.policies.introduce(POLICY)
        given = {"id": "d1", "slice_key": "replies", "task": "answer the bakery", "output": "Yes."}
        await services.decider.decide(read_proposal(given, workspace="default"))
        like = await services.desk.store.get("default", "d1")
        stored = await services.ledger.decision("default", "d1")
        assert like is not None
        assert stored is not None
        planted = Planted(
            review=planted_review(
                like,
                new_id="p1",
                digest=like.digest,
                rank=0,
                uncertainty=1.0,
                not_by=(),
                now=MOMENT,
            ),
            purpose=PlantedFor.HONEYPOT,
            source_id="d1",
            origin="canary",
            trigger="t",
            body=stored.body,
        )
        await services.store.planted.open(planted)
        lines = await services.store.inbox.lines("default", ["d1", "p1"])
        assert lines["p1"] == lines["d1"]
        assert lines["d1"].task == "answer the bakery"
        assert lines["d1"].reasons
        found = await services.inbox.page(Wanted(), Sought(text="bakery"), limit=9)
        assert {one.id for one in found.items} == {"d1", "p1"}
        await services.ledger.erase("default", "d1", by="dpo", reason="asked", at=MOMENT)
        assert await services.store.inbox.lines("default", ["d1", "p1"]) == {}
        for is_open in (True, False):
            wanted = Wanted(is_open=is_open)
            found = await services.inbox.page(wanted, Sought(text="bakery"), limit=9)
            assert found.items == []

    asyncio.run(work())
    services.close()
