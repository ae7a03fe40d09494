"""Kinds of missions are read from the policy, each with a slice of its own (M1, M15, M29)."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.adapters.policies import load_policy, policy_from_canonical
from sureline.adapters.policies.mission_settings import MOST_EVIDENCE, MissionKindSettings
from sureline.application.mission.evidence_intake import MOST_CHARACTERS
from sureline.core.gate.answered import second_models
from sureline.core.values.mission_kind import Budget, HealthLimits, MissionJudge, MissionKind
from sureline.core.values.policy import Mode
from sureline.core.values.retention import RetentionPolicy
from sureline.errors import PolicyError

JUDGE = 'judge: {model: "openai:gpt-5-mini"}'
AGENT = 'agent: {model: "anthropic:claude-sonnet-4-5"}'
HEAD = "version: 1\nmissions:\n  recon:\n"


def kind(*lines: str, judge: str = JUDGE, agent: str = AGENT, more: str = "") -> str:
    """Return a policy with one kind of mission; its own lines begin at line 6."""
    own = "".join(f"    {line}\n" for line in (judge, agent, *lines) if line)
    return f"{HEAD}{own}{more}"


NUMBER = "evaluate_every: expected a whole number, 1 or more, found"
CASES = {
    "M29-zero": (kind("evaluate_every: 0"), f"policy:6:21: missions.recon.{NUMBER} the number 0"),
    "M29-negative": (kind("evaluate_every: -2"), f"{NUMBER} the number -2"),
    "M29-true": (kind("evaluate_every: true"), f"{NUMBER} true"),
    "M29-text": (kind('evaluate_every: "3"'), f'{NUMBER} the text "3"; write it without quotes'),
    "M29-fraction": (kind("evaluate_every: 2.5"), NUMBER),
    "M29-nothing": (kind("evaluate_every:"), f"{NUMBER} nothing"),
    "confidence-high": (kind("confidence: 1.01"), "confidence: expected a number from 0 to 1"),
    "confidence-low": (kind("confidence: -0.1"), "confidence: expected a number from 0 to 1"),
    "confidence-nan": (kind("confidence: .nan"), "confidence: expected a number from 0 to 1"),
    "confidence-true": (kind("confidence: true"), "expected a number from 0 to 1, found true"),
    "confidence-percent": (kind("confidence: 80%"), 'found the text "80%"'),
    "timeout-zero": (kind("timeout_hours: 0"), "timeout_hours: expected a number of hours above 0"),
    "timeout-infinite": (kind("timeout_hours: .inf"), "expected a number of hours above 0"),
    "no-invocations": (kind("max_invocations: 0"), "a whole number from 1 to 1000000"),
    "budget-zero": (kind("budget: {tokens: 0}"), "budget.tokens: expected a whole number, 1 or"),
    "budget-nan": (kind("budget: {cost: .nan}"), "budget.cost: expected a number above 0"),
    "budget-typo": (kind("budget: {token: 5}"), 'unknown key "token"; did you mean "tokens"?'),
    "health-once": (kind("health: {repeated_calls: 1}"), "expected a whole number from 2 to 10000"),
    "health-rate": (kind("health: {error_rate: 0}"), "error_rate: expected a number above 0"),
    "too-much-evidence": (kind("evidence_characters: 200001"), "from 1000 to 200000"),
    "no-reminder": (kind("reminders_hours: []"), "expected a list of 1 to 20 numbers of hours"),
    "reminder-zero": (kind("reminders_hours: [1, 0]"), "6:26: missions.recon.reminders_hours"),
    "auto": (kind("auto_complete: yes"), "expected true or false, .*; write true"),
    "typo": (kind("evaluate_evry: 3"), '6:5: .*did you mean "evaluate_every"'),
    "judge-empty": (kind(judge="judge: {}"), 'judge: the key "model" is missing'),
    "judge-tries": (kind(judge='judge: {model: "openai:x", tries: 0}'), "from 1 to 20"),
    "judge-seconds": (kind(judge='judge: {model: "openai:x", seconds: 0}'), "seconds above 0"),
    "judge-list": (kind(judge="judge: [a]"), "judge: expected a mapping with model"),
    "G2-same": (
        kind(agent='agent: {model: "azure:gpt-5-mini-2026-01-01"}'),
        "4:20: missions.recon.judge.model: .*is the same model as the agent .*allow_same_model",
    ),
    "kind-list": ("version: 1\nmissions: {a: [1]}", "missions.a: expected a mapping of settings"),
    "missions-list": ("version: 1\nmissions: [a]", "missions: expected a mapping of kinds"),
    "no-name": ("version: 1\nmissions: {'a b': {}}", '"a b" is no name'),
    "long-name": (f"version: 1\nmissions: {{{'a' * 93}: {{}}}}", "at most 92 characters, found 93"),
    "neither": ("version: 1\nmissions: {}", 'the key "slices" is missing'),
    "no-slices": (kind(more="slices: [a]\n"), "slices: expected a mapping of slices"),
    "clash": (
        kind(more="slices:\n  mission.recon: {}\n"),
        '7:3: slices.mission.recon: names beginning with "mission."',
    ),
    "clash-with-none": ("version: 1\nslices: {mission.x: {}}", "are those of kinds of missions"),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_a_fault_is_named_with_its_place(text: str, expected: str) -> None:
    """Each fault says file, line, key and what was expected."""
    with pytest.raises(PolicyError, match=expected):
        load_policy(text)


def test_every_fault_is_told_at_once() -> None:
    """Faults of several kinds come in file order, with those of slices."""
    text = kind("evaluate_every: 0", more="  b: {confidence: 2}\nslices: {c: {attempts: 0}}\n")
    with pytest.raises(PolicyError) as caught:
        load_policy(text)
    places = [line.split(": ")[1] for line in str(caught.value).splitlines()]
    assert places == ["missions.recon.evaluate_every", "missions.b.confidence", "slices.c.attempts"]


WARNINGS = {
    "plain": (kind(), None),
    "no-judge": (kind(judge=""), "missions.recon: no judge is named, .*success check"),
    "no-agent": (kind(agent=""), "missions.recon: no agent is named"),
    "same-family": (
        kind(agent='agent: {model: "openai:gpt-5"}'),
        "gpt-5-mini is of the agent's family",
    ),
    "family-stated": (
        kind(
            judge='judge: {model: "azure:fast", family: Claude}',
            agent='agent: {model: "anthropic:claude-sonnet-4-5", family: claude}',
        ),
        "is of the agent's family",
    ),
    "G2-admitted": (
        kind(
            judge='judge: {model: "openai:gpt-5", allow_same_model: true}',
            agent='agent: {model: "openai:gpt-5"}',
        ),
        "is the same model as the agent .* its own mistakes",
    ),
    "no-provider": (kind(judge="judge: {model: gpt-5-mini}"), "names no provider"),
    "M29-beyond": (
        kind("evaluate_every: 9", "max_invocations: 4"),
        "6:21: .*evaluate_every is 9, .*at most 4 invocations .*evaluated once, at that limit",
    ),
    "M29-at-limit": (kind("evaluate_every: 4", "max_invocations: 4"), None),
    "no-audit": (kind("audit_rate: 0"), "without an audit"),
    "no-audit-needed": (kind("audit_rate: 0", "auto_complete: false"), None),
}


@pytest.mark.parametrize(("text", "expected"), WARNINGS.values(), ids=WARNINGS)
def test_what_may_not_be_meant_is_warned_of(text: str, expected: str | None) -> None:
    """A policy that can be used says what its author should know, and only that."""
    warnings = load_policy(text).warnings
    if expected is None:
        assert warnings == ()
    else:
        (warning,) = warnings
        assert re.search(expected, warning)


def test_every_key_reaches_the_kind() -> None:
    """What is written is what the core is given, hours as seconds."""
    policy = load_policy(
        kind(
            'judge: {model: "openai:j", family: f, guidance: g, temperature: 0,'
            " seconds: 5, tries: 2}",
            'agent: {model: "anthropic:a", family: c}',
            "evaluate_every: 2",
            "confidence: 0.9",
            "auto_complete: false",
            "timeout_hours: 3",
            "max_invocations: 7",
            "budget: {tokens: 10, cost: 1, calls: 3}",
            "health: {repeated_calls: null, cycle_repeats: 4, longest_cycle: 3, empty_answers: 1,"
            " error_rate: null, error_window: 5}",
            "check_seconds: 4",
            "least_evidence: 0.25",
            "evidence_characters: 200000",
            "invocation_seconds: 30",
            "lease_seconds: 10",
            "reminders_hours: [0.5, 2]",
            judge="",
            agent="",
        )
    ).policy
    assert policy.missions["recon"] == MissionKind(
        name="recon",
        judge=MissionJudge(
            model="openai:j", family="f", guidance="g", temperature=0.0, seconds=5.0, tries=2
        ),
        agent_model="anthropic:a",
        agent_family="c",
        evaluate_every=2,
        confidence=0.9,
        auto_complete=False,
        timeout_hours=3.0,
        max_invocations=7,
        budget=Budget(tokens=10, cost=1.0, calls=3),
        health=HealthLimits(
            repeated_calls=None,
            cycle_repeats=4,
            longest_cycle=3,
            empty_answers=1,
            error_rate=None,
            error_window=5,
        ),
        check_seconds=4.0,
        least_evidence=0.25,
        evidence_characters=200_000,
        invocation_seconds=30.0,
        lease_seconds=10.0,
        reminders=(1800.0, 7200.0),
    )


def test_defaults_are_those_of_the_core() -> None:
    """A kind of which nothing is said is held to what the core says."""
    assert load_policy(f"{HEAD}").policy.missions["recon"] == MissionKind(name="recon", judge=None)


def test_a_kind_is_a_slice_of_its_own() -> None:
    """Its slice acts by one signal, with its own target, audit and retention."""
    text = kind(
        "target_precision: 0.9",
        "delta: 0.1",
        "audit_rate: 0.2",
        "certificate_max_age_days: 30",
        "window_days: 60",
        "retention: {payload_days: 14}",
        more="defaults: {mode: human_only, audit_rate: 0.5}\nslices: {a: {}}\n",
    )
    policy = load_policy(text).policy
    assert sorted(policy.slices) == ["a", "mission.recon"] == sorted(policy.measurement_hashes)
    assert not policy.slices["a"].is_mission
    one = policy.slices["mission.recon"]
    assert (one.key, one.is_mission, one.mode) == ("mission.recon", True, Mode.ROUTE)
    assert dict(one.weights) == {"mission": 1.0}
    assert (one.target_precision, one.delta, one.audit_rate) == (0.9, 0.1, 0.2)
    assert (one.certificate_max_age_days, one.window_days) == (30, 60)
    assert one.retention == RetentionPolicy(payload_days=14)
    assert one.attention.honeypots == 0.0
    assert second_models(one) == ("openai:gpt-5-mini",)


def test_the_slice_of_a_kind_can_be_named_elsewhere() -> None:
    """Notices, sources of verdicts and groups may mean it."""
    text = kind(
        more="groups:\n  ops: {members: [Ada], slices: ['mission.*']}\ninbound:\n"
        "  - {name: chat, secret_from: S, reviewers: {U1: Ada}, slices: [mission.recon]}\n"
    )
    policy = load_policy(text).policy
    assert policy.groups["ops"].slices == ("mission.recon",)
    assert policy.inbound[0].slices == ("mission.recon",)


def test_the_canonical_text_says_the_same_again() -> None:
    """A stored policy is read back as it was, and itself is a policy file."""
    loaded = load_policy(kind("evaluate_every: 2", more="  b:\nslices: {a: {}}\n"))
    assert policy_from_canonical(loaded.text) == loaded.policy
    again = load_policy(loaded.text)
    assert (again.policy, again.text) == (loaded.policy, loaded.text)


def test_a_policy_without_missions_keeps_its_hash() -> None:
    """What was stored before there were missions still reads, and nothing is added to it."""
    loaded = load_policy("version: 1\nslices: {a: {}}")
    assert "missions" not in json.loads(loaded.text)
    assert policy_from_canonical(loaded.text).missions == {}


def test_a_stored_kind_that_cannot_be_read_is_refused() -> None:
    """A damaged kind makes the stored policy unreadable instead of a kind without limits."""
    content = json.loads(load_policy(kind()).text)
    content["missions"]["recon"]["confidence"] = 2
    with pytest.raises(PolicyError, match="cannot be read"):
        policy_from_canonical(json.dumps(content))


BASE = load_policy(kind()).policy.measurement_hashes["mission.recon"]
MEASURES = {
    "model": (kind(judge='judge: {model: "openai:gpt-5-nano"}'), True),
    "guidance": (kind(judge='judge: {model: "openai:gpt-5-mini", guidance: g}'), True),
    "temperature": (kind(judge='judge: {model: "openai:gpt-5-mini", temperature: 0}'), True),
    "no-judge": (kind(judge=""), True),
    "agent": (kind(agent='agent: {model: "anthropic:claude-opus-4-5"}'), True),
    "evidence": (kind("evidence_characters: 50000"), True),
    "least": (kind("least_evidence: 0.6"), True),
    "judge-limits": (
        kind(judge='judge: {model: "openai:gpt-5-mini", tries: 9, seconds: 9}'),
        False,
    ),
    "judge-family": (kind(judge='judge: {model: "openai:gpt-5-mini", family: x}'), False),
    "limits": (kind("evaluate_every: 2", "max_invocations: 9", "timeout_hours: 1"), False),
    "budget": (kind("budget: {cost: 2}", "health: {empty_answers: 2}"), False),
    "threshold": (kind("confidence: 0.9", "auto_complete: false"), False),
    "statistics": (kind("target_precision: 0.9", "audit_rate: 0.5"), False),
}


@pytest.mark.parametrize(("text", "differs"), MEASURES.values(), ids=MEASURES)
def test_labels_are_bound_to_what_is_measured(text: str, differs: bool) -> None:
    """Another judge or other evidence is another measurement; other limits are the same."""
    assert (load_policy(text).policy.measurement_hashes["mission.recon"] != BASE) is differs


def test_a_judge_is_shown_no_more_than_is_taken_in() -> None:
    """The bound that the policy names is the intake's."""
    assert MOST_EVIDENCE == MOST_CHARACTERS


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)


@given(st.sampled_from(sorted(MissionKindSettings.model_fields)), VALUES | st.lists(VALUES))
def test_whatever_is_written_there_is_a_policy_or_a_fault_at_that_key(
    key: str, value: object
) -> None:
    """No value of any key does anything else than be used, or be refused by the key's name."""
    text = json.dumps({"version": 1, "missions": {"recon": {key: value}}})
    fault = ""
    try:
        assert "mission.recon" in load_policy(text).policy.slices
    except PolicyError as error:
        fault = str(error)
    assert not fault or f"missions.recon.{key}" in fault
