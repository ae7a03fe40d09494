"""Whatever stands in a policy, reading it gives a policy or a PolicyError, nothing else."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sureline.adapters.policies import load_policy, policy_from_canonical
from sureline.adapters.policies.settings import SliceSettings
from sureline.errors import PolicyError

KEYS = [*SliceSettings.model_fields, "model", "field", "fields", "json_schema", "auto", "x", ""]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["route", "reversible", "today", "2026-12-01", "(", "a+", "verification"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)
SLICES = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=5)


def sound_or_refused(text: str) -> None:
    with suppress(PolicyError):
        loaded = load_policy(text)
        assert policy_from_canonical(loaded.text) == loaded.policy


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text makes the reader fail in another way."""
    sound_or_refused(text)


@given(st.text(alphabet="{}[]:,-?&*!|>'\"%@`# \n\tab01.<", max_size=80))
def test_any_punctuation_is_read_or_refused(text: str) -> None:
    """What YAML gives a meaning to makes no difference."""
    sound_or_refused(f"version: 1\nslices:\n  a: {text}\n")


@settings(max_examples=150)
@given(SLICES, SLICES, st.dictionaries(st.sampled_from(["draft", "b c"]), VALUES, max_size=2))
def test_any_settings_are_sound_or_refused(
    one: dict[str, Any], defaults: dict[str, Any], classes: dict[str, Any]
) -> None:
    """Known keys with any values, in slices, defaults and action classes, are judged in words."""
    content = {
        "version": 1,
        "defaults": defaults,
        "action_classes": classes,
        "slices": {"a": one, "b": {}},
    }
    text = json.dumps(content).replace("NaN", ".nan").replace("Infinity", ".inf")
    sound_or_refused(text)


@given(VALUES)
def test_any_stored_text_is_restored_or_refused(value: object) -> None:
    """What a store gives back is checked as strictly."""
    content = {"version": 1, "action_classes": {}, "slices": {"a": value}}
    with suppress(PolicyError):
        policy_from_canonical(json.dumps(content))
