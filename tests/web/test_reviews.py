"""The review queue over HTTP: claimed, looked at, decided, released."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.web.served import ADMIN, REVIEWER, Served


def asked(served: Served, **fields: Any) -> str:
    """Submit an output that goes to a person, and return the id of its review."""
    found = served.decide(**{"slice_key": "replies", "output": "Dear Ada, yes.", **fields}).json()
    assert found["review_id"] == found["id"]
    return str(found["id"])


def act(served: Served, review_id: str, name: str, role: Any = REVIEWER, **body: Any) -> Any:
    more = {"json": body} if body else {}
    return served.call("POST", f"/v1/reviews/{review_id}/{name}", role, **more)


def test_an_item_is_taken_shown_decided_and_handed_out(served: Served) -> None:
    """The verdict reaches the waiting agent once it can no longer be taken back, and only once."""
    review_id = asked(served)
    taken = served.call("POST", "/v1/reviews/next", REVIEWER).json()["review"]
    assert (taken["id"], taken["state"], taken["claimed_by"]) == (
        review_id,
        "claimed",
        "a reviewer",
    )
    shown = served.call("GET", f"/v1/reviews/{review_id}", REVIEWER).json()
    assert shown["output"] == "Dear Ada, yes."
    assert shown["reasons"][0]["code"] == "nothing_measured"
    decided = act(served, review_id, "decide", action="approve", digest=taken["digest"])
    assert decided.json()["state"] == "decided"
    path = f"/v1/decisions/{review_id}/review"
    assert served.call("GET", path).json()["state"] == "pending"
    served.clock.advance(timedelta(seconds=10))
    assert served.call("GET", path).json()["outcome"]["action"] == "approve"
    used = served.call("POST", f"/v1/decisions/{review_id}/consume")
    assert (used.status_code, used.json()["approved"], used.json()["consumed"]) == (200, True, True)
    assert served.call("GET", f"/v1/decisions/{review_id}").json()["approved"] is False
    assert served.call("POST", f"/v1/decisions/{review_id}/consume").status_code == 409


def test_of_two_reviewers_one_is_told(served: Served) -> None:
    """Who comes second learns who has the item, or what was decided by whom."""
    review_id = asked(served)
    digest = act(served, review_id, "claim").json()["digest"]
    late = act(served, review_id, "claim", ADMIN)
    assert late.status_code == 409
    assert "claimed by a reviewer" in late.json()["detail"]
    assert late.json()["title"] == "It does not fit what is there already"
    act(served, review_id, "decide", action="reject", digest=digest)
    late = act(served, review_id, "decide", ADMIN, action="approve", digest=digest)
    assert late.status_code == 409
    assert "reject by a reviewer" in late.json()["detail"]
    assert act(served, "nothing", "claim").status_code == 404


def test_a_verdict_can_be_taken_back_for_a_while(served: Served) -> None:
    """Undo gives the item back to its reviewer; later the verdict stands."""
    review_id = asked(served)
    digest = act(served, review_id, "claim").json()["digest"]
    act(served, review_id, "decide", action="approve", digest=digest)
    assert act(served, review_id, "undo").json()["state"] == "claimed"
    act(served, review_id, "decide", action="reject", digest=digest)
    served.clock.advance(timedelta(seconds=11))
    assert act(served, review_id, "undo").status_code == 409
    found = served.call("GET", f"/v1/decisions/{review_id}/review").json()
    assert found["outcome"]["action"] == "reject"


def test_an_edit_is_checked_and_released_as_it_was_edited(served: Served) -> None:
    """What breaks the schema is refused; what is used afterwards is the edited output."""
    review_id = asked(served, slice_key="invoices", output={"total": 12}, force_human=True)
    digest = act(served, review_id, "claim").json()["digest"]
    broken = act(served, review_id, "decide", action="edit", digest=digest, edited={"total": "x"})
    assert broken.status_code == 422
    checked = act(served, review_id, "recheck", edited={"total": 13}).json()
    assert checked["usable"]
    assert checked["edited_fields"] == ["total"]
    edited = act(served, review_id, "decide", action="edit", digest=digest, edited={"total": 13})
    assert edited.json()["version"] == 2
    served.clock.advance(timedelta(seconds=10))
    found = served.call("GET", f"/v1/decisions/{review_id}/review").json()
    assert found["outcome"]["edited_fields"] == ["total"]
    used = served.call("POST", f"/v1/decisions/{review_id}/consume").json()
    assert used["output"] == {"total": 13}


def test_what_nobody_decides_goes_up_and_then_expires(served: Served) -> None:
    """A deadline is never an approval, and its own status."""
    review_id = asked(served)
    served.clock.advance(timedelta(days=1))
    served.call("POST", "/v1/reviews/next", REVIEWER)
    item = served.call("GET", f"/v1/reviews/{review_id}", REVIEWER).json()["review"]
    assert item["level"] == 1
    served.clock.advance(timedelta(days=1))
    late = act(served, review_id, "decide", action="approve", digest=item["digest"])
    assert late.status_code == 409
    found = served.call("GET", f"/v1/decisions/{review_id}/review").json()
    assert found["outcome"]["action"] == "expired"
    assert served.call("POST", f"/v1/decisions/{review_id}/consume").status_code == 409


def test_nobody_decides_about_their_own_proposal(served: Served) -> None:
    """An admin key that submitted an output can neither take nor decide it."""
    found = served.decide(ADMIN, slice_key="replies", output="Dear me, yes.").json()
    assert act(served, found["id"], "claim", ADMIN).status_code == 403
    assert served.call("POST", "/v1/reviews/next", ADMIN).json()["review"] is None
    assert act(served, found["id"], "claim", REVIEWER).status_code == 200


@pytest.mark.parametrize("step", ["skip", "escalate"])
def test_an_item_can_be_left_to_others(served: Served, step: str) -> None:
    """Skipping and escalating say nothing about the output; a skipped item does not come again."""
    review_id = asked(served)
    act(served, review_id, "claim")
    left = act(served, review_id, step).json()
    assert left["claimed_by"] is None
    assert left["level"] == (1 if step == "escalate" else 0)
    again = served.call("POST", "/v1/reviews/next", REVIEWER).json()["review"]
    assert (again is None) is (step == "skip")
    assert served.call("GET", f"/v1/decisions/{review_id}/review").json()["state"] == "pending"
