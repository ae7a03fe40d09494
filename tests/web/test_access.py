"""Who may do what: keys, roles, slices, workspaces (R12, G34)."""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta
from pathlib import Path

import pytest

from sureline.application.ports.keys import Role
from sureline.core.values.outcome import Action
from sureline.web.settings import ServerSettings
from tests.web.served import ADMIN, AGENT, AUDITOR, REVIEWER, Served, serve

GOOD = {"slice_key": "invoices", "task": "t", "output": {"total": 1}}
SWITCH = {"scope": "batch:none", "on": True, "reason": "a test"}


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer wrong",
        "Bearer sl_admin_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "Basic dXNlcjpwYXNz",
        "Bearer " + "x" * 2000,
        "Bearer \udcff\udcfe",
    ],
    ids=["none", "empty", "scheme only", "wrong", "guess", "basic", "long", "bytes"],
)
def test_without_a_valid_key_nothing_is_told(shared: Served, header: str | None) -> None:
    """A missing, wrong or odd key is a 401 that says how to send one."""
    headers = (
        {} if header is None else {b"authorization": header.encode("utf-8", "surrogateescape")}
    )
    for method, path in (("POST", "/v1/decisions"), ("GET", "/v1/slices"), ("GET", "/metrics")):
        answer = shared.call(method, path, None, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
        assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/openapi.json"])
def test_health_and_description_need_no_key(shared: Served, path: str) -> None:
    """Probes and tools get in without a key."""
    assert shared.call("GET", path, None).status_code == 200


MAY = {
    ("POST", "/v1/decisions"): {AGENT, ADMIN},
    ("GET", "/v1/decisions/none"): set(Role),
    ("GET", "/v1/decisions/none/review"): set(Role),
    ("POST", "/v1/decisions/none/consume"): {AGENT, ADMIN},
    ("POST", "/v1/outcomes"): {REVIEWER, ADMIN},
    ("GET", "/v1/switches"): {REVIEWER, ADMIN, AUDITOR},
    ("PUT", "/v1/switches"): {ADMIN},
    ("GET", "/v1/policies"): {REVIEWER, ADMIN, AUDITOR},
    ("POST", "/v1/policies"): {ADMIN},
    ("POST", "/v1/policies/none/activate"): {ADMIN},
    ("GET", "/v1/slices"): set(Role),
    ("GET", "/v1/calibrations"): {REVIEWER, ADMIN, AUDITOR},
    ("POST", "/v1/calibrations"): {ADMIN},
    ("POST", "/v1/calibrations/none/activate"): {ADMIN},
    ("POST", "/v1/calibrations/none/rollback"): {ADMIN},
    ("GET", "/v1/reports/latest"): {REVIEWER, ADMIN, AUDITOR},
    ("GET", "/v1/audits"): {REVIEWER, ADMIN},
    ("GET", "/v1/audits/none"): {REVIEWER, ADMIN},
    ("GET", "/v1/reviews"): {REVIEWER, ADMIN, AUDITOR},
    ("GET", "/v1/reviews/none"): {REVIEWER, ADMIN, AUDITOR},
    ("POST", "/v1/reviews/next"): {REVIEWER, ADMIN},
    ("POST", "/v1/reviews/bulk"): {REVIEWER, ADMIN},
    **{
        ("POST", f"/v1/reviews/none/{act}"): {REVIEWER, ADMIN}
        for act in (
            "claim",
            "heartbeat",
            "release",
            "decide",
            "recheck",
            "answer",
            "escalate",
            "skip",
            "undo",
        )
    },
    ("GET", "/v1/logbook"): {REVIEWER, ADMIN, AUDITOR},
    ("GET", "/v1/reviewers"): {REVIEWER, ADMIN},
    ("GET", "/v1/incidents"): {REVIEWER, ADMIN, AUDITOR},
    ("POST", "/v1/incidents/none/close"): {ADMIN},
    ("GET", "/v1/recalls"): {REVIEWER, ADMIN, AUDITOR},
    ("POST", "/v1/recalls"): {ADMIN},
    ("POST", "/v1/recalls/preview"): {ADMIN},
    ("POST", "/v1/erasures"): {ADMIN, AUDITOR},
    ("POST", "/v1/erasures/preview"): {ADMIN, AUDITOR},
    ("POST", "/v1/slices/none/suggestions/none"): {ADMIN},
    ("POST", "/v1/missions"): {AGENT, ADMIN},
    ("GET", "/v1/missions"): set(Role),
    ("GET", "/v1/missions/none"): set(Role),
    ("GET", "/v1/missions/none/events"): set(Role),
    ("POST", "/v1/missions/none/invocations"): {AGENT, ADMIN},
    ("POST", "/v1/missions/none/invocations/none"): {AGENT, ADMIN},
    ("POST", "/v1/missions/none/invocations/none/heartbeat"): {AGENT, ADMIN},
    ("POST", "/v1/missions/none/evaluate"): {AGENT, REVIEWER, ADMIN},
    **{
        ("POST", f"/v1/missions/none/{act}"): {REVIEWER, ADMIN}
        for act in ("suspend", "resume", "extend", "fail", "complete", "objective")
    },
    ("DELETE", "/v1/missions/none/words"): {ADMIN},
    ("GET", "/metrics"): {REVIEWER, ADMIN, AUDITOR},
}


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize(("method", "path"), MAY, ids=[" ".join(one) for one in MAY])
def test_each_role_does_what_it_may(shared: Served, method: str, path: str, role: Role) -> None:
    """The wrong role is a 403 before the body is read; the right one gets further."""
    answer = shared.call(method, path, role, content=b"x" if method != "GET" else None)
    assert (answer.status_code == 403) == (role not in MAY[method, path])


def test_the_table_of_roles_is_complete(shared: Served) -> None:
    """Every operation that needs a key is in the table above."""
    paths = shared.call("GET", "/openapi.json", None).json()["paths"]
    described = {
        (method.upper(), re.sub(r"\{\w+\}", "none", path)): {
            Role(role) for role in operation["x-roles"]
        }
        for path, operations in paths.items()
        for method, operation in operations.items()
        if "security" in operation
    }
    assert described == MAY


def test_an_agent_never_labels(shared: Served) -> None:
    """Only reviewers and admins record outcomes, and only admins what nobody asked for (G34)."""
    made = shared.decide(slice_key="replies", output="Hi.").json()["id"]
    body = {"decision_id": made, "action": "approve"}
    assert shared.call("POST", "/v1/outcomes", AGENT, json=body).status_code == 403
    assert shared.call("POST", "/v1/outcomes", AUDITOR, json=body).status_code == 403
    for source in ("audit", "incident", "import"):
        answer = shared.call("POST", "/v1/outcomes", REVIEWER, json={**body, "source": source})
        assert answer.status_code == 403
    assert asyncio.run(shared.services.ledger.outcomes("default", made)) == []


def test_a_key_of_some_slices_stays_in_them(shared: Served) -> None:
    """Another slice is a 403 for submitting, reading, using, waiting, labelling and switching."""
    foreign = shared.decide(slice_key="replies", output="Hi.").json()["id"]
    agent = shared.make_key(AGENT, slices=("invoices",))
    admin = shared.make_key(ADMIN, slices=("invoices",))
    other = {**GOOD, "slice_key": "replies"}
    with shared.client(secret=agent) as client:
        assert client.post("/v1/decisions", json=GOOD).status_code == 201
        assert client.post("/v1/decisions", json=other).status_code == 403
        assert client.get(f"/v1/decisions/{foreign}").status_code == 403
        assert client.post(f"/v1/decisions/{foreign}/consume").status_code == 403
        assert client.get(f"/v1/decisions/{foreign}/review").status_code == 403
        slices = client.get("/v1/slices").json()["slices"]
        assert [one["slice_key"] for one in slices] == ["invoices"]
    with shared.client(secret=admin) as client:
        label = {"decision_id": foreign, "action": "approve"}
        assert client.post("/v1/outcomes", json=label).status_code == 403
        for scope in ("global", "batch:b", "slice:replies"):
            body = {**SWITCH, "scope": scope}
            assert client.put("/v1/switches", json=body).status_code == 403
        assert client.post("/v1/calibrations").status_code == 403
        assert client.get("/v1/reports/latest").status_code == 403
        assert client.post("/v1/policies", json={"text": "version: 1"}).status_code == 403
        assert client.get("/metrics").status_code == 403


def test_another_workspace_is_out_of_sight(shared: Served) -> None:
    """A key of another workspace decides nothing here; its decisions cannot be seen from here."""
    stranger = shared.make_key(ADMIN, workspace="other")
    with shared.client(secret=stranger) as client:
        assert client.post("/v1/decisions", json=GOOD).status_code == 403
    asyncio.run(_copy_to_other_workspace(shared))
    for path in ("/v1/decisions/theirs", "/v1/decisions/theirs/review"):
        assert shared.call("GET", path, ADMIN).status_code == 404
    assert shared.call("POST", "/v1/decisions/theirs/consume").status_code == 404
    label = {"decision_id": "theirs", "action": Action.APPROVE}
    assert shared.call("POST", "/v1/outcomes", ADMIN, json=label).status_code == 404


async def _copy_to_other_workspace(served: Served) -> None:
    from sureline.application.intake import read_proposal

    proposal = read_proposal({**GOOD, "id": "theirs"}, workspace="other")
    await served.services.decider.decide(proposal)


def test_a_revoked_key_is_refused_within_a_second(served: Served) -> None:
    """A key is believed for half a second at most, so its revocation holds after that."""
    assert served.decide().status_code == 201
    (agent,) = [
        one for one in asyncio.run(served.services.keys.all("default")) if one.role == AGENT
    ]
    asyncio.run(served.services.keys.revoke("default", agent.id, served.clock.now()))
    served.clock.advance(timedelta(seconds=0.5))
    answer = served.decide()
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")


def test_a_key_has_so_many_requests(tmp_path: Path) -> None:
    """Beyond its rate a key gets 429 and when to come again; other keys are not held up."""
    settings = ServerSettings(requests_per_second=2, burst=3)
    with serve(tmp_path, settings) as served:
        statuses = [served.call("GET", "/v1/slices").status_code for _ in range(4)]
        assert statuses == [200, 200, 200, 429]
        refused = served.call("GET", "/v1/slices")
        assert refused.json()["code"] == "rate_limited"
        assert int(refused.headers["retry-after"]) >= 1
        assert served.call("GET", "/v1/slices", AUDITOR).status_code == 200
        served.clock.advance(timedelta(seconds=1))
        again = [served.call("GET", "/v1/slices").status_code for _ in range(3)]
        assert again == [200, 200, 429]
