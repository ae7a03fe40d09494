"""How many further generations say the same as a text (G12)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DIGITS = 6
"""Cosines are rounded to so many digits, because vectors are of 32-bit floats."""

_NUMBER = re.compile(r"(?:(?<!\w)[-\u2212])?\d+(?:[.,'\u2019_\u066b\u066c]\d+)*")

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Saying:
    """A text with its vector, of unit length; None for a text with nothing in it."""

    text: str
    vector: Vector | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextAgreement:
    """How many of so many `generations` say the same as the output.

    `value` in [0, 1] is their share. `largest_other` is the size of the largest group of the
    others around one of them, which is `instead`: where it is nearly all, they are sure of
    something else.
    """

    value: float
    generations: int
    agreeing: int
    largest_other: int
    instead: str | None


def text_agreement(
    output: Saying, generations: Sequence[Saying | None], similarity: float
) -> TextAgreement:
    """Count the generations in the output's cluster; None is one that could not be read.

    Two texts say the same if the cosine of their vectors is at least `similarity` and they hold
    the same numbers, written the same: to an embedder, `pay 100` is nearly `pay 900`. The cluster
    is what is close to the output itself, never a chain from text to text, so that each
    generation counts by itself. A text with nothing in it says the same as none, not even another
    such. Raises ValueError without generations.
    """
    if not generations:
        raise ValueError("expected at least one generation")
    sayings = [output, *(one for one in generations if one is not None)]
    close = _close(sayings, similarity)
    others = [place for place in range(1, len(sayings)) if not close[0, place]]
    groups = {place: int(close[place, others].sum()) for place in others}
    middle = min(others, key=lambda place: (-groups[place], sayings[place].text), default=None)
    agreeing = len(sayings) - 1 - len(others)
    return TextAgreement(
        value=agreeing / len(generations),
        generations=len(generations),
        agreeing=agreeing,
        largest_other=0 if middle is None else groups[middle],
        instead=None if middle is None else sayings[middle].text,
    )


def _close(sayings: Sequence[Saying], similarity: float) -> NDArray[np.bool_]:
    """Return which sayings say the same, shape (len(sayings), len(sayings))."""
    size = max((one.vector.size for one in sayings if one.vector is not None), default=1)
    rows = np.zeros((len(sayings), size))
    known: dict[frozenset[str], int] = {}
    for row, one in zip(rows, sayings, strict=True):
        if one.vector is not None:
            row[:] = one.vector / np.sqrt(np.square(one.vector, dtype=np.float64).sum())
    kind = np.array([known.setdefault(_numbers(one.text), len(known)) for one in sayings])
    something = rows.any(axis=1)
    close: NDArray[np.bool_] = np.greater_equal(np.round(rows @ rows.T, DIGITS), similarity)
    close &= np.equal.outer(kind, kind)
    close &= np.logical_and.outer(something, something)
    return close


def _numbers(text: str) -> frozenset[str]:
    """Return the numbers in a text as they are written, in ASCII digits and with ASCII minus."""
    return frozenset(
        "".join(str(unicodedata.decimal(char, char)) for char in found.replace("\u2212", "-"))
        for found in _NUMBER.findall(text)
    )
