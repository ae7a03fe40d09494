"""How it is recorded that a person made a proposed policy of a suggestion."""

from __future__ import annotations

from sureline.application.ports.registry import Activation

SUGGESTION = "suggestion"
"""The kind of an activation that says who did so: nothing becomes current by it."""


def subject_of(policy_hash: str, slice_key: str) -> str:
    """Return the subject that such an activation has."""
    return f"{policy_hash}:{slice_key}"


def drafted(one: Activation) -> tuple[str, str]:
    """Return the policy's hash and the slice that such an activation is about."""
    policy_hash, _, slice_key = one.subject.partition(":")
    return policy_hash, slice_key
