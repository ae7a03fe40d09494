"""What a domain expert wrote down: per slice, what to measure and when to automate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any

from sureline.core.values.attention_shares import AttentionShares
from sureline.core.values.certificate import ErrorRate
from sureline.core.values.checks import ChecksPolicy
from sureline.core.values.groups import Groups
from sureline.core.values.inbound import InboundSource
from sureline.core.values.mission_kind import NO_MISSIONS, MissionKinds
from sureline.core.values.notification import Notifications
from sureline.core.values.proposal import Generator, Stakes
from sureline.core.values.redaction import RedactionPolicy
from sureline.core.values.retention import RetentionPolicy
from sureline.core.values.review import ReviewRules


class Mode(StrEnum):
    """What a slice's decisions may do (G28)."""

    LOG_ONLY = "log_only"
    """Everything goes to people; the route it would have taken is recorded."""
    ROUTE = "route"
    """Routes act."""
    HUMAN_ONLY = "human_only"
    """A person decides everything."""


PRESETS: Mapping[str, Mapping[str, float]] = {
    "graduated": {"self_evaluation": 0.3, "verification": 0.4, "history": 0.3},
    "independent": {"self_report": 0.25, "verification": 0.35, "judge": 0.25, "history": 0.15},
    "objective": {"verification": 0.7, "history": 0.3},
}
"""Weights by preset (G13); `objective` admits only checks, objective signals and history."""

DEFAULT_THRESHOLD = 0.95
"""Where an uncertified slice's borderline is taken (G10) and an unnamed hypothesis stands (G21)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePolicy:
    """Which outputs a second model tries to refute; shares and bands are in [0, 1] (G9-G11).

    `panel` are further models that are asked at the same time; `quorum` is how many of all must
    answer, None the majority. `guidance` tells a judge what counts as wrong here. `temperature`
    None is the provider's own. With `must_pass_canaries` a judge that failed its canaries, or
    never took them, gives no signal (G3).
    """

    model: str
    family: str | None = None
    guidance: str | None = None
    temperature: float | None = None
    must_pass_canaries: bool = False
    high_stakes: float = 1.0
    borderline: float = 0.05
    otherwise: float = 0.08
    refute_at: float = 0.6
    panel: tuple[str, ...] = ()
    quorum: int | None = None

    @property
    def models(self) -> tuple[str, ...]:
        """Return the names of all models that judge."""
        return (self.model, *self.panel)

    @property
    def needed(self) -> int:
        """Return how many of them must answer."""
        return len(self.models) // 2 + 1 if self.quorum is None else self.quorum


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfEvaluationPolicy:
    """The model that looks for known failure modes (G1).

    `deductions` is the content of the file that lists them, as canonical JSON: a list of objects
    with `id`, `points` (1 to 100), `text` and `examples`. For the rest see JudgePolicy.
    """

    model: str
    deductions: str
    family: str | None = None
    temperature: float | None = None
    must_pass_canaries: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsistencyPolicy:
    """How the agreement of several independent generations is measured (G12).

    Where a proposal brings none and `ask` is set, the generator is asked for `generations` more.
    Texts whose vectors have a cosine of at least `similarity` say the same.
    """

    generations: int = 3
    ask: bool = False
    similarity: float = 0.8
    temperature: float | None = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPolicy:
    """How similar past cases are found (G8).

    `fields` are dotted paths into the output that are embedded beside the task; with none, the
    source text is. `similarity_floor` is a cosine in [0, 1]. `embedder` is `hashing`, `local`, or
    a remote model such as `openai:text-embedding-3-small`.
    """

    neighbours: int = 10
    similarity_floor: float = 0.6
    window: int = 1000
    fields: tuple[str, ...] = ()
    embedder: str = "hashing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypothesis:
    """Uncertified starting thresholds (G21).

    They automate reversible actions only, only with `allow_uncertified`, and only for `days`
    days from `starts`; at least `audit_rate` of what they automate is audited.
    """

    auto: float = DEFAULT_THRESHOLD
    reject: float | None = None
    allow_uncertified: bool = False
    starts: date | None = None
    days: int = 30
    audit_rate: float = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionClass:
    """A kind of action with its stakes; `human` keeps it with people for ever (G27).

    `approvals` is how many different people must approve it, at least (R12).
    """

    name: str
    stakes: Stakes
    human: bool
    approvals: int = 1


UNKNOWN_ACTION = ActionClass(name="unknown", stakes=Stakes.IRREVERSIBLE, human=True)
"""What an action class that the policy does not name is taken for: the most restrictive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlicePolicy:
    """Everything that decides about one slice, defaults resolved.

    `weights` are finite, >= 0, not all zero, by signal name; they need not sum to one. Rates,
    floors and thresholds are in [0, 1]. `certify_missed_errors` says that certificates must allow
    for the errors that those who label miss.
    """

    key: str
    mode: Mode = Mode.LOG_ONLY
    weights: Mapping[str, float] = field(default_factory=lambda: PRESETS["objective"])
    target_precision: float = 0.95
    delta: float = 0.05
    error_rate: ErrorRate = ErrorRate.PER_SLICE
    abstain_floor: float = 0.40
    reject_threshold: float | None = None
    attempts: int = 2
    audit_rate: float = 0.05
    reject_audit_rate: float = 0.02
    fatal_cap: float = 0.2
    stakes: Stakes = Stakes.REVERSIBLE
    action_class: str | None = None
    objective_only: bool = False
    four_eyes: bool = False
    generator: Generator | None = None
    checks: ChecksPolicy = field(default_factory=ChecksPolicy)
    history: HistoryPolicy = field(default_factory=HistoryPolicy)
    judge: JudgePolicy | None = None
    self_evaluation: SelfEvaluationPolicy | None = None
    consistency: ConsistencyPolicy | None = None
    hypothesis: Hypothesis | None = None
    certificate_max_age_days: int = 90
    window_days: int = 90
    labels_before_routing: int = 200
    approval_ttl_seconds: int = 600
    cosmetic_fields: tuple[str, ...] = ()
    review: ReviewRules = field(default_factory=ReviewRules)
    attention: AttentionShares = field(default_factory=AttentionShares)
    certify_missed_errors: bool = False
    retention: RetentionPolicy = field(default_factory=RetentionPolicy)
    redact: RedactionPolicy = field(default_factory=RedactionPolicy)
    is_mission: bool = False
    """Its decisions are a mission's evaluations: no proposal is taken in (M3)."""
    asked_models: tuple[str, ...] = ()
    """Further models that its signals come from, by name: a mission's judge."""
    uncertified_from: float | None = None
    """The composite from which it acts without a certificate: a mission's confidence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A validated policy file.

    `hash` is the SHA-256 of its canonical content (formatting and comments do not count);
    `measurement_hashes` say per slice what a certificate depends on: signals, weights, checks,
    prompts, models, judge band. `raw` is the canonical content, for showing and comparing. Where
    other models answer than at first, `base_measurements` are the hashes before that was known.
    `groups` are those of its reviewers, by name. Of each of `missions` there is a slice as well.
    """

    hash: str
    slices: Mapping[str, SlicePolicy]
    action_classes: Mapping[str, ActionClass]
    measurement_hashes: Mapping[str, str]
    raw: Mapping[str, Any]
    base_measurements: Mapping[str, str] = field(default_factory=dict)
    notifications: Notifications = field(default_factory=Notifications)
    groups: Groups = field(default_factory=dict)
    inbound: tuple[InboundSource, ...] = ()
    missions: MissionKinds = field(default_factory=lambda: NO_MISSIONS)
