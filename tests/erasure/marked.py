"""A store with one word wherever an agent or a reviewer can write, and a search for it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import and_, bindparam, delete, exists, select

from sureline.adapters.storage.columns import metadata
from sureline.adapters.storage.count_tables import label_counts, labels, route_counts, score_counts
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.tables import decisions, payloads
from sureline.application.intake import read_proposal
from sureline.application.label import GivenAnswer
from sureline.application.ports.saved_views import SavedView
from sureline.application.review.desk import Said
from sureline.bootstrap import Plugins, Services, open_services
from sureline.core.values.outcome import Action
from sureline.core.values.review import Review
from sureline.testing import FixedClock

MARK = "Zyxomarkq"
SUBJECT = f"customer-{MARK}"
POLICY = """\
version: 1
slices:
  invoices:
    weights: {verification: 0.7, history: 0.3}
    output: {json_schema: {type: object, properties: {vendor: {type: string}}}}
    grounding: {fields: [vendor]}
    rules: [{field: total, between: [1, 100], penalty: 0.3}]
    review: {honeypots: 0.5, double_review: 0}
  blind:
    output: {structured: false}
    weights: {verification: 1}
    prose: [{max_length: 20}]
    review: {answer_first: 1, double_review: 0}
"""


@dataclass(slots=True)
class Marked:
    """Services on a store, with a clock that stands still."""

    url: str
    policy: str = POLICY
    clock: FixedClock = field(default_factory=FixedClock)
    runner: asyncio.Runner = field(default_factory=asyncio.Runner)
    services: Services = field(init=False)
    count: int = 0

    def __post_init__(self) -> None:
        self.services = open_services(self.url, plugins=Plugins(clock=self.clock))
        self.run(self.services.policies.introduce(self.policy))

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(work)

    def decide(self, **fields: Any) -> str:
        self.count += 1
        self.clock.advance(timedelta(seconds=1))
        given = {"slice_key": "invoices", "task": f"t{self.count}", "output": {"vendor": "A"}}
        raw = {**given, "id": f"d{self.count}", **fields}
        made = self.run(self.services.decider.decide(read_proposal(raw)))
        return str(made.decision.id)

    def say(self, review_id: str, by: str = "ann", **said: Any) -> Review:
        item = self.run(self.services.desk.claim(review_id, by))
        given = {"action": Action.APPROVE, **said}
        self.run(self.services.desk.decide(review_id, Said(by=by, digest=item.digest, **given)))
        self.settle()
        found: Review = self.run(self.services.store.reviews.get("default", review_id))
        return found

    def settle(self) -> None:
        self.clock.advance(timedelta(seconds=11))
        self.run(self.services.desk.settle())
        self.run(self.services.attention.sweep())

    def close(self) -> None:
        self.services.close()
        self.runner.close()


def marked_fields(**changes: Any) -> dict[str, Any]:
    """Return a proposal with the mark in every field that is no id."""
    return {
        "task": f"Read the invoice of {MARK}",
        "output": {"vendor": MARK, "total": MARK, "more": [{MARK: MARK}]},
        "source": [{"ref": f"mail from {MARK}", "text": f"Dear {MARK}, 12 EUR"}],
        "generator": {"model": "gpt", "family": MARK},
        "self_report": MARK,
        "reasoning": f"because {MARK}",
        "evidence": [MARK],
        "alternatives": [{"vendor": MARK}],
        "generations": [{"vendor": MARK}],
        "metadata": {MARK: MARK},
        "subject": SUBJECT,
        **changes,
    }


def fill(store: Marked) -> list[str]:
    """Write the mark wherever it can be written; return the decisions about the subject."""
    desk, services = store.services.desk, store.services
    for number in range(4):  # past cases of somebody else
        other = store.decide(subject="customer-other", output={"vendor": f"B{number}"})
        store.say(other, action=Action.REJECT if number % 2 else Action.APPROVE)
    approved, edited, rejected = (store.decide(**marked_fields()) for _ in range(3))
    store.say(approved, comment=f"{MARK} is fine")
    store.say(edited, action=Action.EDIT, edited={"vendor": f"{MARK} Ltd"}, comment=MARK)
    store.say(rejected, action=Action.REJECT, comment=MARK, reason="not_in_source")
    waiting, aside = store.decide(**marked_fields()), store.decide(**marked_fields())
    store.run(desk.claim(aside, "ann"))
    store.run(desk.escalate(aside, "ann", f"who is {MARK}?"))
    given = GivenAnswer(decision_id=approved, action=Action.REJECT, by="bob", comment=MARK)
    store.run(services.labeller.record("default", given))
    blind = store.decide(**marked_fields(slice_key="blind", output=f"Dear {MARK}, much too long"))
    store.run(desk.claim(blind, "ann"))
    store.run(services.answer_first.answer(blind, "ann", f"Dear {MARK}"))
    for _ in range(12):
        store.decide(subject="customer-other")
    store.settle()
    view = SavedView(name=MARK, filter=f"q={SUBJECT}&state=open", opens=False)
    store.run(services.store.views.save("default", "ann", view, most=9))
    return [approved, edited, rejected, waiting, aside, blind]


def places_of(services: Services, mark: str = MARK) -> list[str]:
    """Return every table and column in which the mark stands, in whatever case."""
    sought = mark.casefold().encode()
    with services.store.database.snapshot() as each:
        return sorted(
            {
                f"{table.name}.{column.name}"
                for table in metadata.tables.values()
                for row in each(compiled(select(*table.columns)), ())
                for column, value in zip(table.columns, row, strict=True)
                if sought in _bytes(value)
            }
        )


def _bytes(value: Any) -> bytes:
    if isinstance(value, (bytes, memoryview)):
        return bytes(value).lower()
    return str(value).casefold().encode("utf-8", "surrogatepass")


def take_payload(store: Marked, decision_id: str) -> None:
    """Erase a decision's own payload only: what was said of it stays, as it did earlier."""
    gone = and_(decisions.c.stream == payloads.c.stream, decisions.c.seq == payloads.c.seq)
    named = decisions.c.id == bindparam("id")
    one = compiled(delete(payloads).where(exists(select(decisions.c.seq).where(gone, named))))
    store.run(store.services.store.database.write(lambda write: write.run(one, (decision_id,))))


def counts(store: Marked) -> list[Any]:
    """Return what statistics and certificates rest on."""
    fetch = store.services.store.database.fetch
    return [
        sorted(fetch(compiled(select(*table.columns))))
        for table in (labels, label_counts, route_counts, score_counts)
    ]


def files_of(url: str) -> Iterator[Path]:
    """Yield the files of a store on SQLite: the database and its log."""
    path = Path(url.removeprefix("sqlite:///"))
    if url.startswith("sqlite:///"):
        yield from (one for one in (path, Path(f"{path}-wal")) if one.exists())
