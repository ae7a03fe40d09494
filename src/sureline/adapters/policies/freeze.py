"""From checked settings to the frozen values of the core."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from sureline.adapters.policies.action_settings import ActionClassSettings
from sureline.adapters.policies.check_settings import (
    GroundingSettings,
    ProseSettings,
    RuleSettings,
)
from sureline.adapters.policies.consistency import is_objective_only, target_of, weights_of
from sureline.adapters.policies.model_settings import JudgeSettings
from sureline.adapters.policies.settings import HypothesisSettings, SliceSettings
from sureline.core.canonical import canonical_json
from sureline.core.values.certificate import ErrorRate
from sureline.core.values.checks import (
    ChecksPolicy,
    FieldRule,
    FieldType,
    GroundingRules,
    ProseRules,
    Reading,
)
from sureline.core.values.policy import (
    ActionClass,
    ConsistencyPolicy,
    HistoryPolicy,
    Hypothesis,
    JudgePolicy,
    Mode,
    SelfEvaluationPolicy,
    SlicePolicy,
)
from sureline.core.values.proposal import Generator, Stakes

SAME_NAME = (
    "delta", "abstain_floor", "reject_threshold", "attempts", "audit_rate", "reject_audit_rate",
    "fatal_cap", "action_class", "four_eyes", "certificate_max_age_days", "window_days",
    "labels_before_routing", "approval_ttl_seconds",
)  # fmt: skip
"""Settings that a SlicePolicy has under the same name with the same type."""


def frozen_slice(key: str, settings: SliceSettings) -> SlicePolicy:
    """Return a slice's settings as the core's value; files must be inlined."""
    judge, generator = settings.judge, settings.generator
    consistency = settings.consistency
    history = settings.history.model_dump() | {"fields": tuple(settings.history.fields)}
    return SlicePolicy(
        key=key,
        mode=Mode(settings.mode),
        weights=weights_of(settings),
        target_precision=target_of(settings),
        error_rate=ErrorRate(settings.error_rate),
        stakes=Stakes(settings.stakes),
        objective_only=is_objective_only(settings),
        generator=Generator(**generator.model_dump()) if generator else None,
        checks=frozen_checks(settings),
        history=HistoryPolicy(**history),
        judge=_judge(judge) if judge else None,
        self_evaluation=_self_evaluation(settings),
        consistency=ConsistencyPolicy(**consistency.model_dump()) if consistency else None,
        hypothesis=_hypothesis(settings.hypothesis),
        cosmetic_fields=tuple(settings.cosmetic_fields),
        review=settings.review.rules(four_eyes=settings.four_eyes),
        attention=settings.review.shares(),
        certify_missed_errors=settings.review.missed_errors == "certify",
        retention=settings.retention.retention(),
        redact=settings.redact.redaction(),
        **{name: getattr(settings, name) for name in SAME_NAME},
    )


def frozen_classes(classes: Mapping[str, ActionClassSettings]) -> dict[str, ActionClass]:
    """Return the action classes as the core's values."""
    return {
        name: ActionClass(
            name=name,
            stakes=Stakes(one.stakes),
            human=one.always_human,
            approvals=one.approvals,
        )
        for name, one in sorted(classes.items())
    }


def points(penalty: float | None) -> int:
    """Return a penalty in points of a thousand."""
    return round((penalty or 0.0) * 1000)


def _judge(given: JudgeSettings) -> JudgePolicy:
    rest = given.model_dump(exclude={"allow_same_model", "panel"})
    return JudgePolicy(panel=tuple(given.panel), **rest)


def _self_evaluation(settings: SliceSettings) -> SelfEvaluationPolicy | None:
    given = settings.self_evaluation
    if given is None:
        return None
    modes = canonical_json(given.deductions).decode()
    rest = given.model_dump(exclude={"allow_same_model", "deductions"})
    return SelfEvaluationPolicy(deductions=modes, **rest)


def _hypothesis(given: HypothesisSettings | None) -> Hypothesis | None:
    if given is None:
        return None
    starts = date.fromisoformat(given.starts) if given.starts else None
    return Hypothesis(**(given.model_dump() | {"starts": starts}))


def frozen_checks(settings: SliceSettings) -> ChecksPolicy:
    """Return what a slice's deterministic checks look at."""
    output, grounding = settings.output, settings.grounding
    return ChecksPolicy(
        structured=output.structured,
        json_schema=output.json_schema,
        model=output.model,
        rules=tuple(_rule(rule) for rule in settings.rules),
        prose=tuple(_prose(limits) for limits in settings.prose),
        grounding=_grounding(grounding) if grounding else None,
        reading=Reading(**settings.reading.model_dump()),
        score=settings.verification,
    )


def _rule(rule: RuleSettings) -> FieldRule:
    return FieldRule(
        field=rule.field,
        type=FieldType(rule.type) if rule.type else None,
        between=(rule.between[0], rule.between[1]) if rule.between else None,
        one_of=tuple(rule.one_of) if rule.one_of else None,
        not_before=rule.not_before,
        not_after=rule.not_after,
        pattern=rule.pattern,
        required=rule.required,
        penalty=points(rule.penalty),
        fatal=rule.fatal,
    )


def _prose(limits: ProseSettings) -> ProseRules:
    dumped = limits.model_dump()
    lists = {name: tuple(one) for name, one in dumped.items() if isinstance(one, list)}
    return ProseRules(**(dumped | lists | {"penalty": points(limits.penalty)}))


def _grounding(grounding: GroundingSettings) -> GroundingRules:
    return GroundingRules(
        fields=tuple(grounding.fields),
        types={name: FieldType(word) for name, word in grounding.types.items()},
        penalty=points(grounding.penalty),
    )
