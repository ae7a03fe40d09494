"""What a pack of evidence shows of a period, made of the rows of the chain alone.

Whoever has the chain can make these files again and compare: that is how a pack is checked. Nothing
here says how a single person answered, except the rows of the chain themselves.
"""

from __future__ import annotations

import heapq
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from sureline.core.canonical import canonical_json
from sureline.core.chain import ZERO, ChainRow
from sureline.errors import InvalidInput

MOMENTS: Mapping[str, str] = {
    "decision": "created_at",
    "outcome": "recorded_at",
    "switch": "changed_at",
    "activation": "at",
    "policy": "proposed_at",
    "calibration": "created_at",
    "canary_run": "ran_at",
    "erasure": "erased_at",
    "seal": "sealed_at",
    "mission_event": "at",
}
"""Which field of each kind of row says when it was."""
LISTED = {
    "activations.jsonl": "activation",
    "switches.jsonl": "switch",
    "canaries.jsonl": "canary_run",
    "erasures.jsonl": "erasure",
    "missions.jsonl": "mission_event",
}
"""Files that list the rows of one kind."""
AUDITS, SAMPLE, COUNTS = "audits.jsonl", "sample.jsonl", "counts.json"
DERIVED = (*LISTED, AUDITS, SAMPLE, COUNTS)
"""The files that follow from the chain."""
AUDIT = "audit"
MISSION_EVENT = "mission_event"
_TURNS = frozenset({"invocation_begun", "invocation_ended", "trigger_skipped"})
"""Of missions, the turns of their agents are left out: the chain has them, and they are many."""
_UNNAMED = frozenset({"by", "anchored", "content", "edited_fields"})
"""Left out of audit outcomes and of missions: who answered is no business of a pack."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """A workspace's time from `since`, included, to `until`, excluded. Raises InvalidInput."""

    workspace: str
    since: datetime
    until: datetime

    def __post_init__(self) -> None:
        if self.since.tzinfo is None or self.until.tzinfo is None:
            raise InvalidInput("expected moments with their zones", field="--from")
        if self.since >= self.until:
            raise InvalidInput("expected a moment after --from", field="--to")

    @property
    def first_micros(self) -> int:
        """Return the beginning in microseconds since 1970."""
        return (self.since - _EPOCH) // _MICROSECOND

    @property
    def end_micros(self) -> int:
        """Return the end in microseconds since 1970."""
        return (self.until - _EPOCH) // _MICROSECOND

    def holds(self, micros: Any) -> bool:
        """Tell whether a moment lies in it."""
        return isinstance(micros, int) and self.first_micros <= micros < self.end_micros


class PeriodViews:
    """Takes the rows of a period's chain and makes the files that follow from them.

    `sample` is how many decisions are drawn, by a digest of `seed` and their ids: whoever chooses
    the seed, nobody can choose the decisions. Memory grows with the rows that are listed, not with
    decisions. `policies` are the hashes of those that decided or were activated, `calibrations`
    those that were activated.
    """

    def __init__(self, period: Period, *, seed: str, sample: int) -> None:
        self._period = period
        self._seed = seed
        self._size = sample
        self._lists: dict[str, list[str]] = {name: [] for name in LISTED}
        self._names = {kind: name for name, kind in LISTED.items()}
        self._audits: list[str] = []
        self._sample: list[tuple[int, str, int, ChainRow]] = []
        self._routes: Counter[tuple[str, str]] = Counter()
        self._labels: Counter[tuple[str, str]] = Counter()
        self._audited = 0
        self.policies: set[str] = set()
        self.calibrations: dict[str, str] = {}
        self.activated_calibrations: set[str] = set()

    def add(self, row: ChainRow) -> None:
        """Take a row; what is of another workspace or another time is left out."""
        mine = row.fields.get("workspace") == self._period.workspace
        if not mine or not self._period.holds(row.fields.get(MOMENTS.get(row.kind, ""))):
            return
        if row.kind in self._names and row.fields.get("event") not in _TURNS:
            fields = _unnamed(row.fields) if row.kind == MISSION_EVENT else row.fields
            self._lists[self._names[row.kind]].append(_line(row, fields))
        if row.kind == "decision":
            self._decision(row)
        elif row.kind == "outcome":
            self._outcome(row)
        elif row.kind == "activation":
            self._activation(row)
        elif row.kind == "calibration":
            self.calibrations[str(row.fields.get("id"))] = _text(row.body)

    def lines(self) -> dict[str, list[str]]:
        """Return the files as lines without their ends."""
        drawn = sorted(self._sample, reverse=True)
        return {
            **self._lists,
            AUDITS: self._audits,
            SAMPLE: [sample_line(row) for *_, row in drawn],
            COUNTS: json.dumps(self.counts(), indent=2, sort_keys=True).splitlines(),
        }

    def drawn(self) -> list[tuple[str, int]]:
        """Return the places of the sample's decisions, in its order."""
        return [(row.stream, row.seq) for *_, row in sorted(self._sample, reverse=True)]

    def counts(self) -> dict[str, Any]:
        """Return how many decisions went which way, and which labels were given."""
        routes: dict[str, dict[str, int]] = {}
        for (slice_key, route), number in sorted(self._routes.items()):
            routes.setdefault(slice_key, {})[route] = number
        labels: dict[str, dict[str, int]] = {}
        for (source, label), number in sorted(self._labels.items()):
            labels.setdefault(source, {})[label] = number
        return {
            "decisions": sum(self._routes.values()),
            "routes": routes,
            "drawn_for_audit": self._audited,
            "labels": labels,
        }

    def _decision(self, row: ChainRow) -> None:
        fields = row.fields
        self._routes[str(fields.get("slice_key")), str(fields.get("route"))] += 1
        self._audited += fields.get("audit") == 1
        self.policies.add(str(fields.get("policy_hash")))
        drawn = sha256(
            f"{self._seed}\n{fields.get('id')}".encode("utf-8", "surrogatepass")
        ).digest()
        entry = (-int.from_bytes(drawn, "big"), row.stream, row.seq, row)
        if len(self._sample) < self._size:
            heapq.heappush(self._sample, entry)
        elif self._sample and entry[:3] > self._sample[0][:3]:
            heapq.heapreplace(self._sample, entry)

    def _outcome(self, row: ChainRow) -> None:
        correct = row.fields.get("correct")
        label = "none" if correct is None else "right" if correct else "wrong"
        self._labels[str(row.fields.get("source")), label] += 1
        if row.fields.get("source") == AUDIT:
            self._audits.append(_line(row, _unnamed(row.fields)))

    def _activation(self, row: ChainRow) -> None:
        kind, subject = row.fields.get("subject_kind"), str(row.fields.get("subject"))
        if kind == "policy":
            self.policies.add(subject)
        elif kind == "calibration":
            self.activated_calibrations.add(subject)


def sample_line(row: ChainRow) -> str:
    """Write a decision of the sample: its place, its signals and reasons, its payload's digest."""
    digest = None if row.payload_digest == ZERO else row.payload_digest.hex()
    content = {"stream": row.stream, "seq": row.seq, "payload_digest": digest}
    return canonical_json({**content, "decision": _read(row.body)}).decode()


def with_payload(line: str, payload: Mapping[str, str]) -> str:
    """Add to a line of the sample what was said."""
    return json.dumps({**json.loads(line), "payload": payload}, sort_keys=True)


def policy_line(policy_hash: str, text: str) -> str:
    """Write a policy: the hash of its text, by which decisions name it, and the text."""
    return canonical_json({"policy_hash": policy_hash, "text": text}).decode()


def calibration_line(calibration_id: str, body: str) -> str:
    """Write a calibration with its certificates, as it was stored."""
    return canonical_json({"id": calibration_id, "body": body}).decode()


def iso(micros: Any) -> str | None:
    """Return a moment as text, None for what is none."""
    try:
        moment: datetime = _EPOCH + micros * _MICROSECOND
    except (TypeError, OverflowError):
        return None
    return moment.isoformat()


def _unnamed(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in fields.items() if name not in _UNNAMED}


def _line(row: ChainRow, fields: Mapping[str, Any]) -> str:
    kept = {name: value for name, value in fields.items() if value is not None}
    when = iso(row.fields.get(MOMENTS[row.kind]))
    body = {"body": _read(row.body)} if row.body else {}
    content = {**kept, **body, "stream": row.stream, "seq": row.seq, "when": when}
    return canonical_json(content).decode()


def _read(body: bytes) -> Any:
    """Return a body as JSON values, or as text where it is none."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return _text(body)


def _text(body: bytes) -> str:
    return body.decode("utf-8", "backslashreplace")
