"""Write a decision as JSON, in two parts: what stays for ever, and what can be erased.

`body` holds codes and figures and is what the hash chain commits to. `answer` holds everything
that quotes the payload. Spliced together they are the response, so it is encoded once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sureline.core.canonical import json_bytes
from sureline.core.values.decision import Decision, Reason, Route
from sureline.core.values.finding import Finding
from sureline.core.values.policy import Mode
from sureline.core.values.signal import Signal, SignalKind, SignalState
from sureline.errors import InvalidInput

EXACT_IN_DOUBLES = 2**53
"""Integers beyond this are rounded by readers whose numbers are doubles."""


def encode_body(decision: Decision) -> bytes:
    """Return the lasting part of a decision: no part of the payload is in it."""
    redacted = {"redacted": dict(decision.redacted)} if decision.redacted else {}
    return json_bytes(
        {
            "id": decision.id,
            "workspace": decision.workspace,
            "slice_key": decision.slice_key,
            "route": decision.route,
            "approved": decision.approved,
            "reasons": [{"code": r.code, "message": r.message} for r in decision.reasons],
            "attempt": decision.attempt,
            "sample_key": decision.sample_key,
            "attempts_left": decision.attempts_left,
            "confidence": decision.confidence,
            "composite": decision.composite,
            "calibrated": decision.calibrated,
            "extrapolated": decision.extrapolated,
            "threshold": decision.threshold,
            "certificate": decision.certificate,
            "uncertified": decision.uncertified,
            "signals": {signal.name: signal_json(signal) for signal in decision.signals},
            "audit": decision.audit,
            "mode": decision.mode,
            "would_route": decision.would_route,
            "stakes": decision.stakes,
            "action_class": decision.action_class,
            "variant": decision.variant,
            "policy": decision.policy,
            "measurement": decision.measurement,
            "review_id": decision.review_id,
            "created_at": decision.created_at.isoformat(),
            "elapsed_ms": decision.elapsed_ms,
            **redacted,
        }
    )


def encode_answer(decision: Decision) -> bytes:
    """Return the erasable part: the output, and the findings that quote it.

    `feedback` is what the checks found; `findings` what other signals did, by their names.
    An output with integers beyond 2**53 is given a second time as text (`output_text`), for
    readers that would round them.
    """
    answer: dict[str, Any] = {
        "output": decision.output,
        "feedback": [finding_json(finding) for finding in decision.feedback],
    }
    findings = {one.name: [finding_json(f) for f in one.findings] for one in decision.signals}
    if any(findings.values()):
        answer["findings"] = {name: said for name, said in findings.items() if said}
    if _has_big_integer(decision.output):
        answer["output_text"] = json_bytes(decision.output).decode()
    return json_bytes(answer)


def with_output(answer: bytes, output: bytes) -> bytes:
    """Return an answer whose output is another JSON value, as its editor left it."""
    given = json.loads(answer) | {"output": json.loads(output), "feedback": []}
    given.pop("output_text", None)
    if _has_big_integer(given["output"]):
        given["output_text"] = output.decode()
    return json_bytes(given)


def splice(body: bytes, answer: bytes | None) -> bytes:
    """Join the two parts to one JSON object; an erased answer gives `"erased": true`."""
    if answer is None:
        return body[:-1] + b',"output":null,"feedback":[],"erased":true}'
    return body[:-1] + b"," + answer[1:]


def decode(response: bytes) -> Decision:
    """Read a decision back from its response bytes."""
    raw = json.loads(response)
    findings = raw.get("findings", {})
    return Decision(
        id=raw["id"],
        workspace=raw["workspace"],
        slice_key=raw["slice_key"],
        route=Route(raw["route"]),
        reasons=tuple(Reason(code=r["code"], message=r["message"]) for r in raw["reasons"]),
        confidence=raw["confidence"],
        composite=raw["composite"],
        calibrated=raw["calibrated"],
        extrapolated=raw.get("extrapolated", False),
        threshold=raw["threshold"],
        certificate=raw["certificate"],
        uncertified=raw["uncertified"],
        signals=tuple(
            _signal(name, entry, findings.get(name, ())) for name, entry in raw["signals"].items()
        ),
        audit=raw["audit"],
        mode=Mode(raw["mode"]),
        would_route=None if raw["would_route"] is None else Route(raw["would_route"]),
        policy=raw["policy"],
        measurement=raw["measurement"],
        stakes=raw["stakes"],
        action_class=raw["action_class"],
        attempt=raw["attempt"],
        sample_key=raw["sample_key"],
        attempts_left=raw["attempts_left"],
        review_id=raw["review_id"],
        variant=raw["variant"],
        created_at=datetime.fromisoformat(raw["created_at"]),
        elapsed_ms=raw["elapsed_ms"],
        output=raw["output"],
        feedback=tuple(_finding(entry) for entry in raw["feedback"]),
        redacted=raw.get("redacted", {}),
    )


def signal_json(signal: Signal) -> dict[str, Any]:
    """Return a signal as JSON values, without its findings."""
    return {
        "state": signal.state,
        "value": signal.value,
        "kind": signal.kind,
        "reason": signal.reason,
        "detail": _detail_json(signal.detail),
    }


def _detail_json(detail: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a signal's detail, without the entries that JSON cannot say.

    Nothing that a source writes beside its value may keep a decision from being recorded.
    """
    try:
        json_bytes(detail)
    except InvalidInput:
        return {name: value for name, value in detail.items() if _is_json({name: value})}
    return detail


def _is_json(value: Any) -> bool:
    try:
        json_bytes(value)
    except InvalidInput:
        return False
    return True


def _signal(name: str, entry: dict[str, Any], findings: Sequence[dict[str, Any]]) -> Signal:
    return Signal(
        name=name,
        kind=SignalKind(entry["kind"]),
        state=SignalState(entry["state"]),
        value=entry["value"],
        reason=entry["reason"],
        detail=entry["detail"],
        findings=tuple(_finding(one) for one in findings),
    )


def finding_json(finding: Finding) -> dict[str, Any]:
    """Return a finding as JSON values; its penalty is in [0, 1]."""
    return {
        "code": finding.code,
        # What a model wrote may hold half a character, which no store can keep.
        "message": finding.message.encode("utf-8", "replace").decode("utf-8"),
        "field": finding.field,
        "fatal": finding.fatal,
        "penalty": finding.penalty / 1000,
    }


def _finding(entry: dict[str, Any]) -> Finding:
    return Finding(
        code=entry["code"],
        message=entry["message"],
        field=entry["field"],
        fatal=entry["fatal"],
        penalty=round(entry["penalty"] * 1000),
    )


def _has_big_integer(value: Any) -> bool:
    if isinstance(value, int):
        return abs(value) > EXACT_IN_DOUBLES
    if isinstance(value, dict):
        return any(_has_big_integer(entry) for entry in value.values())
    return isinstance(value, list) and any(_has_big_integer(entry) for entry in value)
