"""Vectors made anew for past decisions, by another embedding model than recorded them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class Standing(StrEnum):
    """What there is of a past decision's vector for one embedding model."""

    OWN = "own"
    """It was recorded with the decision."""
    REMADE = "remade"
    """It was made anew later."""
    MISSING = "missing"
    """There is none, or a damaged one."""
    ERASED = "erased"
    """The payload was erased, so there is nothing to make one of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledCase:
    """A decision that had a vector and has a verdict; (stream, seq) is its place in the ledger."""

    stream: str
    seq: int
    decision_id: str
    standing: Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class RemadeVector:
    """A vector (float32 bytes, unit length) for the decision at a place in the ledger."""

    stream: str
    seq: int
    vector: bytes


class RemadeVectors(Protocol):
    """Keeps vectors that were made anew; they lie apart from the chain."""

    async def cases(self, workspace: str, slice_key: str, model_id: str) -> Sequence[LabelledCase]:
        """Return the slice's labelled decisions that had a vector, the latest label first.

        A decision without one was not to be compared with (its task was only claimed), or could
        not be embedded then.
        """

    async def put(self, workspace: str, model_id: str, made: Sequence[RemadeVector]) -> int:
        """Keep vectors, all or none; return how many: those of erased payloads are dropped."""

    async def models(self) -> Sequence[tuple[str, int]]:
        """Return the embedding models that made what is stored, each with its dimension."""
