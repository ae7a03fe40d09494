"""The append-only record of decisions, outcomes, switches and activations."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from sureline.application.ports.audits import AuditedLabel, DueAudit, Erasure
from sureline.application.ports.cases import PastCase
from sureline.core.values.label_count import LabelCount
from sureline.core.values.outcome import Outcome, OutcomeSource
from sureline.core.values.review import Review
from sureline.core.values.review_line import ReviewLine
from sureline.core.values.stratum import Stratum
from sureline.core.values.switch import Switch


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRecord:
    """A decision as it is written, all in one transaction.

    `body` is the JSON that stays for ever: codes and figures, no payload. `answer` is the JSON
    object of what quotes the payload (output, feedback, findings); `request` is the proposal's
    canonical JSON. Both are erasable. `content_digest` identifies the proposal's content for
    idempotency (keyed, so that it betrays nothing after an erasure), `task_digest` the task with
    its source. `score_bin` is the value's bin on the logit scale, None if nothing was measured or
    if no threshold could have automated it; only labels with a bin are counted. `stratum` says
    what a later label may be used for. `failed` counts it as a failed attempt at its task, and
    `submitted_by` is the name of the key that brought it. `vector` belongs to embedding model
    `model_id`. `review` is the item that it opens in the queue and `review_line`, erasable too,
    how a list shows it; one that waits for `retry_of` is superseded.
    """

    id: str
    workspace: str
    slice_key: str
    route: str
    would_route: str | None
    mode: str
    score: float | None
    score_bin: int | None
    audit: bool
    failed: bool
    submitted_by: str | None
    propensity: float
    attempt: int
    stratum: Stratum
    policy_hash: str
    measurement_hash: str
    batch_id: str | None
    content_digest: bytes
    task_digest: bytes
    created_at: datetime
    body: bytes
    answer: bytes
    request: bytes
    vector: bytes | None = None
    model_id: str | None = None
    review: Review | None = None
    review_line: ReviewLine | None = None
    retry_of: str | None = None
    subject: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledRecord:
    """A past decision with what is known of it; the outcome has no comment."""

    record: DecisionRecord
    outcome: Outcome | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedLabel:
    """A stored decision's content digest and its label, None where it has none."""

    decision_id: str
    content_digest: bytes
    correct: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDecision:
    """What the store holds of a decision; `answer` and `request` are None once erased.

    `created` is False when the id was there before and nothing was written.
    """

    id: str
    workspace: str
    slice_key: str
    route: str
    mode: str
    score: float | None
    measurement_hash: str
    content_digest: bytes
    created_at: datetime
    body: bytes
    answer: bytes | None
    request: bytes | None
    submitted_by: str | None
    created: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Prior:
    """What the store knows before a proposal is measured.

    `existing` is the decision with the same id, if there is one. `rejections` counts failed
    attempts at the same task since a moment; `chain` is the attempt number of the decision that
    it retries (0 if it retries none or an unknown one). `verdict_mark` grows when a verdict or
    a deletion is written by any process, `activation_mark` when a policy or calibration is
    activated.
    """

    existing: StoredDecision | None
    rejections: int
    chain: int
    verdict_mark: int
    activation_mark: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PastDecision:
    """A decision with its label, as learning reads it; nothing of the payload is in it.

    `body` is the lasting JSON. `correct` is the effective label and `label_source` who gave it,
    both None where there is no label: "unreviewed" is never a label. `propensity` is the known
    probability that a person was to see it, `audit` whether an automated one was drawn; `stratum`
    says what a label may be used for.
    """

    id: str
    slice_key: str
    route: str
    would_route: str | None
    audit: bool
    propensity: float
    stratum: Stratum
    policy_hash: str
    measurement_hash: str
    task_digest: bytes
    created_at: datetime
    body: bytes
    correct: bool | None
    label_source: OutcomeSource | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreCount:
    """How many decisions of a week share a score bin, labelled or not."""

    week: int
    score_bin: int
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteDay:
    """How many decisions of a slice took a route on one day (a day number in UTC)."""

    slice_key: str
    day: int
    route: str
    count: int


class Ledger(Protocol):
    """Keeps what was decided and what became of it; nothing acknowledged is ever lost."""

    async def decision(self, workspace: str, decision_id: str) -> StoredDecision | None:
        """Return a stored decision, or None."""

    async def prior(
        self,
        *,
        workspace: str,
        slice_key: str,
        decision_id: str | None,
        task_digest: bytes,
        retry_of: str | None,
        since: datetime,
    ) -> Prior:
        """Return what is known before measuring; one cheap read."""

    async def switches_on(
        self, workspace: str, slice_key: str, batch_id: str | None
    ) -> Sequence[Switch]:
        """Return the switches that are on for this scope, read now, not from a cache.

        A row that cannot be read counts as on. Read again just before routing.
        """

    async def append(self, record: DecisionRecord) -> StoredDecision:
        """Write a decision durably; an id that exists returns what is stored, `created` False."""

    async def consume(self, workspace: str, decision_id: str, at: datetime) -> bool:
        """Mark an automatic approval as used; False if it was used before."""

    async def record_outcome(self, outcome: Outcome) -> bool:
        """Append a label and its count; False if this outcome id is there already.

        Raises NotFound without such a decision, Conflict for the same id with other content.
        """

    async def import_records(self, rows: Sequence[LabelledRecord]) -> Sequence[bool]:
        """Append one workspace's new decisions with their outcomes in one transaction.

        Does what `append` and `record_outcome` would do row by row, but only for rows in which
        both are new, and tells for each row whether it was written.
        """

    async def recorded(self, workspace: str, ids: Sequence[str]) -> Sequence[RecordedLabel]:
        """Return which of these decisions are stored, with their labels."""

    async def outcomes(self, workspace: str, decision_id: str) -> Sequence[Outcome]:
        """Return a decision's outcomes, oldest first."""

    async def set_switch(self, switch: Switch) -> None:
        """Append a switch row; it holds from the next decision on, in every process."""

    async def switches(self, workspace: str) -> Sequence[Switch]:
        """Return the newest row of every scope."""

    async def switch_history(self, workspace: str) -> Sequence[Switch]:
        """Return every switch row, oldest first."""

    async def erasures(self, workspace: str) -> Sequence[Erasure]:
        """Return every erasure, oldest first."""

    async def due_audits(
        self, workspace: str, slice_key: str | None, limit: int
    ) -> Sequence[DueAudit]:
        """Return up to `limit` audits that wait for a label, oldest first; None: of any slice.

        What was erased can be audited no more and is left out.
        """

    async def audited_labels(
        self, workspace: str, slice_key: str, measurement_hash: str, since: datetime | None = None
    ) -> Sequence[AuditedLabel]:
        """Return the labels of audited decisions made at or after `since`, as they came in."""

    async def label_counts(
        self, workspace: str, slice_key: str, measurement_hash: str, *, since_week: int = 0
    ) -> Sequence[LabelCount]:
        """Return the labelled decisions of one slice and measurement, by bin and stratum.

        `since_week` leaves out decisions of earlier weeks (see core/values/periods.py).
        """

    async def labels_off_scale(
        self, workspace: str, slice_key: str, measurement_hash: str, *, since_week: int = 0
    ) -> int:
        """Return how many labels `label_counts` leaves out.

        Their decisions have no `score_bin`: no threshold could have automated them.
        """

    async def score_counts(
        self, workspace: str, slice_key: str, measurement_hash: str
    ) -> Sequence[ScoreCount]:
        """Return all measured decisions of one slice and measurement, by week and bin."""

    async def route_days(self, workspace: str) -> Sequence[RouteDay]:
        """Return the number of decisions by slice, day and route, oldest first."""

    def past_decisions(
        self, workspace: str, slice_key: str, since: datetime | None = None
    ) -> AsyncIterator[PastDecision]:
        """Stream the slice's decisions made at or after `since`, oldest first, with their labels.

        What is written after the reading began is left out; memory does not grow with the number
        of decisions.
        """

    async def cases_since(self, cursor: int, model_id: str) -> Sequence[PastCase]:
        """Return verdicts and deletions after `cursor`, oldest first.

        What was measured by another model has no vector here; the last such case is returned under
        its own model, so that nothing before it is read again.
        """

    async def route_counts(self, workspace: str) -> dict[str, dict[str, int]]:
        """Return the number of decisions by slice and route."""
