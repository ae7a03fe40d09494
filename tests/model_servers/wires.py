"""The wire formats: how each provider is addressed, asked and heard."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.model_servers import chat, messages, responses
from tests.model_servers.asked import Asked
from tests.model_servers.steps import Say


@dataclass(frozen=True, kw_only=True)
class Wire:
    """One format. `model` is a name in it that the adapter takes, `answers` the id in its replies.

    `empty` is a well-formed answer that holds nothing.
    """

    name: str
    path: str
    model: str
    read: Callable[[Mapping[str, Any], Mapping[str, str]], Asked]
    write: Callable[[Say, str], dict[str, Any]]
    error: Callable[[int, str], dict[str, Any]]
    empty: Mapping[str, Any]

    @property
    def answers(self) -> str:
        return self.model.partition(":")[2]


WIRES = (
    Wire(
        name="chat",
        path="/v1/chat/completions",
        model="openai-chat:gpt-4o-mini",
        read=chat.read,
        write=chat.write,
        error=chat.error,
        empty=chat.write(Say(), "gpt-4o-mini") | {"choices": []},
    ),
    Wire(
        name="responses",
        path="/v1/responses",
        model="openai:gpt-4o-mini",
        read=responses.read,
        write=responses.write,
        error=chat.error,
        empty=responses.write(Say(), "gpt-4o-mini") | {"output": []},
    ),
    Wire(
        name="messages",
        path="/v1/messages",
        model="anthropic:claude-haiku-4-5",
        read=messages.read,
        write=messages.write,
        error=messages.error,
        empty=messages.write(Say(), "claude-haiku-4-5") | {"content": []},
    ),
)
