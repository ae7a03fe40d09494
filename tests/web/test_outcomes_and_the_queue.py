"""No way around the queue: a reviewer's outcome is taken by its rules."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from sureline.core.gate.sampling import Purpose, is_sampled
from sureline.testing import MOMENT
from tests.web.served import ADMIN, AGENT, REVIEWER, Served, awaited, serve

POLICY = f"""\
version: 1
defaults: {{mode: route, review: {{undo_seconds: 20, escalations: 0, deadline_minutes: 60}}}}
slices:
  replies: {{output: {{structured: false}}, prose: [{{max_length: 500}}]}}
  letters: {{output: {{structured: false}}, prose: [{{max_length: 500}}], four_eyes: true}}
  blind:
    output: {{structured: false}}
    prose: [{{max_length: 500}}]
    review: {{answer_first: 1}}
  logged: {{mode: log_only, output: {{structured: false}}, prose: [{{max_length: 500}}]}}
  audited:
    audit_rate: 0.5
    weights: {{verification: 1}}
    output: {{json_schema: {{type: object}}}}
    hypothesis: {{auto: 0.85, allow_uncertified: true, starts: {MOMENT.date()}}}
"""


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with serve(tmp_path, policy=POLICY) as served:
        yield Desk(served)


class Desk:
    """Ada and Bo, who review, and an agent that wants to act."""

    def __init__(self, served: Served) -> None:
        self.served = served
        self.people = served.clients  # closed with the server
        for name in ("Ada", "Bo"):
            self.people[name] = served.client(secret=served.make_key(REVIEWER, name=name))
        self.people["root"] = served.client(ADMIN)

    def ask(self, slice_key: str = "replies", **more: Any) -> str:
        made = self.served.decide(slice_key=slice_key, output="Dear Ada, yes.", **more)
        return str(made.json()["id"])

    def act(self, who: str, one: str, name: str, **body: Any) -> httpx.Response:
        more = {"json": body} if body else {}
        return self.people[who].post(f"/v1/reviews/{one}/{name}", **more)

    def decide(self, who: str, one: str, action: str) -> None:
        digest = self.people[who].get(f"/v1/reviews/{one}").json()["review"]["digest"]
        done = self.act(who, one, "decide", action=action, digest=digest)
        assert done.status_code == 200, done.text

    def outcome(self, who: str, one: str, action: str, **more: Any) -> httpx.Response:
        body = {"decision_id": one, "action": action, **more}
        return self.people[who].post("/v1/outcomes", json=body)

    def later(self, **more: float) -> None:
        self.served.clock.advance(timedelta(**more))
        awaited(self.served.services.desk.settle())

    def used(self, one: str) -> int:
        return self.served.call("POST", f"/v1/decisions/{one}/consume").status_code

    def told(self, one: str) -> tuple[str, str | None]:
        found = self.served.call("GET", f"/v1/decisions/{one}/review").json()
        return found["state"], None if found["outcome"] is None else found["outcome"]["action"]


def rejected(desk: Desk) -> str:
    one = desk.ask()
    desk.decide("Ada", one, "reject")
    desk.later(seconds=21)
    return one


def expired(desk: Desk) -> str:
    one = desk.ask()
    desk.later(minutes=61)
    return one


def replaced(desk: Desk) -> str:
    one = desk.ask()
    desk.ask(retry_of=one, task="again")
    return one


def objected(desk: Desk) -> str:
    one = desk.ask()
    desk.decide("Ada", one, "approve")
    desk.later(seconds=21)
    assert desk.outcome("Ada", one, "reject").status_code == 201
    return one


@pytest.mark.parametrize(
    ("ended", "told"),
    [
        (rejected, ("answered", "reject")),
        (expired, ("answered", "expired")),
        (replaced, ("superseded", None)),
        (objected, ("answered", "reject")),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_no_later_yes_releases_what_ended_without_one(
    desk: Desk, ended: Any, told: tuple[str, str | None]
) -> None:
    """It is kept, as no label; an admin's incident is one, and releases nothing either."""
    one = ended(desk)
    late = desk.outcome("Bo", one, "approve")
    assert (late.status_code, late.json()["correct"]) == (201, None)
    assert (desk.told(one), desk.used(one)) == (told, 409)
    strong = desk.outcome("root", one, "approve", source="incident")
    assert (strong.status_code, strong.json()["correct"]) == (201, True)
    assert (desk.told(one), desk.used(one)) == (told, 409)


def claimed(desk: Desk) -> str:
    one = desk.ask()
    assert desk.act("Ada", one, "claim").status_code == 200
    return one


def being_rejected(desk: Desk) -> str:
    one = desk.ask()
    desk.decide("Ada", one, "reject")
    return one


def approved_by_one(desk: Desk) -> str:
    one = desk.ask("letters")
    desk.decide("Ada", one, "approve")
    return one


@pytest.mark.parametrize(
    ("made", "words"),
    [
        pytest.param(claimed, "claimed by Ada", id="claimed"),
        pytest.param(being_rejected, "reject by Ada", id="rejected a moment ago"),
        pytest.param(approved_by_one, "2 people must approve", id="the second of two"),
        pytest.param(lambda desk: desk.ask("letters"), "2 people must approve", id="four eyes"),
        pytest.param(lambda desk: desk.ask("blind"), "right first", id="to be answered first"),
    ],
)
def test_what_the_desk_refuses_is_no_outcome_either(desk: Desk, made: Any, words: str) -> None:
    """409 with the reason; nothing is recorded and nothing released."""
    one = made(desk)
    refused = desk.outcome("Bo", one, "approve")
    assert (refused.status_code, words in refused.json()["detail"]) == (409, True)
    desk.later(seconds=21)
    assert desk.used(one) == 409
    said = awaited(desk.served.services.ledger.outcomes("default", one))
    assert "Bo" not in [found.by for found in said]


def test_a_yes_is_handed_out_after_the_time_in_which_others_can_object(desk: Desk) -> None:
    """Until then the item is decided and not released, and an objection ends it."""
    one, other = desk.ask(), desk.ask(task="other")
    for waiting in (one, other):
        assert desk.outcome("Bo", waiting, "approve", id=f"of {waiting}").json()["correct"] is True
        assert (desk.told(waiting), desk.used(waiting)) == (("pending", None), 409)
        assert desk.act("Bo", waiting, "undo").status_code == 409
    assert desk.outcome("Ada", other, "reject").status_code == 201
    desk.later(seconds=21)
    again = desk.outcome("Bo", one, "approve", id=f"of {one}")
    assert (again.status_code, again.json()["correct"]) == (201, True)
    assert (desk.told(one), desk.used(one)) == (("answered", "approve"), 200)
    assert (desk.told(other), desk.used(other)) == (("answered", "reject"), 409)
    assert len(awaited(desk.served.services.ledger.outcomes("default", one))) == 1


def test_what_is_only_logged_is_answered_at_once(desk: Desk) -> None:
    """Nobody acts on it: it is decided, released and a label as it comes, however late."""
    one, late = desk.ask("logged"), desk.ask("logged", task="other")
    assert desk.outcome("Bo", one, "approve").json()["correct"] is True
    item = desk.people["Ada"].get(f"/v1/reviews/{one}").json()["review"]
    assert (item["state"], item["released"]) == ("decided", True)
    desk.later(minutes=61)
    assert desk.outcome("Bo", late, "approve").json()["correct"] is True


def test_a_yes_does_not_take_a_colleagues_no_away(desk: Desk) -> None:
    """A no beside a colleague's yes is a label, and an incident that all can see."""
    one, other = rejected(desk), desk.ask(task="other")
    desk.decide("Ada", other, "approve")
    desk.later(seconds=21)
    desk.outcome("Bo", one, "approve")
    desk.outcome("Bo", other, "reject")
    labels = awaited(desk.served.services.ledger.recorded("default", [one, other]))
    assert {found.decision_id: found.correct for found in labels} == {one: False, other: False}
    incidents = desk.people["root"].get("/v1/incidents").json()["incidents"]
    assert [found["decision_id"] for found in incidents] == [other]


@pytest.mark.parametrize("who", ["Bo", "root"])
def test_only_time_lets_an_item_expire(desk: Desk, who: str) -> None:
    """Nobody can say that it did."""
    refused = desk.outcome(who, desk.ask(), "expired")
    assert (refused.status_code, refused.json()["field"]) == (422, "action")


@pytest.mark.parametrize("source", ["review", "audit", "incident", "import"])
@pytest.mark.parametrize("named", [True, False], ids=["by the name", "by the key"])
def test_nobody_calls_their_own_proposal_right(desk: Desk, source: str, named: bool) -> None:
    """Whatever they call the source, and in whose name they say it."""
    proposal = {"slice_key": "replies", "task": "own", "output": "Dear Ada, no."}
    own = desk.people["root"].post("/v1/decisions", json=proposal).json()["id"]
    one, by = (desk.ask(), {"by": "A AGENT"}) if named else (own, {})
    refused = desk.outcome("root", one, "approve", source=source, **by)
    assert refused.status_code == 403


def test_an_undo_after_the_deadline_does_not_lose_the_item(desk: Desk) -> None:
    """It was held while it was decided, and is its reviewer's for a lease afterwards."""
    one = desk.ask()
    desk.later(minutes=59, seconds=55)
    desk.decide("Bo", one, "approve")
    desk.later(seconds=10)
    assert desk.act("Bo", one, "undo").json()["state"] == "claimed"
    desk.later(minutes=14)
    desk.decide("Bo", one, "reject")
    desk.later(seconds=21)
    assert desk.told(one) == ("answered", "reject")


def test_an_agent_does_not_see_which_of_its_outputs_are_audited(desk: Desk) -> None:
    """What is answered about audited and other approvals is the same."""
    answers: dict[bool, set[str]] = {True: set(), False: set()}
    secret = desk.served.services.decider.secret  # it is new each time
    names = [f"drawn-{number}" for number in range(100)]
    sampled = [is_sampled(secret, Purpose.AUDIT, name, 0.5) for name in names]
    for one in (names[sampled.index(True)], names[sampled.index(False)]):
        desk.served.decide(slice_key="audited", id=one, task=one, output={"n": one})
        due = desk.people["root"].get("/v1/audits?limit=1000").json()["due"]
        drawn = one in [found["decision_id"] for found in due]
        if drawn:
            done = desk.outcome("Ada", one, "approve", source="audit")
            assert done.status_code == 201
        found = desk.served.call("GET", f"/v1/decisions/{one}/review", AGENT).text
        answers[drawn].add(found.replace(one, "id"))
    assert (
        answers[True] == answers[False] == {'{"decision_id":"id","state":"pending","outcome":null}'}
    )
