"""What is planted shows what a real item with its content would show, also of the gravest kinds."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from sureline.application.intake import read_proposal
from sureline.application.ports.reviews import Wanted
from sureline.application.review.desk import Said
from sureline.application.review.reviewers import reviewers_json
from sureline.bootstrap import Plugins, Services, open_services
from sureline.core.review.honeypot import Planted, Unplanted
from sureline.core.values.outcome import Action
from sureline.core.values.review import Review
from sureline.core.values.switch import Switch
from sureline.testing import FixedClock, PinnedSampling

POLICY = """\
version: 1
action_classes:
  pay: {{stakes: irreversible, human: always}}
slices:
  invoices:
    mode: {mode}
    attempts: 2
    weights: {{verification: 1}}
    {more}
    abstain_floor: 0
    output:
      json_schema:
        type: object
        required: [zone, total]
        properties: {{zone: {{type: string}}, total: {{type: number}}, paid: {{type: string}}}}
    {checks}
    review: {{honeypots: {honeypots}, double_review: {double_review}}}
"""
GROUNDED = "grounding: {fields: [total], types: {total: number}, penalty: 0.2}"


class Queue:
    """A queue of invoices with ids of the caller's own."""

    def __init__(self, **settings: Any) -> None:
        self.clock = FixedClock()
        given = {
            "mode": "route",
            "more": "",
            "checks": "",
            "honeypots": 0.3,
            "double_review": 0.0,
            **settings,
        }
        services = open_services("sqlite://", plugins=Plugins(clock=self.clock))
        self.services: Services = PinnedSampling().pin(services)
        self.runner = asyncio.Runner()
        self.run(self.services.policies.introduce(POLICY.format(**given)))
        self.real: list[str] = []
        self.sweep()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(work)

    def sweep(self) -> int:
        self.clock.advance(timedelta(seconds=11))
        self.run(self.services.desk.settle())
        return int(self.run(self.services.attention.sweep()))

    def submit(self, count: int, **more: Any) -> list[str]:
        found = []
        for _ in range(count):
            number = len(self.real) + 1
            self.clock.advance(timedelta(seconds=1))
            total = 1000 + 7 * number + 0.5
            given = {
                "slice_key": "invoices",
                "task": "Read the invoice.",
                "source": f"Net {total - 100}, VAT 100.0, total {total}, paid 2026-03-14",
                "output": {"zone": "EU", "total": total, "paid": "2026-03-14"},
                "id": f"inv-{number}",
                **more,
            }
            proposal = read_proposal(given, workspace="default")
            made = self.run(self.services.decider.decide(proposal)).decision
            assert made.review_id is not None, made.reasons
            self.real.append(made.id)
            found.append(made.id)
        return found

    def say(self, review_id: str, action: Action, by: str) -> None:
        item = self.run(self.services.desk.claim(review_id, by))
        self.clock.advance(timedelta(seconds=3))
        self.run(
            self.services.desk.decide(review_id, Said(action=action, by=by, digest=item.digest))
        )

    def waiting(self) -> list[Review]:
        return list(self.run(self.services.desk.page(Wanted(), limit=500)))

    def planted(self) -> list[Planted]:
        return [
            self.run(self.services.store.planted.get("default", one.id))
            for one in self.waiting()
            if one.id not in self.real
        ]

    def shown(self, review_id: str) -> Any:
        return self.run(self.services.desk.show(review_id))

    def past(self, count: int = 12, **more: Any) -> None:
        """Approve some, so that there is something to make known errors of."""
        for one in self.submit(count, **more):
            self.say(one, Action.APPROVE, "eve")
        self.sweep()

    def close(self) -> None:
        self.services.close()
        self.runner.close()


@contextmanager
def queue(**settings: Any) -> Iterator[Queue]:
    opened = Queue(**settings)
    try:
        yield opened
    finally:
        opened.close()


def turned_on(opened: Queue) -> None:
    at = opened.clock.now()
    switch = Switch(
        workspace="default", scope="global", on=True, reason="stop", by="lead", changed_at=at
    )
    opened.run(opened.services.ledger.set_switch(switch))


GRAVEST = {
    "forced": ({}, {"force_human": True}, "forced"),
    "kill switch": ({}, {"switch": True}, "kill_switch"),
    "always human": ({}, {"action_class": "pay"}, "action_always_human"),
    "irreversible": ({}, {"stakes": "irreversible"}, "action_always_human"),
    "four eyes": ({"more": "four_eyes: true"}, {}, "four_eyes"),
    "unknown action": ({}, {"action_class": "fly"}, "unknown_action_class"),
    "human only": ({"mode": "human_only"}, {}, "slice_human_only"),
}


@pytest.mark.parametrize(("settings", "given", "code"), GRAVEST.values(), ids=GRAVEST)
def test_the_gravest_items_have_planted_ones_among_them(
    settings: dict[str, Any], given: dict[str, Any], code: str
) -> None:
    """What always comes to a person has known errors among it that give the very same reasons."""
    with queue(**settings) as opened:
        given = dict(given)
        if given.pop("switch", False):
            turned_on(opened)
        for one in opened.submit(12, **given):
            for by in ("eve", "kim"):
                if one in {each.id for each in opened.waiting()}:
                    opened.say(one, Action.APPROVE, by)
        opened.sweep()
        real = opened.submit(9, **given)
        opened.sweep()
        planted = opened.planted()
        assert len(planted) == 4 + 3  # of twelve items, and of nine
        like = opened.shown(real[0]).decision
        for one in planted:
            body = json.loads(one.body)
            assert body["route"] == like["route"] == "human_required"
            assert code in {each["code"] for each in body["reasons"]}
            assert body["reasons"] == like["reasons"]
            assert (body["stakes"], body["action_class"]) == (like["stakes"], like["action_class"])
            assert one.review.rules.approvals == opened.shown(real[0]).review.rules.approvals


def test_sixty_approvals_in_a_row_of_forced_items_name_who_gives_them() -> None:
    """Of 130 forced items that waited before there was any label, somebody who works down the queue

    is shown about eighteen planted errors within sixty items, and is named to the lead.
    """
    with queue() as opened:
        opened.submit(130, force_human=True)
        assert opened.sweep() == 0
        report = opened.run(opened.services.reviewers.everybody())
        assert report.unplanted == {"invoices": Unplanted.NO_MATERIAL}
        named_after, real, shown = None, 0, 0
        while real < 60:
            one = opened.waiting()[0]
            is_real = one.id in opened.real
            real, shown = real + is_real, shown + (not is_real)
            opened.say(one.id, Action.APPROVE, "lazy")
            opened.sweep()
            flagged = opened.run(opened.services.reviewers.everybody()).flagged
            if flagged and named_after is None:
                named_after = real + shown
        assert 16 <= shown <= 22
        assert flagged == ("lazy",)
        assert named_after is not None
        assert named_after <= 50
        assert opened.run(opened.services.reviewers.everybody()).unplanted == {}


def test_what_is_spoilt_is_written_as_it_was() -> None:
    """Keys keep the order that their agent gave them, and figures and texts their forms."""
    with queue(honeypots=0.5) as opened:
        opened.past(12)
        (real,) = opened.submit(1)
        opened.submit(20)
        opened.sweep()
        like = opened.shown(real)
        assert opened.planted()
        for one in opened.planted():
            shown = opened.shown(one.review.id)
            assert list(shown.output) == list(like.output) == ["zone", "total", "paid"]
            assert [type(each) for each in shown.output.values()] == [str, float, str]
            assert list(shown.decision) == list(like.decision)
            assert list(shown.decision["signals"]) == list(like.decision["signals"])
            answer, real_answer = (
                opened.run(opened.services.seen.decision("default", each)).answer
                for each in (one.review.id, real)
            )
            assert list(json.loads(answer)) == list(json.loads(real_answer))
            assert answer.startswith(b'{"output":{"zone":"EU","total":')


def test_what_the_checks_say_of_it_is_of_its_own_content() -> None:
    """Findings, score and reasons are those that a real item with that very content has."""
    with queue(honeypots=0.5, checks=GROUNDED) as opened:
        opened.past(20, force_human=True)
        opened.submit(40, force_human=True)
        opened.sweep()
        lowered = 0
        for one in opened.planted():
            shown = opened.shown(one.review.id)
            again = read_proposal(
                {
                    "slice_key": "invoices",
                    "task": shown.task,
                    "source": [{"ref": each["ref"], "text": each["text"]} for each in shown.source],
                    "output": shown.output,
                    "force_human": True,
                    "id": f"again {one.review.id}",
                },
                workspace="default",
            )
            made = opened.run(opened.services.decider.decide(again)).decision
            twin = opened.shown(made.id)
            opened.real.append(made.id)
            for name in ("signals", "confidence", "composite", "feedback", "reasons", "route"):
                assert shown.decision[name] == twin.decision[name], name
            assert shown.decision["sample_key"] == twin.decision["sample_key"]
            assert one.review.uncertainty == twin.review.uncertainty
            lowered += shown.decision["confidence"] < 1
        assert lowered > 0


def test_where_checks_catch_every_error_nothing_is_planted_and_it_says_so() -> None:
    """An error that would go back to its agent is none for people; the lead is told why.

    What was rejected is planted as it was, where somebody else can be shown it.
    """
    fixed = (
        "[{field: total, one_of: [1007.5], fatal: true}, "
        "{field: paid, one_of: ['2026-03-14'], fatal: true}]"
    )
    output = {"zone": "EU", "total": 1007.5, "paid": "2026-03-14"}
    with queue(checks=f"rules: {fixed}") as opened:
        opened.past(12, force_human=True, output=output)
        opened.submit(20, force_human=True, output=output)
        assert opened.sweep() == 0
        found = reviewers_json(opened.run(opened.services.reviewers.everybody()))["unplanted"]
        assert [(one["slice_key"], one["reason"]) for one in found] == [
            ("invoices", "checks_catch_it")
        ]
        (report,) = opened.run(opened.services.reporter.report()).slices
        assert found[0]["sentence"] in report.reviewed_sentence
        (one,) = opened.submit(1, force_human=True, output=output)
        opened.say(one, Action.REJECT, "ann")
        opened.sweep()
        (planted,) = opened.planted()
        assert (planted.origin, planted.source_id) == ("past_reject", one)
        assert opened.shown(planted.review.id).output == output


def test_ids_look_like_those_of_the_caller() -> None:
    """A planted item and a second look are numbered like the caller's own."""
    with queue(honeypots=0.5, double_review=1.0) as opened:
        opened.past(10)
        ids = [one.id for one in opened.waiting() if one.id not in opened.real]
        assert len(ids) == 5 + 10  # known errors, and a second look at each
        assert len({*ids, *opened.real}) == len(ids) + len(opened.real)
        assert all(one.startswith("inv-") and one[4:].isdigit() and len(one) <= 7 for one in ids)


@pytest.mark.parametrize("decided", [False, True], ids=["waiting", "decided"])
def test_a_real_submission_under_its_id_wins(decided: bool) -> None:
    """The planted item gives way: what is real is queued, decided, told and labelled as ever."""
    with queue() as opened:
        opened.past(12)
        opened.submit(9)
        opened.sweep()
        open_now = {one.id for one in opened.waiting()}
        taken = next(one for one in opened.planted() if one.trigger.split(":")[1] in open_now)
        name, before = taken.review.id, len(opened.planted())
        if decided:
            opened.say(name, Action.APPROVE, "bob")
        count = len(opened.real) + len(opened.planted())
        (real,) = opened.submit(1, id=name)
        assert real == name
        store = opened.services.store
        assert opened.run(store.planted.get("default", name)) is None
        assert len(opened.waiting()) == count - 12 + 1 - (0 if decided else 1)
        counted = opened.run(opened.services.desk.counts())
        open_now = sum(one.count for one in counted if one.state.is_open)
        assert open_now == len(opened.waiting())
        opened.say(name, Action.REJECT, "bob")
        opened.sweep()
        (outcome,) = opened.run(opened.services.ledger.outcomes("default", name))
        assert (outcome.action, outcome.by) == (Action.REJECT, "bob")
        assert opened.run(opened.services.waiter.wait("default", name, 0.0)).outcome == outcome
        assert len(opened.planted()) == before  # another took its place
        answers = opened.run(store.planted.answered("default", name))
        assert [(one.by, one.caught) for one in answers] == ([("bob", False)] if decided else [])
