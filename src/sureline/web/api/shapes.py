"""What bodies and answers look like; read strictly on the way in, documented on the way out."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Required

from pydantic import ConfigDict, Field, Strict, with_config
from typing_extensions import TypedDict

from sureline.core.values.decision import Route
from sureline.core.values.outcome import Action, OutcomeSource
from sureline.core.values.policy import Mode
from sureline.core.values.signal import SignalKind, SignalState

_FORBID = ConfigDict(extra="forbid", strict=True)

Name = Annotated[str, Field(min_length=1, max_length=200)]
Sentence = Annotated[str, Field(min_length=1, max_length=2_000, pattern=r"\S")]
Comment = Annotated[str, Field(max_length=20_000)]
Unit = Annotated[float, Field(ge=0.0, le=1.0)]
Moment = Annotated[str, Field(json_schema_extra={"format": "date-time"})]


class ReasonShape(TypedDict):
    """Why: a stable code and a sentence."""

    code: str
    message: str


class SignalShape(TypedDict):
    """One measurement; `value` is set when it was measured, else `reason`."""

    state: SignalState
    value: Unit | None
    kind: SignalKind
    reason: str | None
    detail: dict[str, Any]


class FindingShape(TypedDict):
    """What a check found, for the agent that tries again."""

    code: str
    message: str
    field: str | None
    fatal: bool
    penalty: Unit


class DecisionShape(TypedDict, total=False):
    """A recorded decision."""

    id: Required[str]
    workspace: Required[str]
    slice_key: Required[str]
    route: Required[Route]
    approved: Required[bool]
    reasons: Required[list[ReasonShape]]
    attempt: Required[int]
    sample_key: Required[str]
    attempts_left: Required[int]
    confidence: Required[Unit | None]
    composite: Required[Unit | None]
    calibrated: Required[Unit | None]
    extrapolated: Required[bool]
    threshold: Required[Unit | None]
    certificate: Required[str | None]
    uncertified: Required[bool]
    signals: Required[dict[str, SignalShape]]
    audit: Required[bool | None]
    mode: Required[Mode]
    would_route: Required[Route | None]
    stakes: Required[str]
    action_class: Required[str | None]
    variant: Required[str | None]
    policy: Required[str]
    measurement: Required[str]
    review_id: Required[str | None]
    created_at: Required[Moment]
    elapsed_ms: Required[float]
    output: Required[Any]
    feedback: Required[list[FindingShape]]
    findings: dict[str, list[FindingShape]]
    output_text: str
    erased: bool
    redacted: dict[str, int]


@with_config(_FORBID)
class OutcomeFields(TypedDict, total=False):
    """What a person did with an output, or what became of it later.

    The same `id` with the same content changes nothing. Without `by`, the key's name is taken.
    """

    decision_id: Required[Name]
    action: Required[Annotated[Action, Strict(False)]]
    source: Annotated[OutcomeSource, Strict(False)]
    by: Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]
    id: Name
    edited_fields: Annotated[list[Name], Field(max_length=1_000)]
    anchored: bool
    comment: Comment | None


class OutcomeShape(TypedDict):
    """A recorded outcome; `correct` is its label or null; `words_erased`: no comment is kept."""

    id: str
    decision_id: str
    action: Action
    correct: bool | None
    source: OutcomeSource
    by: str
    anchored: bool
    recorded_at: Moment
    comment: str | None
    edited_fields: list[str]
    words_erased: bool


class ReviewShape(TypedDict):
    """A person's answer, or null while there is none; `superseded`: none will come."""

    decision_id: str
    state: Literal["pending", "answered", "superseded"]
    outcome: OutcomeShape | None


@with_config(_FORBID)
class SwitchFields(TypedDict):
    """A kill switch; only `true` and `false` are read, so that no slip of the pen turns it off."""

    scope: Annotated[str, Field(max_length=210, pattern=r"^(global|(slice|batch):.+)$")]
    on: bool
    reason: Sentence


class SwitchShape(TypedDict):
    """A switch as it stands."""

    scope: str
    on: bool
    reason: str
    by: str
    changed_at: Moment


class SwitchesShape(TypedDict):
    """All switches; `on` tells whether any of them is."""

    on: bool
    switches: list[SwitchShape]


@with_config(_FORBID)
class PolicyFields(TypedDict):
    """A policy as YAML; it can name no files, so schemas stand in it in full."""

    text: Annotated[str, Field(min_length=1, max_length=500_000)]


class ProposedPolicyShape(TypedDict):
    """A policy that was found sound and stored; it holds once it is activated."""

    hash: str
    active: bool
    slices: list[str]
    warnings: list[str]


class PolicyShape(TypedDict):
    """A stored policy."""

    hash: str
    proposed_at: Moment
    active: bool


class PoliciesShape(TypedDict):
    """All stored policies, newest first."""

    policies: list[PolicyShape]


@with_config(_FORBID)
class ActivationFields(TypedDict, total=False):
    """Why it is activated."""

    note: Annotated[str, Field(max_length=2_000)]


class CalibrationFields(ActivationFields, total=False):
    """Why it is activated, and for how many decisions it is to hold if not for all."""

    share: Annotated[float, Field(gt=0, le=1)]


class ActivatedShape(TypedDict):
    """What holds from now on, in every process."""

    kind: Literal["policy", "calibration"]
    subject: str
    by: str


class CalibrationActivatedShape(ActivatedShape):
    """The calibration, or `none`, that holds from now on for a share of the decisions."""

    share: Unit


class MissingShape(TypedDict):
    """Why a slice has no certificate that holds; `labels_missing` without an error would do."""

    reason: str
    message: str
    n: int | None
    labels_missing: int | None
    best_lower_bound: Unit | None
    labels_excluded: int | None


class SliceShape(TypedDict):
    """A slice: what it may do now, and on what proof."""

    slice_key: str
    mode: Mode
    policy: str
    measurement: str
    target_precision: Unit
    delta: Unit
    threshold: Unit | None
    uncertified: bool
    certificate: dict[str, Any] | None
    missing: MissingShape | None
    routes: dict[str, int]


class SlicesShape(TypedDict):
    """The slices of the policy that holds."""

    slices: list[SliceShape]


class CalibrationEntry(TypedDict):
    """A stored calibration; `share` says for how many decisions it holds."""

    id: str
    created_at: Moment
    active: bool
    share: Unit


class CalibrationsShape(TypedDict):
    """All stored calibrations, newest first."""

    calibrations: list[CalibrationEntry]


class CalibrationShape(TypedDict):
    """What the labels say; it changes nothing until a person activates it."""

    id: str
    workspace: str
    policy: str
    data_hash: str
    created_at: Moment
    certificates: list[dict[str, Any]]
    uncertified: list[dict[str, Any]]
    reliability: dict[str, Any]
    curves: dict[str, Any]


class HealthShape(TypedDict):
    """The process answers."""

    status: Literal["ok"]


class ReadyShape(TypedDict):
    """The server can decide under this policy; `warnings` are codes of what to look at."""

    status: Literal["ready"]
    policy: str
    warnings: list[Literal["log_is_large"]]
