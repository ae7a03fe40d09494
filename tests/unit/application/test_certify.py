"""Certifying a table without a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from sureline.application.certify import LabelledColumns, SliceResult, certify_table
from sureline.application.ports.tables import Chunk
from sureline.core.statistics.certificate import Demand
from sureline.core.values.certificate import Certificate, ErrorRate, Uncertified
from sureline.errors import InvalidInput

NOW = datetime(2026, 5, 1, tzinfo=UTC)


class FakeTable:
    """A table in memory, read in chunks of fifty rows."""

    name = "labels.csv"
    unit = "line"

    def __init__(self, **columns: Sequence[Any]) -> None:
        self._columns = columns

    def chunks(
        self, columns: Sequence[str] | None, where: Sequence[tuple[str, str]] = ()
    ) -> Iterator[Chunk]:
        """Yield the columns; conditions are the reader's business."""
        assert columns is not None
        assert not where
        rows = len(next(iter(self._columns.values())))
        for start in range(0, rows, 50):
            part = {name: self._columns[name][start : start + 50] for name in columns}
            yield Chunk(places=range(start + 2, min(start + 50, rows) + 2), columns=part)


def certified(table: FakeTable, slice_key: str | None = None, **demand: Any) -> list[SliceResult]:
    """Certify the columns score and label."""
    columns = LabelledColumns(score="score", label="label", slice_key=slice_key)
    return certify_table(table, columns, demand=Demand(**demand), now=NOW)


def test_a_table_is_one_slice_unless_a_column_says_otherwise() -> None:
    """Without a slice column all rows are certified together."""
    (found,) = certified(FakeTable(score=[0.9] * 80, label=[1] * 80))
    assert found.slice_key == "all"
    assert found.certified
    assert found.status == "certified"
    assert isinstance(found.result, Certificate)
    assert found.result.issued_at == NOW
    assert (found.result.threshold, found.result.in_band) == (0.9, 80)


def test_slices_are_certified_by_themselves() -> None:
    """Each slice has its own result, in the order of their names."""
    table = FakeTable(
        score=[0.9] * 180, label=[1] * 80 + [0, 1] * 50, kind=["b"] * 80 + ["a"] * 100
    )
    first, second = certified(table, "kind")
    assert (first.slice_key, first.status) == ("a", "no_certifiable_threshold")
    assert (second.slice_key, second.status) == ("b", "certified")
    assert isinstance(first.result, Uncertified)


def test_a_family_of_slices_shares_the_error() -> None:
    """With the family rate, delta is divided by the number of slices in the table."""
    table = FakeTable(score=[0.9] * 200, label=[1] * 200, kind=["a", "b"] * 100)
    for found in certified(table, "kind", error_rate=ErrorRate.FAMILY):
        assert isinstance(found.result, Certificate)
        assert (found.result.delta, found.result.family_size) == (0.025, 2)


def test_naive_rules_stand_beside_every_result() -> None:
    """What the naive rules would do is shown, labelled as naive."""
    (found,) = certified(FakeTable(score=[0.9] * 20 + [0.5] * 5, label=[1] * 20 + [0] * 5))
    assert [naive.rule.value for naive in found.naive] == [
        "naive_running_precision",
        "naive_largest_band",
    ]
    assert not found.certified
    assert found.naive[0].threshold == 0.9


@pytest.mark.parametrize(
    ("score", "label"),
    [
        pytest.param("0.9", "1", id="text"),
        pytest.param(" .9 ", "TRUE", id="text-with-space"),
        pytest.param("9e-1", "1.0", id="exponent"),
        pytest.param(0.9, True, id="json"),
        pytest.param(1, 1, id="whole"),
    ],
)
def test_usual_ways_to_write_scores_and_labels_are_read(score: Any, label: Any) -> None:
    """Texts, numbers and truth values from the three formats mean the same."""
    (found,) = certified(FakeTable(score=[score] * 60, label=[label] * 60))
    assert found.certified


@pytest.mark.parametrize(
    ("score", "label", "message"),
    [
        pytest.param("high", "1", "'score': expected a number from 0 to 1, got 'high'", id="word"),
        pytest.param("", "1", "'score': .*got nothing", id="empty-score"),
        pytest.param(None, 1, "'score': .*got nothing", id="null-score"),
        pytest.param("nan", "1", "'score': .*'nan'", id="C26-nan-text"),
        pytest.param(float("nan"), 1, "'score': .*nan", id="C26-nan"),
        pytest.param(float("inf"), 1, "'score': .*inf", id="C26-inf"),
        pytest.param("1e400", "1", "'score': .*1e400", id="overflow"),
        pytest.param("0_1", "1", "'score': .*0_1", id="underscore"),
        pytest.param("٠.٩", "1", "'score'", id="other-digits"),
        pytest.param("1.7", "1", "'score': .*1.7", id="C26-above-one"),
        pytest.param(-1, 1, "'score': .*-1", id="C26-negative"),
        pytest.param(True, 1, "'score': .*True", id="truth-value-as-score"),
        pytest.param("0.9", "2", "'label': expected 0, 1, true or false, got '2'", id="two"),
        pytest.param("0.9", "yes", "'label': .*'yes'", id="yes"),
        pytest.param("0.9", "", "'label': .*got nothing", id="empty-label"),
        pytest.param(0.9, None, "'label': .*got nothing", id="null-label"),
        pytest.param(0.9, 0.5, "'label': .*0.5", id="half"),
        pytest.param(0.9, "x" * 99, r"'label': .*\.\.\.", id="long"),
    ],
)
def test_what_cannot_be_read_is_named(score: Any, label: Any, message: str) -> None:
    """A bad value names file, line, column and what was expected; nothing is skipped."""
    table = FakeTable(score=[0.5] * 60 + [score], label=[1] * 60 + [label])
    with pytest.raises(InvalidInput, match=f"labels.csv, line 62, column {message}"):
        certified(table)


@pytest.mark.parametrize("name", [None, ""])
def test_a_row_without_a_slice_is_an_error(name: str | None) -> None:
    """A missing slice is not a slice of its own."""
    table = FakeTable(score=[0.5], label=[1], kind=[name])
    with pytest.raises(InvalidInput, match="line 2, column 'kind': expected the name of a slice"):
        certified(table, "kind")
