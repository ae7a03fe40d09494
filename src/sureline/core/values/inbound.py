"""From where verdicts may come beside the pages, and what one of them says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sureline.core.values.outcome import Action


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundSource:
    """A program that hands on what people say elsewhere, as an admin wrote it down.

    `secret_variable` names the variable with its signing secret. `reviewers` are the names of
    people here, by the id that they have there; whoever is not among them says nothing. With
    `slices` only items of these are decided, with none of all.
    """

    name: str
    secret_variable: str
    reviewers: Mapping[str, str] = field(default_factory=dict)
    slices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundVerdict:
    """What somebody said about an item; `reviewer` is the id that they have at the source.

    `digest` names the content that they were shown. `output` is the whole output as it shall be,
    for an edit. `reason` is a chip's code, `comment` is in words.
    """

    review_id: str
    digest: str
    action: Action
    reviewer: str
    output: Any = None
    reason: str | None = None
    comment: str | None = None
