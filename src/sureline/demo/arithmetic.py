"""A signal of the demonstration's own: do the figures on the receipt bear the output out?

An example of plugging in a measurement (G35). It reads the source by itself, shares no code with
the extractor, and knows nothing of the truth.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise

from sureline.core.values.policy import SlicePolicy
from sureline.core.values.proposal import Proposal
from sureline.core.values.signal import Signal, SignalKind

_AMOUNT = re.compile(
    r"(?<![\w.,:])[$£€¥]?(\d{1,3}(?:[.,\u00a0]\d{3})*(?:[.,]\d{2})?)\s?[$£€¥]?\s*$"
)
_RATE = re.compile(r"(\d{1,2}(?:[.,]\d)?)\s?%")


class ArithmeticSource:
    """Measures which share of the sums that can be checked comes out right.

    Three sums are tried: a run of amounts adds up to the total (goods, or goods and tax); the tax
    is the printed rate's share of the total; what was paid less the change is the total. With
    none to try the signal is not applicable, and a person looks.
    """

    name = "arithmetic"
    kind = SignalKind.DETERMINISTIC

    async def measure(self, proposal: Proposal, policy: SlicePolicy) -> Signal:  # noqa: ARG002
        """Return the share of sums that agree with the output's total and tax."""
        output = proposal.output if isinstance(proposal.output, dict) else {}
        total = _decimal(output.get("total"))
        text = "\n".join(part.text for part in proposal.source)
        if total is None:
            return Signal.not_applicable(self.name, self.kind, "no_total")
        tried = sums(text, total=total, tax=_decimal(output.get("tax")))
        if not tried:
            return Signal.not_applicable(self.name, self.kind, "nothing_to_add_up")
        share = sum(tried.values()) / len(tried)
        return Signal.measured(self.name, self.kind, share, detail=dict(tried))


def sums(text: str, *, total: Decimal, tax: Decimal | None) -> dict[str, bool]:
    """Say for each sum that can be tried on `text` whether it comes out right."""
    amounts = [amount for amount in map(_line_amount, text.splitlines()) if amount is not None]
    tried: dict[str, bool] = {}
    if len(amounts) > 2:
        tried["goods"] = _adds_up(amounts, total)
    rate = _RATE.search(text)
    if rate is not None and tax is not None:
        tried["tax"] = _fits_rate(
            total, tax, Decimal(rate[1].replace(",", ".")), unit=_unit(amounts)
        )
    paid = _paid(amounts, total)
    if paid is not None:
        tried["paid"] = paid
    return tried


def _decimal(value: object) -> Decimal | None:
    """Take a finite JSON number as the decimal that it was written as."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return Decimal(str(value))


def _line_amount(line: str) -> Decimal | None:
    """Read the amount at the end of a line; a mark before the last two digits is decimal."""
    match = _AMOUNT.search(line.rstrip())
    if match is None:
        return None
    text = match[1]
    if len(text) > 3 and text[-3] in ".,":
        return Decimal(re.sub(r"\D", "", text[:-3]) + "." + text[-2:])
    return Decimal(re.sub(r"\D", "", text))


def _unit(amounts: Sequence[Decimal]) -> Decimal:
    """Return the smallest coin that the paper shows: 1 where no amount has decimals."""
    whole = all(amount.as_tuple().exponent == 0 for amount in amounts)
    return Decimal(1) if whole else Decimal("0.01")


def _adds_up(amounts: Sequence[Decimal], total: Decimal) -> bool:
    """Tell whether two or more consecutive amounts add up to `total`."""
    for start in range(len(amounts) - 1):
        running = amounts[start]
        for amount in amounts[start + 1 :]:
            running += amount
            if running == total:
                return True
    return False


def _fits_rate(total: Decimal, tax: Decimal, rate: Decimal, unit: Decimal) -> bool:
    """Tell whether `tax` is the tax at `rate` percent in `total`, give or take one `unit`."""
    return abs(total * rate / (100 + rate) - tax) <= unit


def _paid(amounts: Sequence[Decimal], total: Decimal) -> bool | None:
    """Tell whether two amounts below the total differ by it; None if nothing was paid in cash."""
    if total not in amounts:
        return None
    below = amounts[len(amounts) - amounts[::-1].index(total) :]
    pairs = list(pairwise(below))
    if not any(paid > total for paid, _ in pairs):
        return None
    return any(paid - change == total for paid, change in pairs)
