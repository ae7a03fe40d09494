"""What a provider is sent, read from any of the wire formats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request, as a provider sees it; `turns` are (role, text) without the instructions."""

    wire: str
    model: str
    instructions: str
    turns: tuple[tuple[str, str], ...]
    max_tokens: int | None
    temperature: float | None
    schema: Mapping[str, Any] | None
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def content(self) -> str:
        """The first thing that the user said."""
        return next(text for role, text in self.turns if role == "user")

    @property
    def last(self) -> str:
        """The last thing that was said: the complaint, where a model is asked again."""
        return self.turns[-1][1]


def text_of(content: object) -> str:
    """Return the text of a message, which formats give as a string or as a list of parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "".join(part.get("text", "") for part in content)
