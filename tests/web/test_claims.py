"""Claims that nobody asked for: short until somebody works on the item, given back on leaving."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.web.browsing import Visitor
from tests.web.served import ADMIN, REVIEWER, Served


@pytest.fixture
def ada(served: Served) -> Visitor:
    return Visitor(served)


@pytest.fixture
def kim(served: Served) -> Visitor:
    return Visitor(served, ADMIN)


def asked(served: Served, number: int) -> str:
    made = served.decide(slice_key="replies", output=f"Dear Ada, {number}.", force_human=True)
    return str(made.json()["id"])


def holder(served: Served, review_id: str) -> Any:
    found = served.call("GET", f"/v1/reviews/{review_id}", REVIEWER).json()["review"]
    return found["claimed_by"], found["lease_until"] and found["lease_until"][11:19]


def test_a_claim_that_nobody_asked_for_is_short(served: Served, ada: Visitor, kim: Visitor) -> None:
    """The second reviewer gets the item after two minutes, if the first does not work on it."""
    first, second = asked(served, 1), asked(served, 2)
    ada.decide(first, "approve")
    assert holder(served, second) == ("a reviewer", "09:02:00")
    assert kim.post("/next").headers["location"] == "/"
    served.clock.advance(timedelta(minutes=2))
    assert kim.post("/next").headers["location"] == f"/reviews/{second}"
    lost = ada.post(f"/reviews/{second}/hold")
    assert (lost.status_code, "claimed by a admin" in lost.text) == (409, True)


def test_the_first_sign_of_life_makes_it_a_whole_lease(
    served: Served, ada: Visitor, kim: Visitor
) -> None:
    """A page that holds on, or a press of Claim, keeps it for the item's own lease."""
    first, second = asked(served, 1), asked(served, 2)
    ada.post("/next")
    assert holder(served, first) == ("a reviewer", "09:02:00")
    ada.post(f"/reviews/{first}/hold")
    assert holder(served, first) == ("a reviewer", "09:15:00")
    kim.post(f"/reviews/{second}", act="claim")
    assert holder(served, second) == ("a admin", "09:15:00")


def test_leaving_gives_back_one_s_own_claim_alone(
    served: Served, ada: Visitor, kim: Visitor
) -> None:
    """The other can take it at once; nobody gives away what somebody else holds."""
    first = asked(served, 1)
    ada.post("/next")
    assert kim.post(f"/reviews/{first}/leave").status_code == 200
    assert holder(served, first)[0] == "a reviewer"
    assert ada.post(f"/reviews/{first}/leave").status_code == 200
    assert holder(served, first) == (None, None)
    assert kim.post("/next").headers["location"] == f"/reviews/{first}"
    assert ada.post("/reviews/none/leave").status_code == 200
    forged = ada.client.post(f"/reviews/{first}/leave", data={"csrf": "x"})
    assert forged.status_code == 403


def test_what_is_looked_through_as_one_s_own_is_kept(served: Served, ada: Visitor) -> None:
    """In the view of what one holds, leaving an item does not let go of it."""
    first = asked(served, 1)
    ada.post(f"/reviews/{first}", act="claim")
    ada.post(f"/reviews/{first}/leave", **{"in": "state=mine"})
    assert holder(served, first)[0] == "a reviewer"


@pytest.mark.parametrize(
    ("keep", "held"), [({}, None), ({"keep": "1"}, "a reviewer")], ids=["untouched", "touched"]
)
def test_going_on_keeps_what_was_begun(
    served: Served, ada: Visitor, keep: dict[str, str], held: str | None
) -> None:
    """Next gives back what is left for it, unless its page says that somebody has begun with it."""
    first, second = asked(served, 1), asked(served, 2)
    ada.post("/next")
    assert ada.post("/next", leaving=first, **keep).headers["location"] == f"/reviews/{second}"
    assert holder(served, first)[0] == held
    assert holder(served, second)[0] == "a reviewer"


def test_signing_out_gives_back_what_is_in_front(served: Served, ada: Visitor) -> None:
    """The form of an item's page names it, also without scripts."""
    first = asked(served, 1)
    page = ada.get(ada.post("/next").headers["location"]).text
    form = page[page.index('action="/logout"') :]
    assert f'name="leaving" value="{first}"' in form[: form.index("</form>")]
    ada.post("/logout", leaving=first)
    assert holder(served, first) == (None, None)
