"""Strict readers of numbers, money and dates."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from sureline.core.checks.dates import date_format, find_dates, read_date
from sureline.core.checks.money import money_format, read_money
from sureline.core.checks.numbers import number_format, read_number
from sureline.core.checks.reading import Read
from sureline.core.checks.values import compile_formats
from sureline.core.values.checks import Reading
from sureline.errors import PolicyError


@pytest.mark.parametrize(
    ("locale", "text", "expected"),
    [
        ("en", "12,000", "12000"),
        ("en", "１２，０００", "12000"),
        ("en", "0.10", "0.10"),
        ("en", "−5", "-5"),
        ("en", "1,23", None),
        ("en", "12,34,567", None),
        ("en_IN", "12,34,567", "1234567"),
        ("hi", "123,456", None),
        ("de", "1.234.567,89", "1234567.89"),
        ("de", "1234,5", "1234.5"),
        ("de_CH", "1’234.50", "1234.50"),
        ("de_CH", "1'000'000.00", "1000000.00"),
        ("de_CH", "1000000'000.00", None),
        ("ar", "١٢٣٤٫٥", "1234.5"),
        ("en", "1e5", None),
        ("en", "007", None),
        ("en", ".5", None),
        ("en", "5.", None),
        ("en", "10²", None),
        ("en", "1_000", None),
        ("en", "--5", None),
        ("en", "NaN", None),
        ("en", "", None),
        ("en", "9" * 500, None),
    ],
)
def test_numbers(locale: str, text: str, expected: str | None) -> None:
    """A number has one reading in its locale, or none."""
    read = read_number(text, number_format(locale))
    assert (str(read.value) if isinstance(read, Read) else None) == expected


@pytest.mark.parametrize(
    ("settings", "text", "expected"),
    [
        (Reading(), "¥12,000", ("12000", None)),
        (Reading(currency="JPY"), "¥12,000", ("12000", "JPY")),
        (Reading(locale="ja"), "￥１２，０００", ("12000", None)),
        (Reading(locale="ja"), "12,000円", ("12000", "JPY")),
        (Reading(locale="de"), "1.234,56 €", ("1234.56", "EUR")),
        (Reading(locale="fr"), "7 412,90 EUR", ("7412.90", "EUR")),
        (Reading(), "-$5.00", ("-5.00", None)),
        (Reading(), "RM9.00", ("9.00", "MYR")),
        (Reading(), "USD 5 USD", "unreadable"),
        (Reading(), "-$-5", "unreadable"),
        (Reading(), "$", "unreadable"),
        (Reading(), "5 bananas", "unreadable"),
        (Reading(currency="EUR"), "$5", "wrong_currency"),
    ],
)
def test_money(settings: Reading, text: str, expected: tuple[str, str | None] | str) -> None:
    """An amount is a number with at most one currency, which must be the stated one."""
    read = read_money(text, money_format(settings))
    got = (str(read.value), read.currency) if isinstance(read, Read) else read.code
    assert got == expected


@pytest.mark.parametrize(
    ("settings", "text", "expected"),
    [
        (Reading(date_order="DMY"), "2026-03-07", date(2026, 3, 7)),
        (Reading(date_order="DMY"), "03/04/2026", date(2026, 4, 3)),
        (Reading(date_order="MDY"), "03/04/2026", date(2026, 3, 4)),
        (Reading(date_order="YMD"), "2026/6/5", date(2026, 6, 5)),
        (Reading(date_order="YMD"), "03/04/2026", "unreadable"),
        (Reading(date_order="DMY"), "03/04/26", "ambiguous"),
        (Reading(date_order="DMY"), "15/06-2026", "unreadable"),
        (Reading(), "25/12/2026", "ambiguous"),
        (Reading(), "2026-02-30", "unreadable"),
        (Reading(), "June 2026", "unreadable"),
        (Reading(), "2026-06-15T10:00:00Z", "unreadable"),
        (Reading(), "15 June 2026", date(2026, 6, 15)),
        (Reading(), "June 15th, 2026", date(2026, 6, 15)),
        (Reading(locale="de"), "15. März 2026", date(2026, 3, 15)),
        (Reading(locale="fr"), "1er févr. 2026", date(2026, 2, 1)),
        (Reading(locale="es"), "3 de junio de 2026", date(2026, 6, 3)),
        (Reading(locale="ja"), "２０２６年６月１５日", date(2026, 6, 15)),
        (Reading(locale="ja", japanese_era=True), "令和8年6月15日", date(2026, 6, 15)),
        (Reading(locale="ja", japanese_era=True), "昭和64年1月7日", date(1989, 1, 7)),
        (Reading(locale="ja", japanese_era=True), "令和元年5月1日", date(2019, 5, 1)),
        (Reading(locale="ja", japanese_era=True), "令和元年4月30日", "unreadable"),
        (Reading(locale="ja"), "令和8年6月15日", "unreadable"),
    ],
)
def test_dates(settings: Reading, text: str, expected: date | str) -> None:
    """A date has one reading by ISO, the stated order or a month's name, or none."""
    read = read_date(text, date_format(settings))
    assert (read.value if isinstance(read, Read) else read.code) == expected


def test_dates_in_a_text_are_whole() -> None:
    """A part of a longer run of digits is no date."""
    text = "due 2026-06-15T10:00 or 16 June 2026; not 1.2.2026.3, x2026-01-01 or 2026-07-01-5"
    found = set(find_dates(text, date_format(Reading(date_order="DMY"))))
    assert found == {date(2026, 6, 15), date(2026, 6, 16)}


def test_folding_is_noted() -> None:
    """Digits of another script are read and the reading says so."""
    assert read_number("１２", number_format("en")) == Read(value=Decimal(12), notes=("folded",))


@pytest.mark.parametrize(
    "settings",
    [Reading(locale="xx_YY"), Reading(date_order="YDM"), Reading(currency="XYZ1")],
    ids=["locale", "order", "currency"],
)
def test_an_unknown_reading_is_a_policy_error(settings: Reading) -> None:
    """A locale, order or currency that does not exist is refused at load."""
    with pytest.raises(PolicyError, match="reading"):
        compile_formats(settings)
