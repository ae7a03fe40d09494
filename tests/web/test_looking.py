"""Who saw what, and for how long: read off what the server showed, not off what a form says."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from sureline.core.values.review import Verdict
from tests.web.browsing import Visitor, value_of
from tests.web.served import POLICY, REVIEWER, Served, awaited, serve

ANSWER_FIRST = POLICY.replace(
    "  replies:\n", "  replies:\n    review: {answer_first: 1.0, double_review: 0}\n"
)


@pytest.fixture
def first(tmp_path: Path) -> Iterator[Served]:
    """A server whose slice of replies asks for an answer before it shows one."""
    with serve(tmp_path, policy=ANSWER_FIRST) as one:
        yield one


def asked(served: Served) -> str:
    given = {"slice_key": "replies", "output": "Dear Ada, yes."}
    return str(served.decide(**given).json()["id"])


def verdict(served: Served, review_id: str) -> Verdict:
    item = awaited(served.services.store.reviews.get("default", review_id))
    assert item is not None
    found: Verdict = item.given[-1]
    return found


def act(served: Served, review_id: str, name: str, **body: Any) -> Any:
    more = {"json": body} if body else {}
    return served.call("POST", f"/v1/reviews/{review_id}/{name}", REVIEWER, **more)


def test_the_time_runs_from_the_claim(served: Served) -> None:
    """Heartbeats and a second claim do not begin it anew; what a client says only shortens it."""
    for said, expected in (({}, 50.0), ({"seconds": 3000}, 50.0), ({"seconds": 7}, 7.0)):
        review_id = asked(served)
        digest = act(served, review_id, "claim").json()["digest"]
        for name in ("heartbeat", "claim"):
            served.clock.advance(timedelta(seconds=25))
            act(served, review_id, name)
        act(served, review_id, "decide", action="approve", digest=digest, **said)
        assert verdict(served, review_id).seconds == expected


def test_who_never_claimed_has_no_time(served: Served) -> None:
    """No number is made up where the server did not see it begin."""
    review_id = asked(served)
    digest = served.call("GET", f"/v1/reviews/{review_id}", REVIEWER).json()["review"]["digest"]
    act(served, review_id, "decide", action="approve", digest=digest, seconds=41)
    assert verdict(served, review_id).seconds is None


def test_after_an_undo_the_time_goes_on(served: Served) -> None:
    """A verdict that is taken back and given again took as long as both looks."""
    review_id = asked(served)
    digest = act(served, review_id, "claim").json()["digest"]
    served.clock.advance(timedelta(seconds=20))
    act(served, review_id, "decide", action="approve", digest=digest)
    served.clock.advance(timedelta(seconds=5))
    act(served, review_id, "undo")
    act(served, review_id, "decide", action="reject", digest=digest)
    assert verdict(served, review_id).seconds == 25.0


def test_a_page_begins_the_time_and_its_mark_is_for_one_item_and_person(served: Served) -> None:
    """Without a claim it runs from the page; a mark that was changed or borrowed says nothing."""
    visitor, other = Visitor(served), Visitor(served, secret=served.make_key(REVIEWER, name="eve"))
    found, marks = [], [""]
    for given in ("own", "another item's", "changed", "another person's"):
        review_id = asked(served)
        own, theirs = (
            value_of(one.get(f"/reviews/{review_id}").text, "shown") for one in (visitor, other)
        )
        mark = {
            "own": own,
            "another item's": marks[-1],
            "changed": str(float(own.rpartition(".")[0]) - 900) + own[own.rindex(".") :],
            "another person's": theirs,
        }[given]
        marks.append(own)
        served.clock.advance(timedelta(seconds=30))
        visitor.decide(review_id, "approve", shown=mark)
        found.append(verdict(served, review_id).seconds)
    assert found == [30.0, None, None, None]


def test_what_is_anchored_is_what_was_in_sight(first: Served) -> None:
    """A verdict is blind where an own answer came first, whatever a form or body says."""
    invoice = str(first.decide(output={"total": 1}, force_human=True).json()["id"])
    digest = act(first, invoice, "claim").json()["digest"]
    claim = {"action": "approve", "digest": digest, "anchored": False}
    assert act(first, invoice, "decide", **claim).status_code == 422
    Visitor(first).decide(invoice, "approve", anchored="0")
    assert verdict(first, invoice).anchored is True
    reply = asked(first)
    act(first, reply, "answer", answer="Yes, dear Ada.")
    Visitor(first).decide(reply, "approve", anchored="1")
    assert verdict(first, reply).anchored is False


def test_an_outcome_of_a_reviewer_is_blind_after_their_own_answer_only(first: Served) -> None:
    """Elsewhere a reviewer's word does not make it blind: this server has shown the output."""
    plain, answered, in_sight = asked(first), asked(first), first.decide(force_human=True)
    act(first, answered, "answer", answer="Yes, dear Ada.")

    def made(review_id: str) -> httpx.Response:
        body = {"decision_id": review_id, "action": "approve", "anchored": False}
        return first.call("POST", "/v1/outcomes", REVIEWER, json=body)

    for review_id, expected in ((answered, False), (in_sight.json()["id"], True)):
        done = made(review_id)
        assert (done.status_code, done.json()["anchored"]) == (201, expected)
    refused = made(plain)
    assert (refused.status_code, "say what is right first" in refused.text) == (409, True)
