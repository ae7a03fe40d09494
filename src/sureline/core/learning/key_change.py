"""One key of a slice's policy that a person may change, and the policy with just that changed."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sureline.errors import Conflict


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyChange:
    """A key of one slice with what it says and what it would say.

    `path` leads to it below `slices.<slice>`; `before` None is a key without a value.
    """

    path: tuple[str, ...]
    before: Any
    after: Any

    def dotted(self, slice_key: str) -> str:
        """Return the whole name of the key, as a policy's faults and differences name it."""
        return ".".join(("slices", slice_key, *self.path))


def with_change(content: Mapping[str, Any], slice_key: str, change: KeyChange) -> dict[str, Any]:
    """Return a policy's content with one key changed and everything else as it was.

    Raises Conflict where the key says something else than `change.before`.
    """
    changed = copy.deepcopy(dict(content))
    place: Any = changed.get("slices", {}).get(slice_key)
    for name in change.path[:-1]:
        place = place.get(name) if isinstance(place, dict) else None
    last = change.path[-1]
    if not isinstance(place, dict) or place.get(last) != change.before:
        raise Conflict(
            f"{change.dotted(slice_key)} says something else by now than what was suggested on"
        )
    place[last] = change.after
    return changed
