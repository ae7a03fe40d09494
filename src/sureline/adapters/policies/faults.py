"""What is wrong with a policy, said so that its author can mend it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from sureline.adapters.policies.tree import Node, Place
from sureline.errors import PolicyError


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One thing to mend, at one place."""

    place: Place
    path: str
    message: str

    def __str__(self) -> str:
        where = f"{self.place}: "
        return f"{where}{self.path}: {self.message}" if self.path else f"{where}{self.message}"


class Faults:
    """Collects faults and warnings while a policy is read, so that all are told at once."""

    def __init__(self) -> None:
        self._faults: set[Fault] = set()
        self._warnings: set[Fault] = set()
        self._unreadable: set[Place] = set()

    def __bool__(self) -> bool:
        return bool(self._faults)

    def add(self, node: Node, message: str) -> None:
        """Say that a value cannot be used, unless it is known that it could not be read."""
        if node.place not in self._unreadable:
            self._faults.add(Fault(node.place, node.path, message))

    def add_key(self, node: Node, message: str) -> None:
        """Say that a key cannot be used."""
        self._faults.add(Fault(node.key_place or node.place, node.path, message))

    def add_at(self, place: Place, path: str, message: str) -> None:
        """Say what is wrong at a place that has no value."""
        self._faults.add(Fault(place, path, message))

    def add_unreadable(self, place: Place, path: str, message: str) -> None:
        """Say that a value could not be read: what stands in its place is then no fault."""
        self._unreadable.add(place)
        self.add_at(place, path, message)

    def warn(self, node: Node, message: str) -> None:
        """Say what the author should know although the policy can be used."""
        self._warnings.add(Fault(node.place, node.path, message))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return the warnings in file order."""
        return tuple(str(fault) for fault in sorted(self._warnings))

    def raise_if_any(self) -> None:
        """Raise PolicyError with every fault, one a line, in file order."""
        if self._faults:
            raise PolicyError("\n".join(str(fault) for fault in sorted(self._faults)))


def unknown_key(key: str, known: Iterable[str]) -> str:
    """Say that a key is unknown and which known one is nearest."""
    names = sorted(known)
    near = difflib.get_close_matches(key, names, n=1, cutoff=0.6)
    if near:
        return f'unknown key "{key}"; did you mean "{near[0]}"?'
    return f'unknown key "{key}"; known here: {", ".join(names)}'


def shown(value: object) -> str:
    """Describe a value briefly, as its author would recognise it."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        cut = value if len(value) <= 60 else f"{value[:57]}..."
        return f'the text "{cut}"'
    if isinstance(value, (int, float)):
        return f"the number {value}"
    return "a mapping" if isinstance(value, dict) else "a list"
