"""The keys of a policy file's slices, defaults and action classes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from sureline.adapters.policies import formats
from sureline.adapters.policies.check_settings import (
    GroundingSettings,
    OutputSettings,
    ProseSettings,
    ReadingSettings,
    RuleSettings,
)
from sureline.adapters.policies.history_settings import HistorySettings
from sureline.adapters.policies.model_settings import (
    ConsistencySettings,
    GeneratorSettings,
    JudgeSettings,
    SelfEvaluationSettings,
)
from sureline.adapters.policies.redact_settings import RedactSettings
from sureline.adapters.policies.retention_settings import RetentionSettings
from sureline.adapters.policies.review_settings import ReviewSettings
from sureline.adapters.policies.setting import (
    FIELDS,
    RATE,
    TRUTH,
    FieldPath,
    Rate,
    Settings,
    Text,
    is_name,
    setting,
)
from sureline.core.learning.cost import target_from_cost

Days = Annotated[int, Field(ge=1, le=3650)]


class HypothesisSettings(Settings):
    """Thresholds that nothing proves yet."""

    auto: Rate = setting(
        0.95, expected=RATE, meaning="Automate at this value or above, uncertified."
    )
    reject: Rate | None = setting(
        None, expected=RATE, meaning="Send back below this value; by default the abstain floor."
    )
    allow_uncertified: bool = setting(
        False, expected=TRUTH, meaning="Without this the hypothesis automates nothing."
    )
    starts: Annotated[str, AfterValidator(formats.iso_date)] | None = setting(
        None,
        expected="a date as YYYY-MM-DD",
        meaning="The first day that it holds; days are those of reading.timezone.",
    )
    days: Annotated[int, Field(ge=1, le=30)] = setting(
        30, expected="a whole number from 1 to 30", meaning="How many days it holds."
    )
    audit_rate: Annotated[float, Field(ge=0.2, le=1)] = setting(
        0.2,
        expected="a number from 0.2 to 1",
        meaning="The share of what it automates that a person checks.",
    )

    @model_validator(mode="after")
    def _ordered(self) -> HypothesisSettings:
        if self.reject is not None and self.reject > self.auto:
            raise ValueError(f"reject {self.reject} is above auto {self.auto}")
        if self.allow_uncertified and self.starts is None:
            raise ValueError("allow_uncertified needs starts: a date as YYYY-MM-DD")
        return self


class CostSettings(Settings):
    """What being wrong costs, to derive the target precision from (G24)."""

    wrong: Annotated[float, Field(gt=0)] = setting(
        ..., expected="a number above 0", meaning="The cost of one wrong output that acted."
    )
    review: Annotated[float, Field(gt=0)] = setting(
        ..., expected="a number above 0", meaning="The cost of one review, in the same unit."
    )

    @property
    def target(self) -> float:
        """Return the precision at which acting costs no more than reviewing."""
        return target_from_cost(wrong=self.wrong, review=self.review)

    @model_validator(mode="after")
    def _sensible(self) -> CostSettings:
        if not 0.5 < self.target < 1.0:
            raise ValueError(
                f"1 - review / wrong is {self.target}; a target precision lies between 0.5 and 1, "
                "so a review must cost less than half of a wrong output"
            )
        return self


def _weights(weights: dict[str, float]) -> dict[str, float]:
    for name, weight in weights.items():
        if not is_name(name):
            raise ValueError(f'"{name}" is no name of a signal')
        if weight < 0:
            raise ValueError(f"weights are 0 or more; {name} is {weight}")
    if not 0 < sum(weights.values()) < float("inf"):
        raise ValueError("at least one weight must be above 0")
    return weights


class SliceSettings(Settings):
    """Everything that a slice, or `defaults`, can set."""

    preset: Literal["graduated", "independent", "objective"] | None = setting(
        None,
        expected="graduated, independent or objective",
        meaning="Weights by name. `objective` also sets `objective_only`. Used by default: the "
        "weights of `objective`.",
    )
    weights: Annotated[dict[str, float], AfterValidator(_weights)] | None = setting(
        None,
        expected="a mapping of signal to a number, 0 or more, not all 0",
        meaning="The weight of every signal; takes the place of the preset's. They are divided "
        "by their sum, so the score stays from 0 to 1.",
    )
    objective_only: bool | None = setting(
        None,
        expected=TRUTH,
        meaning="Refuse weights on what a model says: self_report, self_evaluation, judge, "
        "consistency, token_probability.",
    )
    mode: Literal["log_only", "route", "human_only"] = setting(
        "log_only",
        expected="log_only, route or human_only",
        meaning="`log_only`: people decide everything and the route that would have been taken "
        "is recorded. `route`: routes act. `human_only`: people decide everything.",
    )
    target_precision: Annotated[float, Field(gt=0.5, lt=1)] = setting(
        0.95,
        expected="a number above 0.5 and below 1",
        meaning="The share of automated outputs that must be correct.",
    )
    target_from_cost: CostSettings | None = setting(
        None,
        expected="a mapping with wrong and review",
        meaning="Derives the target precision as 1 - review / wrong, instead of stating it.",
    )
    delta: Annotated[float, Field(gt=0, lt=0.5)] = setting(
        0.05,
        expected="a number above 0 and below 0.5",
        meaning="The probability that a certificate may be wrong.",
    )
    error_rate: Literal["per_slice", "family"] = setting(
        "per_slice",
        expected="per_slice or family",
        meaning="`family` divides delta among the slices, so that all certificates together are "
        "wrong with at most that probability.",
    )
    calibration: Literal["per_slice", "pooled"] = setting(
        "per_slice",
        expected="per_slice or pooled",
        meaning="A weight on slice_accuracy needs `pooled`, because calibrating per slice "
        "already says how reliable the slice is.",
    )
    abstain_floor: Rate = setting(
        0.4, expected=RATE, meaning="Below this value a person starts without a draft."
    )
    reject_threshold: Rate | None = setting(
        None,
        expected=RATE,
        meaning="Below this value the output is sent back while attempts are left; by default "
        "the abstain floor.",
    )
    attempts: Annotated[int, Field(ge=1, le=20)] = setting(
        2, expected="a whole number from 1 to 20", meaning="How often an agent may try."
    )
    audit_rate: Rate = setting(
        0.05, expected=RATE, meaning="The share of automated outputs that a person checks blind."
    )
    reject_audit_rate: Rate = setting(
        0.02, expected=RATE, meaning="The share of outputs sent back that a person sees as well."
    )
    fatal_cap: Rate = setting(
        0.2, expected=RATE, meaning="The highest score after a fatal check, whatever else is said."
    )
    stakes: Literal["reversible", "high_cost", "irreversible"] = setting(
        "reversible",
        expected="reversible, high_cost or irreversible",
        meaning="How bad a wrong output is. An agent may only raise it.",
    )
    action_class: Text | None = setting(
        None, expected="a name from action_classes", meaning="The kind of action that follows."
    )
    four_eyes: bool = setting(
        False, expected=TRUTH, meaning="A person must decide, whatever the confidence."
    )
    generator: GeneratorSettings | None = setting(
        None, expected="a mapping with model", meaning="The model that makes the outputs."
    )
    output: OutputSettings = setting(
        OutputSettings(), expected="a mapping", meaning="What shape the output has."
    )
    rules: list[RuleSettings] = setting(
        [], expected="a list of rules", meaning="Rules about single fields."
    )
    prose: list[ProseSettings] = setting(
        [], expected="a list of mappings", meaning="Limits on texts."
    )
    grounding: GroundingSettings | None = setting(
        None, expected="a mapping with fields", meaning="Fields that must be in the source."
    )
    reading: ReadingSettings = setting(
        ReadingSettings(),
        expected="a mapping",
        meaning="How numbers, money and dates in texts are read.",
    )
    verification: Literal["penalties", "fraction"] = setting(
        "penalties",
        expected="penalties or fraction",
        meaning="How checks become a score: 1 minus the penalties, or the share that passed.",
    )
    history: HistorySettings = setting(
        HistorySettings(), expected="a mapping", meaning="How similar past cases are found."
    )
    judge: JudgeSettings | None = setting(
        None, expected="a mapping with model", meaning="A second model that tries to refute."
    )
    self_evaluation: SelfEvaluationSettings | None = setting(
        None,
        expected="a mapping with model and deductions",
        meaning="A smaller model that looks for known failure modes.",
    )
    consistency: ConsistencySettings | None = setting(
        None,
        expected="a mapping",
        meaning="Measures whether several independent generations agree.",
    )
    hypothesis: HypothesisSettings | None = setting(
        None, expected="a mapping", meaning="Thresholds that nothing proves yet."
    )
    certificate_max_age_days: Days = setting(
        90, expected="a whole number from 1 to 3650", meaning="How long a certificate holds."
    )
    window_days: Days = setting(
        90,
        expected="a whole number from 1 to 3650",
        meaning="How far back labels count for calibration.",
    )
    labels_before_routing: Annotated[int, Field(ge=0, le=1_000_000)] = setting(
        200,
        expected="a whole number, 0 or more",
        meaning="How many labels a slice has in log_only before routing is proposed.",
    )
    approval_ttl_seconds: Annotated[int, Field(ge=1, le=86_400)] = setting(
        600,
        expected="a whole number from 1 to 86400",
        meaning="How many seconds an automatic approval can be used.",
    )
    cosmetic_fields: list[FieldPath] = setting(
        [],
        expected=FIELDS,
        meaning="Fields whose edit does not make an output count as wrong.",
    )
    review: ReviewSettings = setting(
        ReviewSettings(), expected="a mapping", meaning="How people review this slice."
    )
    retention: RetentionSettings = setting(
        RetentionSettings(), expected="a mapping", meaning="How long payloads are kept."
    )
    redact: RedactSettings = setting(
        RedactSettings(), expected="a mapping", meaning="What is neither kept nor shown."
    )
