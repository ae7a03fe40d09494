"""Policies, slices and calibrations over HTTP: nothing changes until somebody activates it."""

from __future__ import annotations

import pytest

from tests.web.served import ADMIN, POLICY, Served

STRICTER = POLICY.replace("mode: route", "mode: human_only")
LOOSER = POLICY.replace("auto: 0.85", "auto: 0.80")


def propose(served: Served, text: str) -> object:
    return served.call("POST", "/v1/policies", ADMIN, json={"text": text})


def test_a_proposed_policy_changes_nothing_until_it_is_activated(served: Served) -> None:
    """The new threshold holds only after its activation, and then at once."""
    made = propose(served, LOOSER)
    assert (made.status_code, made.json()["active"]) == (201, False)
    assert _threshold(served) == 0.85
    activated = served.call(
        "POST", f"/v1/policies/{made.json()['hash']}/activate", ADMIN, json={"note": "looser"}
    )
    assert activated.status_code == 200
    assert _threshold(served) == 0.80
    listed = served.call("GET", "/v1/policies", ADMIN).json()["policies"]
    assert [one["active"] for one in listed] == [True, False]


def test_a_restriction_holds_at_once(served: Served) -> None:
    """A proposal that gives a slice to people does so before it is activated."""
    assert propose(served, STRICTER).status_code == 201
    assert served.decide().json()["route"] == "human_required"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "version: 1",
        "slices: [",
        "version: 1\nslices:\n  a: {weights: {verification: 1}, mod: route}",
        "version: 1\nslices:\n  a: {output: {json_schema: /etc/passwd}}",
        "a: &x [*x]",
        "version: 1\nslices:\n  a: {mode: route}\n  a: {mode: log_only}",
    ],
)
def test_a_faulty_policy_is_refused_whole(served: Served, text: str) -> None:
    """It is a 422 that says what is wrong, and nothing is stored."""
    answer = propose(served, text)
    assert answer.status_code == 422
    assert answer.json()["detail"]
    assert "root:" not in answer.text
    assert len(served.call("GET", "/v1/policies", ADMIN).json()["policies"]) == 1


def test_unknown_things_cannot_be_activated(served: Served) -> None:
    """404 for a policy or a calibration that was never proposed."""
    for kind in ("policies", "calibrations"):
        assert served.call("POST", f"/v1/{kind}/none/activate", ADMIN).status_code == 404


def test_a_slice_says_what_is_missing(served: Served) -> None:
    """Before any label there is no certificate, and the slice says what it lacks."""
    before = _slice(served)
    assert (before["certificate"], before["missing"]["reason"]) == (None, "not_activated")
    assert (before["mode"], before["uncertified"]) == ("route", True)
    made = served.call("POST", "/v1/calibrations", ADMIN)
    assert made.status_code == 201
    after = _slice(served)
    assert after["missing"]["reason"] == "insufficient_data"
    assert after["missing"]["message"]


def test_a_certificate_holds_once_it_is_activated(served: Served) -> None:
    """Labels, a calibration, its activation: then decisions rest on the certificate."""
    switch = {"scope": "global", "on": True, "reason": "people label first"}
    served.call("PUT", "/v1/switches", ADMIN, json=switch)
    for number in range(150):
        made = served.decide(task=f"task {number}").json()["id"]
        body = {"decision_id": made, "action": "approve", "source": "audit"}
        assert served.call("POST", "/v1/outcomes", ADMIN, json=body).status_code == 201
    served.call("PUT", "/v1/switches", ADMIN, json={**switch, "on": False})
    computed = served.call("POST", "/v1/calibrations", ADMIN).json()
    assert [one["slice_key"] for one in computed["certificates"]] == ["invoices"]
    assert served.decide().json()["uncertified"] is True
    path = f"/v1/calibrations/{computed['id']}/activate"
    assert served.call("POST", path, ADMIN).json()["subject"] == computed["id"]
    certificate = _slice(served)["certificate"]["id"]
    decision = served.decide().json()
    assert (decision["uncertified"], decision["certificate"]) == (False, certificate)
    listed = served.call("GET", "/v1/calibrations", ADMIN).json()["calibrations"]
    assert [one["active"] for one in listed] == [True]


def _slice(served: Served) -> dict[str, object]:
    return served.call("GET", "/v1/slices", ADMIN).json()["slices"][0]


def _threshold(served: Served) -> object:
    assert served.decide().json()["threshold"] == _slice(served)["threshold"]
    return _slice(served)["threshold"]
