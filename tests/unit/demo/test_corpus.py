"""The bundled receipts: deterministic, varied, and known exactly."""

from __future__ import annotations

import hashlib
from collections import Counter
from datetime import date
from decimal import Decimal

import pytest

from sureline.demo.corpus import SEED, make_corpus, seeded
from sureline.demo.items import bundled
from sureline.demo.receipts import print_amount, print_date, print_receipt
from sureline.demo.truth import Truth
from sureline.demo.vendors import VENDORS
from sureline.demo.wear import BAD, CLEAN, wear

TRUTH = Truth(
    vendor="Harrow Lane Grocers",
    date=date(2026, 3, 5),
    total=Decimal("12.30"),
    currency="GBP",
    tax=Decimal("2.05"),
)
RIGHT = {
    "vendor": "Harrow Lane Grocers",
    "date": "2026-03-05",
    "total": 12.3,
    "currency": "GBP",
    "tax": 2.05,
}


def test_same_seed_gives_the_same_corpus_on_every_machine() -> None:
    """The corpus of the standard seed has a pinned digest."""
    corpus = make_corpus(seeded(SEED), 200)
    assert corpus == make_corpus(seeded(SEED), 200)
    digest = hashlib.sha256("\f".join(receipt.text for receipt in corpus).encode()).hexdigest()
    assert digest[:16] == "d32f794e2fcd0b3e"


def test_other_seed_gives_another_corpus() -> None:
    """Seeds differ."""
    assert make_corpus(seeded(1), 20) != make_corpus(seeded(2), 20)


def test_corpus_has_every_shop_and_market() -> None:
    """A thousand receipts show all shops in all five markets."""
    corpus = make_corpus(seeded(SEED))
    assert len(corpus) == 1000
    assert {receipt.truth.vendor for receipt in corpus} == {vendor.name for vendor in VENDORS}
    assert set(Counter(receipt.market for receipt in corpus)) == {"gb", "us", "de", "fr", "jp"}
    assert len({receipt.id for receipt in corpus}) == 1000


def test_extractor_is_imperfect_as_designed() -> None:
    """Between 75 and 88 percent of the outputs are right, whatever the seed."""
    for seed in (SEED, 1, 2, 3):
        items = bundled(seed).items
        assert 0.75 <= sum(item.correct for item in items) / len(items) <= 0.88


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
def test_printed_total_and_tax_are_true(vendor: object) -> None:
    """An unworn receipt prints the total and the tax that its truth states."""
    assert vendor in VENDORS
    rng = seeded(7)
    for _ in range(20):
        printed = print_receipt(vendor, rng)  # type: ignore[arg-type]
        text = "\n".join(printed.lines)
        market = vendor.market  # type: ignore[attr-defined]
        assert print_amount(printed.truth.total, market) in text
        assert print_amount(printed.truth.tax, market) in text
        assert printed.truth.vendor in text


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        pytest.param({}, (), id="right"),
        pytest.param({"total": 12.31}, ("total",), id="a-cent-off"),
        pytest.param({"total": True}, ("total",), id="boolean-is-no-amount"),
        pytest.param({"date": "2026-05-03"}, ("date",), id="day-and-month-swapped"),
        pytest.param({"vendor": "Harrow Lane Gr0cers"}, ("vendor",), id="misread-name"),
        pytest.param({"currency": None, "tax": 0}, ("currency", "tax"), id="two-wrong"),
    ],
)
def test_truth_names_wrong_fields(change: dict[str, object], wrong: tuple[str, ...]) -> None:
    """Each field that differs is named, in the truth's order."""
    assert TRUTH.wrong_fields(RIGHT | change) == wrong


@pytest.mark.parametrize(
    ("market", "text"),
    [
        ("gb", "1,234.50"),
        ("us", "1,234.50"),
        ("de", "1.234,50"),
        ("fr", "1\u00a0234,50"),
        ("jp", "1,234"),
    ],
)
def test_amounts_are_printed_as_in_their_market(market: str, text: str) -> None:
    """Separators follow the market."""
    assert print_amount(Decimal("1234.5"), market) == text


@pytest.mark.parametrize(
    ("style", "text"),
    [
        ("%d/%m/%Y", "05/03/2026"),
        ("%b %d, %Y", "Mar 05, 2026"),
        ("%Y年%m月%d日", "2026年03月05日"),
        ("reiwa", "令和8年3月5日"),
    ],
)
def test_dates_are_printed_in_the_shops_style(style: str, text: str) -> None:
    """Month names are English and the era is counted right, whatever the process's locale."""
    assert print_date(date(2026, 3, 5), style) == text


def test_wear_changes_more_when_paper_is_worse() -> None:
    """A bad scan differs from the print in more lines than a clean one."""
    lines = print_receipt(VENDORS[0], seeded(3)).lines

    def changed(condition: object) -> int:
        rng = seeded(5)
        return sum(
            worn != line
            for _ in range(200)
            for worn, line in zip(wear(lines, condition, rng), lines, strict=False)  # type: ignore[arg-type]
        )

    assert changed(BAD) > 5 * changed(CLEAN)
