"""Missions over HTTP: an agent works, a judge judges, people answer (M1-M7, R12)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from sureline.application.ports.keys import Role
from sureline.core.values.switch import Switch
from sureline.testing import FakeMissionJudge
from tests.web.browsing import Visitor
from tests.web.served import (
    ADMIN,
    AGENT,
    AUDITOR,
    POLICY,
    REVIEWER,
    HeldSwitch,
    Served,
    awaited,
    serve,
)

MISSIONS = f"""\
{POLICY}missions:
  reconciliation:
    judge: {{model: "openai:judge"}}
    evaluate_every: 2
    max_invocations: 6
    budget: {{tokens: 1000}}
  migration:
    auto_complete: false
"""
NEW = {"kind": "reconciliation", "objective": "close six disputes", "criteria": ["all are closed"]}
EVIDENCE = {"answer": "one closed", "calls": [{"name": "close", "arguments": {"n": 1}}]}


@pytest.fixture
def judge() -> FakeMissionJudge:
    """A judge that is not sure."""
    return FakeMissionJudge.saying(True, 0.5)


@pytest.fixture
def served(tmp_path: Path, judge: FakeMissionJudge) -> Iterator[Served]:
    """A server whose policy names two kinds of missions."""
    with serve(tmp_path, policy=MISSIONS, mission_judge=judge) as one:
        yield one


def create(served: Served, role: Role = AGENT, **fields: Any) -> httpx.Response:
    """Ask for a mission."""
    return served.call("POST", "/v1/missions", role, json={**NEW, **fields})


def begun(served: Served, name: str = "m1") -> int:
    """Begin an invocation; return its number."""
    answer = served.call("POST", f"/v1/missions/{name}/invocations")
    assert answer.status_code == 200, answer.text
    return int(answer.json()["number"])


def turn(served: Served, name: str = "m1", **evidence: Any) -> dict[str, Any]:
    """Make one invocation; return how the mission stands then."""
    path = f"/v1/missions/{name}/invocations/{begun(served, name)}"
    ended = served.call("POST", path, json={**EVIDENCE, **evidence})
    assert ended.status_code == 200, ended.text
    found: dict[str, Any] = ended.json()
    return found


def act(served: Served, name: str, role: Role = REVIEWER, **fields: Any) -> httpx.Response:
    """Do something with the mission m1."""
    more = {"json": fields} if fields else {}
    return served.call("POST", f"/v1/missions/m1/{name}", role, **more)


def waiting(served: Served) -> dict[str, Any]:
    """Bring the mission m1 to where the judge is not sure."""
    create(served, id="m1")
    turn(served)
    assert turn(served)["evaluation_owed"]
    judged = act(served, "evaluate", AGENT)
    assert judged.status_code == 200, judged.text
    found: dict[str, Any] = judged.json()
    return found


def test_a_mission_is_made_once(served: Served) -> None:
    """201, then 200 with the same, then 409 for other content; the kind's limits hold."""
    made = create(served, id="m1", hours=2)
    assert (made.status_code, made.json()["state"]) == (201, "created")
    assert made.json()["submitted_by"] == "a agent"
    again = create(served, id="m1", hours=2)
    assert (again.status_code, again.json()["id"]) == (200, "m1")
    other = create(served, id="m1", objective="something else")
    assert (other.status_code, other.json()["code"]) == (409, "conflict")
    assert create(served).json()["id"]


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("kind", {"kind": "none"}),
        ("objective", {"objective": " "}),
        ("criteria", {"criteria": "all are closed"}),
        ("criteria.0", {"criteria": [7]}),
        ("id", {"id": "a/b"}),
        ("hours", {"hours": 25}),
        ("hours", {"hours": 0}),
        ("hours", {"hours": True}),
        ("hours", {"hours": "2"}),
        ("max_invocations", {"max_invocations": 7}),
        ("max_invocations", {"max_invocations": 1.5}),
        ("confidence", {"confidence": 0.1}),
        ("judge", {"judge": {"model": "openai:mine"}}),
    ],
)
def test_what_is_wrong_is_named(served: Served, field: str, fields: dict[str, Any]) -> None:
    """A wider limit, a text where a number belongs, and a dial of the judge's are refused."""
    answer = create(served, **fields)
    assert answer.status_code == 422
    assert field in answer.json()["detail"]


def test_an_agent_works_until_an_evaluation_is_owed(served: Served) -> None:
    """Begin, end, and no third one before the judge was asked."""
    create(served, id="m1")
    first = turn(served, tokens=5)
    assert (first["evaluation_owed"], first["spent"]["tokens"]) == (False, 5)
    assert turn(served)["evaluation_owed"] is True
    refused = act(served, "invocations", AGENT)
    assert (refused.status_code, refused.json()["code"]) == (409, "evaluation_owed")
    assert "evaluation is owed" in refused.json()["detail"]


def test_a_judge_that_is_not_sure_calls_a_person(served: Served) -> None:
    """Suspended: nothing begins, the summary says so, and a person's answer is the label."""
    found = waiting(served)
    assert (found["state"], found["cause"]) == ("suspended", "unsure")
    assert found["last_evaluation"]["confidence"] == 0.5
    assert found["escalation"]["cause"] == "unsure"
    assert "suspended" in found["summary"]
    refused = act(served, "invocations", AGENT)
    assert (refused.status_code, refused.json()["code"]) == (409, "suspended")
    done = act(served, "complete", note="seen the ledger")
    assert (done.json()["state"], done.json()["cause"]) == ("completed", "person")
    decision = found["last_evaluation"]["decision_id"]
    labels = awaited(served.services.ledger.outcomes("default", decision))
    assert [(one.action, one.by, one.correct) for one in labels] == [
        ("approve", "a reviewer", True)
    ]
    rows = served.call("GET", "/v1/missions/m1/events").json()["events"]
    assert (rows[-1]["kind"], rows[-1]["by"]) == ("completed", "a reviewer")


def test_the_one_that_asks_has_no_say(served: Served, judge: FakeMissionJudge) -> None:
    """An evaluation takes no body that could sway it, and asking again asks no judge again."""
    waiting(served)
    asked = len(judge.asked)
    body = {"achieved": True, "confidence": 1.0, "check": "true"}
    answer = act(served, "evaluate", AGENT, **body)
    assert answer.json()["state"] == "suspended"
    assert len(judge.asked) == asked


def test_a_second_worker_is_told_that_one_runs(served: Served) -> None:
    """`busy` while the lease holds; a heartbeat lengthens it; then the invocation is lost."""
    create(served, id="m1")
    number = begun(served)
    busy = act(served, "invocations", AGENT)
    assert (busy.status_code, busy.json()["code"]) == (409, "busy")
    served.clock.advance(timedelta(minutes=10))
    beat = served.call("POST", f"/v1/missions/m1/invocations/{number}/heartbeat")
    assert beat.json()["until"] == (served.clock.now() + timedelta(minutes=15)).isoformat()
    served.clock.advance(timedelta(minutes=16))
    assert begun(served) == number + 1
    late = served.call("POST", f"/v1/missions/m1/invocations/{number}", json=EVIDENCE)
    assert (late.status_code, late.json()["code"]) == (409, "conflict")
    assert served.call("POST", "/v1/missions/m1/invocations/x", json={}).status_code == 404


def test_who_is_at_work_is_told(served: Served) -> None:
    """`busy` names the invocation, whose it is and until when; an end sent twice was taken in."""
    create(served, id="m1")
    number = begun(served)
    own = act(served, "invocations", AGENT)
    other = act(served, "invocations", ADMIN)
    until = (served.clock.now() + timedelta(minutes=15)).isoformat()
    told = [
        {name: one.json()[name] for name in ("until", "number", "yours")} for one in (own, other)
    ]
    assert told == [
        {"until": until, "number": number, "yours": True},
        {"until": until, "number": number, "yours": False},
    ]
    assert own.headers["retry-after"] == "900"
    path = f"/v1/missions/m1/invocations/{number}"
    assert served.call("POST", path, json=EVIDENCE).status_code == 200
    again = served.call("POST", path, json=EVIDENCE)
    assert (again.status_code, again.json()["code"]) == (409, "ended_already")


def test_an_agent_redraws_no_judge(served: Served, judge: FakeMissionJudge) -> None:
    """It gets what is owed evaluated and no more; others ask whenever they like."""
    create(served, id="m1")
    turn(served)
    assert act(served, "evaluate", AGENT).status_code == 200
    assert len(judge.asked) == 0
    assert act(served, "evaluate", REVIEWER).json()["state"] == "suspended"
    assert len(judge.asked) == 1


def test_an_agent_is_not_told_how_sure_a_judge_must_be(served: Served) -> None:
    """The threshold is left out of an escalation's figures and the timeline's, for it alone."""
    waiting(served)
    for role, told in ((AGENT, False), (REVIEWER, True)):
        shown = served.call("GET", "/v1/missions/m1", role).json()
        rows = served.call("GET", "/v1/missions/m1/events", role).json()["events"]
        assert ("threshold" in shown["escalation"]["facts"]) is told
        assert any("threshold" in one["facts"] for one in rows) is told
        assert ("threshold" in served.call("GET", "/v1/missions", role).text) is told


def test_a_kill_switch_lets_nothing_begin(served: Served) -> None:
    """409 `switch`, and the mission stays as it is."""
    create(served, id="m1")
    held = served.services.plugins.hard_switch
    assert isinstance(held, HeldSwitch)
    held.on.append(
        Switch(
            workspace="default",
            scope="global",
            on=True,
            reason="x",
            by="environment",
            changed_at=served.clock.now(),
        )
    )
    refused = act(served, "invocations", AGENT)
    assert (refused.status_code, refused.json()["code"]) == (409, "switch")
    assert served.call("GET", "/v1/missions/m1").json()["state"] == "created"


def test_a_budget_stops_it_until_it_is_raised(served: Served) -> None:
    """Suspended with the figures; resumed only after the limit is raised."""
    create(served, id="m1")
    found = turn(served, tokens=1500)
    assert (found["state"], found["cause"]) == ("suspended", "budget_tokens")
    early = act(served, "resume")
    assert early.status_code == 409
    assert "extend it by tokens first" in early.json()["detail"]
    assert act(served, "extend", note="x").status_code == 422
    assert act(served, "extend", tokens="many").status_code == 422
    assert act(served, "extend", tokens=1000).json()["budget"]["tokens"] == 2000
    assert act(served, "resume").json()["state"] == "active"


def test_another_objective_makes_a_verdict_count_no_more(served: Served) -> None:
    """The revision goes up, and what is there is judged anew."""
    waiting(served)
    changed = act(
        served, "objective", criteria=["five are closed"], note="one was withdrawn"
    ).json()
    assert (changed["revision"], changed["last_evaluation"]) == (2, None)
    assert changed["evaluation_owed"] is True
    assert act(served, "objective", note="x").status_code == 422


@pytest.mark.parametrize(
    "evidence",
    [
        {"calls": [{"name": "a", "ok": "false"}]},
        {"calls": [{"arguments": {}}]},
        {"conversation": ["done"]},
        {"tokens": -1},
        {"tokens": "5"},
        {"cost": True},
        {"achieved": True},
        {"confidence": 1.0},
    ],
    ids=str,
)
def test_evidence_is_read_strictly(served: Served, evidence: dict[str, Any]) -> None:
    """Each field at fault is named, and the invocation still runs."""
    create(served, id="m1")
    path = f"/v1/missions/m1/invocations/{begun(served)}"
    refused = served.call("POST", path, json=evidence)
    assert refused.status_code == 422
    assert next(iter(evidence)) in refused.json()["detail"]
    assert served.call("POST", path, json=EVIDENCE).status_code == 200


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b'{"answer": "' + b"a" * 50_000_000 + b'"}', 413),
        (b'{"state": ' + b"[" * 5_000 + b"]" * 5_000 + b"}", 400),
        (b'{"cost": NaN}', 400),
        (b'{"answer": "a", "answer": "b"}', 400),
        (b"[]", 422),
    ],
    ids=["50 MB", "deep", "nan", "duplicate", "list"],
)
def test_odd_bodies_are_refused(served: Served, content: bytes, status: int) -> None:
    """Size, depth, NaN, duplicates and what is no object; none of it ends the invocation."""
    create(served, id="m1")
    path = f"/v1/missions/m1/invocations/{begun(served)}"
    headers = {"content-type": "application/json"}
    with served.client(AGENT) as client:
        assert client.post(path, content=content, headers=headers).status_code == status
    assert served.call("POST", path, json=EVIDENCE).status_code == 200


def test_agents_see_their_own(served: Served) -> None:
    """Another agent's mission is not found, not listed, and not made again under its id."""
    create(served, id="m1")
    secret = served.make_key(AGENT, name="another")
    with served.client(secret=secret) as client:
        assert client.get("/v1/missions").json() == {"missions": []}
        for path in ("", "/events"):
            assert client.get(f"/v1/missions/m1{path}").status_code == 404
        for path in ("/invocations", "/evaluate", "/invocations/1/heartbeat"):
            assert client.post(f"/v1/missions/m1{path}").status_code == 404
        assert client.post("/v1/missions", json={**NEW, "id": "m1"}).status_code == 404
    assert [one["id"] for one in listed(served, AUDITOR)] == ["m1"]


def listed(served: Served, role: Role = AGENT, **query: Any) -> list[dict[str, Any]]:
    """List missions."""
    answer = served.call("GET", "/v1/missions", role, params=query)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["missions"]
    return found


def test_the_list_is_narrowed(served: Served) -> None:
    """By states, kinds, and pages; what nobody knows of states is refused."""
    create(served, id="m1")
    create(served, id="m2", kind="migration")
    assert {one["id"] for one in listed(served, states="created,active")} == {"m1", "m2"}
    assert [one["id"] for one in listed(served, kinds="migration")] == ["m2"]
    assert listed(served, states="failed") == []
    assert len(listed(served, limit=1)) == 1
    assert {listed(served, limit=1, offset=n)[0]["id"] for n in (0, 1)} == {"m1", "m2"}
    for query in ({"states": "done"}, {"states": ""}, {"kinds": ","}, {"limit": 0}):
        assert served.call("GET", "/v1/missions", params=query).status_code == 422


def test_a_bound_key_stays_in_its_slices(served: Served) -> None:
    """`mission.<kind>` binds a key to a kind, for making, seeing and answering."""
    create(served, id="m1")
    bound = served.make_key(AGENT, name="bound", slices=("mission.migration",))
    with served.client(secret=bound) as client:
        assert client.post("/v1/missions", json=NEW).status_code == 403
        assert client.post("/v1/missions", json={**NEW, "kind": "migration"}).status_code == 201
    reviewer = served.make_key(REVIEWER, name="bea", slices=("mission.migration", "invoices"))
    with served.client(secret=reviewer) as client:
        assert [one["kind"] for one in client.get("/v1/missions").json()["missions"]] == [
            "migration"
        ]
        assert client.post("/v1/missions/m1/fail").status_code == 403
        narrowed = client.get("/v1/missions", params={"kinds": "reconciliation"})
        assert narrowed.json() == {"missions": []}


@pytest.mark.parametrize("name", ["suspend", "resume", "extend", "fail", "complete", "objective"])
def test_no_agent_answers(served: Served, name: str) -> None:
    """What people do takes a reviewer's key or an admin's."""
    create(served, id="m1")
    for role in (AGENT, AUDITOR):
        assert act(served, name, role, hours=1).status_code == 403


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("resume", {}),
        ("extend", {"hours": 1}),
        ("fail", {}),
        ("complete", {}),
        ("objective", {"objective": "less"}),
    ],
)
def test_nobody_answers_for_their_own(served: Served, name: str, body: dict[str, Any]) -> None:
    """Whoever brought a mission may stop it, and somebody else says how it goes on."""
    create(served, ADMIN, id="m1")
    assert act(served, name, ADMIN, **body).status_code == 403
    assert act(served, "suspend", ADMIN).json()["state"] == "suspended"
    assert act(served, "resume").json()["state"] == "active"


def test_words_are_erased_by_an_admin(served: Served) -> None:
    """Objective, criteria and reasoning go, figures stay, and a mission under way fails."""
    waiting(served)
    body = {"reason": "asked for"}
    path = "/v1/missions/m1/words"
    assert served.call("DELETE", path, REVIEWER, json=body).status_code == 403
    assert served.call("DELETE", path, ADMIN, json={}).status_code == 422
    gone = served.call("DELETE", path, ADMIN, json=body).json()
    assert (gone["erased"], gone["objective"], gone["criteria"]) == (True, "", [])
    assert gone["state"] == "failed"
    assert gone["last_evaluation"]["confidence"] == 0.5
    assert "disputes" not in served.call("GET", "/v1/missions/m1/events", ADMIN).text


def test_what_is_not_there_is_not_found(served: Served) -> None:
    """404 for every operation on a mission that nobody made."""
    for method, path in (
        ("GET", ""),
        ("GET", "/events"),
        ("POST", "/invocations"),
        ("POST", "/evaluate"),
        ("POST", "/suspend"),
    ):
        assert served.call(method, f"/v1/missions/none{path}", ADMIN).status_code == 404


def test_a_person_answers_on_the_page(served: Served) -> None:
    """One button with a note: it goes on, and the label is there; a stale form does nothing."""
    found = waiting(served)
    visitor = Visitor(served)
    page = visitor.get("/missions/m1").text
    seen = page.split('name="seen" value="')[1].split('"')[0]
    stale = visitor.post("/missions/m1", act="complete", seen="active.started.1.0")
    assert stale.status_code == 409
    assert "changed since it was shown" in stale.text
    answer = visitor.post("/missions/m1", act="resume", seen=seen, note="the sixth is open")
    assert (answer.status_code, answer.headers["location"]) == (303, "/missions/m1?done=resume")
    assert "it may go on" in visitor.get("/missions/m1?done=resume").text
    decision = found["last_evaluation"]["decision_id"]
    labels = awaited(served.services.ledger.outcomes("default", decision))
    assert [(one.action, one.by) for one in labels] == [("reject", "a reviewer")]


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"act": "extend"}, "say what to raise"),
        ({"act": "extend", "hours": "a day"}, "expected a number"),
        ({"act": "extend", "invocations": "1.5"}, "expected a whole number"),
        ({"act": "extend", "hours": "٣"}, "expected a number"),
        ({"act": "extend", "hours": "0"}, "above 0"),
        ({"act": "explode"}, "expected one of the buttons"),
        ({"act": "fail", "note": "a" * 2_001}, "at most 2000 characters"),
    ],
)
def test_a_slip_in_the_form_is_said(served: Served, form: dict[str, str], said: str) -> None:
    """The page says what was wrong, keeps what was typed, and nothing is done."""
    create(served, id="m1")
    visitor = Visitor(served)
    seen = visitor.get("/missions/m1").text.split('name="seen" value="')[1].split('"')[0]
    answer = visitor.post("/missions/m1", seen=seen, **form)
    assert answer.status_code == 422
    assert said in answer.text
    assert served.call("GET", "/v1/missions/m1").json()["state"] == "created"


def test_what_an_audit_is_to_judge_is_not_shown_to_reviewers(tmp_path: Path) -> None:
    """Drawn for an audit: no verdict, no confidence, no words for them; an auditor sees all."""
    policy = MISSIONS.replace("evaluate_every: 2", "evaluate_every: 1\n    audit_rate: 1")
    sure = FakeMissionJudge.saying(True, 0.93, reasoning="all six are closed")
    with serve(tmp_path, policy=policy, mission_judge=sure) as served:
        create(served, id="m1")
        turn(served)
        assert act(served, "evaluate", AGENT).json()["state"] == "completed"
        pages = {
            role: Visitor(served, role).get("/missions/m1").text for role in Role if role != AGENT
        }
        lists = Visitor(served).get("/missions").text
    for page in (pages[REVIEWER], lists):
        assert "0.93" not in page
        assert "all six are closed" not in page
    assert "yet to judge it without" in pages[REVIEWER]
    assert "0.93" in pages[AUDITOR]
    assert "all six are closed" in pages[ADMIN]


def test_a_form_without_its_token_does_nothing(served: Served) -> None:
    """As every form: 403 without the session's token."""
    waiting(served)
    answer = Visitor(served).client.post("/missions/m1", data={"act": "complete"})
    assert answer.status_code == 403
