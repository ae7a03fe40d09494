"""What an agent asks the gate to let through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Stakes(StrEnum):
    """How bad a wrong action is; an agent may only raise it (G27)."""

    REVERSIBLE = "reversible"
    HIGH_COST = "high_cost"
    IRREVERSIBLE = "irreversible"

    @property
    def rank(self) -> int:
        """Order: 0 for reversible, 1 for high cost, 2 for irreversible."""
        return list(Stakes).index(self)

    @property
    def is_high(self) -> bool:
        """Tell whether these stakes always need a judge."""
        return self is not Stakes.REVERSIBLE


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceText:
    """A document that the output was made from; `trusted` if a trusted caller delivered it."""

    ref: str
    text: str
    trusted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Generator:
    """The model that made the output."""

    model: str
    family: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One output of an agent, with what is needed to measure it.

    `output` is a JSON value, or text (parsed first where the slice expects structure). `id` is
    the idempotency key; None lets the gate choose one. Everything here is data from the agent:
    no field can raise a score or loosen a rule (G34).
    """

    slice_key: str
    task: str
    output: Any
    id: str | None = None
    workspace: str = "default"
    source: tuple[SourceText, ...] = ()
    action_class: str | None = None
    stakes: Stakes | None = None
    generator: Generator | None = None
    self_report: object = None
    reasoning: str | None = None
    evidence: tuple[Any, ...] = ()
    alternatives: tuple[Any, ...] = ()
    retry_of: str | None = None
    force_human: bool = False
    batch_id: str | None = None
    generations: tuple[Any, ...] = ()
    logprobs: tuple[float, ...] = ()
    variant: str | None = None
    deadline: float | None = None
    """Seconds that measuring may take; what is not there by then is `failed` (G32)."""
    trusted: bool = True
    """Whether a trusted caller vouches for task and source; a claim of an agent is no evidence."""
    submitted_by: str | None = None
    """The name of the API key that brought it, None for a program in the same process."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    subject: str | None = None
    """Whom it is about, an opaque id: personal data, kept with the payload and erased with it."""
