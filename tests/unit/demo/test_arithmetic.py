"""The demonstration's own signal: do the figures bear the output out?"""

from __future__ import annotations

from decimal import Decimal

import pytest

from sureline.core.values.policy import SlicePolicy
from sureline.core.values.proposal import Proposal, SourceText
from sureline.core.values.signal import SignalState
from sureline.demo.arithmetic import ArithmeticSource, sums

PAID = """Oat bread   2.50
Rice   3.50
SUBTOTAL   6.00
TOTAL   £6.00
VAT 20%   1.00
CASH   10.00
CHANGE   4.00"""
GERMAN = "Tastatur   1.000,00\nKabel   190,00\nSUMME   1.190,00 €\nMwSt 19%   190,00"
US = "Nails   10.00\nTape   10.00\nSUBTOTAL   20.00\nSALES TAX 8.5%   1.70\nTOTAL   $21.70"
YEN = "珈琲   620\n茶   480\n合計   ¥1,100\n消費税 10%   100"


@pytest.mark.parametrize(
    ("text", "total", "tax", "expected"),
    [
        pytest.param(PAID, "6", "1", {"goods": True, "tax": True, "paid": True}, id="all-right"),
        pytest.param(PAID, "10", "1", {"goods": False, "tax": False}, id="cash-taken-for-total"),
        pytest.param(PAID, "6", "0", {"goods": True, "tax": False, "paid": True}, id="no-tax"),
        pytest.param(GERMAN, "1190", "190", {"goods": True, "tax": True}, id="decimal-comma"),
        pytest.param(US, "21.70", "1.70", {"goods": True, "tax": True}, id="tax-on-top"),
        pytest.param(YEN, "1100", "100", {"goods": True, "tax": True}, id="whole-yen"),
        pytest.param("TOTAL 6.00", "6", None, {}, id="nothing-to-add-up"),
    ],
)
def test_sums_are_tried(text: str, total: str, tax: str | None, expected: dict[str, bool]) -> None:
    """Goods, tax rate and change are each tried where the paper allows it."""
    assert sums(text, total=Decimal(total), tax=None if tax is None else Decimal(tax)) == expected


@pytest.mark.parametrize(
    ("output", "text", "state", "value"),
    [
        pytest.param({"total": 6.0, "tax": 1.0}, PAID, SignalState.MEASURED, 1.0, id="all"),
        pytest.param({"total": 10.0, "tax": 1.0}, PAID, SignalState.MEASURED, 0.0, id="none"),
        pytest.param({"tax": 1.0}, PAID, SignalState.NOT_APPLICABLE, None, id="no-total"),
        pytest.param({"total": True}, PAID, SignalState.NOT_APPLICABLE, None, id="boolean"),
        pytest.param({"total": 1e999}, PAID, SignalState.NOT_APPLICABLE, None, id="infinite"),
        pytest.param("text", PAID, SignalState.NOT_APPLICABLE, None, id="no-object"),
        pytest.param({"total": 6.0}, "", SignalState.NOT_APPLICABLE, None, id="no-source"),
    ],
)
async def test_signal_says_what_it_could_not_measure(
    output: object, text: str, state: SignalState, value: float | None
) -> None:
    """What cannot be added up is not applicable, never a made-up number."""
    proposal = Proposal(
        slice_key="receipts-gb",
        task="t",
        output=output,
        source=(SourceText(ref="receipt", text=text),),
    )
    signal = await ArithmeticSource().measure(proposal, SlicePolicy(key="receipts-gb"))
    assert (signal.state, signal.value) == (state, value)
