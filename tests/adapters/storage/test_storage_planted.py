"""Planted items in the store: like any other to reviewers, and nothing to agents and labels."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from sureline.adapters.storage.outbox_rows import notices
from sureline.adapters.storage.planted_rows import planted_answers
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.tables import heads
from sureline.application.calibration_report import report_json
from sureline.application.intake import read_proposal
from sureline.application.label import GivenAnswer
from sureline.application.ports.reviews import Wanted
from sureline.application.review.desk import Said
from sureline.application.review.in_json import item_json, review_json
from sureline.bootstrap import Plugins, Services, open_services
from sureline.core.review.honeypot import PlantedFor
from sureline.core.values.outcome import Action
from sureline.core.values.review import Review, ReviewState
from sureline.errors import Conflict, Refused
from sureline.testing import FixedClock, PinnedSampling

_HEAD = compiled(select(heads.c.seq))
_TOLD = compiled(select(notices.c.id).order_by(notices.c.id))
_ANSWERS = compiled(select(planted_answers.c.by))

POLICY = """\
version: 1
slices:
  replies:
    output: {{structured: false}}
    weights: {{verification: 1}}
    prose: [{{max_length: 500}}]
    review: {{honeypots: {honeypots}, double_review: {double_review}, answer_first: {answer_first}}}
"""


class Desk:
    """A store with a policy; time moves on only when told to."""

    def __init__(
        self, *, honeypots: float = 0.1, double_review: float = 0.0, answer_first: float = 0.0
    ) -> None:
        self.clock = FixedClock()
        services = open_services("sqlite://", plugins=Plugins(clock=self.clock))
        self.services: Services = PinnedSampling().pin(services)
        self.runner = asyncio.Runner()
        policy = POLICY.format(
            honeypots=honeypots, double_review=double_review, answer_first=answer_first
        )
        self.run(self.services.policies.introduce(policy))
        self.sweep()
        self.count = 0
        self.real: set[str] = set()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(work)

    def sweep(self) -> int:
        found: int = self.run(self.services.attention.sweep())
        return found

    def submit(self, count: int) -> list[str]:
        found = []
        for _ in range(count):
            self.count += 1
            given = {
                "slice_key": "replies",
                "task": f"What does order {self.count} cost?",
                "output": f"Order {self.count} costs {1000 + self.count} euros.",
                "id": f"d{self.count:04}",
            }
            self.clock.advance(timedelta(seconds=1))
            read = read_proposal(given, workspace="default")
            found.append(self.run(self.services.decider.decide(read)).decision.id)
        self.real.update(found)
        return found

    def say(self, review_id: str, action: Action, by: str = "ann", seconds: float = 9.0) -> Review:
        item = self.run(self.services.desk.claim(review_id, by))
        self.clock.advance(timedelta(seconds=seconds))
        said = Said(action=action, by=by, digest=item.digest)
        self.run(self.services.desk.decide(review_id, said))
        self.clock.advance(timedelta(seconds=11))
        self.run(self.services.desk.settle())
        return self.run(self.services.store.reviews.get("default", review_id))

    def waiting(self) -> list[Review]:
        return list(self.run(self.services.desk.page(Wanted(), limit=500)))

    def honeypots(self) -> list[Review]:
        return [one for one in self.waiting() if one.id not in self.real]

    def close(self) -> None:
        self.services.close()
        self.runner.close()


@pytest.fixture
def desk() -> Any:
    opened = Desk()
    yield opened
    opened.close()


def with_past(desk: Desk) -> None:
    """Give the slice two approvals and two rejects to make known errors of."""
    for number, one in enumerate(desk.submit(4)):
        desk.say(one, *(Action.REJECT, "ann") if number % 2 else (Action.APPROVE, "eve"))
    desk.sweep()


def test_one_is_planted_in_each_run(desk: Desk) -> None:
    """Of 40 items at a tenth, four are planted where there is something to make them of."""
    with_past(desk)
    desk.submit(36)
    desk.sweep()
    assert len(desk.honeypots()) == 4
    assert desk.sweep() == 0
    assert len(desk.honeypots()) == 4


def test_nothing_is_planted_without_a_past(desk: Desk) -> None:
    """A slice without a label has nothing that a known error could be made of."""
    desk.submit(40)
    assert desk.sweep() == 0


def test_a_planted_item_looks_like_the_others(desk: Desk) -> None:
    """Its fields, its kind and what is shown of it have the same shape as any item's."""
    with_past(desk)
    (real,) = desk.submit(1)
    desk.submit(25)
    desk.sweep()
    for planted in desk.honeypots():
        shown = item_json(desk.run(desk.services.desk.show(planted.id)))
        other = item_json(desk.run(desk.services.desk.show(real)))
        assert shown.keys() == other.keys()
        assert shown["review"].keys() == other["review"].keys()
        assert shown["decision"].keys() == other["decision"].keys()
        assert shown["decision"]["id"] == planted.id
        assert shown["review"]["kind"] == other["review"]["kind"] == "review"
        assert shown["review"]["decision_id"] == planted.id
        assert "honeypot" not in json.dumps(shown)
        assert "planted" not in json.dumps(shown)


@pytest.mark.parametrize(
    ("action", "caught"), [(Action.APPROVE, False), (Action.REJECT, True)], ids=["missed", "caught"]
)
def test_an_answer_is_kept_and_goes_nowhere_else(desk: Desk, action: Action, caught: bool) -> None:
    """Whether it was noticed is kept; no agent, no label and no count of decisions hears of it."""
    with_past(desk)
    desk.submit(16)
    desk.sweep()
    services, planted = desk.services, desk.honeypots()[0]
    routes = desk.run(services.ledger.route_counts("default"))
    heads = services.store.database.fetch(_HEAD, ())
    told = services.store.database.fetch(_TOLD, ())
    assert desk.say(planted.id, action, by="bob").state is ReviewState.DECIDED
    (answer,) = desk.run(services.store.planted.answered("default", planted.id))
    assert (answer.by, answer.caught, answer.seconds) == ("bob", caught, 9.0)
    assert desk.run(services.ledger.outcomes("default", planted.id)) == []
    assert desk.run(services.ledger.decision("default", planted.id)) is None
    assert desk.run(services.ledger.route_counts("default")) == routes
    assert services.store.database.fetch(_HEAD, ()) == heads
    assert services.store.database.fetch(_TOLD, ()) == told
    with pytest.raises(Refused):  # in words in which any other could be refused
        desk.run(services.consumer.consume("default", planted.id))


def test_what_is_said_of_it_elsewhere_is_taken_and_is_no_label(desk: Desk) -> None:
    """An outcome recorded under its id closes it and can be read back; the ledger has none."""
    with_past(desk)
    desk.submit(16)
    desk.sweep()
    services, planted = desk.services, desk.honeypots()[0]
    said = GivenAnswer(decision_id=planted.id, action=Action.REJECT, by="bob", id="o1", comment="x")
    made = desk.run(services.labeller.record("default", said))
    assert desk.run(services.labeller.record("default", said)) == made
    with pytest.raises(Conflict, match="other content"):
        desk.run(services.labeller.record("default", replace(said, comment="y")))
    with pytest.raises(Conflict, match="other content"):
        desk.run(services.labeller.record("default", replace(said, decision_id="d0001")))
    assert desk.run(services.store.reviews.get("default", planted.id)).state == "decided"
    assert desk.run(services.waiter.wait("default", planted.id, 0.0)).outcome == made
    assert desk.run(services.ledger.outcomes("default", planted.id)) == []
    (answer,) = desk.run(services.store.planted.answered("default", planted.id))
    assert (answer.by, answer.caught) == ("bob", True)
    made_of = desk.run(services.store.planted.get("default", planted.id)).source_id
    erased = {"by": "dpo", "reason": "asked", "at": desk.clock.now()}
    desk.run(services.ledger.erase("default", made_of, **erased))
    (kept,) = desk.run(services.seen.outcomes("default", planted.id))
    assert (kept.comment, kept.action) == (None, Action.REJECT)
    assert desk.run(services.seen.erasure("default", planted.id)).decision_id == planted.id


def test_who_has_seen_the_content_does_not_get_it(desk: Desk) -> None:
    """Who decided about the same before is not offered it; taken all the same, it counts not.

    A refusal would say what it is.
    """
    with_past(desk)
    desk.submit(36)
    desk.sweep()
    planted = next(one for one in desk.honeypots() if one.rules.not_by)
    assert planted.rules.not_by == ("ann",)
    taken = [desk.run(desk.services.desk.next("ann", Wanted())) for _ in range(60)]
    assert planted.id not in {one.id for one in taken if one is not None}
    assert desk.say(planted.id, Action.REJECT, by="ann").state is ReviewState.DECIDED
    assert desk.run(desk.services.store.planted.answered("default", planted.id)) == []


def test_erasing_its_source_erases_it(desk: Desk) -> None:
    """Nothing of an erased payload is left in what was made of it."""
    with_past(desk)
    desk.submit(16)
    desk.sweep()
    services, planted = desk.services, desk.honeypots()[0]
    made_of = desk.run(services.store.planted.get("default", planted.id))
    desk.run(
        services.ledger.erase(
            "default", made_of.source_id, by="dpo", reason="asked", at=desk.clock.now()
        )
    )
    assert desk.run(services.store.reviews.get("default", planted.id)).state == "superseded"
    content = desk.run(services.store.planted.content("default", planted.id))
    assert (content.answer, content.request) == (None, None)
    assert desk.run(services.store.planted.get("default", planted.id)).answer is None


def test_known_errors_come_from_both_sides(desk: Desk) -> None:
    """Past rejects and right outputs with a figure changed are both planted."""
    for number, one in enumerate(desk.submit(24)):
        desk.say(one, *(Action.REJECT, "ann") if number % 2 else (Action.APPROVE, "eve"))
    desk.submit(160)
    desk.sweep()
    origins = set()
    for one in desk.honeypots():
        planted = desk.run(desk.services.store.planted.get("default", one.id))
        origins.add(planted.origin)
        shown = desk.run(desk.services.desk.show(one.id))
        source = desk.run(desk.services.ledger.decision("default", planted.source_id))
        same = shown.output == json.loads(source.answer)["output"]
        assert same is (planted.origin == "past_reject")
    assert "past_reject" in origins
    assert len(origins) > 2


def test_old_answers_are_forgotten(desk: Desk) -> None:
    """What a single person said of a known error is gone after 90 days."""
    with_past(desk)
    desk.submit(16)
    desk.sweep()
    desk.say(desk.honeypots()[0].id, Action.APPROVE, by="bob")
    assert desk.run(desk.services.reviewers.counting()).measured("replies").own.shown == 1
    desk.clock.advance(timedelta(days=91))
    desk.sweep()
    assert desk.run(desk.services.reviewers.everybody()).reviewers == ()
    assert desk.services.store.database.fetch(_ANSWERS, ()) == []


def test_with_one_reviewer_only_nothing_is_planted_that_they_rejected() -> None:
    """Whoever rejected it would know it; so they get right outputs that were spoilt, each once."""
    desk = Desk(honeypots=0.2)
    for number, one in enumerate(desk.submit(20)):
        desk.say(one, Action.REJECT if number % 2 else Action.APPROVE)
    desk.submit(40)
    desk.sweep()
    assert len(desk.honeypots()) == 10
    assert all(not one.rules.not_by for one in desk.honeypots())
    desk.close()


def test_a_share_is_decided_twice_and_disagreement_goes_to_a_third() -> None:
    """Somebody else decides blind; where they disagree a third does, and two of three hold."""
    desk = Desk(honeypots=0.0, double_review=1.0)
    (first,) = desk.submit(1)
    desk.say(first, Action.APPROVE, by="ann")
    assert desk.sweep() == 1
    (second,) = desk.honeypots()
    shown = item_json(desk.run(desk.services.desk.show(second.id)))
    assert shown["review"]["verdict"] is None
    assert "ann" not in json.dumps(shown)
    assert second.rules.not_by == ("ann",)
    desk.say(second.id, Action.REJECT, by="bob")
    assert desk.run(desk.services.ledger.outcomes("default", first))[-1].by == "ann"
    assert desk.sweep() == 1
    (third,) = desk.honeypots()
    assert third.rules.not_by == ("ann", "bob")
    desk.say(third.id, Action.REJECT, by="cat")
    assert desk.sweep() == 0
    last = desk.run(desk.services.ledger.outcomes("default", first))[-1]
    assert (last.correct, last.by) == (False, "cat")
    report = desk.run(desk.services.reviewers.everybody())
    assert report.by_slice["replies"].pairs == 1
    assert report.by_pair[("ann", "bob")].agreed == 0.0
    assert [
        one.purpose for one in desk.run(desk.services.store.planted.answered("default", third.id))
    ] == [PlantedFor.THIRD]
    desk.close()


def test_agreement_ends_it() -> None:
    """Two who agree need no third, and a second look is not looked at a second time."""
    desk = Desk(honeypots=0.0, double_review=1.0)
    (first,) = desk.submit(1)
    desk.say(first, Action.APPROVE, by="ann")
    desk.sweep()
    (second,) = desk.honeypots()
    desk.say(second.id, Action.APPROVE, by="bob")
    assert desk.sweep() == 0
    assert desk.honeypots() == []
    assert len(desk.run(desk.services.ledger.outcomes("default", first))) == 1
    desk.close()


def test_a_reviewer_who_approves_everything_is_named_within_fifty_items() -> None:
    """At a share of a tenth, whoever looks at nothing is named to the lead; who looks is not."""
    desk = Desk(honeypots=0.1)
    for number, one in enumerate(desk.submit(20)):
        desk.say(one, Action.REJECT if number % 2 else Action.APPROVE, by="past")
    desk.sweep()
    done = 0
    while done < 50:
        desk.submit(5)
        desk.sweep()
        for one in desk.waiting():
            if done < 50:
                done += 1
                desk.say(one.id, Action.APPROVE, by="lazy")
        if desk.run(desk.services.reviewers.everybody()).flagged:
            break
    report = desk.run(desk.services.reviewers.everybody())
    assert report.flagged == ("lazy",)
    assert done <= 50
    lazy = next(one for one in report.reviewers if one.name == "lazy")
    assert lazy.work.streak == lazy.work.items
    assert desk.run(desk.services.reviewers.counting()).unseen == {"lazy": ()}
    own = desk.run(desk.services.reviewers.only("past"))
    assert [one.name for one in own.reviewers] == ["past"]
    desk.close()


def test_review_json_tells_nothing_of_planting(desk: Desk) -> None:
    """The list of the queue shows no field in which a planted item could differ."""
    with_past(desk)
    desk.submit(16)
    desk.sweep()
    shapes = {tuple(review_json(one)) for one in desk.waiting()}
    assert len(shapes) == 1


def test_labels_of_who_does_not_look_certify_nothing() -> None:
    """Once somebody is shown not to look, calibration counts the others' labels only."""
    desk = Desk(honeypots=0.5)
    for number, one in enumerate(desk.submit(8)):
        desk.say(one, Action.REJECT if number % 2 else Action.APPROVE, by="ann")
    desk.sweep()

    def counted() -> int:
        found = desk.run(desk.services.recalibrator.compute())
        return sum(found.slices[0].labels.get(name, 0) for name in ("review", "audit"))

    assert counted() == 8
    ids = desk.submit(8)
    desk.sweep()
    for one in ids:
        desk.say(one, Action.APPROVE, by="lazy")
    assert counted() == 16
    for one in desk.honeypots():
        desk.say(one.id, Action.APPROVE, by="lazy")
    assert desk.run(desk.services.reviewers.counting()).unseen == {"lazy": ()}
    assert counted() == 8
    (report,) = desk.run(desk.services.reporter.report()).slices
    assert (report.approved.whole, report.reviewed.detection.shown) == (8, 0)
    assert "not known yet" in report.reviewed_sentence
    assert report.precision.excluded == 8
    assert "no planted error has been shown" in report.precision.sentence
    assert report.sentence.endswith("8 labels of people who were shown not to look do not count.")
    assert "lazy" not in json.dumps(report_json(desk.run(desk.services.reporter.report())))
    calibration = desk.run(desk.services.recalibrator.recalibrate())
    assert calibration.slices[0].verdict.labels_excluded == 8
    assert calibration.given == {"replies": 16}
    desk.close()


def test_where_an_answer_comes_first_the_output_waits_for_it() -> None:
    """Before their own answer nobody sees the output or decides; the label is a blind one."""
    desk = Desk(honeypots=0.0, answer_first=1.0)
    (one,) = desk.submit(1)
    services = desk.services
    before = desk.run(services.desk.show(one, "ann"))
    assert before.is_withheld
    shown = json.dumps(item_json(before))
    assert "1001" not in shown
    assert before.task == "What does order 1 cost?"
    said = Said(action=Action.APPROVE, by="ann", digest=before.review.digest)
    with pytest.raises(Conflict, match="say what is right first"):
        desk.run(services.desk.decide(one, said))
    desk.run(services.answer_first.answer(one, "ann", "1001 euros"))
    assert desk.run(services.desk.show(one, "ann")).output == "Order 1 costs 1001 euros."
    assert desk.run(services.desk.show(one, "bob")).is_withheld
    desk.run(services.desk.decide(one, said))
    desk.clock.advance(timedelta(seconds=11))
    desk.run(services.desk.settle())
    (outcome,) = desk.run(services.ledger.outcomes("default", one))
    assert outcome.anchored is False
    with pytest.raises(Conflict, match="no answer of your own"):
        desk.run(services.answer_first.answer(one, "cat", "x"))
    desk.run(services.ledger.erase("default", one, by="dpo", reason="asked", at=desk.clock.now()))
    assert desk.run(services.store.planted.own("default", one, "ann")) is None
    desk.close()


def test_elsewhere_no_own_answer_is_asked_for(desk: Desk) -> None:
    """An item that is no such one shows its output to everybody."""
    (one,) = desk.submit(1)
    assert not desk.run(desk.services.desk.show(one, "ann")).is_withheld
    with pytest.raises(Conflict):
        desk.run(desk.services.answer_first.answer(one, "ann", "x"))
