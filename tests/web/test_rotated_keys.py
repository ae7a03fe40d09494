"""A name is who somebody is: a new key of the same name is the same person (R12)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sureline.testing import PinnedSampling
from tests.web.browsing import Visitor
from tests.web.holder import Holder, released
from tests.web.served import ADMIN, AGENT, REVIEWER, Served, awaited, serve

POLICY = """\
version: 1
slices:
  replies:
    mode: log_only
    output: {structured: false}
  pairs:
    mode: log_only
    output: {structured: false}
    four_eyes: true
  twice:
    mode: log_only
    output: {structured: false}
    review: {honeypots: 0, double_review: 1}
  planted:
    mode: log_only
    output: {structured: false}
    weights: {verification: 1}
    prose: [{max_length: 500}]
    review: {honeypots: 0.5, double_review: 0}
"""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serve(tmp_path, policy=POLICY, change=PinnedSampling().pin) as one:
        yield one


def test_nobody_decides_about_what_their_earlier_key_submitted(served: Served) -> None:
    """Neither over HTTP nor on a page nor as an outcome; and it is not offered to them."""
    ada = Holder(served, "Ada", ADMIN)
    made = ada.submit("replies")
    ada.rotate()
    assert ada.next() is None
    assert ada.call("POST", f"/v1/reviews/{made}/claim").status_code == 403
    assert ada.decide(made).status_code == 403
    outcome = {"decision_id": made, "action": "approve"}
    assert ada.call("POST", "/v1/outcomes", json=outcome).status_code == 403
    page = Visitor(served, secret=ada.secret)
    assert "your own proposal" in page.get(f"/reviews/{made}").text
    assert page.decide(made, "approve").status_code == 403
    assert Holder(served, "Bob", REVIEWER).decide(made).status_code == 200


def test_two_keys_of_one_person_are_not_four_eyes(served: Served) -> None:
    """Who has approved with one key cannot be the second with another."""
    made = Holder(served, "agent", AGENT).submit("pairs")
    ada = Holder(served, "Ada", REVIEWER)
    assert ada.decide(made).json()["state"] == "pending"
    ada.rotate()
    again = ada.decide(made)
    assert again.status_code == 409
    assert "somebody else" in again.json()["detail"]
    assert ada.next() is None
    assert Holder(served, "Bob", REVIEWER).decide(made).json()["state"] == "decided"


@pytest.mark.parametrize("first", ["decided", "submitted"])
def test_a_second_look_goes_to_nobody_who_knows_it(served: Served, first: str) -> None:
    """Who decided it first, or brought it, is not offered it again under a new key."""
    ada, bob = Holder(served, "Ada", ADMIN), Holder(served, "Bob", REVIEWER)
    if first == "decided":
        made, decider = Holder(served, "agent", AGENT).submit("twice"), ada
    else:
        made, decider = ada.submit("twice"), bob
    assert decider.decide(made).status_code == 200
    released(served)
    ada.rotate()
    (waiting,) = ada.call("GET", "/v1/reviews").json()["reviews"]
    assert ada.next() is None
    if first == "submitted":
        assert bob.next() is None
    assert Holder(served, "Cat", REVIEWER).next() == waiting["id"]


def test_missed_errors_follow_the_person(served: Served) -> None:
    """Four planted errors missed under four keys name the person as four under one do."""
    agent, past = Holder(served, "agent", AGENT), Holder(served, "past", REVIEWER)
    for number in range(10):
        made = agent.submit("planted", f"Order {number} costs {1000 + number} euros.")
        past.decide(made, "reject" if number % 2 else "approve")
    released(served)
    asked = {agent.submit("planted", f"Bill {number}: {70 + number} euros.") for number in range(8)}
    released(served)
    ada = Holder(served, "Ada", REVIEWER)
    listed = ada.call("GET", "/v1/reviews").json()["reviews"]
    planted = [one["id"] for one in listed if one["id"] not in asked]
    assert len(planted) == 4
    for one in planted:
        assert ada.decide(one).status_code == 200
        ada.rotate()
    released(served)
    report = awaited(served.services.reviewers.everybody())
    assert report.flagged == ("Ada",)


def test_an_agent_uses_what_its_earlier_key_brought(served: Served) -> None:
    """After a rotation an agent reads, uses and retries its own; another one's is not there."""
    agent = Holder(served, "agent", AGENT)
    made = agent.submit("replies")
    assert Holder(served, "Bob", REVIEWER).decide(made).status_code == 200
    released(served)
    agent.rotate()
    other = Holder(served, "another agent", AGENT)
    assert other.call("GET", f"/v1/decisions/{made}").status_code == 404
    assert agent.call("GET", f"/v1/decisions/{made}").status_code == 200
    assert agent.call("POST", f"/v1/decisions/{made}/consume").status_code == 200
