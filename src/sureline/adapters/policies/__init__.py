"""Policy files in YAML: reading, checking, freezing into core values, hashing."""

from sureline.adapters.policies.reader import load_policy, policy_from_canonical

__all__ = ["load_policy", "policy_from_canonical"]
