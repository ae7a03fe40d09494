"""Audits, rollback and the logbook over HTTP."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.web.served import ADMIN, REVIEWER, Served


def drawn(served: Served) -> str:
    """Decide until an automated output is drawn for the audit; return its id."""
    for _ in range(400):
        made = str(served.decide().json()["id"])
        if made in due(served):
            return made
    raise AssertionError("none of 400 outputs was drawn at a rate of .2")


def due(served: Served) -> list[str]:
    listed = served.call("GET", "/v1/audits?limit=1000", REVIEWER).json()["due"]
    return [one["decision_id"] for one in listed]


def test_an_audit_is_answered_by_a_reviewer(shared: Served) -> None:
    """It is due, shown without the gate's view, answered as an outcome, and no longer due."""
    made = drawn(shared)
    assert made in due(shared)
    shown = shared.call("GET", f"/v1/audits/{made}", REVIEWER).json()
    assert set(shown) == {"decision_id", "slice_key", "decided_at", "task", "source", "output"}
    body = {"decision_id": made, "action": "approve", "source": "audit", "anchored": False}
    answer = shared.call("POST", "/v1/outcomes", REVIEWER, json=body)
    assert (answer.status_code, answer.json()["correct"]) == (201, True)
    assert made not in due(shared)


def test_what_was_not_drawn_is_no_audit(shared: Served) -> None:
    """A reviewer cannot pick what to audit: it would be no sample."""
    made = shared.decide(slice_key="replies", output="Hi.").json()["id"]
    assert shared.call("GET", f"/v1/audits/{made}", REVIEWER).status_code == 404
    body = {"decision_id": made, "action": "approve", "source": "audit"}
    assert shared.call("POST", "/v1/outcomes", REVIEWER, json=body).status_code == 403


def test_a_key_of_some_slices_sees_their_audits(shared: Served) -> None:
    """What is due elsewhere is neither listed nor shown."""
    made = drawn(shared)
    with shared.client(secret=shared.make_key(REVIEWER, slices=("replies",))) as client:
        assert client.get("/v1/audits").json() == {"due": []}
        assert client.get(f"/v1/audits/{made}").status_code == 403


def test_a_limit_is_a_number(shared: Served) -> None:
    """Nobody asks for more than a thousand."""
    assert shared.call("GET", "/v1/audits?limit=0", REVIEWER).status_code == 422
    assert shared.call("GET", "/v1/audits?limit=1001", REVIEWER).status_code == 422


def test_a_rollback_goes_back_once_and_only_from_what_is_active(served: Served) -> None:
    """The one before holds again; a second call finds that another is active."""
    first = served.call("POST", "/v1/calibrations", ADMIN).json()["id"]
    refused = served.call("POST", f"/v1/calibrations/{first}/rollback", ADMIN)
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
    served.call("POST", f"/v1/calibrations/{first}/activate", ADMIN)
    alone = served.call("POST", f"/v1/calibrations/{first}/rollback", ADMIN)
    assert (alone.status_code, alone.json()["code"]) == (409, "refused")
    made = served.decide().json()["id"]
    label = {"decision_id": made, "action": "approve"}
    assert served.call("POST", "/v1/outcomes", REVIEWER, json=label).status_code == 201
    second = served.call("POST", "/v1/calibrations", ADMIN).json()["id"]
    served.call("POST", f"/v1/calibrations/{second}/activate", ADMIN)
    back = served.call("POST", f"/v1/calibrations/{second}/rollback", ADMIN)
    told = {"kind": "calibration", "subject": first, "by": "a admin", "share": 1.0}
    assert back.json() == told
    again = served.call("POST", f"/v1/calibrations/{second}/rollback", ADMIN)
    assert (again.status_code, again.json()["code"]) == (409, "conflict")


def test_a_calibration_can_hold_for_a_share_first(served: Served) -> None:
    """It is listed with its share, completed by activating it again, or taken back to none."""
    only = served.call("POST", "/v1/calibrations", ADMIN).json()["id"]

    def shares() -> list[tuple[bool, float]]:
        listed = served.call("GET", "/v1/calibrations", ADMIN).json()["calibrations"]
        return [(one["active"], one["share"]) for one in listed]

    def activate(share: float) -> dict[str, object]:
        address = f"/v1/calibrations/{only}/activate"
        found = served.call("POST", address, ADMIN, json={"share": share})
        assert found.status_code == 200
        return dict(found.json())

    assert shares() == [(False, 0.0)]
    assert (activate(0.1)["share"], shares()) == (0.1, [(True, 0.1)])
    back = served.call("POST", f"/v1/calibrations/{only}/rollback", ADMIN).json()
    assert (back["subject"], shares()) == ("none", [(False, 0.0)])
    assert (activate(0.3)["share"], activate(1)["share"], shares()) == (0.3, 1.0, [(True, 1.0)])


@pytest.mark.parametrize("share", [0, 1.5, -0.1, "0.1", None])
def test_a_share_that_is_none_is_refused(served: Served, share: object) -> None:
    """Nothing is activated by a share that nothing can hold for."""
    only = served.call("POST", "/v1/calibrations", ADMIN).json()["id"]
    address = f"/v1/calibrations/{only}/activate"
    refused = served.call("POST", address, ADMIN, json={"share": share})
    assert (refused.status_code, refused.json()["field"]) == (422, "share")
    listed = served.call("GET", "/v1/calibrations", ADMIN).json()["calibrations"]
    assert [one["active"] for one in listed] == [False]


@pytest.mark.parametrize(("days", "seen"), [(1, False), (30, True)], ids=["lately", "longer ago"])
def test_the_logbook_looks_back_so_many_days(served: Served, days: int, seen: bool) -> None:
    """Who turned what, when and why, as far back as asked."""
    body = {"scope": "slice:invoices", "on": True, "reason": "drill"}
    served.call("PUT", "/v1/switches", ADMIN, json=body)
    served.clock.advance(timedelta(days=10))
    found = served.call("GET", f"/v1/logbook?days={days}", ADMIN).json()["entries"]
    assert [one["note"] for one in found if one["change"] == "switch on"] == ["drill"] * seen


def test_the_logbook_of_a_key_of_some_slices(served: Served) -> None:
    """What concerns other slices only is left out."""
    body = {"scope": "slice:invoices", "on": True, "reason": "drill"}
    served.call("PUT", "/v1/switches", ADMIN, json=body)
    with served.client(secret=served.make_key(REVIEWER, slices=("replies",))) as client:
        entries = client.get("/v1/logbook").json()["entries"]
    assert [one["change"] for one in entries] == ["policy"]
