"""Read a field's JSON value as the type that a rule states."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from sureline.core.checks.dates import DateFormat, date_format, read_date
from sureline.core.checks.money import MoneyFormat, money_format, read_money
from sureline.core.checks.numbers import NumberFormat, number_format, read_json_number, read_number
from sureline.core.checks.paths import describe
from sureline.core.checks.reading import Read, Unreadable
from sureline.core.values.checks import FieldType, Reading

WRONG_TYPE = "wrong_type"


@dataclass(frozen=True, slots=True, kw_only=True)
class Formats:
    """The formats of one reading."""

    number: NumberFormat
    money: MoneyFormat
    date: DateFormat


def compile_formats(reading: Reading) -> Formats:
    """Return the formats of a reading. Raises PolicyError for an unknown locale or the like."""
    return Formats(
        number=number_format(reading.locale),
        money=money_format(reading),
        date=date_format(reading),
    )


def read_value(
    value: object, kind: FieldType, formats: Formats
) -> Read[Decimal] | Read[date] | Read[str] | Unreadable:
    """Read a JSON value as a number, money, a date or text.

    JSON numbers are numbers and amounts as they stand. Booleans, null, lists and objects are
    `wrong_type`, and so is a number where text or a date is meant.
    """
    number = read_json_number(value)
    if kind in (FieldType.NUMBER, FieldType.MONEY):
        if number is not None:
            return Read(value=number)
        if isinstance(value, str):
            if kind is FieldType.NUMBER:
                return read_number(value, formats.number)
            return read_money(value, formats.money)
    elif isinstance(value, str):
        return read_date(value, formats.date) if kind is FieldType.DATE else Read(value=value)
    message = f"Expected {_EXPECTED[kind]}, got {describe(value)}."
    return Unreadable(code=WRONG_TYPE, message=message)


_EXPECTED = {
    FieldType.NUMBER: "a number",
    FieldType.MONEY: "an amount of money",
    FieldType.DATE: "a date as text",
    FieldType.TEXT: "text",
}
