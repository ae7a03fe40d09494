"""Incidents and recalls over HTTP and on their page (R14)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from sureline.application.ports.keys import Role
from tests.web.controlled import HOSTILE, signed_in
from tests.web.served import ADMIN, AGENT, AUDITOR, REVIEWER, Served


def acted(served: Served, number: int = 1) -> list[str]:
    """Let so many outputs act alone; return their ids."""
    made = [served.decide(id=f"d{n}", task=f"read {n}") for n in range(number)]
    assert all(one.json()["approved"] for one in made)
    return [str(one.json()["id"]) for one in made]


def wrong(served: Served, decision_id: str, **more: Any) -> None:
    """Say that what acted was wrong."""
    body = {"decision_id": decision_id, "action": "reject", "source": "incident", **more}
    assert served.call("POST", "/v1/outcomes", ADMIN, json=body).status_code == 201


def listed(served: Served, **query: Any) -> list[dict[str, Any]]:
    """Return the incidents that an auditor sees."""
    answer = served.call("GET", "/v1/incidents", AUDITOR, params=query)
    found: list[dict[str, Any]] = answer.json()["incidents"]
    return found


def recalled(served: Served) -> list[dict[str, Any]]:
    """Return the open items of recalls; an audit may have been drawn beside them."""
    found = served.call("GET", "/v1/reviews", AUDITOR).json()["reviews"]
    return [one for one in found if one["kind"] == "recall"]


@pytest.fixture
def admin(served: Served) -> Iterator[httpx.Client]:
    """A browser in which an admin has signed in."""
    with signed_in(served, ADMIN) as one:
        yield one


def post(client: httpx.Client, page: str, path: str, **fields: str) -> httpx.Response:
    """Send a form as the page has it."""
    token = re.search(r'name="csrf" value="([0-9a-f]+)"', client.get(page).text)
    assert token is not None
    return client.post(path, data={"csrf": token[1], **fields})


def test_an_incident_is_listed_and_closed(served: Served) -> None:
    """It has what the decision rested on; once closed it is among all, not among the open."""
    (name,) = acted(served)
    wrong(served, name)
    (one,) = listed(served)
    assert (one["decision_id"], one["source"], one["stands"]) == (name, "incident", True)
    assert one["policy"] == served.call("GET", f"/v1/decisions/{name}").json()["policy"]
    path = f"/v1/incidents/{one['id']}/close"
    assert served.call("POST", path, REVIEWER, json={"note": "x"}).status_code == 403
    assert served.call("POST", path, ADMIN, json={"note": " "}).status_code == 422
    closed = served.call("POST", path, ADMIN, json={"note": "paid back"}).json()
    assert (closed["closed_by"], closed["note"]) == ("a admin", "paid back")
    assert served.call("POST", path, ADMIN, json={"note": "again"}).status_code == 409
    assert listed(served) == []
    assert len(listed(served, all=1)) == 1
    nothing = "/v1/incidents/none/close"
    assert served.call("POST", nothing, ADMIN, json={"note": "x"}).status_code == 404


def test_a_key_sees_its_own_slices_only(served: Served) -> None:
    """A key for another slice sees no incident, closes none and calls nothing back there."""
    (name,) = acted(served)
    wrong(served, name)
    incident = listed(served)[0]["id"]
    secret = served.make_key(Role.ADMIN, slices=("replies",))
    with served.client(secret=secret) as client:
        assert client.get("/v1/incidents").json() == {"incidents": []}
        closing = client.post(f"/v1/incidents/{incident}/close", json={"note": "x"})
        assert closing.status_code == 403
        for given in ({}, {"slice_key": "invoices"}):
            body = {"since": "2026-01-01", **given}
            assert client.post("/v1/recalls/preview", json=body).status_code == 403
            assert client.post("/v1/recalls", json={**body, "reason": "x"}).status_code == 403


def test_a_recall_is_previewed_and_begun(served: Served) -> None:
    """The preview changes nothing; the recall revokes, requeues, and is listed with its figures."""
    acted(served, 3)
    assert served.call("POST", "/v1/decisions/d0/consume", AGENT).status_code == 200
    wanted = {"since": "2026-01-01T00:00:00Z", "slice_key": "invoices"}
    seen = served.call("POST", "/v1/recalls/preview", ADMIN, json=wanted).json()
    assert [seen[name] for name in ("covered", "used", "unused", "recalled")] == [3, 1, 2, 0]
    assert [one["decision_id"] for one in seen["decisions"]] == ["d0", "d1", "d2"]
    assert served.call("GET", "/v1/recalls", AUDITOR).json() == {"recalls": []}
    begun = served.call("POST", "/v1/recalls", ADMIN, json={**wanted, "reason": "currency"})
    assert begun.status_code == 202
    assert (begun.json()["recalled"], begun.json()["used"]) == (3, 1)
    refused = served.call("POST", "/v1/decisions/d1/consume", AGENT)
    assert refused.status_code == 409
    assert "called back" in refused.json()["detail"]
    assert {one["decision_id"] for one in recalled(served)} == {"d0", "d1", "d2"}
    (one,) = served.call("GET", "/v1/recalls", AUDITOR).json()["recalls"]
    assert (one["reason"], one["by"], one["queued"]) == ("currency", "a admin", 3)


@pytest.mark.parametrize(
    "body",
    [
        {"reason": "x"},
        {"slice_key": "invoices"},
        {"since": "soon", "reason": "x"},
        {"since": "", "slice_key": "invoices", "reason": "x"},
        {"policy": "short", "reason": "x"},
        {"since": "2026-02-01", "until": "2026-01-01", "reason": "x"},
        {"slice_key": "invoices", "reason": "x", "requeue": True},
    ],
    ids=[
        "nothing",
        "no reason",
        "no moment",
        "an empty moment",
        "a short hash",
        "backwards",
        "unknown",
    ],
)
def test_a_faulty_recall_is_refused(served: Served, body: dict[str, Any]) -> None:
    """Nothing is begun, and the answer names what is wrong."""
    assert served.call("POST", "/v1/recalls", ADMIN, json=body).status_code == 422
    assert served.call("GET", "/v1/recalls", AUDITOR).json() == {"recalls": []}


@pytest.mark.parametrize("role", [AGENT, REVIEWER, AUDITOR])
def test_only_admins_call_back(served: Served, role: Role) -> None:
    """No other role previews or begins a recall."""
    body = {"slice_key": "invoices", "reason": "x"}
    assert served.call("POST", "/v1/recalls", role, json=body).status_code == 403
    assert served.call("POST", "/v1/recalls/preview", role, json=body).status_code == 403


def test_the_page_leads_from_an_incident_to_a_recall(served: Served, admin: httpx.Client) -> None:
    """From the incident to its preview, to the recall, to the closing note."""
    acted(served, 3)
    wrong(served, "d1")
    page = admin.get("/incidents").text
    link = re.search(r'href="(/recall\?policy=[^"]+)"', page)
    assert link is not None
    address = link[1].replace("&amp;", "&")
    preview = admin.get(address)
    assert "Call back 3 decisions" in preview.text
    fields = dict(re.findall(r'name="(policy|slice_key)" value="([^"]+)"', preview.text))
    lacking = post(admin, address, "/recall", **fields, reason=" ")
    assert lacking.status_code == 422
    assert "say why" in lacking.text
    done = post(admin, address, "/recall", **fields, reason="wrong currency")
    assert (done.status_code, done.url.path) == (200, "/incidents")
    assert "wrong currency" in done.text
    incident = listed(served)[0]["id"]
    closed = post(admin, "/incidents", f"/incidents/{incident}", note="paid back")
    assert "No incident is open" in closed.text
    assert "paid back" in admin.get("/incidents?all=1").text
    assert "Nothing that acted alone" not in admin.get(address).text


def test_the_page_shows_hostile_text_as_text(served: Served, admin: httpx.Client) -> None:
    """Ids and reasons that agents and people write are no markup."""
    name = "<b onload=alert(1)>"
    served.decide(id=name, task="read it")
    wrong(served, name)
    post(admin, "/incidents", "/recall", slice_key="invoices", reason=HOSTILE)
    for path in ("/incidents", "/recall?slice_key=invoices"):
        page = admin.get(path).text
        assert name not in page
        assert "<script>alert" not in page


def test_a_reviewer_sees_incidents_and_acts_on_none(served: Served) -> None:
    """The page has no buttons for others than admins, and refuses their forms."""
    acted(served)
    wrong(served, "d0")
    with signed_in(served, REVIEWER) as client:
        page = client.get("/incidents")
        assert "d0" in page.text
        assert "What came of it" not in page.text
        assert client.get("/recall?slice_key=invoices").status_code == 403
        incident = listed(served)[0]["id"]
        assert post(client, "/incidents", f"/incidents/{incident}", note="x").status_code == 403


def test_what_a_form_lacks_is_said(served: Served, admin: httpx.Client) -> None:
    """An empty recall and an unreadable moment are refused with a sentence, not a fault."""
    assert served.call("GET", "/readyz", None).status_code == 200
    for query, said in (("", "say what to call back"), ("since=soon", "expected a day such as")):
        page = admin.get(f"/recall?{query}")
        assert page.status_code == 422
        assert said in page.text


def test_an_item_that_was_called_back_says_so(served: Served) -> None:
    """Its page has no fields to edit, and says that nothing is released by a verdict."""
    acted(served)
    body = {"slice_key": "invoices", "reason": "x"}
    served.call("POST", "/v1/recalls", ADMIN, json=body)
    (item,) = recalled(served)
    with signed_in(served, REVIEWER) as client:
        page = client.get(f"/reviews/{item['id']}").text
    assert "was called back" in page
    assert "Release as edited" not in page


def test_what_was_called_back_is_not_approved_in_bulk(served: Served) -> None:
    """A look at the list is no look: each is answered by itself."""
    acted(served)
    served.call("POST", "/v1/recalls", ADMIN, json={"slice_key": "invoices", "reason": "x"})
    (item,) = recalled(served)
    rows = [{"id": item["id"], "digest": item["digest"]}]
    body = {"action": "approve", "items": rows}
    answer = served.call("POST", "/v1/reviews/bulk", REVIEWER, json=body)
    assert "a recalled output is answered one by one" in answer.text
    (still,) = recalled(served)
    assert still["state"] == "pending"
