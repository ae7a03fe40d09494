"""A canary: an output known to be bad, or good, that an evaluator must tell as such (G3)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FailureMode(StrEnum):
    """What is wrong with a bad canary."""

    INVENTED = "invented_facts"
    """It states what neither task nor source say."""
    OFF_TASK = "off_task"
    """It does not answer what was asked."""
    BROKEN_SCHEMA = "schema_violation"
    """It does not have the form that was asked for."""
    PADDED = "padding"
    """It is stretched with text that adds nothing."""
    ASSUMED = "unstated_assumptions"
    """It rests on what nobody said."""
    INJECTED = "injected_instructions"
    """It speaks to whoever reviews it, to be let pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Canary:
    """An output with its task and source; `mode` is what is wrong with it, None where it is good.

    `kind` is what sort of work it is: the answer to one of another kind is off task. `swap` are
    two names in a good output that, exchanged, make it untrue. `made` says that it was made when
    the run started, so that no evaluator can know it by heart.
    """

    id: str
    task: str
    source: str
    output: str
    mode: FailureMode | None
    language: str
    kind: str
    swap: tuple[str, str] | None = None
    made: bool = False

    @property
    def is_bad(self) -> bool:
        """Tell whether it must be caught."""
        return self.mode is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class CanarySet:
    """The canaries of one run: those that are written down; more are made when it starts."""

    good: tuple[Canary, ...]
    bad: tuple[Canary, ...]
