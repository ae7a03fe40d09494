"""Say in plain words which model answers in place of another, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sureline.core.gate.answered import ModelsSeen, second_models
from sureline.core.values.policy import Policy


def model_notes(policy: Policy, seen: ModelsSeen) -> Iterator[str]:
    """Yield a sentence for each name behind which another model answers than at first."""
    names = {key: second_models(one) for key, one in sorted(policy.slices.items())}
    if seen.unreadable:
        yield (
            "What the ledger says of the models that answered cannot be read, so nothing that "
            "needs one is automated; look with `sureline ledger verify`."
        )
        return
    for asked in sorted({name for asks in names.values() for name in asks}):
        if asked in seen.others((asked,), {}):
            yield (
                f"Another model answers as {asked}{_since(seen, asked)}: {seen.latest[asked]} "
                f"instead of {seen.first[asked]}. Labels of what it measured count apart, and a "
                f"certificate from before does not hold: "
                f"{_listed(key for key, asks in names.items() if asked in asks)}."
            )


def _since(seen: ModelsSeen, asked: str) -> str:
    changed = seen.changed.get(asked)
    return "" if changed is None else f" since {changed:%Y-%m-%d %H:%M} UTC"


def _listed(keys: Iterable[str]) -> str:
    found = list(keys)
    return f"slice {found[0]}" if len(found) == 1 else f"slices {', '.join(found)}"
