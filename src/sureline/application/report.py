"""What a calibration report shows, as one frozen value: figures first, drawing later."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sureline.core.statistics.curves import CurvePoint, Histogram
from sureline.core.statistics.reliability import Bucket


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """The result in figures: of `items` decided, `automated` acted alone, `correct` were right.

    `precision` is correct / automated, None when nothing was automated; `target` is what was
    asked for; `interval` is the two-sided 95 % interval of `precision`; `sentence` says what was
    certified, or what is missing.
    """

    items: int
    automated: int
    correct: int
    precision: float | None
    interval: tuple[float, float] | None
    target: float
    delta: float
    sentence: str

    @property
    def automation(self) -> float:
        """Return the automated share of the items, in [0, 1]."""
        return self.automated / self.items if self.items else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One slice's risk-coverage curve; `certified` is the point that the certificate allows."""

    slice_key: str
    points: tuple[CurvePoint, ...]
    certified: CurvePoint | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceRow:
    """One slice: how much it decided, its labels, and its certificate or what is missing.

    `labels` were given, `counted` of them count for a certificate.
    """

    slice_key: str
    labels: int
    counted: int
    accuracy: float
    decided: int
    automated: int
    correct: int
    threshold: float | None
    lower_bound: float | None
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteRow:
    """How many items took a route."""

    route: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasonRow:
    """How many items that went to people carried a reason; `example` is its sentence."""

    code: str
    count: int
    example: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportData:
    """Everything a report draws.

    `buckets` are those with labels; `histogram` is over all scores, labelled or not. `quality`
    pairs a measure's name with its value as text (AUROC, ECE, Brier).
    """

    title: str
    subtitle: str
    made_at: datetime
    headline: Headline
    quality: tuple[tuple[str, str], ...]
    buckets: tuple[Bucket, ...]
    histogram: Histogram
    curves: tuple[Curve, ...]
    slices: tuple[SliceRow, ...]
    routes: tuple[RouteRow, ...]
    reasons: tuple[ReasonRow, ...]
    notes: tuple[str, ...] = ()
