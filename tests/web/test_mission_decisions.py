"""A mission's evaluation is seen and audited as any decision is."""

from __future__ import annotations

from pathlib import Path

from sureline.testing import FakeMissionJudge
from tests.web.browsing import Visitor
from tests.web.served import ADMIN, AGENT, AUDITOR, REVIEWER, serve
from tests.web.test_missions import MISSIONS, act, create, turn


def test_a_completed_mission_is_read_audited_and_labelled(tmp_path: Path) -> None:
    """By its id over HTTP, on its page, in the queue as an audit; an answer ends the audit."""
    policy = MISSIONS.replace("evaluate_every: 2", "evaluate_every: 1\n    audit_rate: 1")
    sure = FakeMissionJudge.saying(True, 0.93, reasoning="all six are closed")
    with serve(tmp_path, policy=policy, mission_judge=sure) as served:
        create(served, id="m1")
        turn(served)
        done = act(served, "evaluate", AGENT).json()
        assert done["state"] == "completed"
        made = done["last_evaluation"]["decision_id"]
        decision = served.call("GET", f"/v1/decisions/{made}", ADMIN)
        page = Visitor(served, AUDITOR).get(f"/decisions/{made}")
        inbox = Visitor(served).get("/")
        audit = served.call("GET", f"/v1/audits/{made}", REVIEWER).json()
        body = {"decision_id": made, "action": "reject", "source": "audit", "anchored": False}
        answered = served.call("POST", "/v1/outcomes", REVIEWER, json=body)
        due = served.call("GET", "/v1/audits", REVIEWER).json()["due"]
    assert decision.status_code == 200
    assert decision.json()["route"] == "auto_approve"
    assert (page.status_code, inbox.status_code) == (200, 200)
    assert "close six disputes" in page.text
    assert "close six disputes" in inbox.text
    assert audit["task"].startswith("close six disputes")
    assert (answered.status_code, answered.json()["correct"]) == (201, False)
    assert due == []
