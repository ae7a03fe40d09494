"""For each operation a request that must succeed: what is needed is made first, by its own key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Any

from sureline.application.ports.keys import Role
from sureline.testing import MOMENT
from tests.web.served import ADMIN, AGENT, AUDITOR, POLICY, REVIEWER, Served, awaited

WIDE_POLICY = f"""\
{POLICY}
  blind:
    mode: route
    output: {{structured: false}}
    prose: [{{max_length: 500}}]
    review: {{answer_first: 1}}
  audited:
    mode: route
    audit_rate: 1
    weights: {{verification: 1}}
    output: {{json_schema: {{type: object}}}}
    hypothesis: {{auto: 0.85, reject: 0.55, allow_uncertified: true, starts: {MOMENT.date()}}}
  corrected:
    mode: route
    output: {{json_schema: {{type: object, properties: {{vendor: {{type: string}}}}}}}}
missions:
  reconciliation:
    judge: {{model: "openai:judge"}}
inbound:
  - {{name: chat, secret_from: CHAT_SECRET, reviewers: {{U1: Ada}}}}
"""
"""A policy under which every operation has something to work on."""

TO_BE_SIGNED = dict.fromkeys(("webhook-id", "webhook-timestamp", "webhook-signature"), "to be made")
"""Headers in whose place their values are put by who knows the bytes that are sent."""

SUGGESTION = "field_edited:vendor"
CORRECTIONS = 20
"""Of the vendor, so that a rule for it is suggested."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A request that must be answered with 2xx."""

    role: Role | None
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class World:
    """A server on which the things are made that requests name; `pages` lead to some of them."""

    served: Served
    numbers: Iterator[int] = field(default_factory=count)
    pages: list[str] = field(default_factory=list)
    kept_mark: str | None = None

    def decision(self, **fields: Any) -> str:
        """Return the id of a new decision; each has a task of its own."""
        given = {"task": f"task {next(self.numbers)}", **fields}
        made = self.served.decide(**given)
        assert made.status_code == 201, made.text
        return str(made.json()["id"])

    def asked(self) -> str:
        """Return the id of an item that waits for a person."""
        return self.decision(slice_key="replies", output="Dear Ada, yes.", force_human=True)

    def act(self, review_id: str, name: str, **body: Any) -> dict[str, Any]:
        """Do something with an item as a reviewer, and return the answer."""
        more = {"json": body} if body else {}
        done = self.served.call("POST", f"/v1/reviews/{review_id}/{name}", REVIEWER, **more)
        assert done.status_code == 200, done.text
        answer: dict[str, Any] = done.json()
        return answer

    def answer_first(self) -> str:
        """Return an item whose reviewer says first what is right."""
        return self.decision(slice_key="blind", output="Dear Ada, yes.", force_human=True)

    def audited(self) -> str:
        """Return an automated decision that was drawn for the audit."""
        for scope in ("global", "slice:audited"):  # whoever asks at random turns them on, too
            off = {"scope": scope, "on": False, "reason": "so that it acts"}
            assert self.served.call("PUT", "/v1/switches", ADMIN, json=off).status_code == 200
        return self.decision(slice_key="audited")

    def claimed(self) -> tuple[str, str]:
        """Return an item that the reviewer has, and the digest of what it shows."""
        review_id = self.asked()
        return review_id, str(self.act(review_id, "claim")["digest"])

    def waiting(self) -> tuple[str, str]:
        """Return an item that nobody has, and the digest of what it shows."""
        review_id = self.asked()
        shown = self.served.call("GET", f"/v1/reviews/{review_id}", REVIEWER).json()
        return review_id, str(shown["review"]["digest"])

    def decided(self) -> str:
        """Return an item whose verdict can still be taken back."""
        review_id, digest = self.claimed()
        self.act(review_id, "decide", action="approve", digest=digest)
        return review_id

    def mission(self, *acts: str) -> str:
        """Return the id of a new mission of the agent's, with which people did `acts`."""
        body = {"kind": "reconciliation", "objective": "close six disputes"}
        off = {"scope": "global", "on": False, "reason": "so that it begins"}
        assert self.served.call("PUT", "/v1/switches", ADMIN, json=off).status_code == 200
        made = self.served.call("POST", "/v1/missions", AGENT, json=body)
        assert made.status_code == 201, made.text
        found = str(made.json()["id"])
        for act in acts:
            done = self.served.call("POST", f"/v1/missions/{found}/{act}", REVIEWER)
            assert done.status_code == 200, done.text
        return found

    def invocation(self) -> Mapping[str, str]:
        """Return the address of an invocation that runs."""
        found = self.mission()
        begun = self.served.call("POST", f"/v1/missions/{found}/invocations", AGENT)
        assert begun.status_code == 200, begun.text
        return {"id": found, "n": str(begun.json()["number"])}

    def incident(self) -> str:
        """Return the id of an incident: something that acted was wrong."""
        body = {"decision_id": self.audited(), "action": "reject", "source": "incident"}
        assert self.served.call("POST", "/v1/outcomes", ADMIN, json=body).status_code == 201
        found = self.served.call("GET", "/v1/incidents", AUDITOR).json()["incidents"]
        return str(found[0]["id"])

    def mark(self) -> str:
        """Return the mark under which a rule for the vendor is suggested."""
        if self.kept_mark is None:
            self._correct()
            self.kept_mark = self._mark()
        return self.kept_mark

    def _mark(self) -> str:
        report = self.served.call("GET", "/v1/reports/latest", AUDITOR).json()
        (offers,) = [one["offers"] for one in report["slices"] if one["slice_key"] == "corrected"]
        return next(str(one["mark"]) for one in offers if one["suggestion"] == SUGGESTION)

    def _correct(self) -> None:
        for _ in range(CORRECTIONS):
            review_id = self.decision(
                slice_key="corrected", output={"vendor": "a"}, force_human=True
            )
            digest = self.act(review_id, "claim")["digest"]
            self.act(review_id, "decide", action="edit", digest=digest, edited={"vendor": "b"})
        self.served.clock.advance(timedelta(minutes=1))  # so that they stand
        awaited(self.served.services.desk.settle())

    def policy(self) -> str:
        """Return the hash of the policy that the server was started with."""
        stored = self.served.call("GET", "/v1/policies", ADMIN).json()["policies"]
        return str(stored[-1]["hash"])

    def calibration(self, *, active: bool = False) -> str:
        """Return the id of a stored calibration; an `active` one has one before it."""
        made = self.served.call("POST", "/v1/calibrations", ADMIN)
        assert made.status_code == 201, made.text
        found = str(made.json()["id"])
        if active:
            path = f"/v1/calibrations/{found}/activate"
            assert self.served.call("POST", path, ADMIN, json={"share": 0.5}).status_code == 200
        return found


def _of_item(review_id: str, **body: Any) -> Prepared:
    return Prepared(role=REVIEWER, path={"id": review_id}, body=body or None)


def _of_claimed(world: World) -> Prepared:
    return _of_item(world.claimed()[0])


def _verdict(world: World) -> Prepared:
    review_id, digest = world.claimed()
    return _of_item(review_id, action="approve", digest=digest)


def _bulk(world: World) -> Prepared:
    review_id, digest = world.claimed()
    rows = [{"id": review_id, "digest": digest}]
    return Prepared(role=REVIEWER, body={"action": "reject", "items": rows})


def _from_chat(world: World) -> Prepared:
    review_id, digest = world.waiting()
    said = {"review_id": review_id, "digest": digest, "action": "approve", "reviewer": "U1"}
    return Prepared(role=None, path={"source": "chat"}, body=said, headers=TO_BE_SIGNED)


def _read(path: str = "", **query: Any) -> Prepared:
    return Prepared(role=AUDITOR, path={"id": path} if path else {}, query=query)


def _of_mission(mission_id: str, role: Role = REVIEWER, **body: Any) -> Prepared:
    return Prepared(role=role, path={"id": mission_id}, body=body or None)


PREPARED: Mapping[str, Callable[[World], Prepared]] = {
    "POST /v1/decisions": lambda world: Prepared(
        role=AGENT,
        body={
            "slice_key": "invoices",
            "task": f"task {next(world.numbers)}",
            "output": {"total": 12},
        },
    ),
    "GET /v1/decisions/{id}": lambda world: _read(world.decision()),
    "GET /v1/decisions/{id}/review": lambda world: _read(world.decided(), wait=0),
    "POST /v1/decisions/{id}/consume": lambda world: Prepared(
        role=AGENT, path={"id": world.decision()}
    ),
    "POST /v1/outcomes": lambda world: Prepared(
        role=REVIEWER, body={"decision_id": world.decision(), "action": "reject"}
    ),
    "GET /v1/audits": lambda world: Prepared(role=REVIEWER, query={"limit": 5}),
    "GET /v1/audits/{id}": lambda world: _of_item(world.audited()),
    "GET /v1/reviews": lambda world: _read(limit=5, offset=0, over=1),
    "POST /v1/reviews/next": lambda world: Prepared(role=REVIEWER),
    "POST /v1/reviews/bulk": _bulk,
    "GET /v1/reviews/{id}": lambda world: _read(world.asked()),
    "POST /v1/reviews/{id}/claim": lambda world: _of_item(world.asked()),
    "POST /v1/reviews/{id}/heartbeat": _of_claimed,
    "POST /v1/reviews/{id}/release": _of_claimed,
    "POST /v1/reviews/{id}/decide": _verdict,
    "POST /v1/reviews/{id}/answer": lambda world: _of_item(world.answer_first(), answer="Yes."),
    "POST /v1/reviews/{id}/recheck": lambda world: _of_item(world.asked(), edited="Dear Ada, no."),
    "POST /v1/reviews/{id}/escalate": _of_claimed,
    "POST /v1/reviews/{id}/skip": _of_claimed,
    "POST /v1/reviews/{id}/undo": lambda world: _of_item(world.decided()),
    "POST /v1/inbound/{source}": _from_chat,
    "POST /v1/missions": lambda world: Prepared(
        role=AGENT, body={"kind": "reconciliation", "objective": f"task {next(world.numbers)}"}
    ),
    "GET /v1/missions": lambda world: _read(limit=5, offset=0, states="created,active"),
    "GET /v1/missions/{id}": lambda world: _read(world.mission()),
    "GET /v1/missions/{id}/events": lambda world: _read(world.mission()),
    "POST /v1/missions/{id}/invocations": lambda world: _of_mission(world.mission(), AGENT),
    "POST /v1/missions/{id}/invocations/{n}/heartbeat": lambda world: Prepared(
        role=AGENT, path=world.invocation()
    ),
    "POST /v1/missions/{id}/invocations/{n}": lambda world: Prepared(
        role=AGENT, path=world.invocation(), body={"answer": "one closed", "tokens": 12}
    ),
    "POST /v1/missions/{id}/evaluate": lambda world: _of_mission(world.mission(), AGENT),
    "POST /v1/missions/{id}/suspend": lambda world: _of_mission(world.mission()),
    "POST /v1/missions/{id}/resume": lambda world: _of_mission(world.mission("suspend")),
    "POST /v1/missions/{id}/extend": lambda world: _of_mission(world.mission(), hours=2),
    "POST /v1/missions/{id}/fail": lambda world: _of_mission(world.mission()),
    "POST /v1/missions/{id}/complete": lambda world: _of_mission(world.mission()),
    "POST /v1/missions/{id}/objective": lambda world: _of_mission(
        world.mission(), objective="close five"
    ),
    "DELETE /v1/missions/{id}/words": lambda world: _of_mission(
        world.mission(), ADMIN, reason="asked for"
    ),
    "GET /v1/incidents": lambda world: _read(limit=5, offset=0, all=1),
    "POST /v1/incidents/{id}/close": lambda world: Prepared(
        role=ADMIN, path={"id": world.incident()}, body={"note": "paid back"}
    ),
    "GET /v1/recalls": lambda world: _read(),
    "POST /v1/recalls": lambda world: Prepared(
        role=ADMIN, body={"certificate": "none", "reason": "a test"}
    ),
    "POST /v1/recalls/preview": lambda world: Prepared(role=ADMIN, body={"slice_key": "audited"}),
    "POST /v1/erasures": lambda world: Prepared(
        role=AUDITOR, body={"subject": "customer-1", "reason": "asked for"}
    ),
    "POST /v1/erasures/preview": lambda world: Prepared(
        role=AUDITOR, body={"subject": "customer-1"}
    ),
    "POST /v1/slices/{key}/suggestions/{suggestion}": lambda world: Prepared(
        role=ADMIN,
        path={"key": "corrected", "suggestion": SUGGESTION},
        body={"mark": world.mark()},
    ),
    "GET /v1/switches": lambda world: _read(),
    "PUT /v1/switches": lambda world: Prepared(
        role=ADMIN, body={"scope": "batch:none", "on": True, "reason": "a test"}
    ),
    "GET /v1/policies": lambda world: _read(),
    "POST /v1/policies": lambda world: Prepared(role=ADMIN, body={"text": WIDE_POLICY}),
    "POST /v1/policies/{hash}/activate": lambda world: Prepared(
        role=ADMIN, path={"hash": world.policy()}, body={"note": "as before"}
    ),
    "GET /v1/slices": lambda world: _read(),
    "GET /v1/calibrations": lambda world: _read(),
    "POST /v1/calibrations": lambda world: Prepared(role=ADMIN),
    "POST /v1/calibrations/{id}/activate": lambda world: Prepared(
        role=ADMIN, path={"id": world.calibration()}, body={"share": 0.5}
    ),
    "POST /v1/calibrations/{id}/rollback": lambda world: Prepared(
        role=ADMIN, path={"id": world.calibration(active=True)}
    ),
    "GET /v1/reports/latest": lambda world: _read(),
    "GET /v1/reviewers": lambda world: Prepared(role=ADMIN),
    "GET /v1/logbook": lambda world: _read(days=30),
    "GET /healthz": lambda world: Prepared(role=None),
    "GET /readyz": lambda world: Prepared(role=None),
    "GET /metrics": lambda world: _read(),
}
"""By operation; whoever adds an operation adds its row, or the test names it."""
