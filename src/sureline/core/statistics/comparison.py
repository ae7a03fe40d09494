"""The difference of two shares with its interval, for independent and for paired labels (L11)."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

_Z = 1.959963984540054
"""The normal quantile of a two-sided 95 % interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Share `b` minus share `a`, in [-1, 1], with its two-sided 95 % interval.

    `n_a` and `n_b` are the (effective) numbers of labels; `paired` says that both shares are of
    the same items. `value` is None, and everything is possible, where a side has no labels.
    """

    share_a: float | None
    share_b: float | None
    value: float | None
    interval: tuple[float, float]
    n_a: float
    n_b: float
    paired: bool

    @property
    def shows(self) -> int:
        """Return 1 where b is higher, -1 where it is lower, 0 where the interval holds both."""
        low, high = self.interval
        return int(low > 0) - int(high < 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Weights of pairs by who was right: both, only a, only b, neither; all >= 0."""

    both: float
    only_a: float
    only_b: float
    neither: float

    @property
    def n(self) -> float:
        """Return the number of pairs."""
        return self.both + self.only_a + self.only_b + self.neither


def independent_difference(
    share_a: float | None, n_a: float, share_b: float | None, n_b: float
) -> Difference:
    """Compare shares of different items; `n_a` and `n_b` > 0 need not be whole.

    Newcombe's hybrid score interval (1998, method 10): both ends come from the Wilson intervals
    of the shares, so that it works near 0 and 1.
    """
    if share_a is None or share_b is None or n_a <= 0 or n_b <= 0:
        return _unknown(share_a, n_a, share_b, n_b, paired=False)
    low_a, high_a = wilson_interval(share_a, n_a)
    low_b, high_b = wilson_interval(share_b, n_b)
    value = share_b - share_a
    return Difference(
        share_a=share_a,
        share_b=share_b,
        value=value,
        interval=(
            value - sqrt((share_b - low_b) ** 2 + (high_a - share_a) ** 2),
            value + sqrt((high_b - share_b) ** 2 + (share_a - low_a) ** 2),
        ),
        n_a=n_a,
        n_b=n_b,
        paired=False,
    )


def paired_difference(pairs: Pairs) -> Difference:
    """Compare shares of the same items.

    Newcombe's paired interval (1998, method 10): the two Wilson intervals, joined by the
    correlation of the pairs. Pairs in which both are right, or wrong, then narrow it.
    """
    n = pairs.n
    if n <= 0:
        return _unknown(None, n, None, n, paired=True)
    share_a, share_b = (pairs.both + pairs.only_a) / n, (pairs.both + pairs.only_b) / n
    low_a, high_a = wilson_interval(share_a, n)
    low_b, high_b = wilson_interval(share_b, n)
    together = _correlation(pairs)
    value = share_b - share_a

    def side(b: float, a: float) -> float:
        return sqrt(max(0.0, b * b - 2 * together * b * a + a * a))

    return Difference(
        share_a=share_a,
        share_b=share_b,
        value=value,
        interval=(
            value - side(share_b - low_b, high_a - share_a),
            value + side(high_b - share_b, share_a - low_a),
        ),
        n_a=n,
        n_b=n,
        paired=True,
    )


def wilson_interval(share: float, n: float) -> tuple[float, float]:
    """Return the two-sided 95 % Wilson interval of `share` in [0, 1] of `n` > 0 labels."""
    middle = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * sqrt(share * (1 - share) / n + _Z**2 / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def labels_to_see(share: float, difference: float) -> int:
    """Return the labels a side that show a `difference` > 0 in four cases of five.

    The usual normal approximation for independent shares near `share`.
    """
    spread = max(share * (1 - share), 0.01)
    return round(2 * spread * (_Z + 0.8416212335729143) ** 2 / difference**2)


def _correlation(pairs: Pairs) -> float:
    """Return Newcombe's phi, corrected for continuity where the pairs agree."""
    right_a, wrong_a = pairs.both + pairs.only_a, pairs.only_b + pairs.neither
    right_b, wrong_b = pairs.both + pairs.only_b, pairs.only_a + pairs.neither
    product = right_a * wrong_a * right_b * wrong_b
    if product <= 0:
        return 0.0
    cross = pairs.both * pairs.neither - pairs.only_a * pairs.only_b
    if cross > 0:
        cross = max(cross - pairs.n / 2, 0.0)
    return cross / sqrt(product)


def _unknown(
    share_a: float | None, n_a: float, share_b: float | None, n_b: float, *, paired: bool
) -> Difference:
    return Difference(
        share_a=share_a,
        share_b=share_b,
        value=None,
        interval=(-1.0, 1.0),
        n_a=n_a,
        n_b=n_b,
        paired=paired,
    )
