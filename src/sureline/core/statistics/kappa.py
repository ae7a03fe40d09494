"""Cohen's kappa: how far two people agree beyond what chance alone would give (R7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, sqrt

from sureline.core.statistics.binomial import lower_bound, upper_bound
from sureline.errors import InvalidInput

_TAIL = 0.025
_Z = 1.959963984540054


@dataclass(frozen=True, slots=True, kw_only=True)
class Kappa:
    """Agreement over `pairs` items that two people judged without seeing each other's answer.

    `agreed` is the share in [0, 1] on which they said the same. `value` in [-1, 1] is None where
    chance alone would give full agreement (both always said the same one thing). `interval` is
    the two-sided 95 % interval; [-1, 1] where nothing can be said. `error` is the standard error.
    """

    pairs: int
    agreed: float | None
    value: float | None
    error: float | None
    interval: tuple[float, float]


def cohens_kappa(table: Sequence[Sequence[int]]) -> Kappa:
    """Return kappa of a square table: row the first person's answer, column the second's.

    The standard error is that of Fleiss, Cohen and Everitt (1969, Psychological Bulletin 72:323).
    It is 0 where two people never disagreed, however few their items, so the interval is never
    narrower than the exact one of the agreement (Clopper-Pearson) at the chance agreement that
    was seen. Raises InvalidInput for a table that is no square of whole numbers of 0 or more.
    """
    _check(table)
    size, total = range(len(table)), sum(map(sum, table))
    if not total:
        return Kappa(pairs=0, agreed=None, value=None, error=None, interval=(-1.0, 1.0))
    share = [[one / total for one in row] for row in table]
    rows = [fsum(row) for row in share]
    columns = [fsum(row[j] for row in share) for j in size]
    agreed = fsum(share[i][i] for i in size)
    chance = fsum(rows[i] * columns[i] for i in size)
    if chance > 1 - 1e-12:
        return Kappa(pairs=total, agreed=agreed, value=None, error=None, interval=(-1.0, 1.0))
    value = (agreed - chance) / (1 - chance)
    error = _error(share, rows, columns, value, chance) / sqrt(total)
    same = sum(table[i][i] for i in size)
    low = (float(lower_bound(same, total, _TAIL)) - chance) / (1 - chance)
    high = (float(upper_bound(same, total, _TAIL)) - chance) / (1 - chance)
    return Kappa(
        pairs=total,
        agreed=agreed,
        value=value,
        error=error,
        interval=(max(-1.0, min(low, value - _Z * error)), min(1.0, max(high, value + _Z * error))),
    )


def _error(
    share: Sequence[Sequence[float]],
    rows: Sequence[float],
    columns: Sequence[float],
    value: float,
    chance: float,
) -> float:
    """Return the standard error of one pair: divide it by the root of their number."""
    size = range(len(share))
    rest = 1 - value
    same = fsum(share[i][i] * (1 - (rows[i] + columns[i]) * rest) ** 2 for i in size)
    other = rest**2 * fsum(
        share[i][j] * (columns[i] + rows[j]) ** 2 for i in size for j in size if i != j
    )
    spread = same + other - (value - chance * rest) ** 2
    return sqrt(max(spread, 0.0)) / (1 - chance)


def _check(table: Sequence[Sequence[int]]) -> None:
    if any(len(row) != len(table) for row in table) or any(
        isinstance(one, bool) or not isinstance(one, int) or one < 0 for row in table for one in row
    ):
        raise InvalidInput("expected a square table of whole numbers of 0 or more", field="table")
