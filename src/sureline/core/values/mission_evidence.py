"""What an agent loop hands in after an invocation, for somebody else to judge (M2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message of the conversation; `role` is any name."""

    role: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call of a tool, with what came of it; `ok` None: it was not said."""

    name: str
    arguments: Any = None
    result: Any = None
    ok: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """How many items, and characters of items that stayed, were left out of something bounded."""

    turns: int = 0
    calls: int = 0
    characters: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What happened, oldest first; everything in it is the actor's word or its tools'.

    `state` is any JSON value. `trigger` says what started the invocation. `answer` is the actor's
    final text of the invocation, None if it was not said, empty if it said nothing. `tokens` and
    `cost` (US dollars) are what it took, None if unknown. `model` is the actor's, as it says.
    `cut` counts what had to be left out before it came here.
    """

    conversation: tuple[Turn, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    state: Any = None
    trigger: str | None = None
    answer: str | None = None
    tokens: int | None = None
    cost: float | None = None
    model: str | None = None
    cut: Cut = field(default_factory=Cut)

    @property
    def is_nothing(self) -> bool:
        """Tell whether it says nothing of what was done: no answer, call, turn or state."""
        handed = self.conversation or self.calls or self.cut != Cut()
        return not handed and self.state is None and self.answer is None
