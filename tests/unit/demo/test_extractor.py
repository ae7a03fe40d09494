"""The simple extractor: what it reads, and the mistakes that it is meant to make."""

from __future__ import annotations

import pytest

from sureline.demo.extractor import extract

CLEAN = """Harrow Lane Grocers
14 Harrow Lane, Westbury
Date: 05/03/2026 10:15

Oat bread                      2.50
Rice 1kg                       3.50

SUBTOTAL                       6.00
TOTAL                         £6.00
VAT 20%                        1.00
"""


def test_clean_receipt_is_read_right() -> None:
    """All five fields come out, with much self-confidence."""
    found = extract(CLEAN)
    assert found.output == {
        "vendor": "Harrow Lane Grocers",
        "date": "2026-03-05",
        "total": 6.0,
        "currency": "GBP",
        "tax": 1.0,
    }
    assert found.self_report == pytest.approx(0.97)


@pytest.mark.parametrize(
    ("before", "after", "field", "value"),
    [
        pytest.param("£6.00", "£6.O0", "total", 6.0, id="letter-for-digit-is-repaired"),
        pytest.param("£6.00", "£600", "total", 600.0, id="lost-point-is-believed"),
        pytest.param("£6.00", "£8.00", "total", 8.0, id="misread-digit-is-believed"),
        pytest.param("TOTAL  ", "T~~~L  ", "total", 6.0, id="smudge-takes-the-largest"),
        pytest.param("VAT 20%", "V~~ 20%", "tax", 0.0, id="no-tax-line-means-no-tax"),
        pytest.param("VAT 20%", "TOTAL SAVINGS", "total", 1.0, id="last-total-wins"),
        pytest.param(
            "Harrow Lane Gr", "Harrow Lane Cr", "vendor", "Harrow Lane Crocers", id="name"
        ),
        pytest.param("05/03/2026", "2026年3月5日", "date", "2026-03-05", id="kanji-date"),
        pytest.param("05/03/2026", "令和8年3月5日", "date", "2026-03-05", id="era-date"),
        pytest.param("05/03/2026", "Mar 05, 2026", "date", "2026-03-05", id="named-month"),
        pytest.param("05/03/2026", "05 Mar 2026", "date", "2026-03-05", id="named-month-second"),
        pytest.param("05/03/2026", "05.03.26", "date", "2026-03-05", id="short-year"),
        pytest.param("05/03/2026", "45/03/2026", "date", None, id="no-such-day"),
        pytest.param(
            "05/03/2026", "O7/03/2026", "date", "2026-03-07", id="letter-for-digit-in-date"
        ),
        pytest.param(
            "05/03/2026", "1O/03/2026", "date", "2026-03-10", id="trailing-letter-in-date"
        ),
        pytest.param("£6.00", "$6.00", "date", "2026-05-03", id="dollar-means-month-first"),
    ],
)
def test_faults_become_real_errors(before: str, after: str, field: str, value: object) -> None:
    """Each fault gives what a hurried rule gives; a field not found is left out."""
    assert extract(CLEAN.replace(before, after)).output.get(field) == value


@pytest.mark.parametrize("text", ["", "\n\n", "~~~", "\u0000", "TOTAL", "年月日"], ids=repr)
def test_anything_may_be_given(text: str) -> None:
    """Nothing on the paper makes the extractor raise."""
    assert "total" not in extract(text).output
