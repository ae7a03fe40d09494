"""Erasing everything about somebody (case O16): wherever it stood, and nothing else."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sureline.application.erasure import PAGE
from sureline.application.import_log import Mapped
from sureline.application.label import GivenAnswer
from sureline.application.ports.reviews import Changed
from sureline.bootstrap.erasing import subject_eraser
from sureline.core.values.outcome import Action, Outcome, OutcomeSource
from sureline.core.values.review import Review, Verdict
from sureline.errors import Conflict, InvalidInput
from tests.adapters.storage.mission_samples import begin, full_mission
from tests.erasure.marked import (
    MARK,
    SUBJECT,
    Marked,
    counts,
    files_of,
    fill,
    marked_fields,
    places_of,
    take_payload,
)

ASKED = {"by": "dpo", "reason": "asked for by the person"}


def test_nothing_is_left_of_a_subject(store: Marked) -> None:
    """After an erasure the mark is in no column of any table, no export and no file."""
    about = fill(store)
    mission = full_mission(objective=MARK, criteria=(MARK,), subject=SUBJECT)
    store.run(store.services.store.missions.create(begin(mission)))
    before = places_of(store.services)
    for place in (
        "payloads.request", "payloads.answer", "reviews.given", "review_lines.task",
        "own_answers.answer", "missions.words", "saved_views.filter", "saved_views.name",
    ):  # fmt: skip
        assert place in before
    ledger, statistics = store.services.store.ledger, counts(store)
    done = store.run(subject_eraser(store.services).erase(SUBJECT, **ASKED))
    assert (done.erased, done.left, done.views) == (len(about) + 1, 0, 1)
    assert places_of(store.services) == []
    assert MARK not in "".join(ledger.export(payloads=True))
    assert counts(store) == statistics
    report = store.run(ledger.verify())
    assert report.ok
    assert report.erased >= len(about)
    assert all(one.ok for one in store.run(store.services.store.derived.compare()))
    store.services.close()
    for file in files_of(store.url):
        assert MARK.lower().encode() not in file.read_bytes().lower()


def test_somebody_else_keeps_everything(store: Marked) -> None:
    """Another subject's decisions, a workspace's namesake and decisions about nobody stay."""
    services = store.services
    mine = store.decide(subject="customer-1")
    others = [
        store.decide(subject="customer-11"),
        store.decide(subject="Customer-1"),
        store.decide(),
    ]
    eraser = subject_eraser(services)
    assert store.run(eraser.count("customer-1")) == 1
    assert store.run(eraser.erase("customer-1", **ASKED)).erased == 1
    kept = [store.run(services.ledger.decision("default", one)) for one in (mine, *others)]
    assert [one.answer is None for one in kept] == [True, False, False, False]
    again = store.run(eraser.erase("customer-1", **ASKED))
    assert (again.erased, again.left) == (0, 0)


def test_a_retry_of_what_was_erased_brings_nothing_back(store: Marked) -> None:
    """The same proposal under the same id is answered as it stands: erased, and stays so."""
    given = {"id": "same", "subject": SUBJECT, "task": f"Read {MARK}"}
    store.decide(**given)
    store.run(subject_eraser(store.services).erase(SUBJECT, **ASKED))
    store.decide(**given)
    assert places_of(store.services) == []


def test_no_words_are_kept_about_what_is_erased(store: Marked) -> None:
    """Every way in which something can be said: the answer counts, says so, and is repeatable."""
    services, one = store.services, store.decide(**marked_fields())
    store.run(subject_eraser(services).erase(SUBJECT, **ASKED))
    given = {"decision_id": one, "action": Action.REJECT, "by": "bob", "comment": MARK}
    for source in (OutcomeSource.INCIDENT, OutcomeSource.REVIEW):
        answer = GivenAnswer(**given, source=source, id=f"said {source}")
        for _ in range(2):
            said = store.run(services.labeller.record("default", answer))
            assert (said.correct, said.comment, said.words_erased) == (False, None, True)
    with pytest.raises(Conflict):
        store.run(services.labeller.record("default", replace(answer, action=Action.APPROVE)))
    edit = Outcome(
        id="edit", workspace="default", decision_id=one, action=Action.EDIT, correct=False,
        source=OutcomeSource.AUDIT, by="cy", anchored=True, recorded_at=store.clock.now(),
        comment=MARK, edited_fields=("vendor",), edited=MARK.encode(),
    )  # fmt: skip
    assert [store.run(services.ledger.record_outcome(edit)) for _ in range(2)] == [True, False]
    store.run(services.store.planted.keep_own("default", one, by="ann", answer=MARK,
                                              at=store.clock.now()))  # fmt: skip

    def step(item: Review) -> Changed:
        said = Verdict(action=Action.REJECT, by="ann", digest="d", at=store.clock.now(),
                       comment=MARK, edited=MARK)  # fmt: skip
        return Changed(item=replace(item, given=(said,)))

    changed = store.run(services.store.reviews.change("default", one, step))
    assert (changed.given[0].comment, changed.given[0].edited) == (None, None)
    assert places_of(services) == []
    assert store.run(services.store.ledger.verify()).ok


def test_words_that_an_earlier_version_kept_are_found(store: Marked) -> None:
    """Erasing again finds what was said of erased decisions, though they name nobody any more."""
    services = store.services
    other = store.decide(**marked_fields(subject="customer-other"))
    kept = GivenAnswer(decision_id=other, action=Action.REJECT, by="cy", comment=MARK)
    store.run(services.labeller.record("default", kept))
    take_payload(store, other)
    assert "payloads.answer" in places_of(services)
    eraser = subject_eraser(services)
    assert [store.run(eraser.erase(SUBJECT, **ASKED)).late for _ in range(2)] == [1, 0]
    assert places_of(services) == []


@pytest.mark.parametrize(
    ("subject", "words", "field"),
    [
        ("", ASKED, "subject"),
        ("  ", ASKED, "subject"),
        ("x" * 201, ASKED, "subject"),
        ("\ud800", ASKED, None),
        (SUBJECT, {**ASKED, "reason": " "}, "reason"),
        (SUBJECT, {**ASKED, "reason": f"{SUBJECT.upper()} asked"}, "reason"),
        (SUBJECT, {**ASKED, "by": SUBJECT}, "by"),
    ],
    ids=["empty", "blank", "long", "half a character", "no reason", "named in reason", "named"],
)
def test_what_would_stay_must_not_name_the_subject(
    subject: str, words: dict[str, str], field: str | None, tmp_path: Path
) -> None:
    """A bad id, and words that stay in the ledger and name the subject, are refused."""
    opened = Marked("sqlite://")
    opened.decide(subject=SUBJECT)
    with pytest.raises(InvalidInput) as caught:
        opened.run(subject_eraser(opened.services).erase(subject, **words))
    assert field is None or caught.value.field == field
    assert opened.run(subject_eraser(opened.services).count(SUBJECT)) == 1
    opened.close()


def test_only_so_many_at_a_time(store: Marked) -> None:
    """A page is one transaction; `most` bounds a run, and the next one goes on."""
    for _ in range(2 * PAGE + 3):
        store.decide(subject=SUBJECT)
    seen: list[int] = []
    eraser = subject_eraser(store.services)
    first = store.run(eraser.erase(SUBJECT, **ASKED, most=PAGE + 1, progress=seen.append))
    assert (first.erased, first.left, first.done, seen) == (2 * PAGE, 3, False, [PAGE, PAGE])
    assert store.run(eraser.erase(SUBJECT, **ASKED)).erased == 3


def test_kept_replies_of_models_are_forgotten(tmp_path: Path) -> None:
    """An erasure empties what this process keeps of models' replies."""
    opened, told = Marked("sqlite://"), []
    opened.services.plugins.forgetting.append(lambda: told.append(1))
    opened.run(subject_eraser(opened.services).erase(SUBJECT, **ASKED))
    assert told == [1]
    opened.close()


KILLED = """
import asyncio, os, signal, sys
from sureline.bootstrap import open_services
from sureline.application.import_log import Mapped
from sureline.application.label import GivenAnswer
from sureline.application.ports.reviews import Changed
from sureline.bootstrap.erasing import subject_eraser

def stop(count):
    os.kill(os.getpid(), signal.SIGKILL)

services = open_services(sys.argv[1])
asyncio.run(subject_eraser(services).erase(sys.argv[2], by="dpo", reason="asked", progress=stop))
"""


@pytest.mark.sqlite_file
def test_a_killed_erasure_goes_on(tmp_path: Path) -> None:
    """After kill -9 in the middle the chain holds, and the same command does the rest."""
    opened = Marked(f"sqlite:///{tmp_path / 'store.db'}")
    for _ in range(PAGE + 5):
        opened.decide(subject=SUBJECT)
    opened.close()
    killed = subprocess.run([sys.executable, "-c", KILLED, opened.url, SUBJECT], check=False)
    assert killed.returncode == -signal.SIGKILL
    again = Marked(opened.url)
    assert again.run(again.services.store.ledger.verify()).ok
    assert again.run(subject_eraser(again.services).erase(SUBJECT, **ASKED)).erased == 5
    assert places_of(again.services) == []
    again.close()


def test_a_log_can_say_whom_its_rows_are_about() -> None:
    """A column of an imported log is the subject of its rows."""
    mapped = Mapped(
        columns={"output": "out", "subject": "who"}, slice_key="invoices", task="Read it"
    )
    read = [mapped.proposal({"out": "{}", "who": who}) for who in (17, "c-1", None)]
    assert [one["subject"] for one in read] == ["17", "c-1", None]
