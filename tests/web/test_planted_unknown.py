"""A planted item cannot be told from a real one: the answers of every operation are alike (R7)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from sureline.application.ports.keys import Role
from sureline.application.ports.reviews import Wanted
from sureline.testing import MOMENT
from sureline.web.app import OPERATIONS
from tests.web.browsing import Visitor
from tests.web.served import ADMIN, AGENT, REVIEWER, Served, awaited, serve

POLICY = f"""\
version: 1
slices:
  orders:
    mode: route
    weights: {{verification: 1}}
    abstain_floor: 0
    output:
      structured: false
    prose: [{{max_length: 20, penalty: 0.3}}]
    review: {{honeypots: 0.5, double_review: 0}}
    hypothesis: {{auto: 0.85, allow_uncertified: true, starts: {MOMENT.date()}}}
  invoices:
    mode: route
    weights: {{verification: 1}}
    output:
      json_schema: {{type: object, required: [zone, total]}}
    review: {{honeypots: 0.5, double_review: 0}}
"""


def an_order(number: int) -> dict[str, Any]:
    return {
        "slice_key": "orders",
        "task": f"What does order {number} cost?",
        "output": f"Order {number} costs {1000 + number} euros.",
    }


def an_invoice(number: int) -> dict[str, Any]:
    """One that its caller numbers, that a person has to decide, and whose keys are in no order."""
    return {
        "slice_key": "invoices",
        "task": "Read the invoice.",
        "source": f"Net {900.5 + number}, VAT 100.0, total {1000.5 + number}.",
        "output": {"zone": "EU", "total": 1000.5 + number},
        "force_human": True,
        "id": f"inv-{number}",
    }


Ask = Callable[["Reviewing", str], httpx.Response]


class Reviewing:
    """A reviewer with a key and a browser, and a queue with planted items in it."""

    def __init__(self, served: Served, given: Callable[[int], dict[str, Any]]) -> None:
        self.served = served
        self.given = given
        self.page = Visitor(served)
        self._count = 0

    def sweep(self) -> None:
        awaited(self.served.services.attention.sweep())

    def submit(self, count: int) -> list[str]:
        found = []
        for _ in range(count):
            self._count += 1
            self.served.clock.advance(timedelta(seconds=1))
            made = self.served.decide(**self.given(self._count)).json()
            assert made["review_id"] is not None
            found.append(str(made["id"]))
        return found

    def pairs(self, count: int) -> list[tuple[str, str]]:
        """Return the ids of real and of planted items that were opened side by side."""
        real = self.submit(4 * count)
        self.sweep()
        waiting = awaited(self.served.services.desk.page(Wanted(), limit=500))
        planted = [one.id for one in waiting if one.id not in real]
        assert len(planted) >= count
        return list(zip(real, planted, strict=False))[:count]

    def api(self, method: str, path: str, role: Role = REVIEWER, **body: Any) -> httpx.Response:
        more = {"json": body} if body else {}
        return self.served.call(method, path, role, **more)

    def digest(self, review_id: str) -> str:
        found = self.api("GET", f"/v1/reviews/{review_id}").json()["review"]["digest"]
        return str(found)

    def decide(self, review_id: str, action: str, **more: Any) -> httpx.Response:
        path, digest = f"/v1/reviews/{review_id}/decide", self.digest(review_id)
        return self.api("POST", path, action=action, digest=digest, **more)

    def later(self, seconds: float = 11) -> None:
        self.served.clock.advance(timedelta(seconds=seconds))
        awaited(self.served.services.desk.settle())


@pytest.fixture(params=[an_order, an_invoice], ids=["prose", "invoices"])
def reviewing(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Reviewing]:
    with serve(tmp_path, policy=POLICY) as served:
        one = Reviewing(served, request.param)
        one.sweep()
        for number, review_id in enumerate(one.submit(8)):
            by = ADMIN if number % 2 else REVIEWER
            path, digest = f"/v1/reviews/{review_id}/decide", one.digest(review_id)
            action = "reject" if number % 4 < 2 else "approve"
            body = {"action": action, "digest": digest}
            assert one.api("POST", path, by, **body).status_code == 200
        one.later()
        yield one


def post(name: str, **body: Any) -> Ask:
    return lambda r, one: r.api("POST", f"/v1/reviews/{one}/{name}", **body)


def outcome(role: Role = REVIEWER, **body: Any) -> Ask:
    return lambda r, one: r.api("POST", "/v1/outcomes", role, decision_id=one, **body)


def get(path: str, role: Role = REVIEWER) -> Ask:
    return lambda r, one: r.api("GET", path.format(id=one), role)


def page(path: str) -> Ask:
    return lambda r, one: r.page.get(path.format(id=one))


def wait(r: Reviewing, one: str) -> httpx.Response:
    r.later()
    return get("/v1/reviews/{id}")(r, one)


def expire(r: Reviewing, one: str) -> httpx.Response:
    for _ in range(3):
        r.later(3 * 86_400)
    return wait(r, one)


def in_bulk(r: Reviewing, one: str) -> httpx.Response:
    rows = [{"id": one, "digest": r.digest(one)}]
    return r.api("POST", "/v1/reviews/bulk", action="skip", items=rows)


def listed(path: str) -> Ask:
    """Return what a list has of an item alone."""

    def ask(r: Reviewing, one: str) -> httpx.Response:
        answer = r.api("GET", path)
        found = [row for row in answer.json()["reviews"] if row["id"] == one]
        return httpx.Response(answer.status_code, json=found)

    return ask


LOOKS: dict[str, Ask] = {
    "list": listed("/v1/reviews?limit=500"),
    "list of what is over": listed("/v1/reviews?limit=500&over=1"),
    "item": get("/v1/reviews/{id}"),
    "decision": get("/v1/decisions/{id}"),
    "answer": get("/v1/decisions/{id}/review"),
    "audit": get("/v1/audits/{id}"),
    "decision page": page("/decisions/{id}"),
    "item page": page("/reviews/{id}"),
    "whole task": page("/reviews/{id}/whole/task"),
    "found in the inbox": page("/?find={id}"),
    "as admin": get("/v1/decisions/{id}", ADMIN),
}
ACTS: dict[str, tuple[Ask, ...]] = {
    "nothing": (),
    "claim": (post("claim"), post("heartbeat"), post("claim")),
    "release": (post("claim"), post("release"), post("heartbeat")),
    "skip": (post("skip", comment="not mine"), post("skip"), wait),
    "escalate": (post("escalate", comment="up"), wait),
    "bulk": (in_bulk, wait),
    "recheck": (post("recheck", edited="Order 1 costs 12 euros."), post("answer", answer="x")),
    "approve": (lambda r, one: r.decide(one, "approve"), post("undo"), post("undo")),
    "approved": (lambda r, one: r.decide(one, "approve", reason="other"), wait, post("undo")),
    "rejected": (
        lambda r, one: r.decide(one, "reject", reason="wrong_value", comment="no"),
        wait,
        lambda r, one: r.decide(one, "approve"),
    ),
    "edited": (
        lambda r, one: r.decide(one, "edit", edited="No."),
        wait,
    ),
    "used too early": (lambda r, one: r.api("POST", f"/v1/decisions/{one}/consume", ADMIN),),
    "used by who may not": (lambda r, one: r.api("POST", f"/v1/decisions/{one}/consume"),),
    "expired": (expire, post("claim")),
    "outcome": (outcome(action="reject", comment="seen elsewhere"), post("claim")),
    "outcome, twice": (outcome(action="approve"), outcome(action="reject"), wait),
    "outcome of a name": (
        lambda r, one: outcome(action="reject", id=f"of {one}"[:60])(r, one),
        lambda r, one: outcome(action="reject", id=f"of {one}"[:60])(r, one),
        lambda r, one: outcome(action="approve", id=f"of {one}"[:60])(r, one),
    ),
    "outcome of the audit": (outcome(action="reject", source="audit"),),
    "incident": (outcome(ADMIN, action="reject", source="incident"), wait),
    "outcome of a fault": (outcome(action="maybe"), outcome(action="reject", edited_fields=["a"])),
    "hold": (lambda r, one: r.page.post(f"/reviews/{one}/hold"),),
    "buttons": (
        lambda r, one: r.page.decide(one, "reject", reason="off_task", comment="no"),
        page("/reviews/{id}?done={id}"),
        lambda r, one: r.page.post(f"/reviews/{one}", act="undo"),
    ),
}


def shape_of(answer: httpx.Response) -> Any:
    """Return an answer with what must differ left out: ids, digests, figures and moments."""
    if "json" in answer.headers.get("content-type", ""):
        return answer.status_code, _shape(answer.json())
    return answer.status_code, _plain(answer.headers.get("location", "")), _plain(answer.text)


_SAME = {"state", "kind", "action", "by", "route", "mode", "code", "detail", "source", "correct"}


def _shape(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _shape(one, key) for key, one in value.items()}
    if isinstance(value, list):
        return [_shape(one, name) for one in value]
    if name in _SAME or value is None or isinstance(value, bool):
        return _plain(str(value))
    return type(value).__name__ if not isinstance(value, str) else _plain(value)


def _plain(text: str) -> str:
    # What of an output stands in its sources hangs on its content, as with any other item.
    text = re.sub(r'</?mark[^>]*>|<p class="aside" data-stands>.*?</p>', "", text)
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "ID", text)
    text = re.sub(r"\b[0-9a-f]{16,64}\b", "DIGEST", text)
    text = re.sub(r"\d+(\.\d+)?", "1", text)
    return text.replace("1\N{NO-BREAK SPACE}min", "1\N{NO-BREAK SPACE}s")


@pytest.mark.parametrize("acts", ACTS.values(), ids=ACTS)
def test_no_answer_tells_a_planted_item(reviewing: Reviewing, acts: tuple[Ask, ...]) -> None:
    """Whatever is done with the two, each answer and all that can be read then is alike."""
    ((real, planted),) = reviewing.pairs(1)
    for number, act in enumerate(acts):
        assert shape_of(act(reviewing, planted)) == shape_of(act(reviewing, real)), number
    for name, look in LOOKS.items():
        assert shape_of(look(reviewing, planted)) == shape_of(look(reviewing, real)), name


def test_who_waits_for_an_answer_gets_it(reviewing: Reviewing) -> None:
    """A reviewer who waits for the answer to either is answered when there is one."""
    ((real, planted),) = reviewing.pairs(1)
    found = []
    for one in (planted, real):
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(get("/v1/decisions/{id}/review?wait=50"), reviewing, one)
            outcome(ADMIN, action="reject", by="eve")(reviewing, one)
            found.append(shape_of(waiting.result(timeout=10)))
    assert found[0] == found[1]
    assert found[0][1]["outcome"]["by"] == "eve"


def test_an_agent_is_told_of_none(reviewing: Reviewing) -> None:
    """To an agent's key a planted item is not there, before and after it was answered."""
    ((_, planted),) = reviewing.pairs(1)
    for _ in range(2):
        for path in ("", "/review"):
            assert get(f"/v1/decisions/{planted}{path}", AGENT)(reviewing, "").status_code == 404
        used = reviewing.api("POST", f"/v1/decisions/{planted}/consume", AGENT)
        assert used.status_code == 404
        reviewing.decide(planted, "approve")
        reviewing.later()


_COMPARED = {
    *("/v1/reviews", "/v1/reviews/bulk", "/v1/reviews/{id}", "/v1/reviews/{id}/claim"),
    *(f"/v1/reviews/{{id}}/{act}" for act in ("heartbeat", "release", "decide", "answer")),
    *(f"/v1/reviews/{{id}}/{act}" for act in ("recheck", "escalate", "skip", "undo")),
    *("/v1/outcomes", "/v1/audits/{id}", "/v1/decisions/{id}", "/v1/decisions/{id}/review"),
    "/v1/decisions/{id}/consume",
}


def test_every_operation_that_names_an_item_is_compared() -> None:
    """An operation that is added later has to be added to the comparison as well."""
    named = {
        one.path
        for one in OPERATIONS
        if REVIEWER in one.roles and re.match(r"/v1/(reviews|decisions|audits)/\{id\}", one.path)
    }
    assert named - _COMPARED == set()
