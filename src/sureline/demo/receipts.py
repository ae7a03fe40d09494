"""Prints one clean receipt of a shop, together with the truth about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from random import Random

from sureline.demo.truth import Truth
from sureline.demo.vendors import WORDING, Vendor, Wording

FIRST_DAY = date(2025, 9, 1)
DAYS = 270
_CENT = Decimal("0.01")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_WIDTH = 34


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """A receipt before wear: its lines and what is true of it."""

    lines: tuple[str, ...]
    truth: Truth


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sale:
    """What was bought: printed lines (name, price) and the sums in the shop's currency.

    `goods` is before the discount (0 for none); `total` is what was due.
    """

    lines: tuple[tuple[str, Decimal], ...]
    goods: Decimal
    discount: Decimal
    tax: Decimal
    total: Decimal


def print_receipt(vendor: Vendor, rng: Random) -> Printed:
    """Draw a sale at `vendor` and print it in the shop's layout."""
    day = FIRST_DAY + timedelta(days=rng.randrange(DAYS))
    sale = _sell(vendor, rng)
    wording = WORDING[vendor.market]
    footer = rng.random() < vendor.footer
    head = _head(vendor, wording, day, footer=footer, rng=rng)
    body = [_row(vendor, name, price) for name, price in sale.lines]
    tail = [wording.thanks, *([vendor.name] if footer else [])]
    lines = [*head, "", *body, "", *_sums(vendor, wording, sale, rng), "", *tail]
    truth = Truth(
        vendor=vendor.name, date=day, total=sale.total, currency=vendor.currency, tax=sale.tax
    )
    return Printed(lines=tuple(lines), truth=truth)


def _sell(vendor: Vendor, rng: Random) -> _Sale:
    """Draw two to six items and add them up as the shop's till does."""
    unit = Decimal(1) if vendor.currency == "JPY" else _CENT
    scale = Decimal(1) if vendor.currency == "JPY" else Decimal(100)
    chosen = rng.sample(vendor.items, rng.randint(2, min(6, len(vendor.items))))
    lines = tuple((name, Decimal(rng.randint(low, high)) / scale) for name, low, high in chosen)
    goods = sum((price for _, price in lines), Decimal(0))
    discount = (goods / 10).quantize(unit) if rng.random() < vendor.discount else Decimal(0)
    due = goods - discount
    base = 100 + vendor.tax_rate if vendor.tax_included else Decimal(100)
    tax = (due * vendor.tax_rate / base).quantize(unit, ROUND_HALF_UP)
    total = due if vendor.tax_included else due + tax
    return _Sale(lines=lines, goods=goods, discount=discount, tax=tax, total=total)


def _head(vendor: Vendor, wording: Wording, day: date, *, footer: bool, rng: Random) -> list[str]:
    """Name, address, number and date, the number above or below the date."""
    top = ["CUSTOMER COPY"] if footer else [vendor.name]
    number = f"No. {rng.randint(1000, 99999)}"
    clock = f"{rng.randint(8, 20):02d}:{rng.randint(0, 59):02d}"
    dated = [f"{wording.date} {print_date(day, vendor.date_style)} {clock}"]
    if rng.random() < vendor.ordered:
        before = day - timedelta(days=rng.randint(1, 9))
        dated.insert(0, f"{wording.ordered} {print_date(before, vendor.date_style)}")
    middle = [number, *dated] if rng.random() < 0.5 else [*dated, number]
    return [*top, vendor.address, *middle]


def _sums(vendor: Vendor, wording: Wording, sale: _Sale, rng: Random) -> list[str]:
    """Subtotal, tax, total, what was paid, and the savings that some shops boast of."""
    rate = print_rate(vendor)
    tax_line = _row(vendor, wording.tax.format(rate=rate), sale.tax)
    total_line = _row(vendor, vendor.total_word or wording.total, sale.total, marked=True)
    middle = [total_line, tax_line] if vendor.tax_included else [tax_line, total_line]
    lines = [_row(vendor, wording.subtotal, sale.goods)]
    if sale.discount:
        lines.append(_row(vendor, wording.discount, -sale.discount))
    lines.extend(middle)
    if rng.random() < vendor.cash:
        paid = _paid(sale.total, vendor, rng)
        lines.append(_row(vendor, wording.cash, paid))
        lines.append(_row(vendor, wording.change, paid - sale.total))
    if rng.random() < vendor.savings:
        lines.append(_row(vendor, "TOTAL SAVINGS", Decimal(rng.randint(40, 390)) / 100))
    if rng.random() < 0.3:
        lines.append(f"{wording.count}: {len(sale.lines)}")
    return lines


def _paid(total: Decimal, vendor: Vendor, rng: Random) -> Decimal:
    """Round what is due up to notes."""
    note = (
        Decimal(rng.choice((500, 1000)))
        if vendor.currency == "JPY"
        else Decimal(rng.choice((5, 10, 20)))
    )
    return (total // note + 1) * note


def _row(vendor: Vendor, label: str, amount: Decimal, *, marked: bool = False) -> str:
    """Set a label and an amount at the two ends of a line."""
    text = print_amount(amount, vendor.market)
    if marked:
        euro = vendor.currency == "EUR"
        text = f"{text} {vendor.symbol}" if euro else f"{vendor.symbol}{text}"
    return f"{label} {text:>{max(1, _WIDTH - len(label))}}"


def print_amount(amount: Decimal, market: str) -> str:
    """Write an amount as people of `market` do: 1,234.56, 1.234,56, 1 234,56 or 1,234."""
    text = f"{amount:,.0f}" if market == "jp" else f"{amount:,.2f}"
    if market == "de":
        return text.translate(str.maketrans(",.", ".,"))
    if market == "fr":
        return text.replace(",", "\u00a0").replace(".", ",")
    return text


def print_rate(vendor: Vendor) -> str:
    """Write the shop's tax rate with its market's decimal mark."""
    text = str(vendor.tax_rate)
    return text.replace(".", ",") if vendor.market in {"de", "fr"} else text


def print_date(day: date, style: str) -> str:
    """Write a date in the shop's style; months are English whatever the process's locale is."""
    if style == "reiwa":
        return f"令和{day.year - 2018}年{day.month}月{day.day}日"
    return day.strftime(style.replace("%b", _MONTHS[day.month - 1]))
