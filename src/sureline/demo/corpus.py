"""The corpus: receipts with their truth, the same on every machine for the same seed."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from sureline.demo.receipts import print_receipt
from sureline.demo.truth import Truth
from sureline.demo.vendors import MARKET_SHARES, VENDORS
from sureline.demo.wear import draw_condition, wear

SIZE = 1000
SEED = 20261130


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """A document as a machine reads it, and the truth that only the reviewer knows."""

    id: str
    market: str
    text: str
    truth: Truth


def seeded(seed: int) -> Random:
    """Return the generator's random source; its stream is fixed by Python for all machines."""
    return Random(seed)  # noqa: S311  nothing here is a secret


def make_corpus(rng: Random, size: int = SIZE) -> tuple[Receipt, ...]:
    """Make `size` receipts in random order of market, shop and condition."""
    return tuple(_make_receipt(index, rng) for index in range(size))


def _make_receipt(index: int, rng: Random) -> Receipt:
    """Draw a shop, print a sale and wear the paper."""
    market = rng.choices(list(MARKET_SHARES), list(MARKET_SHARES.values()))[0]
    vendors = [vendor for vendor in VENDORS if vendor.market == market]
    vendor = rng.choices(vendors, [vendor.share for vendor in vendors])[0]
    printed = print_receipt(vendor, rng)
    lines = wear(printed.lines, draw_condition(rng), rng)
    return Receipt(
        id=f"receipt-{index:05d}", market=market, text="\n".join(lines), truth=printed.truth
    )
