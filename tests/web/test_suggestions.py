"""Accepting what the report suggests, over HTTP and on the pages: proposed, never applied."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.web.controlled import controlled
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
