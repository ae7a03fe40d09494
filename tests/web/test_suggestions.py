"""Accepting what the report suggests, over HTTP and on the pages: proposed, never applied."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.web.controlled import controlled, seen, signed_in
from tests.web.served import ADMIN, AGENT, AUDITOR, REVIEWER, Served


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server on half a year of decisions; policies are proposed, and none is activated."""
    with controlled(tmp_path_factory.mktemp("world")) as one:
        yield one


def offers(served: Served, slice_key: str) -> dict[str, Any]:
    """Return what the report offers of a slice, by suggestion."""
    found = served.call("GET", "/v1/reports/latest", ADMIN).json()["slices"]
    (of,) = [one for one in found if one["slice_key"] == slice_key]
    return {one["suggestion"]: one for one in of["offers"]}


def accept(
    served: Served, slice_key: str, suggestion: str, mark: str, role: Any = ADMIN
) -> httpx.Response:
    path = f"/v1/slices/{slice_key}/suggestions/{suggestion}"
    return served.call("POST", path, role, json={"mark": mark})


def proposed(served: Served) -> int:
    """Return how many policies were proposed."""
    return len(served.call("GET", "/v1/policies", ADMIN).json()["policies"])


def test_what_is_accepted_is_proposed(world: Served) -> None:
    """The reply has the policy and the key; the one that holds stays."""
    active = asyncio.run(world.services.policies.active_hash())
    offer = offers(world, "invoices")["field_edited:vendor"]
    made = accept(world, "invoices", "field_edited:vendor", offer["mark"])
    assert made.status_code == 201
    assert made.json()["key"] == "slices.invoices.rules"
    assert made.json()["after"] == [{"field": "vendor", "required": True}]
    stored = asyncio.run(world.services.policies.stored(made.json()["policy"]))
    (rule,) = stored.raw["slices"]["invoices"]["rules"]
    assert (rule["field"], rule["required"]) == ("vendor", True)
    assert asyncio.run(world.services.policies.active_hash()) == active


@pytest.mark.parametrize(
    ("slice_key", "suggestion", "mark", "status"),
    [
        pytest.param("refunds", "first_certificate", "old", 409, id="stale"),
        pytest.param("refunds", "proof_lost", "x", 409, id="not suggested"),
        pytest.param("nothing", "proof_lost", "x", 404, id="no slice"),
        pytest.param("refunds", "first_certificate", "", 422, id="no mark"),
    ],
)
def test_what_cannot_be_accepted(
    world: Served, slice_key: str, suggestion: str, mark: str, status: int
) -> None:
    """It is refused with words that say what the figures say now, and nothing is proposed."""
    before = proposed(world)
    answer = accept(world, slice_key, suggestion, mark)
    assert answer.status_code == status
    assert answer.json()["detail"]
    assert proposed(world) == before


def test_what_no_key_does_is_refused(world: Served) -> None:
    """The reply says what a person does instead."""
    offer = offers(world, "contracts")["low_approval"]
    answer = accept(world, "contracts", "low_approval", offer["mark"])
    assert answer.status_code == 409
    assert "prompt" in answer.json()["detail"]


@pytest.mark.parametrize("role", [AGENT, REVIEWER, AUDITOR])
def test_only_admins_accept(world: Served, role: Any) -> None:
    """Least of all the agent; nor an admin who sees some slices only."""
    assert accept(world, "refunds", "first_certificate", "x", role).status_code == 403
    with world.client(secret=world.make_key(ADMIN, slices=("refunds",))) as bound:
        path = "/v1/slices/refunds/suggestions/first_certificate"
        assert bound.post(path, json={"mark": "x"}).status_code == 403


def fields(page: str, action: str) -> list[dict[str, str]]:
    """Return the hidden fields of each form of a page with this address."""
    forms = re.findall(rf'<form method="post" action="{action}"[^>]*>(.*?)</form>', page, re.DOTALL)
    return [dict(re.findall(r'name="(\w+)" value="([^"]*)"', form)) for form in forms]


def draft(page: str, slice_key: str, suggestion: str) -> dict[str, str]:
    """Return the form that drafts a suggestion."""
    found = fields(page, f"/slices/{slice_key}")
    return next(one for one in found if one["suggestion"] == suggestion)


def test_a_slice_shows_its_suggestions_with_their_figures(world: Served) -> None:
    """Each with its numbers, the key that would change, and words where no key does it."""
    with signed_in(world, ADMIN) as client:
        invoices = seen(client, "/slices/invoices")
        contracts = seen(client, "/slices/contracts")
    assert "<dt>threshold that labels prove</dt>" in invoices
    assert "<code>slices.invoices.rules</code> gets" in invoices
    assert "See the calibration before activating it" in invoices
    assert "Change the prompt or the model of the generator" in contracts
    drafts = fields(contracts, "/slices/contracts")
    assert [one["suggestion"] for one in drafts] == ["lower_abstain_floor"]


def test_a_draft_leads_to_what_it_would_change(world: Served) -> None:
    """The button proposes; the policy page compares; the logbook has who did it."""
    active = asyncio.run(world.services.policies.active_hash())
    with signed_in(world, ADMIN) as client:
        form = draft(seen(client, "/slices/refunds"), "refunds", "first_certificate")
        page = client.post("/slices/refunds", data=form)
        assert page.status_code == 200
        assert page.url.path == "/policy"
        assert "slices.refunds.mode</code> changes from " in page.text
        assert "Drafted from what the figures of" in page.text
        logbook = client.get("/logbook").text
    assert "proposed slices.refunds.mode as first_certificate suggests" in logbook
    assert asyncio.run(world.services.policies.active_hash()) == active


def test_a_stale_draft_is_refused_with_the_figures_of_now(world: Served) -> None:
    """What somebody read a while ago is not what is written down."""
    before = proposed(world)
    with signed_in(world, ADMIN) as client:
        form = draft(seen(client, "/slices/refunds"), "refunds", "first_certificate")
        page = client.post("/slices/refunds", data={**form, "mark": "old"})
    assert page.status_code == 409
    assert "the figures have changed since you looked" in page.text
    assert draft(page.text, "refunds", "first_certificate")["mark"] == form["mark"]
    assert proposed(world) == before


@pytest.mark.parametrize("role", [REVIEWER, AUDITOR])
def test_others_read_and_draft_nothing(world: Served, role: Any) -> None:
    """They see what is suggested and why, without a button, and a made-up form is refused."""
    with signed_in(world, role) as client:
        page = seen(client, "/slices/refunds")
        assert fields(page, "/slices/refunds") == []
        assert "An admin can do this here." in page
        token = re.search(r'name="csrf" value="([0-9a-f]+)"', page)
        assert token is not None
        for path in ("/slices/refunds", "/calibrations", "/calibrations/cal_1"):
            assert client.post(path, data={"csrf": token.group(1)}).status_code == 403


def test_an_admin_of_one_slice_drafts_nothing(world: Served) -> None:
    """A policy and a calibration touch all slices."""
    with signed_in(world, secret=world.make_key(ADMIN, slices=("refunds",))) as client:
        page = seen(client, "/slices/refunds")
        token = fields(page, "/logout")[0]["csrf"]
        for path in ("/slices/refunds", "/calibrations"):
            assert client.post(path, data={"csrf": token}).status_code == 403


def test_a_calibration_is_looked_at_then_activated(tmp_path: Path) -> None:
    """Computing it changes nothing; the page says what each slice would do; then it holds."""
    with controlled(tmp_path) as served, signed_in(served, ADMIN) as client:
        before = _active(served)
        form = fields(seen(client, "/slices/invoices"), "/calibrations")[0]
        page = client.post("/calibrations", data=form)
        assert page.url.path.startswith("/calibrations/cal_")
        assert "more acts alone" in page.text
        assert _active(served) == before
        (act,) = fields(page.text, str(page.url.path))
        late = client.post(page.url.path, data={**act, "seen": "old", "note": "x"})
        assert (late.status_code, _active(served)) == (409, before)
        silent = client.post(page.url.path, data={**act, "note": " "})
        assert (silent.status_code, _active(served)) == (422, before)
        done = client.post(page.url.path, data={**act, "note": "as proven", "share": "1.0"})
        assert done.status_code == 200
        assert "The calibration that holds" in done.text
        assert _active(served) == str(page.url.path).rsplit("/", 1)[1]
        assert "as proven" in client.get("/logbook").text
        assert client.get("/calibrations/cal_nothing").status_code == 404


def test_a_calibration_can_begin_with_some_decisions(tmp_path: Path) -> None:
    """The others keep what held before, and the page says for how many it holds."""
    with controlled(tmp_path) as served, signed_in(served, ADMIN) as client:
        form = fields(seen(client, "/slices/invoices"), "/calibrations")[0]
        page = client.post("/calibrations", data=form)
        (act,) = fields(page.text, str(page.url.path))
        odd = client.post(page.url.path, data={**act, "note": "x", "share": "0.3"})
        assert odd.status_code == 422
        some = client.post(page.url.path, data={**act, "note": "first", "share": "0.1"})
        assert "It holds for 10" in some.text


def _active(served: Served) -> str:
    (one,) = [
        one
        for one in asyncio.run(served.services.calibrations.stored())
        if one["active"] and one["share"] == 1
    ]
    return str(one["id"])
