"""Hashes follow the meaning of a policy: not its form, and per slice only its measurement."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.adapters.policies import load_policy
from sureline.adapters.policies.canonical import MEASUREMENT_KEYS
from sureline.adapters.policies.settings import SliceSettings

SLICE: dict[str, Any] = {
    "weights": {"verification": 0.6, "history": 0.2, "judge": 0.2},
    "mode": "route",
    "rules": [{"field": "amount", "between": [1, 10], "penalty": 0.3}],
    "grounding": {"fields": ["amount"], "types": {"amount": "money"}},
    "judge": {"model": "one:first-9", "otherwise": 0.1},
    "generator": {"model": "two:second-9"},
    "output": {"json_schema": {"type": "object", "properties": {"amount": {}, "day": {}}}},
    "self_evaluation": {
        "model": "three:third-9",
        "deductions": [{"id": "wrong", "points": 10, "text": "It is wrong.", "examples": []}],
    },
}
POLICY: dict[str, Any] = {
    "version": 1,
    "action_classes": {"draft": {"stakes": "reversible"}, "pay": {"stakes": "irreversible"}},
    "slices": {"a": SLICE, "b": SLICE},
}


def shuffled(value: Any, random: Any) -> Any:
    if isinstance(value, dict):
        keys = list(value)
        random.shuffle(keys)
        return {key: shuffled(value[key], random) for key in keys}
    if isinstance(value, list):
        return [shuffled(one, random) for one in value]
    return value


@given(st.randoms(use_true_random=False), st.integers(1, 6), st.booleans())
def test_order_and_spacing_change_no_hash(random: Any, indent: int, commented: bool) -> None:
    """Permuting keys, indenting and commenting leave policy and measurement hashes alone."""
    text = json.dumps(shuffled(POLICY, random), indent=indent)
    text = f"# a comment\n{text}\n" if commented else text
    original = load_policy(json.dumps(POLICY)).policy
    assert load_policy(text).policy == original


def changed(path: str, value: object) -> dict[str, Any]:
    policy = json.loads(json.dumps(POLICY))
    at = policy["slices"]["a"]
    *parents, last = path.split(".")
    for step in parents:
        at = at[int(step)] if isinstance(at, list) else at.setdefault(step, {})
    at[int(last) if isinstance(at, list) else last] = value
    return policy


MEASURING = {
    "weights.history": 0.3,
    "fatal_cap": 0.1,
    "generator.model": "two:second-10",
    "generator.family": "x",
    "grounding.fields": ["amount", "day"],
    "grounding.types": {},
    "grounding.penalty": 0.5,
    "history.neighbours": 11,
    "history.similarity_floor": 0.7,
    "history.window": 999,
    "history.fields": ["day"],
    "judge.model": "one:other-9",
    "judge.family": "x",
    "judge.high_stakes": 0.9,
    "consistency": {"generations": 5},
    "history.embedder": "local",
    "judge.borderline": 0.06,
    "judge.otherwise": 0.2,
    "judge.refute_at": 0.7,
    "judge.panel": ["four:fourth-9"],
    "judge.quorum": 1,
    "judge.guidance": "Look at the totals.",
    "judge.temperature": 0.5,
    "output.json_schema": {"type": "object"},
    "output.model": "Invoice",
    "prose": [{"field": "day", "max_length": 5}],
    "reading.locale": "de",
    "reading.date_order": "DMY",
    "reading.timezone": "Asia/Tokyo",
    "reading.japanese_era": True,
    "reading.currency": "EUR",
    "redact": {"forms": ["email"]},
    "rules": [],
    "rules.0.penalty": 0.4,
    "rules.0.between": [1, 11],
    "rules.0.fatal": True,
    "self_evaluation.model": "three:other-9",
    "self_evaluation.family": "x",
    "self_evaluation.temperature": 0.5,
    "self_evaluation.deductions.0.points": 11,
    "self_evaluation.deductions.0.examples": ["A total that is nowhere in the text."],
    "self_evaluation.deductions.0.text": "It is quite wrong.",
    "verification": "fraction",
}

ROUTING = {
    "mode": "log_only",
    "target_precision": 0.9,
    "target_from_cost": {"wrong": 10, "review": 1},
    "delta": 0.1,
    "error_rate": "family",
    "calibration": "pooled",
    "abstain_floor": 0.3,
    "reject_threshold": 0.5,
    "attempts": 3,
    "audit_rate": 0.1,
    "reject_audit_rate": 0.1,
    "stakes": "high_cost",
    "action_class": "draft",
    "four_eyes": True,
    "hypothesis": {"auto": 0.9},
    "certificate_max_age_days": 30,
    "window_days": 30,
    "labels_before_routing": 10,
    "approval_ttl_seconds": 10,
    "cosmetic_fields": ["day"],
    "review": {"approvals": 2},
    "retention": {"payload_days": 30},
    "judge.allow_same_model": True,
    "judge.must_pass_canaries": True,
    "self_evaluation.allow_same_model": True,
    "self_evaluation.must_pass_canaries": True,
}


@pytest.mark.parametrize("path", MEASURING)
def test_a_measurement_setting_changes_its_slices_hash_only(path: str) -> None:
    """What scores depend on voids the slice's certificate, and no other slice's."""
    before = load_policy(json.dumps(POLICY)).policy
    after = load_policy(json.dumps(changed(path, MEASURING[path]))).policy
    assert after.hash != before.hash
    assert after.measurement_hashes["a"] != before.measurement_hashes["a"]
    assert after.measurement_hashes["b"] == before.measurement_hashes["b"]


@pytest.mark.parametrize("path", ROUTING)
def test_a_routing_setting_changes_no_measurement_hash(path: str) -> None:
    """Thresholds, modes and rates are another policy with the same measurement."""
    before = load_policy(json.dumps(POLICY)).policy
    after = load_policy(json.dumps(changed(path, ROUTING[path]))).policy
    assert after.hash != before.hash
    assert after.measurement_hashes == before.measurement_hashes


def test_every_setting_of_a_slice_is_in_one_of_the_tables() -> None:
    """A new key cannot be added without saying whether scores depend on it."""
    listed = {path.partition(".")[0] for path in (*MEASURING, *ROUTING)}
    assert listed | {"preset", "objective_only"} == set(SliceSettings.model_fields)
    assert {path.partition(".")[0] for path in MEASURING} == set(MEASUREMENT_KEYS)


@given(st.sampled_from(["1", "1.0", "1e0", "1.00"]))
def test_the_spelling_of_a_number_changes_no_hash(spelling: str) -> None:
    """1 and 1.0 are one number in weights, rates and choices."""
    text = (
        "version: 1\nslices: {{a: {{weights: {{verification: {0}}}, audit_rate: {0},"
        " rules: [{{field: x, one_of: [{0}]}}]}}}}"
    )
    assert load_policy(text.format(spelling)).policy == load_policy(text.format("1")).policy


def test_moving_a_setting_into_the_defaults_changes_no_hash() -> None:
    """What counts is what holds for a slice, not where it was written."""
    one = load_policy("version: 1\nslices: {a: {attempts: 3}}").policy
    two = load_policy("version: 1\ndefaults: {attempts: 3}\nslices: {a: {}}").policy
    assert one == two


def test_true_and_one_are_different_choices() -> None:
    """The text form keeps true and 1 apart although Python calls them equal."""
    text = "version: 1\nslices: {{a: {{rules: [{{field: x, one_of: [{}]}}]}}}}"
    assert load_policy(text.format("true")).policy.hash != load_policy(text.format("1")).policy.hash


def test_hashes_stay_what_they_were() -> None:
    """Stored hashes must mean the same in every later version: these are pinned."""
    policy = load_policy("version: 1\nslices: {a: {}}").policy
    assert policy.hash == "95c87f24a0bf95c690a267c70f848cbd633510c9f3bbcfc9ef7ad47912e84fcb"
    assert policy.measurement_hashes == {
        "a": "6ed02a18518727adbcbc9e58243641a0f3bd576fc877d3eb3488d9456220ca97"
    }
