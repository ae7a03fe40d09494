"""Deciding over HTTP: what comes back is what is stored."""

from __future__ import annotations

import asyncio
import json

import pytest

from sureline.application.encode import splice
from sureline.core.gate.sampling import Purpose, is_sampled
from tests.web.served import ADMIN, AGENT, AUDITOR, REVIEWER, Served


def test_a_new_decision_is_201_and_its_bytes_are_those_stored(shared: Served) -> None:
    """The answer is byte for byte what the store holds, and a replay gives the same with 200."""
    first = shared.decide(ADMIN, id="first")
    again = shared.decide(ADMIN, id="first")
    stored = asyncio.run(shared.services.ledger.decision("default", "first"))
    assert stored is not None
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.content == again.content == splice(stored.body, stored.answer)
    assert first.headers["content-type"] == "application/json"


def test_an_approved_output_says_so(shared: Served) -> None:
    """A clean output of a slice with a hypothesis is approved, as uncertified."""
    decision = shared.decide().json()
    assert decision["route"] == "auto_approve"
    assert decision["approved"] is True
    assert decision["uncertified"] is True
    assert decision["output"] == {"total": 12}


def test_a_broken_output_is_a_decision_not_a_problem(shared: Served) -> None:
    """An output that breaks its schema is decided about: it goes back with feedback."""
    answer = shared.decide(output={"total": "many"}, task="another")
    assert answer.status_code == 201
    assert answer.json()["route"] == "auto_reject"
    assert answer.json()["feedback"]


def test_attempts_are_counted_by_the_server(shared: Served) -> None:
    """The attempt number follows the task, whatever the agent says."""
    made = [shared.decide(output={"total": None}, task="count me").json() for _ in range(2)]
    assert [one["attempt"] for one in made] == [1, 2]
    assert [one["route"] for one in made] == ["auto_reject", "abstain"]


@pytest.mark.parametrize("role", [AGENT, REVIEWER, ADMIN, AUDITOR])
def test_every_role_reads_decisions(shared: Served, role: object) -> None:
    """A decision can be read again by its id, unchanged."""
    made = shared.decide()
    read = shared.call("GET", f"/v1/decisions/{made.json()['id']}", role)
    assert read.status_code == 200
    assert {**read.json(), "audit": None} == made.json()


def test_an_agent_does_not_learn_what_is_audited(shared: Served) -> None:
    """Whoever could see it would try until an approval is not audited."""
    secret, names = shared.services.decider.secret, [f"audit-{number}" for number in range(500)]
    drawn = [is_sampled(secret, Purpose.AUDIT, name, 0.2) for name in names]
    wanted = [names[drawn.index(True)], names[drawn.index(False)]]  # the secret is new each time
    decisions = [shared.decide(id=name).json() for name in wanted]
    assert {one["audit"] for one in decisions} == {None}
    read = [shared.call("GET", f"/v1/decisions/{one['id']}", ADMIN).json() for one in decisions]
    assert [one["audit"] for one in read] == [True, False]


def test_an_agent_sees_its_own_decisions_only(shared: Served) -> None:
    """Another agent's decision is not there for it, neither to read nor to use."""
    made = shared.decide().json()["id"]
    with shared.client(secret=shared.make_key(AGENT, name="another agent")) as other:
        assert other.get(f"/v1/decisions/{made}").status_code == 404
        assert other.post(f"/v1/decisions/{made}/consume").status_code == 404
        same = {"slice_key": "invoices", "task": "read it", "output": {"total": 12}, "id": made}
        assert other.post("/v1/decisions", json=same).status_code in {404, 409}


def test_an_id_may_hold_anything(shared: Served) -> None:
    """Slashes, spaces and other scripts in an id survive the address."""
    strange = "a/b c?d#e%2F/領収書/review"
    made = shared.decide(id=strange)
    from urllib.parse import quote

    read = shared.call("GET", f"/v1/decisions/{quote(strange, safe='')}")
    assert read.json()["id"] == made.json()["id"] == strange


def test_an_approval_is_used_once(shared: Served) -> None:
    """Using an approval works once; the second use is refused."""
    made = shared.decide().json()
    uses = [shared.call("POST", f"/v1/decisions/{made['id']}/consume") for _ in range(2)]
    assert [use.status_code for use in uses] == [200, 409]
    assert uses[1].json()["code"] == "refused"


def test_what_was_not_approved_cannot_be_used(shared: Served) -> None:
    """A decision that waits for a person is no approval."""
    made = shared.decide(slice_key="replies", output="Hello.").json()
    assert shared.call("POST", f"/v1/decisions/{made['id']}/consume").status_code == 409


def test_the_same_id_at_once_is_one_decision(shared: Served) -> None:
    """Many callers with one id get one decision: one 201, and the same bytes for all."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: shared.decide(id="raced"), range(16)))
    assert sorted(answer.status_code for answer in answers) == [200] * 15 + [201]
    assert len({answer.content for answer in answers}) == 1


@pytest.mark.parametrize(
    ("role", "more", "trusted"),
    [
        pytest.param(AGENT, {}, False, id="an agent's source is claimed"),
        pytest.param(AGENT, {"trusted_sources": True}, True, id="a fetching program's is believed"),
        pytest.param(ADMIN, {}, True, id="an admin's is believed"),
    ],
)
def test_sources_are_believed_by_key(
    shared: Served, role: object, more: dict[str, bool], trusted: bool
) -> None:
    """Whether a source may raise a score depends on the key, never on what is sent."""
    secret = shared.make_key(role, **more)
    body = {"slice_key": "replies", "task": "t", "output": "Hi.", "source": "a text"}
    with shared.client(secret=secret) as client:
        made = client.post("/v1/decisions", json=body).json()
    stored = asyncio.run(shared.services.ledger.decision("default", made["id"]))
    assert stored is not None
    assert stored.request is not None
    assert json.loads(stored.request)["source"][0]["trusted"] is trusted


def test_a_large_output_is_decided(shared: Served) -> None:
    """A body near the limit is read off the loop and decided about like any other."""
    answer = shared.decide(slice_key="replies", output="word " * 300_000)
    assert answer.status_code == 201
    assert len(answer.json()["output"]) == 1_500_000
