"""Which columns of a log hold the signals it measured itself, and what its labels mean (L10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from sureline.application.cells import is_empty, read_label, read_moment, read_share
from sureline.core.gate.composition import HISTORY, JUDGE, VERIFICATION
from sureline.core.gate.judging import REFUTED, judge_signal
from sureline.core.values.outcome import Action
from sureline.core.values.policy import SlicePolicy
from sureline.core.values.signal import Signal, SignalKind, SignalState
from sureline.core.values.verdict import Verdict
from sureline.errors import InvalidInput

PREFIX = "signal."
"""`signal.NAME` maps a column to the signal NAME."""

CONFIDENCE = "signal.judge.confidence"
"""Maps a column to how sure a judge was; `signal.judge` then says whether it agreed."""

OPTIONAL = ("label", "id", "at", "slice")

KINDS = {
    VERIFICATION: SignalKind.DETERMINISTIC,
    HISTORY: SignalKind.HISTORICAL,
    JUDGE: SignalKind.JUDGE,
    "self_evaluation": SignalKind.JUDGE,
}
"""What signals of these names rest on; any other is taken for the generator's own report."""

_IMPORTED = {"imported": True}
_REFUTED = {**_IMPORTED, "verdict": REFUTED}
_AGREES = {Action.APPROVE: True, Action.REJECT: False}


class LabelSource(StrEnum):
    """Where a log's labels come from. A model's opinion is none: it would be circular (C27)."""

    HUMAN = "human"
    """A person judged the output."""
    OUTCOME = "outcome"
    """What happened later showed it."""


class Labelled(StrEnum):
    """Which rows of a log were labelled: what its labels are a sample of."""

    REVIEWED = "reviewed"
    """Those that somebody chose to look at; such labels certify nothing."""
    ALL = "all"
    """Every one, or a random sample that the log consists of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRow:
    """One row as it was read; `at` None means now, `row_id` None that it has no own id.

    A `verdict` becomes a signal under the policy of its slice, which says what counts as firm.
    """

    slice_key: str
    signals: tuple[Signal, ...]
    label: Action | None
    at: datetime | None
    row_id: str | None
    verdict: Verdict | None = None

    def under(self, policy: SlicePolicy) -> tuple[Signal, ...]:
        """Return all signals, the verdict's included."""
        if self.verdict is None:
            return self.signals
        judged = judge_signal(self.verdict, policy)
        return (*self.signals, replace(judged, detail={**judged.detail, **_IMPORTED}))


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedSignals:
    """Columns by field: `signal.NAME`, `signal.judge.confidence`, `label`, `id`, `at`, `slice`.

    `slice_key` holds for every row where no column does. Raises InvalidInput for a field that is
    unknown or missing, and for labels that nobody vouches for.
    """

    columns: Mapping[str, str]
    slice_key: str | None = None
    label_source: LabelSource | None = None
    labelled: Labelled = Labelled.REVIEWED
    signals: Mapping[str, str] = field(init=False)
    """The signals' columns by name."""

    def __post_init__(self) -> None:
        signals = {
            name.removeprefix(PREFIX): column
            for name, column in self.columns.items()
            if name.startswith(PREFIX) and name != CONFIDENCE
        }
        object.__setattr__(self, "signals", signals)
        for name in self.columns:
            is_signal = name.startswith(PREFIX) and name.removeprefix(PREFIX).isidentifier()
            if name not in (*OPTIONAL, CONFIDENCE) and not is_signal:
                fields = ", ".join(["signal.NAME", CONFIDENCE, *OPTIONAL])
                raise InvalidInput(f"no field {name!r} to map to; beside signals, map {fields}")
        if not self.signals:
            raise InvalidInput("no column is mapped to a signal")
        if CONFIDENCE in self.columns and JUDGE not in self.signals:
            raise InvalidInput(f"{CONFIDENCE} needs signal.judge: the column of what it said")
        if (self.slice_key is None) == ("slice" not in self.columns):
            raise InvalidInput("give the slice either by a column or for all rows")
        if "label" in self.columns and self.label_source is None:
            raise InvalidInput(
                "say where the labels come from: human (a person judged the output) or outcome "
                "(what happened later showed it)",
                field="label_source",
            )
        if self.labelled is Labelled.ALL and "label" not in self.columns:
            raise InvalidInput("all rows cannot be labelled without a label column")

    @property
    def names(self) -> tuple[str, ...]:
        """Return the columns to read."""
        return tuple(dict.fromkeys(self.columns.values()))

    def content(self, cells: Mapping[str, Any]) -> list[Any]:
        """Return what makes the row this row: all that is mapped but its label."""
        return [_plain(cells[column]) for name, column in self.columns.items() if name != "label"]

    def read(self, cells: Mapping[str, Any], now: datetime) -> PastRow:
        """Return a row's values. Raises InvalidInput naming the column and what was expected."""
        verdict = self._verdict(cells)
        return PastRow(
            slice_key=self.slice_key or self._text(cells, "slice"),
            signals=tuple(
                _signal(name, read_share(cells[column], column))
                for name, column in self.signals.items()
                if name != JUDGE or CONFIDENCE not in self.columns
            )
            + self._unjudged(verdict),
            verdict=verdict,
            label=self._label(cells),
            at=read_moment(cells[self.columns["at"]], self.columns["at"], now)
            if "at" in self.columns
            else None,
            row_id=self._text(cells, "id") if "id" in self.columns else None,
        )

    def _verdict(self, cells: Mapping[str, Any]) -> Verdict | None:
        """Return what a judge said, None where no column says how sure it was, or none said it."""
        column = self.columns.get(CONFIDENCE)
        if column is None:
            return None
        agrees = read_label(cells[self.signals[JUDGE]], self.signals[JUDGE])
        confidence = read_share(cells[column], column)
        if agrees is None:
            return None
        if confidence is None:
            raise InvalidInput("expected a number from 0 to 1", field=f"column {column!r}")
        return Verdict(agrees=_AGREES[agrees], confidence=confidence)

    def _unjudged(self, verdict: Verdict | None) -> tuple[Signal, ...]:
        """Return the signal of a judge that was not asked about a row, where others have one."""
        if verdict is not None or CONFIDENCE not in self.columns:
            return ()
        return (Signal.not_sampled(JUDGE, KINDS[JUDGE]),)

    def _label(self, cells: Mapping[str, Any]) -> Action | None:
        column = self.columns.get("label")
        if column is None:
            return None
        label = read_label(cells[column], column)
        if label is None and self.labelled is Labelled.ALL:
            raise InvalidInput(
                "expected a label, because all rows are said to be labelled",
                field=f"column {column!r}",
            )
        return label

    def _text(self, cells: Mapping[str, Any], name: str) -> str:
        column = self.columns[name]
        if is_empty(cells[column]):
            raise InvalidInput("expected a text, got nothing", field=f"column {column!r}")
        return str(cells[column])


def missing_signal(needed: Sequence[str], mapped: Mapping[str, str]) -> str | None:
    """Return the first of the signals that a policy counts on and no column holds."""
    return next((name for name in needed if name not in mapped), None)


def _signal(name: str, value: float | None) -> Signal:
    """Make a signal of a cell; an empty one was not measured, which never helps an output."""
    kind = KINDS.get(name, SignalKind.SELF_REPORT)
    if value is None:
        if name == JUDGE:
            return Signal.not_sampled(name, kind)
        return Signal.failed(name, kind, "not_given", detail=_IMPORTED)
    # A judge's zero always means a firm refutation; see core/gate/judging.py.
    refuted = name == JUDGE and value == 0.0
    return Signal(
        name=name,
        kind=kind,
        state=SignalState.MEASURED,
        value=value,
        detail=_REFUTED if refuted else _IMPORTED,
    )


def _plain(value: Any) -> Any:
    """Return a cell as JSON can say it."""
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
