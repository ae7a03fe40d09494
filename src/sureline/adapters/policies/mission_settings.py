"""The keys of a policy that say what a kind of mission is held to (M1)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sureline.adapters.policies.model_settings import (
    FAMILY,
    MODEL,
    TEMPERATURE,
    Temperature,
)
from sureline.adapters.policies.retention_settings import RetentionSettings
from sureline.adapters.policies.setting import RATE, TRUTH, Rate, Settings, Text, setting
from sureline.adapters.policies.settings import Days

CHECK = "a number of seconds above 0, at most 3600"
LEASE = "a number of seconds from 1 to 86400"
OFTEN = "a whole number from 2 to 10000, or null"

Wait = Annotated[float, Field(gt=0, le=3600)]
Lease = Annotated[float, Field(ge=1, le=86_400)]
Often = Annotated[int, Field(ge=2, le=10_000)]
Hours = Annotated[float, Field(gt=0, le=24 * 366)]
MOST_EVIDENCE = 200_000
"""Characters: of what an agent hands in no more is kept, so a judge cannot be shown more."""


class MissionJudgeSettings(Settings):
    """The model that says whether the objective is achieved."""

    model: Text = setting(
        ..., expected=MODEL, meaning="The model that says whether the objective is achieved."
    )
    family: Text | None = setting(
        None, expected=FAMILY, meaning="Its family, where the name does not show it."
    )
    guidance: Text | None = setting(
        None,
        expected="a text",
        meaning="What counts in this kind of work, in words that the judge is shown.",
    )
    temperature: Temperature | None = setting(
        None, expected=TEMPERATURE, meaning="Its temperature; by default the provider's own."
    )
    seconds: Wait = setting(60.0, expected=CHECK, meaning="How long one try may take.")
    tries: Annotated[int, Field(ge=1, le=20)] = setting(
        3,
        expected="a whole number from 1 to 20",
        meaning="After so many failed evaluations in a row a person is called.",
    )
    allow_same_model: bool = setting(
        False, expected=TRUTH, meaning="Admit a judge that is the very model that acts."
    )


class MissionAgentSettings(Settings):
    """The model that works on the objective."""

    model: Text = setting(..., expected=MODEL, meaning="The model that works on the objective.")
    family: Text | None = setting(
        None, expected=FAMILY, meaning="Its family, where the name does not show it."
    )


class BudgetSettings(Settings):
    """The most that a mission may take."""

    tokens: Annotated[int, Field(ge=1, le=10**12)] | None = setting(
        None, expected="a whole number, 1 or more", meaning="Tokens, by default without limit."
    )
    cost: Annotated[float, Field(gt=0, le=10**9)] | None = setting(
        None, expected="a number above 0", meaning="US dollars, by default without limit."
    )
    calls: Annotated[int, Field(ge=1, le=10**9)] | None = setting(
        None,
        expected="a whole number, 1 or more",
        meaning="Calls of tools, by default without limit.",
    )


class HealthSettings(Settings):
    """When a mission is called unhealthy; null turns a limit off."""

    repeated_calls: Often | None = setting(
        5, expected=OFTEN, meaning="The same call so often in a row stops the mission."
    )
    cycle_repeats: Often | None = setting(
        3, expected=OFTEN, meaning="The same sequence of calls so often in a row stops it."
    )
    longest_cycle: Annotated[int, Field(ge=2, le=50)] = setting(
        6,
        expected="a whole number from 2 to 50",
        meaning="Sequences of 2 to so many calls are looked for.",
    )
    empty_answers: Annotated[int, Field(ge=1, le=10_000)] | None = setting(
        3,
        expected="a whole number from 1 to 10000, or null",
        meaning="So many empty answers in a row stop it.",
    )
    error_rate: Annotated[float, Field(gt=0, le=1)] | None = setting(
        0.5,
        expected="a number above 0, at most 1, or null",
        meaning="That share of failures among the latest calls stops it.",
    )
    error_window: Annotated[int, Field(ge=1, le=1_000)] = setting(
        10,
        expected="a whole number from 1 to 1000",
        meaning="How many of the latest calls `error_rate` is a share of.",
    )


class MissionKindSettings(Settings):
    """One kind of mission."""

    judge: MissionJudgeSettings | None = setting(
        None,
        expected="a mapping with model",
        meaning="A model other than the agent's that judges. Without it every mission needs a "
        "success check.",
    )
    agent: MissionAgentSettings | None = setting(
        None,
        expected="a mapping with model",
        meaning="Who works on it, so that no model judges itself.",
    )
    evaluate_every: Annotated[int, Field(ge=1, le=1_000_000)] = setting(
        5,
        expected="a whole number, 1 or more",
        meaning="After so many invocations an evaluation must come before the next.",
    )
    confidence: Rate = setting(
        0.7,
        expected=RATE,
        meaning="A judge that is less sure than this leaves it to a person, whatever it says; a "
        "certificate's threshold takes its place.",
    )
    auto_complete: bool = setting(
        True,
        expected=TRUTH,
        meaning="Whether an achieved mission completes without a person's word.",
    )
    timeout_hours: Hours = setting(
        24.0,
        expected="a number of hours above 0, at most 8784",
        meaning="From its creation to its deadline, by the clock on the wall; no pause stops it.",
    )
    max_invocations: Annotated[int, Field(ge=1, le=1_000_000)] = setting(
        100,
        expected="a whole number from 1 to 1000000",
        meaning="The most invocations; the last is evaluated, too.",
    )
    budget: BudgetSettings = setting(
        BudgetSettings(), expected="a mapping", meaning="The most that a mission may take."
    )
    health: HealthSettings = setting(
        HealthSettings(), expected="a mapping", meaning="When a mission is called unhealthy."
    )
    check_seconds: Wait = setting(
        60.0, expected=CHECK, meaning="How long a success check may take."
    )
    least_evidence: Rate = setting(
        0.5,
        expected=RATE,
        meaning="The share of the evidence that a judge must have seen for a mission to complete "
        "without a person's word.",
    )
    evidence_characters: Annotated[int, Field(ge=1_000, le=MOST_EVIDENCE)] = setting(
        40_000,
        expected=f"a whole number from 1000 to {MOST_EVIDENCE}",
        meaning="The most evidence that a judge is shown, in characters.",
    )
    invocation_seconds: Lease = setting(
        900.0,
        expected=LEASE,
        meaning="How long an invocation of another process is believed to run; after that another "
        "may begin.",
    )
    lease_seconds: Lease = setting(
        60.0,
        expected=LEASE,
        meaning="How long one in this process is believed to run after it was last heard of.",
    )
    reminders_hours: Annotated[list[Hours], Field(min_length=1, max_length=20)] = setting(
        [1.0, 4.0, 12.0, 24.0],
        expected="a list of 1 to 20 numbers of hours above 0",
        meaning="After so long without an answer a person is reminded, each counted from the one "
        "before; the last repeats.",
    )
    target_precision: Annotated[float, Field(gt=0.5, lt=1)] = setting(
        0.95,
        expected="a number above 0.5 and below 1",
        meaning="The share of completions that must be right, which a certificate is about.",
    )
    delta: Annotated[float, Field(gt=0, lt=0.5)] = setting(
        0.05,
        expected="a number above 0 and below 0.5",
        meaning="The probability that a certificate may be wrong.",
    )
    audit_rate: Rate = setting(
        0.05, expected=RATE, meaning="The share of completions that a person checks blind."
    )
    certificate_max_age_days: Days = setting(
        90, expected="a whole number from 1 to 3650", meaning="How long a certificate holds."
    )
    window_days: Days = setting(
        90,
        expected="a whole number from 1 to 3650",
        meaning="How far back labels count for calibration.",
    )
    retention: RetentionSettings = setting(
        RetentionSettings(), expected="a mapping", meaning="How long a mission's words are kept."
    )
