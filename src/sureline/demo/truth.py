"""What a generated receipt really says: known exactly, because the generator wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """The five fields of one receipt; `tax` is 0 where none is charged."""

    vendor: str
    date: date
    total: Decimal
    currency: str
    tax: Decimal

    def wrong_fields(self, output: Mapping[str, Any]) -> tuple[str, ...]:
        """Name the fields in which `output` differs; amounts are compared as exact decimals."""
        expected: dict[str, object] = {
            "vendor": self.vendor,
            "date": self.date.isoformat(),
            "total": self.total,
            "currency": self.currency,
            "tax": self.tax,
        }
        return tuple(name for name, value in expected.items() if _read(output.get(name)) != value)


def _read(value: object) -> object:
    """Turn a JSON number into the decimal that it was written as."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    return Decimal(str(value))
