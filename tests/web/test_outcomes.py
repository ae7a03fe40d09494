"""Labels come in, and whoever waits for a person hears of it."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from sureline.web.settings import ServerSettings
from tests.web.served import ADMIN, REVIEWER, Served, serve


def test_a_review_is_recorded_with_its_label(shared: Served) -> None:
    """An approval by a reviewer is the label 1, under the key's name unless told otherwise."""
    made = shared.decide(slice_key="replies", output="Hi.").json()["id"]
    body = {"decision_id": made, "action": "approve", "comment": "fine"}
    answer = shared.call("POST", "/v1/outcomes", REVIEWER, json=body)
    outcome = answer.json()
    assert answer.status_code == 201
    assert (outcome["correct"], outcome["by"]) == (True, "a reviewer")
    assert (outcome["source"], outcome["anchored"]) == ("review", True)
    shown = shared.call("GET", f"/v1/decisions/{made}/review").json()
    assert shown == {"decision_id": made, "state": "answered", "outcome": outcome}


def test_the_same_outcome_id_is_harmless(shared: Served) -> None:
    """A repeated call changes nothing; another content under the id is a conflict."""
    made = shared.decide().json()["id"]
    body = {"decision_id": made, "action": "reject", "id": "out-1", "source": "incident"}
    first = shared.call("POST", "/v1/outcomes", ADMIN, json=body)
    again = shared.call("POST", "/v1/outcomes", ADMIN, json=body)
    other = shared.call("POST", "/v1/outcomes", ADMIN, json={**body, "action": "approve"})
    assert (first.status_code, again.status_code) == (201, 201)
    assert (other.status_code, other.json()["code"]) == (409, "conflict")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"action": "maybe"}, "action"),
        ({"action": None}, "action"),
        ({"source": "rumour"}, "source"),
        ({"by": " "}, "by"),
        ({"by": ""}, "by"),
        ({"correct": True}, "correct"),
        ({"anchored": "no"}, "anchored"),
        ({"edited_fields": ["total"]}, "edited_fields"),
        ({"edited_fields": "total", "action": "edit"}, "edited_fields"),
        ({"recorded_at": "2020-01-01"}, "recorded_at"),
        ({"decision_id": 5}, "decision_id"),
    ],
    ids=str,
)
def test_a_bad_outcome_is_refused(shared: Served, change: dict[str, object], field: str) -> None:
    """What is no answer is no label; the field is named."""
    made = shared.decide().json()["id"]
    body = {"decision_id": made, "action": "approve", **change}
    answer = shared.call("POST", "/v1/outcomes", REVIEWER, json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_input")
    assert answer.json()["field"] == field


def test_an_outcome_of_nothing_is_404(shared: Served) -> None:
    """A label needs a decision."""
    body = {"decision_id": "none", "action": "approve"}
    assert shared.call("POST", "/v1/outcomes", REVIEWER, json=body).status_code == 404


def test_whoever_waits_is_answered_when_the_person_is(shared: Served) -> None:
    """A waiting call returns as soon as somebody answers."""
    made = shared.decide(slice_key="replies", output="Hi.").json()["id"]
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(shared.call, "GET", f"/v1/decisions/{made}/review?wait=55")
        _until(lambda: _waiting(shared) == 1)
        body = {"decision_id": made, "action": "reject"}
        shared.call("POST", "/v1/outcomes", REVIEWER, json=body)
        answer = waiting.result(timeout=10).json()
    assert (answer["state"], answer["outcome"]["correct"]) == ("answered", False)


def test_nobody_answering_is_said_after_the_wait(served: Served) -> None:
    """When the time is over the answer is `pending`, not an error."""
    made = served.decide(slice_key="replies", output="Hi.").json()["id"]
    assert served.call("GET", f"/v1/decisions/{made}/review").json()["state"] == "pending"
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(served.call, "GET", f"/v1/decisions/{made}/review?wait=55")
        _until(lambda: _waiting(served) == 1)
        served.clock.advance(timedelta(seconds=56))
        answer = waiting.result(timeout=10)
    assert (answer.status_code, answer.json()["outcome"]) == (200, None)


def test_who_hangs_up_gives_the_seat_back(served: Served) -> None:
    """A caller that leaves is not waited for."""
    made = served.decide(slice_key="replies", output="Hi.").json()["id"]
    with served.client() as client, pytest.raises(httpx.ReadTimeout):
        client.get(f"/v1/decisions/{made}/review?wait=55", timeout=0.3)
    _until(lambda: _waiting(served) == 0)


def test_too_many_waiting_are_told_to_come_again(tmp_path: Path) -> None:
    """Seats for waiting are bounded; without one it is 503 with Retry-After, at once."""
    with serve(tmp_path, ServerSettings(waiting=1)) as served:
        made = served.decide(slice_key="replies", output="Hi.").json()["id"]
        path = f"/v1/decisions/{made}/review?wait=55"
        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(served.call, "GET", path)
            _until(lambda: _waiting(served) == 1)
            second = served.call("GET", path)
            served.clock.advance(timedelta(seconds=60))
            assert first.result(timeout=10).status_code == 200
    assert (second.status_code, second.json()["code"]) == (503, "overloaded")
    assert second.headers["retry-after"] == "1"


def test_a_stopping_server_ends_the_waiting(tmp_path: Path) -> None:
    """Stopping answers those who wait instead of holding the stop up."""
    answers: list[httpx.Response] = []
    with serve(tmp_path) as served:
        made = served.decide(slice_key="replies", output="Hi.").json()["id"]
        path = f"/v1/decisions/{made}/review?wait=55"
        thread = threading.Thread(target=lambda: answers.append(served.call("GET", path)))
        thread.start()
        _until(lambda: _waiting(served) == 1)
        started = time.monotonic()
    thread.join()
    assert answers[0].json()["state"] == "pending"
    assert time.monotonic() - started < 8


def _waiting(served: Served) -> int:
    text = served.call("GET", "/metrics", ADMIN).text
    return int(
        float(next(x.split()[1] for x in text.splitlines() if x.startswith("sureline_wait")))
    )


def _until(holds) -> None:  # type: ignore[no-untyped-def]
    """Ask until it holds; a server on another thread has no moment to wait for."""
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline


def test_a_reviewer_signs_with_its_own_name(shared: Served) -> None:
    """Whatever a reviewer's key writes into `by`, its own name is recorded (R12)."""
    made = shared.decide(task="sign me").json()["id"]
    body = {"decision_id": made, "action": "approve", "by": "Somebody Else"}
    recorded = shared.call("POST", "/v1/outcomes", REVIEWER, json=body)
    assert recorded.status_code == 201
    assert recorded.json()["by"] != "Somebody Else"
