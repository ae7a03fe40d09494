"""Keep replies for a while, so that an equal question is not paid for twice."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import TYPE_CHECKING

from sureline.application.ports.models import Asking, Ended, ModelLimits, Prompt, Reply
from sureline.core.values.model_card import Usage

if TYPE_CHECKING:
    from cachetools import TTLCache

LONGEST = 65_536
"""A longer text is not kept: a full cache of them would be gigabytes."""

NOTHING_ASKED = Usage(input_tokens=0, output_tokens=0, cost=0.0, calls=0, cached=True)


def key_of(prompt: Prompt, asking: Asking) -> Hashable:
    """Return what tells one question from another: the prompt, the model and its settings.

    The fences' nonces are not in it (`Prompt.digest` leaves them out), nor is `fresh`.
    """
    schema = None if asking.schema is None else json.dumps(dict(asking.schema), sort_keys=True)
    settings = (asking.model, asking.max_tokens, asking.temperature, schema, asking.logprobs)
    return (settings, prompt.digest, prompt.exchange)


def as_kept(reply: Reply) -> Reply:
    """Return a reply as one that took nothing."""
    return replace(reply, usage=NOTHING_ASKED)


class KeptReplies:
    """Keeps complete replies in memory, the latest used; may be used from several threads.

    How many and how long: `limits.cache_size`, `limits.cache_seconds`.
    """

    def __init__(self, limits: ModelLimits, monotonic: Callable[[], float]) -> None:
        from cachetools import TTLCache

        self._lock = threading.Lock()
        self._on = limits.cache_size > 0 and limits.cache_seconds > 0
        self._kept: TTLCache[Hashable, Reply] = TTLCache(
            maxsize=limits.cache_size, ttl=limits.cache_seconds, timer=monotonic
        )

    def get(self, key: Hashable) -> Reply | None:
        """Return the reply that is kept, saying that nothing was asked."""
        with self._lock:
            reply = self._kept.get(key)
        return None if reply is None else as_kept(reply)

    def keep(self, key: Hashable, reply: Reply) -> None:
        """Keep a reply if it is complete and of a usual length."""
        if self._on and reply.ended is Ended.COMPLETE and len(reply.text) <= LONGEST:
            with self._lock:
                self._kept[key] = reply
