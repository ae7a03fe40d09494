"""Certify thresholds from a table of scores and labels, without a store."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

import numpy as np

from sureline.application.ports.tables import Table
from sureline.core.statistics.certificate import Demand, Provenance, certify_slices
from sureline.core.statistics.naive import NaiveThreshold, largest_band, running_precision
from sureline.core.statistics.tally import Tally, tally_labels
from sureline.core.values.certificate import Certificate, Uncertified
from sureline.errors import InvalidInput

WHOLE = "all"
"""Slice of a table without a slice column."""
UNBOUND = "unbound"
"""Policy and measurement of a certificate that comes from a bare table."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_LABELS = {"0": False, "1": True, "false": False, "true": True, "0.0": False, "1.0": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledColumns:
    """Which columns hold the score, the label and, if there is one, the slice."""

    score: str
    label: str
    slice_key: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Return the columns to read."""
        known = (self.score, self.label)
        return known if self.slice_key is None else (*known, self.slice_key)


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceResult:
    """One slice's certificate, or why it has none, beside what naive rules would have done."""

    slice_key: str
    labels: int
    result: Certificate | Uncertified
    naive: tuple[NaiveThreshold, ...]

    @property
    def certified(self) -> bool:
        """Tell whether there is a certificate."""
        return isinstance(self.result, Certificate)

    @property
    def status(self) -> str:
        """Return `certified`, or the reason why not."""
        return "certified" if isinstance(self.result, Certificate) else self.result.reason.value


@dataclass(slots=True)
class _Labels:
    """Labels of one slice, nine bytes each, so that a large file fits."""

    scores: array[float] = field(default_factory=lambda: array("d"))
    labels: bytearray = field(default_factory=bytearray)

    def tally(self) -> Tally:
        """Count them."""
        return tally_labels(np.asarray(self.scores), np.frombuffer(self.labels, np.bool_))


def certify_table(
    table: Table,
    columns: LabelledColumns,
    *,
    where: Sequence[tuple[str, str]] = (),
    demand: Demand,
    now: datetime,
) -> list[SliceResult]:
    """Return a result per slice, sorted by slice; a table without a slice column is one slice.

    Raises InvalidInput naming file, line or row, column and what was expected where a score is
    not a number from 0 to 1 or a label is not 0, 1, true or false. Nothing is skipped.
    """
    tallies = _tallies(table, columns, where)
    provenance = Provenance(
        workspace="default", policy_hash=UNBOUND, measurement_hash=UNBOUND, issued_at=now
    )
    results = certify_slices(tallies, demand=demand, provenance=provenance)
    return [
        SliceResult(
            slice_key=slice_key,
            labels=tallies[slice_key].n,
            result=result,
            naive=(
                running_precision(tallies[slice_key], demand.target),
                largest_band(tallies[slice_key], demand.target),
            ),
        )
        for slice_key, result in results.items()
    ]


def _tallies(
    table: Table, columns: LabelledColumns, where: Sequence[tuple[str, str]]
) -> dict[str, Tally]:
    slices: dict[str, _Labels] = {}
    for slice_key, score, label in _rows(table, columns, where):
        labels = slices.setdefault(slice_key, _Labels())
        labels.scores.append(score)
        labels.labels.append(label)
    return {key: slices[key].tally() for key in sorted(slices)}


def _rows(
    table: Table, columns: LabelledColumns, where: Sequence[tuple[str, str]]
) -> Iterator[tuple[str, float, bool]]:
    for chunk in table.chunks(columns.names, where):
        scores, labels = chunk.columns[columns.score], chunk.columns[columns.label]
        keys = None if columns.slice_key is None else chunk.columns[columns.slice_key]
        for i, place in enumerate(chunk.places):
            at = f"{table.name}, {table.unit} {place}"
            yield (
                WHOLE if keys is None else _slice(keys[i], at, columns.slice_key),
                _score(scores[i], at, columns.score),
                _label(labels[i], at, columns.label),
            )


def _slice(value: Any, at: str, column: str | None) -> str:
    if value is None or str(value) == "":
        raise InvalidInput(f"{at}, column {column!r}: expected the name of a slice, got nothing")
    return str(value)


def _score(value: Any, at: str, column: str) -> float:
    number = value
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        number = float(value)
    if (
        isinstance(number, int | float | Decimal)
        and not isinstance(number, bool)
        and 0 <= number <= 1
    ):
        return float(number)
    raise InvalidInput(
        f"{at}, column {column!r}: expected a number from 0 to 1, got {_shown(value)}"
    )


def _label(value: Any, at: str, column: str) -> bool:
    label = _LABELS.get(str(value).strip().lower())
    if label is None:
        raise InvalidInput(
            f"{at}, column {column!r}: expected 0, 1, true or false, got {_shown(value)}"
        )
    return label


def _shown(value: Any) -> str:
    if value is None or value == "":
        return "nothing"
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
