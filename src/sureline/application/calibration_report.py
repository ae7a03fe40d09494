"""The calibration report as one frozen value: figures first, drawing later (L1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import Any

from sureline.application.label_precision import LabelPrecision
from sureline.application.mistakes import Mistakes
from sureline.application.rejected_clusters import RejectedClusters
from sureline.application.report import Curve
from sureline.application.report_words import reviewed_sentence
from sureline.application.route_rates import RouteRates
from sureline.application.watch import SliceWatch
from sureline.core.learning.levers import Lever
from sureline.core.learning.offers import Offer
from sureline.core.learning.opinion_facts import OpinionFacts, OpinionVerdict
from sureline.core.learning.slice_facts import Band, Share
from sureline.core.learning.suggestions import Advice, Suggestion
from sureline.core.statistics.brier_interval import BrierScore, brier_score
from sureline.core.statistics.curves import Histogram
from sureline.core.statistics.noisy_labels import CorrectedPrecision
from sureline.core.statistics.reliability import Reliability, reliability
from sureline.core.statistics.smooth_ece import smooth_ece
from sureline.core.statistics.tally import Tally
from sureline.core.values.mission_kind import MISSION_SLICE

STANDING_NOTES = (
    "Near-unanimous approval justifies a looser threshold only where reviewers are known to notice "
    "at least 80 % of planted errors, with 95 % confidence: unanimity is also what not looking "
    "looks like.",
)
"""What every report says at its end."""

TABLES_LEFT_OUT = frozenset({"tables"})
"""Parts of values that reports do not show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """What scores are worth on some labels: by bucket, and summed up.

    Errors are in [0, 1] and None without labels; `brier` has its 95 % interval.
    """

    table: Reliability
    brier: BrierScore | None
    smooth_ece: float | None

    @classmethod
    def of(cls, tally: Tally) -> Quality:
        """Measure labelled scores."""
        return cls(table=reliability(tally), brier=brier_score(tally), smooth_ece=smooth_ece(tally))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """All composites, labelled or not: those since `since` (a Monday) and those before it."""

    since: date
    recent: Histogram
    reference: Histogram


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceReport:
    """All that the report says of one slice.

    `advice` is the most urgent of `suggestions`, `command` what carries it out (None: it takes
    thought), `offers` what can be done about each of them, and about the abstain floor. `held` is
    what is automated now, `sentence` says what the labels prove or lack. `before` is the composite
    on all labels that are a fair sample, `after` the calibrated value on labels that the map has
    not seen, None where there is no map. `right` counts correct labels of that sample, `approved`
    people's answers to drafts; `reviewed` is what these amount to where people miss errors,
    `precision` that of what acts or could act alone, with and without the errors that are missed;
    `labels` counts by origin. `opinions` is what the labels say of judges and evaluators. `watch`
    is None where nobody watched. `unplanted` says why no error could be planted where one belonged,
    `left_out` how many labels the slice has besides those that count, None for none.
    """

    slice_key: str
    mode: str
    target: float
    delta: float
    advice: Advice
    command: str | None
    suggestions: tuple[Suggestion, ...]
    offers: tuple[Offer, ...]
    levers: tuple[Lever, ...]
    held: Band | None
    held_by: str
    sentence: str
    certified: bool
    labels_missing: int | None
    before: Quality
    after: Quality | None
    curve: Curve
    scores: Scores
    labels: Mapping[str, int]
    right: Share
    approved: Share
    reviewed: CorrectedPrecision
    precision: LabelPrecision
    routes: RouteRates
    mistakes: Mistakes
    clusters: RejectedClusters
    opinions: tuple[OpinionFacts, ...]
    watch: SliceWatch | None
    unplanted: str | None = None
    left_out: str | None = None

    @property
    def reviewed_sentence(self) -> str:
        """Return what people's answers state, and what they amount to."""
        plants = not self.slice_key.startswith(MISSION_SLICE)  # a mission cannot be made up
        said = reviewed_sentence(self.reviewed, pooled=self.precision.pooled, plants=plants)
        return " ".join(one for one in (said, self.left_out, self.unplanted) if one)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationReport:
    """What the labels and decisions of one workspace say at one moment.

    `calibration` is the one reported on, `active` the one in force (None: none).
    """

    at: datetime
    workspace: str
    policy: str
    calibration: str
    active: str | None
    slices: tuple[SliceReport, ...]
    routes: RouteRates
    notes: tuple[str, ...]

    @property
    def news(self) -> tuple[str, ...]:
        """Return the notes that explain the rest, such as a change of model: they come first."""
        return tuple(note for note in self.notes if note not in STANDING_NOTES)

    def advised(self, advice: Advice) -> tuple[SliceReport, ...]:
        """Return the slices that need this."""
        return tuple(one for one in self.slices if one.advice is advice)

    def opinions(self, verdict: OpinionVerdict) -> tuple[tuple[str, OpinionFacts], ...]:
        """Return the opinions of which labels say this, each with its slice."""
        return tuple(
            (one.slice_key, found)
            for one in self.slices
            for found in one.opinions
            if found.verdict is verdict
        )

    @property
    def misleading(self) -> tuple[tuple[str, OpinionFacts], ...]:
        """Return the opinions whose agreement goes with errors, each with its slice."""
        return self.opinions(OpinionVerdict.MISLEADS)


def report_json(report: CalibrationReport) -> dict[str, Any]:
    """Return the same numbers as JSON values; moments and dates as ISO 8601."""
    found: dict[str, Any] = _plain(asdict(report))
    for shown, one in zip(found["slices"], report.slices, strict=True):
        shown["routes"] = _rates(one.routes)
    found["routes"] = _rates(report.routes)
    found["consistent_but_wrong"] = [
        {"slice_key": key, "signal": one.signal, "sentence": one.sentence}
        for key, one in report.misleading
    ]
    return found


def _rates(rates: RouteRates) -> dict[str, Any]:
    return {
        name: [
            {
                "first": period.first.isoformat(),
                "routes": dict(period.routes),
                "decisions": period.decisions,
                "automation": period.automation,
                "low": period.low,
            }
            for period in periods
        ]
        for name, periods in (("weeks", rates.weeks), ("months", rates.months))
    }


def _plain(value: Any) -> Any:
    """Return a value of dictionaries, sequences, dates and texts as JSON has it."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items() if key not in TABLES_LEFT_OUT}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(one) for one in value]
    return value
