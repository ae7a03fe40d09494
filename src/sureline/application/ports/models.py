"""Language models that are asked for a second opinion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from sureline.core.values.model_card import Usage
from sureline.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLimits:
    """How models are called, whatever they are asked.

    `seconds` is the time one opinion may take, retries included. `concurrency` is how many calls
    may run at once to one model; `waiting` how many more may wait for their turn before the next
    is refused. `retries` counts further tries after a fault of the transport. A reply is kept for
    `cache_seconds`, at most `cache_size` of them. After `failures` faults in a row a model is left
    alone for `rest_seconds`, then tried with one call.
    """

    seconds: float = 30.0
    concurrency: int = 8
    waiting: int = 256
    retries: int = 2
    cache_size: int = 2048
    cache_seconds: float = 3600.0
    failures: int = 5
    rest_seconds: float = 15.0

    def __post_init__(self) -> None:
        for name in ("seconds", "concurrency", "failures", "rest_seconds"):
            if not getattr(self, name) > 0:
                raise InvalidInput("expected a number above 0", field=name)
        for name in ("waiting", "retries", "cache_size", "cache_seconds"):
            if not getattr(self, name) >= 0:
                raise InvalidInput("expected a number, 0 or more", field=name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What a model is shown.

    `instructions` are ours; `content` holds fenced data. `digest` is the SHA-256 of what is asked
    without the fences' nonces, so that the same question has the same digest. `exchange` are an
    earlier reply and our complaint about it, in turns, reply first.
    """

    instructions: str
    content: str
    digest: str
    exchange: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How a model is asked: `model` is `provider:name`; `temperature` None is the provider's own.

    `schema` is the JSON Schema of the reply, which a provider may or may not hold to. `fresh`
    asks anew even where a reply is kept. `logprobs` asks for the log-probabilities of tokens.
    """

    model: str
    max_tokens: int = 1024
    temperature: float | None = None
    schema: Mapping[str, Any] | None = None
    fresh: bool = False
    logprobs: bool = False


class Ended(StrEnum):
    """How a reply came to its end."""

    COMPLETE = "complete"
    TRUNCATED = "truncated"
    """The limit of tokens cut it off."""
    REFUSED = "refused"
    """The provider or the model declined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model said: `model` is its id as the provider answered it.

    `logprobs` are those of the reply's tokens, empty where the provider gives none.
    """

    text: str
    model: str
    ended: Ended = Ended.COMPLETE
    usage: Usage = field(default_factory=Usage)
    logprobs: tuple[float, ...] = ()


class ModelClient(Protocol):
    """Asks language models."""

    async def ask(self, prompt: Prompt, asking: Asking) -> Reply:
        """Return the model's reply.

        Raises ModelFailed with the reason: `timeout`, `unreachable`, `rate_limited`,
        `server_error`, `rejected`, `unauthorized`, `not_found`, `unreadable_response`, `busy`,
        `resting`, `not_configured` (no key, unknown provider) or `not_installed`.
        """
