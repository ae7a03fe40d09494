"""What the operations on the review queue take and answer."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Required

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from sureline.core.values.outcome import Action
from sureline.core.values.review import ReviewKind, ReviewState
from sureline.web.api.shapes import Comment, DecisionShape, FindingShape, Moment, ReasonShape

_FORBID = ConfigDict(extra="forbid", strict=True)

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Chip = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,59}$")]
Decisive = Literal["approve", "edit", "reject"]


class VerdictShape(TypedDict):
    """What a person decided; it stands once it is released."""

    action: Action
    by: str
    at: Moment
    edited_fields: list[str]
    reason: str | None
    comment: str | None


class QueueItemShape(TypedDict):
    """An item of the queue, without its content; `digest` names the content to decide on."""

    id: str
    decision_id: str
    slice_key: str
    kind: ReviewKind
    state: ReviewState
    rank: int
    level: int
    version: int
    digest: Digest
    opened_at: Moment
    deadline: Moment
    claimed_by: str | None
    lease_until: Moment | None
    approvals: list[str]
    approvals_needed: int
    release_at: Moment | None
    released: bool
    edited_by: str | None
    verdict: VerdictShape | None


class QueueCountShape(TypedDict):
    """How many items are in a state, and when the oldest of them was opened."""

    slice_key: str
    kind: ReviewKind
    state: ReviewState
    count: int
    oldest: Moment


class QueueShape(TypedDict):
    """A page of the queue in working order, and how long it is."""

    reviews: list[QueueItemShape]
    counts: list[QueueCountShape]


class SourceShape(TypedDict):
    """A document; `trusted` if somebody vouches for it."""

    ref: str
    text: str
    trusted: bool


class ReviewItemShape(TypedDict, total=False):
    """An item with its content; an audit has nothing of the gate's view in it.

    With `answer_first` the output is withheld until you have said what it should be. `rescored`
    says that somebody edited the output: findings, `verification` and `composite` are of the edit,
    and every signal with `before_edit: true` was measured on the output before it.
    """

    review: Required[QueueItemShape]
    task: Required[str]
    source: Required[list[SourceShape]]
    output: Required[Any]
    reasons: Required[list[ReasonShape]]
    findings: Required[list[FindingShape]]
    decision: Required[dict[str, Any]]
    claims: Required[dict[str, Any]]
    answer_first: Required[bool]
    rescored: Required[bool]


class NextShape(TypedDict):
    """The item that was claimed, or null if there is none for this person."""

    review: QueueItemShape | None


@with_config(_FORBID)
class AnswerFields(TypedDict):
    """What the output should be, said before it is seen."""

    answer: Annotated[str, Field(min_length=1, max_length=100_000)]


@with_config(_FORBID)
class SayFields(TypedDict, total=False):
    """A word on why, if there is one to say."""

    comment: Comment | None


@with_config(_FORBID)
class VerdictFields(TypedDict, total=False):
    """A verdict on the content whose `digest` was shown.

    `edited` is the whole output as it shall be, for an edit. `seconds` is how long it was in sight;
    the time since your claim counts, where that is shorter.
    """

    action: Required[Decisive]
    digest: Required[Digest]
    edited: Any
    reason: Chip | None
    comment: Comment | None
    seconds: Annotated[float, Field(ge=0, le=86_400)] | None


@with_config(_FORBID)
class ConsumeFields(TypedDict, total=False):
    """What the caller means to use: the SHA-256 of it as canonical JSON, in hexadecimal."""

    digest: Digest | None


class ConsumedShape(DecisionShape):
    """A decision whose approval was used by this very call; the `output` is yours to act on.

    `approved` is true here whoever approved, the gate or people; `route` says which way it took.
    """

    consumed: Required[Literal[True]]


@with_config(_FORBID)
class BulkRow(TypedDict):
    """An item that was selected, with the digest of what was shown of it."""

    id: Annotated[str, Field(min_length=1, max_length=200)]
    digest: Digest


@with_config(_FORBID)
class BulkFields(TypedDict, total=False):
    """One action on many items."""

    action: Required[Literal["approve", "reject", "skip", "escalate"]]
    items: Required[Annotated[list[BulkRow], Field(min_length=1, max_length=200)]]
    reason: Chip | None
    comment: Comment | None


class RowProblem(TypedDict):
    """Why an item was left as it was."""

    code: str
    detail: str


class BulkRowShape(TypedDict):
    """What became of an item: as it is now, or why it is left as it was."""

    id: str
    review: QueueItemShape | None
    problem: RowProblem | None


class BulkShape(TypedDict):
    """What became of each item, in the order given, and how many were done."""

    items: list[BulkRowShape]
    done: int


@with_config(_FORBID)
class EditFields(TypedDict):
    """An edited output, to be checked before it is decided."""

    edited: Any


class RecheckShape(TypedDict):
    """What the checks make of an edit: whether it can be used, its score, and what they found."""

    usable: bool
    score: float | None
    findings: list[FindingShape]
    edited_fields: list[str]
