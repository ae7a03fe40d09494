"""From the checked settings of a kind of mission to the frozen values of the core (M1)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sureline.adapters.policies.mission_settings import (
    MissionJudgeSettings,
    MissionKindSettings,
)
from sureline.core.canonical import canonical_json
from sureline.core.mission.judge_prompt import mission_prompt_hash
from sureline.core.values.attention_shares import AttentionShares
from sureline.core.values.mission_kind import (
    Budget,
    HealthLimits,
    MissionJudge,
    MissionKind,
    MissionKinds,
)
from sureline.core.values.policy import Mode, SlicePolicy
from sureline.core.values.proposal import Generator

SAME_NAME = (
    "evaluate_every", "confidence", "auto_complete", "timeout_hours", "max_invocations",
    "check_seconds", "least_evidence", "evidence_characters", "invocation_seconds",
    "lease_seconds",
)  # fmt: skip
"""Settings that a MissionKind has under the same name with the same type."""

SAME_IN_SLICE = (
    "target_precision", "delta", "audit_rate", "certificate_max_age_days", "window_days",
)  # fmt: skip
"""Settings that are those of the kind's slice."""

MISSION_WEIGHTS: Mapping[str, float] = {"mission": 1.0}
"""An evaluation is one signal: what the judge, or the success check, says."""


UNPLANTED = AttentionShares(honeypots=0.0)
"""Nothing is planted among evaluations: an error put into one would be no plausible one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenMissions:
    """The kinds of missions of a policy, their slices, and what those measure."""

    kinds: MissionKinds
    slices: Mapping[str, SlicePolicy]
    measurement_hashes: Mapping[str, str]


def frozen_missions(content: Mapping[str, Any]) -> FrozenMissions:
    """Return what the canonical content of `missions` says. Raises ValidationError."""
    settings = {
        name: MissionKindSettings.model_validate(one) for name, one in sorted(content.items())
    }
    kinds = {name: frozen_kind(name, one) for name, one in settings.items()}
    return FrozenMissions(
        kinds=kinds,
        slices={one.slice_key: mission_slice(one, settings[name]) for name, one in kinds.items()},
        measurement_hashes={one.slice_key: mission_measurement(one) for one in kinds.values()},
    )


def frozen_kind(name: str, settings: MissionKindSettings) -> MissionKind:
    """Return the settings of a kind of mission as the core's value."""
    agent = settings.agent
    return MissionKind(
        name=name,
        judge=None if settings.judge is None else _judge(settings.judge),
        agent_model=None if agent is None else agent.model,
        agent_family=None if agent is None else agent.family,
        budget=Budget(**settings.budget.model_dump()),
        health=HealthLimits(**settings.health.model_dump()),
        reminders=tuple(hours * 3600.0 for hours in settings.reminders_hours),
        **{key: getattr(settings, key) for key in SAME_NAME},
    )


def mission_slice(kind: MissionKind, settings: MissionKindSettings) -> SlicePolicy:
    """Return the slice in which a kind's evaluations are decided, labelled and certified.

    Where only people complete a mission they see all that could have been automated, so that each
    answer is a label of a fair sample.
    """
    model = kind.agent_model
    return SlicePolicy(
        key=kind.slice_key,
        mode=Mode.ROUTE if kind.auto_complete else Mode.HUMAN_ONLY,
        weights=MISSION_WEIGHTS,
        generator=None if model is None else Generator(model=model, family=kind.agent_family),
        retention=settings.retention.retention(),
        attention=UNPLANTED,
        is_mission=True,
        asked_models=() if kind.judge is None else (kind.judge.model,),
        uncertified_from=kind.confidence,
        **{key: getattr(settings, key) for key in SAME_IN_SLICE},
    )


def mission_measurement(kind: MissionKind) -> str:
    """Return the SHA-256 of what a kind's evaluations depend on; limits do not count.

    The actor counts as a generator does: labels of what one model did say nothing of another's.
    """
    judge = kind.judge
    measured = {
        "agent": kind.agent_model,
        "evidence_characters": kind.evidence_characters,
        "least_evidence": kind.least_evidence,
        "judge": None
        if judge is None
        else {
            "model": judge.model,
            "temperature": judge.temperature,
            "prompt": mission_prompt_hash(judge.guidance),
        },
    }
    return hashlib.sha256(canonical_json({"mission": measured})).hexdigest()


def _judge(given: MissionJudgeSettings) -> MissionJudge:
    return MissionJudge(**given.model_dump())
