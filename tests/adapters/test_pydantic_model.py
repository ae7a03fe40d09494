"""Pydantic models as validators."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from pydantic import BaseModel, Field

from sureline.adapters.pydantic_model import validator_for_model


class Line(BaseModel):
    price: Decimal


class Invoice(BaseModel):
    amount: Decimal = Field(gt=0)
    tax_rate: float
    due_date: date
    lines: list[Line] = []
    quantity: int = 0
    renamed: Decimal | None = Field(None, alias="Renamed")


GOOD = {"amount": 1, "tax_rate": 0.1, "due_date": "2026-06-15"}
VALIDATE = validator_for_model(Invoice)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        pytest.param({}, None, id="good"),
        pytest.param({"amount": "12.50"}, None, id="decimal-text"),
        pytest.param({"amount": 9007199254740995}, None, id="S18"),
        pytest.param({"amount": True}, "amount", id="S01"),
        pytest.param({"tax_rate": True}, "tax_rate", id="S01-float"),
        pytest.param({"quantity": True}, "quantity", id="S01-integer"),
        pytest.param({"quantity": "5"}, "quantity", id="coercion"),
        pytest.param({"amount": "12_000"}, "amount", id="S02"),
        pytest.param({"amount": "１２"}, "amount", id="full-width"),
        pytest.param({"amount": "1e3"}, "amount", id="exponent"),
        pytest.param({"amount": "Infinity"}, "amount", id="S15"),
        pytest.param({"lines": [{"price": "1"}, {"price": "1_0"}]}, "lines[1].price", id="nested"),
        pytest.param({"Renamed": "1_0"}, "Renamed", id="alias"),
        pytest.param({"due_date": "2026-02-30"}, "due_date", id="date"),
    ],
)
def test_models_are_strict(changes: dict[str, object], field: str | None) -> None:
    """No coercion, no boolean as a number, no number that only one release would take."""
    found = VALIDATE({**GOOD, **changes})
    assert [one.field for one in found] == ([] if field is None else [field])
    assert all(one.fatal and one.code.startswith("model_") for one in found)


@pytest.mark.parametrize("output", [[], "x", None], ids=["list", "text", "null"])
def test_what_is_no_object_is_no_model(output: object) -> None:
    """Another JSON value is a violation, not an exception."""
    assert [one.fatal for one in VALIDATE(output)] == [True]
