"""The rank of a conformal quantile, in whole numbers (case C28)."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from sureline.errors import InvalidInput


def quantile_rank(n: int, alpha: float | Decimal | Fraction) -> int | None:
    """Return ceil((n + 1) (1 - alpha)), the rank of the order statistic that holds 1 - alpha.

    Ranks count from 1, smallest first; None where the rank is beyond `n`, that is where no
    observation bounds the quantile. A float stands for the decimal it prints as, so .05 is 1/20
    and n = 19 gives 19. Nothing is rounded.
    """
    if n < 0:
        raise InvalidInput(f"expected 0 or more, got {n}", field="n")
    exact = Fraction(str(alpha))
    if not 0 < exact < 1:
        raise InvalidInput(f"expected a number between 0 and 1, got {alpha}", field="alpha")
    share = (n + 1) * (1 - exact)
    rank = -(-share.numerator // share.denominator)
    return rank if rank <= n else None
