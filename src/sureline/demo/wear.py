"""What paper, light and a scanner do to a receipt before a machine reads it.

Wear knows nothing of what a line means except where a fault does (a smudge over the total, a
lost decimal point); every fault is drawn from the generator's own random source.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

_LETTER_FOR_DIGIT = {"0": "O", "1": "l", "5": "S", "8": "B"}
_DIGIT_FOR_DIGIT = {"1": "7", "3": "8", "5": "6", "6": "5", "7": "1", "8": "3", "9": "4", "0": "6"}
_LETTER_FOR_LETTER = {"e": "c", "o": "0", "i": "l", "l": "1", "n": "ri", "m": "rn", "a": "o",
                      "u": "ii", "t": "f", "喫": "奥", "文": "又", "梅": "海"}  # fmt: skip
_AMOUNT = re.compile(r"\d[\d.,\u00a0]*\d")


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """How badly a receipt reads; all figures are probabilities.

    `letter` and `digit` are per letter and per digit; `smudge`, `lost_point` and `added_zero`
    per line of sums; `torn` is the chance that the dated line is missing.
    """

    letter: float
    digit: float
    smudge: float
    lost_point: float
    added_zero: float
    torn: float


CLEAN = Condition(
    letter=0.0006, digit=0.0004, smudge=0.001, lost_point=0.001, added_zero=0.0, torn=0.0005
)
WORN = Condition(
    letter=0.02, digit=0.004, smudge=0.015, lost_point=0.015, added_zero=0.01, torn=0.01
)
BAD = Condition(letter=0.04, digit=0.01, smudge=0.04, lost_point=0.03, added_zero=0.02, torn=0.03)
CONDITIONS = ((CLEAN, 80), (WORN, 14), (BAD, 6))
"""How a receipt arrives, with percentages."""


def draw_condition(rng: Random) -> Condition:
    """Draw how well a receipt was kept."""
    return rng.choices([c for c, _ in CONDITIONS], [w for _, w in CONDITIONS])[0]


def wear(lines: Sequence[str], condition: Condition, rng: Random) -> tuple[str, ...]:
    """Return the lines as a machine reads them; the sums are the lines of the last blocks."""
    sums_from = _sums_start(lines)
    read: list[str] = []
    for index, line in enumerate(lines):
        dated = 0 < index < sums_from and ":" in line and any(c.isdigit() for c in line)
        if dated and rng.random() < condition.torn:
            continue
        worn = _wear_sum(line, condition, rng) if index >= sums_from else line
        read.append(_misread(worn, condition, rng))
    return tuple(read)


def _sums_start(lines: Sequence[str]) -> int:
    """Return where the sums start: after the second blank line."""
    blanks = [index for index, line in enumerate(lines) if not line]
    return blanks[1] if len(blanks) > 1 else len(lines)


def _wear_sum(line: str, condition: Condition, rng: Random) -> str:
    """Smudge a line of sums, or lose its decimal point, or add a zero."""
    found = list(_AMOUNT.finditer(line))
    if not found:
        return line
    start, end = found[-1].span()
    amount = line[start:end]
    if rng.random() < condition.smudge:
        return line[: max(0, start - 9)] + "~" * 3 + line[min(end, start + 2) :]
    if rng.random() < condition.lost_point:
        amount = amount.translate(str.maketrans("", "", ".,"))
    if rng.random() < condition.added_zero:
        amount = amount[0] + "0" + amount[1:]
    return line[:start] + amount + line[end:]


def _misread(line: str, condition: Condition, rng: Random) -> str:
    """Confuse single characters; digits are as often taken for letters as for other digits."""
    return "".join(_misread_one(char, condition, rng) for char in line)


def _misread_one(char: str, condition: Condition, rng: Random) -> str:
    """Return what a machine sees for one character."""
    if char.isdigit():
        if rng.random() >= condition.digit:
            return char
        table = _LETTER_FOR_DIGIT if rng.random() < 0.5 else _DIGIT_FOR_DIGIT
        return table.get(char, char)
    if char in _LETTER_FOR_LETTER and rng.random() < condition.letter:
        return _LETTER_FOR_LETTER[char]
    return char
