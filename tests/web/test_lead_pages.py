"""What the pages of whoever leads say: policies, incidents, recalls, certificates, suggestions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

from sureline.application.ports.keys import Role
from tests.web.controlled import signed_in
from tests.web.served import ADMIN, AUDITOR, POLICY, REVIEWER, Served, awaited, serve

GROUNDED = """
  receipts:
    mode: human_only
    grounding: {fields: [total]}
"""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A server of one test's own, with a slice whose totals must stand in the source."""
    with serve(tmp_path, policy=POLICY.rstrip("\n") + GROUNDED) as one:
        yield one


@pytest.fixture
def admin(served: Served) -> Iterator[httpx.Client]:
    """A browser in which an admin has signed in."""
    with signed_in(served, ADMIN) as one:
        yield one


def post(client: httpx.Client, page: str, path: str, **fields: str) -> httpx.Response:
    """Send a form as the page has it, and follow where it leads."""
    token = re.search(r'name="csrf" value="([0-9a-f]+)"', client.get(page).text)
    assert token is not None
    return client.post(path, data={"csrf": token[1], **fields})


def wrong(served: Served, name: str, **more: Any) -> None:
    """Let an output act alone, and say that it was wrong."""
    assert served.decide(id=name, task=f"read {name}").json()["approved"]
    body = {"decision_id": name, "action": "reject", "source": "incident", **more}
    assert served.call("POST", "/v1/outcomes", ADMIN, json=body).status_code == 201


def test_an_incident_names_who_said_what_until_it_is_erased(
    served: Served, admin: httpx.Client
) -> None:
    """Who said so is a person, the kind of answer is beside it, and a comment is escaped."""
    wrong(served, "d1", comment="paid <b>twice</b> \u202e")
    page = admin.get("/incidents").text
    assert "by a admin" in page
    assert "reported as an incident" in page
    assert "paid &lt;b&gt;twice&lt;/b&gt;" in page
    assert "\u202e" not in page
    now = served.clock.now()
    awaited(served.services.ledger.erase("default", "d1", by="dpo", reason="asked", at=now))
    page = admin.get("/incidents").text
    assert "twice" not in page
    assert "by a admin" in page


def test_what_was_called_back_is_said_with_the_way_there(
    served: Served, admin: httpx.Client
) -> None:
    """The page that follows says what was done and leads to what waits because of it."""
    for name in ("d1", "d2"):
        served.decide(id=name, task=f"read {name}")
    done = post(
        admin, "/incidents", "/recall", since="2026-01-01", slice_key="invoices", reason="currency"
    )
    assert "Called back 2 decisions." in done.text
    way = re.search(r'<a href="(/\?kind=recall[^"]*)">2 wait for people', done.text)
    assert way is not None
    listed = admin.get(unescape(way[1])).text
    rows = re.findall(r'data-name="Stakes">([^<]*)<', listed)
    assert rows == ["reversible", "reversible"], "what is called back has the stakes that it had"
    assert "Called back" not in admin.get("/incidents").text.partition("<table")[0]
    assert "Called back" not in admin.get("/incidents?begun=nothing").text.partition("<table")[0]


def test_what_was_closed_is_said(served: Served, admin: httpx.Client) -> None:
    """Closing an incident is confirmed, to those who may see it."""
    wrong(served, "d1")
    (one,) = served.call("GET", "/v1/incidents", AUDITOR).json()["incidents"]
    done = post(admin, "/incidents", f"/incidents/{one['id']}", note="paid back")
    assert "The incident of" in done.text
    with signed_in(served, secret=served.make_key(REVIEWER, slices=("replies",))) as bound:
        assert "The incident of" not in bound.get(f"/incidents?closed={one['id']}").text
    assert "The incident of" not in admin.get("/incidents?closed=none").text


def test_policies_are_listed_by_what_became_of_them(served: Served, admin: httpx.Client) -> None:
    """One holds, one held before, one was never activated; none is merely called proposed."""
    policies, first = served.services.policies, awaited(served.services.policies.active_hash())
    texts = [POLICY.replace("auto: 0.85", f"auto: {auto}") for auto in (0.86, 0.87)]
    second, third = (awaited(policies.propose(text, by="ada")).policy for text in texts)
    awaited(policies.activate(second.hash, by="ada"))
    page = admin.get("/policy").text
    found = dict(
        re.findall(r'href="/policy\?show=(\w+)">[^<]*</a> proposed [^<]*<span[^>]*>([^<]*)<', page)
    )
    assert found == {
        first: "held before",
        second.hash: "holds",
        third.hash: "never activated",
    }


@pytest.mark.parametrize("role", [Role.REVIEWER, Role.AUDITOR, Role.ADMIN])
def test_the_navigation_leads_nowhere_that_is_refused(served: Served, role: Role) -> None:
    """Each page that somebody is offered answers them, and recalls begin where one may."""
    wrong(served, "d1")
    with signed_in(served, role) as client:
        page = client.get("/?all=1").text
        nav = page.partition('<nav aria-label="Pages">')[2].partition("</nav>")[0]
        links = re.findall(r'href="([^"]+)"', nav)
        assert "/incidents" in links
        assert {client.get(one).status_code for one in links} == {200}
        shown = client.get("/incidents").text
        assert ("/recall?" in shown) is (role is Role.ADMIN)
        assert client.get("/recall?since=2026-01-01").status_code == (
            200 if role is Role.ADMIN else 403
        )


def test_a_field_that_checks_flag_already_needs_no_other_check(served: Served) -> None:
    """Where findings name the field that people correct, something else is suggested."""
    for number in range(6):
        name = f"r{number}"
        made = served.decide(
            id=name,
            slice_key="receipts",
            output={"total": 900 + number},
            source=[{"ref": "receipt", "text": "in all 12.50"}],
        )
        assert made.json()["feedback"][0]["field"] == "total"
        digest = served.call("GET", f"/v1/reviews/{name}", REVIEWER).json()["review"]["digest"]
        said = {"action": "edit", "digest": digest, "edited": {"total": 12.5}}
        answer = served.call("POST", f"/v1/reviews/{name}/decide", REVIEWER, json=said)
        assert answer.status_code == 200, answer.text
    served.clock.advance(timedelta(minutes=5))
    for number in range(6):  # whoever asks releases what stands
        served.call("GET", f"/v1/decisions/r{number}/review")
    slices = served.call("GET", "/v1/reports/latest", ADMIN).json()["slices"]
    (of,) = [one for one in slices if one["slice_key"] == "receipts"]
    codes = {one["suggestion"] for one in of["offers"]}
    assert "field_flagged:total" in codes
    assert "field_edited:total" not in codes
