"""What a server does with one request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, kw_only=True)
class _Headed:
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Say(_Headed):
    """Answer properly. `model` is the id that answers, None for the one that was asked.

    `thinking` goes before the text; `calls` are the arguments of tool calls; `tokens` are those of
    the question and of the answer, None to leave usage out.
    """

    text: str = ""
    model: str | None = None
    ended: Literal["stop", "length", "filter", "refusal"] = "stop"
    thinking: str | None = None
    calls: tuple[Mapping[str, Any], ...] = ()
    tokens: tuple[int, int] | None = (100, 20)
    logprobs: tuple[float, ...] = ()


@dataclass(frozen=True)
class Fault(_Headed):
    """Answer with an error of the format; `text` is the provider's message."""

    status: int
    text: str = "something went wrong"


@dataclass(frozen=True)
class Raw(_Headed):
    """Answer with this body, whatever it is."""

    body: bytes | Mapping[str, Any]
    status: int = 200
    kind: str = "application/json"


@dataclass(frozen=True)
class CutOff:
    """Promise a whole answer, send the first `bytes` of it and hang up."""

    bytes: int = 20


@dataclass(frozen=True)
class Reset:
    """Reset the connection without an answer."""


@dataclass(frozen=True)
class Never:
    """Read the request and stay silent."""


@dataclass(frozen=True)
class Endless:
    """Send a body that does not end, or ends after `bytes`."""

    bytes: int | None = None


@dataclass(frozen=True)
class Slow:
    """Wait, then do something."""

    seconds: float
    then: Say | Fault | Raw | CutOff | Reset


Step = Say | Fault | Raw | CutOff | Reset | Never | Endless | Slow
