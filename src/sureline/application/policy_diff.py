"""What differs between two policies, key by key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sureline.core.values.policy import HistoryPolicy, Policy

ABSENT = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyChange:
    """A key whose value differs; `added` and `removed` tell when one side has no such key.

    `key` is dotted, with indexes in brackets.
    """

    key: str
    before: Any
    after: Any
    added: bool = False
    removed: bool = False


def policy_diff(before: Policy, after: Policy) -> tuple[PolicyChange, ...]:
    """Return the changed keys in the order of their names; formatting is never a change."""
    return tuple(
        PolicyChange(
            key=key,
            before=None if old is ABSENT else old,
            after=None if new is ABSENT else new,
            added=old is ABSENT,
            removed=new is ABSENT,
        )
        for key, old, new in _changes("", before.raw, after.raw)
    )


def remeasured(before: Policy, after: Policy) -> tuple[str, ...]:
    """Name the slices whose certificates end because what their scores depend on has changed."""
    return tuple(
        key
        for key, digest in sorted(_bases(before).items())
        if _bases(after).get(key, digest) != digest
    )


def newly_embedded(before: Policy, after: Policy) -> tuple[str, ...]:
    """Say of each slice whose embedder changes that its past is not compared with until re-made."""
    return tuple(
        f"slice {key}: history.embedder changes from {old.history.embedder} to "
        f"{new.history.embedder}; history finds no past cases, and people decide, until "
        f"`sureline reembed --slice {key}` has made their vectors anew"
        for key, new in sorted(after.slices.items())
        if (old := before.slices.get(key)) is not None
        and old.history.embedder != new.history.embedder
        and new.weights.get("history", 0.0) > 0.0
    )


def embedded_otherwise(policy: Policy) -> tuple[str, ...]:
    """Say of each slice with an embedder of its own that others' vectors are not compared."""
    return tuple(
        f"slice {key}: history.embedder is {one.history.embedder}; past cases of another embedder "
        f"are compared only after `sureline reembed --slice {key}`"
        for key, one in sorted(policy.slices.items())
        if one.history.embedder != HistoryPolicy().embedder
        and one.weights.get("history", 0.0) > 0.0
    )


def _bases(policy: Policy) -> Mapping[str, str]:
    """Return what scores depend on by the policy alone, whichever models answer."""
    return policy.base_measurements or policy.measurement_hashes


def _changes(path: str, old: Any, new: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted({*old, *new}):
            below = f"{path}.{key}" if path else str(key)
            yield from _changes(below, old.get(key, ABSENT), new.get(key, ABSENT))
    elif (names := _ids(old)) and (later := _ids(new)):
        if names != later and sorted(names) == sorted(later):
            yield f"{path} (order)", list(names), list(later)
        yield from _changes(path, _by_id(old), _by_id(new))
    elif isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            yield from _changes(
                f"{path}[{index}]",
                old[index] if index < len(old) else ABSENT,
                new[index] if index < len(new) else ABSENT,
            )
    elif (
        old is ABSENT
        or new is ABSENT
        or old != new
        or isinstance(old, bool) != isinstance(new, bool)
    ):
        yield path, old, new


def _ids(value: Any) -> tuple[str, ...]:
    """Return the ids of a list whose entries all have one of their own; () for any other value."""
    if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
        return ()
    ids = tuple(one.get("id") for one in value)
    return ids if None not in ids and len(set(ids)) == len(ids) else ()


def _by_id(entries: list[Any]) -> dict[str, Any]:
    """Return a list's entries by their ids, so that a new one does not move those below it."""
    return {one["id"]: one for one in entries}
