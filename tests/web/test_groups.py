"""Reviewer groups where people meet them: the inbox, the next item, the figures."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.web.browsing import Visitor, value_of
from tests.web.served import ADMIN, POLICY, REVIEWER, Served, serve
from tests.web.test_inbox import asked, invoice, listed, tab

GROUPS = """\
groups:
  accounts: {members: [Ada], slices: [invoices], on_call: {person: Kim}}
  letters: {members: [Kim, Bo], slices: [replies]}
"""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A server whose queue is shared between two groups."""
    with serve(tmp_path, policy=POLICY + GROUPS) as one:
        yield one


def visitor(served: Served, name: str, **more: object) -> Visitor:
    """Return somebody who is signed in under this name."""
    who = Visitor(served, secret=served.make_key(REVIEWER, name=name, **more))
    who.csrf = value_of(who.get("/?all=1").text, "csrf")  # "/" leads on to one's groups
    return who


def taken(who: Visitor, **form: str) -> str:
    """Take the next item and return its id, an empty text where there is none."""
    found = who.post("/next", **form).headers["location"]
    return found.partition("/reviews/")[2].partition("?")[0]


def test_next_offers_what_ones_groups_work_on(served: Served) -> None:
    """A member gets their slices' items; who is in no group gets all."""
    invoice(served, "i1")
    asked(served, "r1")
    ada, bo, mo = (visitor(served, name) for name in ("Ada", "Bo", "Mo"))
    assert taken(ada) == "i1"
    assert taken(ada) == ""
    assert taken(bo) == "r1"
    asked(served, "r2")
    assert taken(mo) == "r2"


def test_the_inbox_opens_with_ones_groups_and_shows_all_on_request(served: Served) -> None:
    """A group narrows the first view; the tab beside it has everything."""
    invoice(served, "i1")
    asked(served, "r1")
    ada = visitor(served, "Ada")
    opened = ada.get("/")
    assert opened.headers["location"] == "/?whose=group"
    mine = ada.get("/?whose=group").text
    assert listed(mine) == ["i1"]
    assert (tab(mine, "My groups"), tab(mine, "All")) == ("1", "2")
    assert sorted(listed(ada.get("/?all=1").text)) == ["i1", "r1"]
    nobody = visitor(served, "Mo").get("/").text
    assert sorted(listed(nobody)) == ["i1", "r1"]
    assert tab(nobody, "My groups") is None


def test_a_group_locks_nobody_out(served: Served) -> None:
    """Who asks for another group's slice, or for an item by name, gets it."""
    asked(served, "r1")
    asked(served, "r2")
    ada = visitor(served, "Ada")
    assert taken(ada) == ""
    assert taken(ada, **{"in": "slice=replies"}) == "r1"
    key = served.make_key(REVIEWER, name="Ada")
    headers = {"authorization": f"Bearer {key}"}
    assert served.call("POST", "/v1/reviews/r2/claim", None, headers=headers).status_code == 200


def test_a_key_is_the_hard_limit(served: Served) -> None:
    """A member whose key is bound to other slices is offered none of the group's."""
    invoice(served, "i1")
    ada = visitor(served, "Ada", slices=("replies",))
    assert taken(ada) == ""
    assert ada.get("/reviews/i1").status_code == 403


def test_what_went_a_step_up_is_offered_to_whoever_is_on_call(served: Served) -> None:
    """Kim, of another group, gets the invoice that Ada's group did not decide; Bo does not."""
    invoice(served, "i1")
    assert taken(visitor(served, "Kim")) == ""
    served.clock.advance(timedelta(days=1))
    kim, bo = visitor(served, "Kim"), visitor(served, "Bo")
    assert taken(bo) == ""
    assert listed(kim.get("/?whose=group").text) == ["i1"]
    assert listed(bo.get("/?whose=group").text) == []
    assert taken(kim) == "i1"


def test_the_api_tells_what_is_offered(served: Served) -> None:
    """`offered=1` narrows the list to one's groups, next always does."""
    invoice(served, "i1")
    asked(served, "r1")
    headers = {"authorization": f"Bearer {served.make_key(REVIEWER, name='Bo')}"}

    def ids(path: str) -> list[str]:
        found = served.call("GET", path, None, headers=headers).json()
        return [one["id"] for one in found["reviews"]]

    assert sorted(ids("/v1/reviews")) == ["i1", "r1"]
    assert ids("/v1/reviews?offered=1") == ["r1"]
    taken = served.call("POST", "/v1/reviews/next", None, headers=headers).json()
    assert taken["review"]["id"] == "r1"


def test_the_dashboard_and_metrics_say_where_too_much_waits(served: Served) -> None:
    """An expiry names its slice and the lever; labels are slices of the policy."""
    for number in range(3):
        invoice(served, f"i{number}")
    asked(served, "r1")
    assert "is overloaded" not in Visitor(served, ADMIN).get("/dashboard").text
    for _ in range(2):
        served.clock.advance(timedelta(days=1))
        served.call("POST", "/v1/reviews/next", REVIEWER)
    page = Visitor(served, ADMIN).get("/dashboard").text
    assert "invoices is overloaded: in 2 days 3 expired undecided, and 0 wait." in page
    assert "all of accounts" in page
    families = text_string_to_metric_families(served.call("GET", "/metrics", ADMIN).text)
    samples = {
        (one.name, *one.labels.values()): one.value for family in families for one in family.samples
    }
    assert samples["sureline_queue_overloaded", "invoices"] == 1.0
    assert samples["sureline_queue_expired", "invoices"] == 3.0
    assert samples["sureline_queue_open", "invoices"] == 0.0
    named = {key[1] for key in samples if key[0].startswith("sureline_queue_")}
    assert named == {"invoices", "replies"}


def test_somebody_bound_to_a_slice_sees_its_figures_only(served: Served) -> None:
    """The queue of other slices, and of whole groups, is not theirs to see."""
    invoice(served, "i1")
    asked(served, "r1")
    page = visitor(served, "Ada", slices=("invoices",)).get("/dashboard").text
    assert "all of accounts" not in page
    assert "replies" not in page
