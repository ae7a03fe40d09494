"""A spoilt output is wrong as an agent's would be: another figure, date or name, never absurd."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.core.review.figures import figures_in, misread
from sureline.core.review.pick import Pick
from sureline.core.review.spoiling import leaves, spoilings

SOURCE = (
    "Invoice INV-0042 of 2026-03-14 from Acme Tools GmbH to Borg Ltd.\n"
    "Net 1,200.00, VAT 228.00, total 1,428.00, due 13 April 2026, 12 pieces, 19 % VAT."
)
INVOICE = {
    "supplier": "Acme Tools GmbH",
    "total": 1428.0,
    "net": 1200.5,
    "date": "2026-03-14",
    "due": "13.04.2026",
    "number": "INV-0042",
    "a_year": 2026,
    "zip": "04109",
    "pieces": 12,
    "paid": False,
    "note": "Total 1,428.00 EUR on 14.03.2026 at 14:30, due 13 April 2026",
    "lines": [{"z": 1, "a": "Bolt"}],
}


def pick_of(seed: str) -> Pick:
    def pick(what: str, of: int) -> int:
        return int.from_bytes(hashlib.sha256(f"{seed}{what}".encode()).digest()[:8], "big") % of

    return pick


def all_of(output: Any, seeds: int = 40) -> list[Any]:
    return [one for seed in range(seeds) for one in spoilings(output, [SOURCE], pick_of(f"{seed}"))]


def test_one_leaf_differs_and_all_else_is_as_it_was() -> None:
    """Keys keep their order and values their types; exactly one leaf is another."""
    for one in all_of(INVOICE):
        before, after = list(leaves(INVOICE)), list(leaves(one.output))
        assert [place for place, _ in before] == [place for place, _ in after]
        assert [type(leaf) for _, leaf in before] == [type(leaf) for _, leaf in after]
        assert sum(a != b for a, b in zip(before, after, strict=True)) == 1
        assert list(json.loads(json.dumps(one.output))) == list(INVOICE)


def test_the_ways_are_varied_by_the_draw() -> None:
    """Over draws all ways occur, and what comes first is not always of one kind or value."""
    assert {one.way for one in all_of(INVOICE)} == {
        *("other_figure", "swapped_digits", "mistyped_digit", "shifted_decimal"),
        *("changed_date", "swapped_names"),
    }
    first = [spoilings(INVOICE, [SOURCE], pick_of(f"{seed}"))[0] for seed in range(40)]
    assert len({one.way for one in first}) >= 4
    assert len({json.dumps(one.output) for one in first}) >= 20


def test_no_year_becomes_an_absurd_one() -> None:
    """Years stay within one of what they were, in figures, dates and texts alike."""
    for one in all_of(INVOICE):
        assert abs(one.output["a_year"] - 2026) <= 1
        for text in (one.output["date"], one.output["due"], one.output["note"]):
            assert "2026" in text


def test_dates_stay_dates_near_what_they_were() -> None:
    """A changed date is valid, written in the same way and at most a month and a bit away."""
    changed = {one.output["date"] for one in all_of(INVOICE)} - {INVOICE["date"]}
    assert len(changed) >= 4
    for text in changed:
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", text)
        assert 0 < abs((date.fromisoformat(text) - date(2026, 3, 14)).days) <= 31


def test_amounts_stay_near_in_size_and_form() -> None:
    """A changed amount is at most a thousand times another, and keeps its decimals."""
    for one in all_of(INVOICE):
        assert 1 < one.output["total"] < 1_000_000
        assert one.output["total"] == round(one.output["total"], 2)
        assert 0 < one.output["pieces"] < 100


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("1,428.00 EUR", ["1,428.00"]),
        ("1.428,00 EUR", ["1.428,00"]),
        ("on 2026-03-14 at 14:30", []),
        ("in 2026", []),
        ("13 April 2026", ["13"]),
        ("INV-0042", ["0042"]),
        ("19 %", ["19"]),
        ("Order 7 costs 1007 euros.", ["7", "1007"]),
    ],
    ids=["english", "german", "moments", "year", "day", "number", "share", "prose"],
)
def test_figures_are_found(text: str, figures: list[str]) -> None:
    """Figures are found whole; dates, times and years are none."""
    assert [one.text for one in figures_in(text)] == figures


@given(st.integers(0, 10**7), st.integers(0, 99), st.integers(0, 10**4))
def test_what_is_misread_is_another_figure_of_its_form(whole: int, cents: int, at: int) -> None:
    """Whatever the figure, each that is offered differs from it and is a figure as well."""
    text = f"{whole:,}.{cents:02d}"
    (figure,) = figures_in(text)
    for change in misread(figure, [], at):
        assert change.new != text
        assert re.fullmatch(r"[\d,]+\.\d\d", change.new)


def test_nothing_is_made_of_what_has_nothing_to_change() -> None:
    """Without figures, dates and names there is no surely wrong output."""
    assert spoilings({"label": "spam", "sure": True}, ["Buy now"], pick_of("a")) == []


def test_prose_keeps_its_wording() -> None:
    """In a text one thing is another wherever it stands, and the rest is word for word."""
    text = "Borg Ltd owes 228.00; the 228.00 are VAT."
    for one in all_of(text, 10):
        if one.way != "swapped_names":
            assert re.sub(r"[\d.]+", "", one.output) == re.sub(r"[\d.]+", "", text)
            assert "228.00" not in one.output
