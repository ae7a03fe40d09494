"""The kill switch over HTTP (G29)."""

from __future__ import annotations

import pytest

from sureline.core.values.switch import Switch
from tests.web.served import ADMIN, Served


def turn(served: Served, **fields: object) -> object:
    body = {"scope": "global", "on": True, "reason": "a test", **fields}
    return served.call("PUT", "/v1/switches", ADMIN, json=body)


@pytest.mark.parametrize("scope", ["global", "slice:invoices", "batch:b1"])
def test_a_switch_holds_from_the_next_decision_on(served: Served, scope: str) -> None:
    """While it is on nothing in its scope is automated; turned off, automation is back."""
    assert served.decide(batch_id="b1").json()["approved"] is True
    assert turn(served, scope=scope).status_code == 200
    stopped = served.decide(batch_id="b1").json()
    assert (stopped["approved"], stopped["route"]) == (False, "human_required")
    assert turn(served, scope=scope, on=False).json()["on"] is False
    assert served.decide(batch_id="b1").json()["approved"] is True


def test_a_switch_stops_approvals_in_flight(served: Served) -> None:
    """An approval given before cannot be used while the switch is on."""
    made = served.decide().json()["id"]
    turn(served)
    assert served.call("POST", f"/v1/decisions/{made}/consume").status_code == 409
    turn(served, on=False)
    assert served.call("POST", f"/v1/decisions/{made}/consume").status_code == 200


@pytest.mark.parametrize(
    "value", [None, 0, 1, "", "off", "false", "no", "0", [], {}, 0.0], ids=repr
)
def test_only_true_and_false_turn_a_switch(served: Served, value: object) -> None:
    """Anything else is refused and the switch stays as it was: on."""
    turn(served)
    answer = turn(served, on=value)
    assert (answer.status_code, answer.json()["field"]) == (422, "on")
    assert served.call("GET", "/v1/switches", ADMIN).json()["on"] is True


def test_a_switch_said_twice_is_refused(served: Served) -> None:
    """Two values in one body are no value; what turns it off must be clear."""
    turn(served)
    body = b'{"scope": "global", "on": true, "on": false, "reason": "x"}'
    answer = served.call("PUT", "/v1/switches", ADMIN, content=body)
    assert (answer.status_code, answer.json()["code"]) == (400, "duplicate_key")
    assert served.call("GET", "/v1/switches", ADMIN).json()["on"] is True


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"scope": "everything"}, "invalid_input"),
        ({"scope": "slice:"}, "invalid_input"),
        ({"scope": "GLOBAL"}, "invalid_input"),
        ({"scope": "slice:payroll"}, "unknown_slice"),
        ({"reason": " "}, "invalid_input"),
        ({"by": "someone else"}, "invalid_input"),
    ],
    ids=str,
)
def test_a_switch_that_would_stop_nothing_is_refused(
    served: Served, fields: dict[str, object], code: str
) -> None:
    """A slip of the pen is seen at once."""
    answer = turn(served, **fields)
    assert (answer.status_code, answer.json()["code"]) == (422, code)


def test_a_key_with_the_guard_s_name_turns_no_switch(served: Served) -> None:
    """A switch under that name would count as the guard's own."""
    body = {"scope": "global", "on": True, "reason": "a test"}
    with served.client(secret=served.make_key(ADMIN, name="guard")) as client:
        answer = client.put("/v1/switches", json=body)
    assert answer.status_code == 422
    assert "the guard's own name" in answer.text
    assert served.call("GET", "/v1/switches", ADMIN).json()["switches"] == []


def test_the_environment_s_switch_is_shown(served: Served) -> None:
    """A switch outside the store is listed with the others."""
    served.services.plugins.hard_switch.on.append(  # type: ignore[attr-defined]
        Switch(
            workspace="default",
            scope="global",
            on=True,
            reason="the variable is set",
            by="environment",
            changed_at=served.clock.now(),
        )
    )
    shown = served.call("GET", "/v1/switches", ADMIN).json()
    assert shown["on"] is True
    assert shown["switches"][0]["by"] == "environment"
