"""Calibrate one measurement's slices from counted labels: maps, certificates, reliability.

What is fitted and what is certified must not look at the same labels where the fit decides the
order of the scores. A single rising map keeps the order, so with it a threshold is certified on
the composite, on all labels. Where judged and unjudged outputs each have a map, the two maps
together decide the order: they are fitted on one fold and the threshold, on the calibrated
scale, is certified on the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sureline.core.statistics.bins import BINS, bins_of, scores_of
from sureline.core.statistics.calibration import CalibrationMap, Unfitted
from sureline.core.statistics.certificate import Demand, Provenance, certify
from sureline.core.statistics.curves import CurvePoint, risk_coverage
from sureline.core.statistics.hierarchical import SliceMap, fit_slices
from sureline.core.statistics.hierarchical import SliceMaps as FittedMaps
from sureline.core.statistics.measured_detection import MeasuredDetection
from sureline.core.statistics.missed_errors import certify_allowing
from sureline.core.statistics.reliability import Reliability, reliability
from sureline.core.statistics.tally import Tally, tally_counts
from sureline.core.values.certificate import Certificate, Scale, Uncertified
from sureline.core.values.label_count import LabelCount
from sureline.core.values.outcome import OutcomeSource
from sureline.core.values.stratum import Fold

UNJUDGED, JUDGED = "unjudged", "judged"

Rows = Sequence[LabelCount]
Fitted = Mapping[str, FittedMaps]


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceLabels:
    """One slice's labels (of one measurement, in the window) and what it must show.

    `judges` says that the slice's policy asks a judge. With `missed` the certificate allows for
    the errors that those who label miss; None takes labels at face value.
    """

    slice_key: str
    rows: Rows
    judges: bool
    demand: Demand
    provenance: Provenance
    missed: MeasuredDetection | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceCalibration:
    """One slice: its certificate or what is missing, its maps, its reliability and its curve.

    `maps` are by stratum, `judged` and `unjudged`; one that could not be fitted says why.
    `reliability` is that of the composite over all labels; `calibrated` that of the maps fitted
    on one fold, over the other, so that it is no praise of one's own fit. `labels` counts labels
    by how they came about. The tallies are what these rest on: `composite` behind `reliability`,
    `certified_on` behind `verdict` and `curve`, `held_out` behind `calibrated`.
    """

    slice_key: str
    verdict: Certificate | Uncertified
    maps: FittedMaps
    reliability: Reliability
    calibrated: Reliability | None
    curve: tuple[CurvePoint, ...]
    labels: Mapping[str, int]
    data_hash: str
    composite: Tally
    certified_on: Tally
    held_out: Tally | None

    @property
    def certificate(self) -> Certificate | None:
        """Return the certificate if there is one."""
        return self.verdict if isinstance(self.verdict, Certificate) else None


def calibrate(slices: Sequence[SliceLabels]) -> tuple[SliceCalibration, ...]:
    """Calibrate slices whose scores mean the same, so that small ones lean on the others."""
    fair = {one.slice_key: _representative(one.rows) for one in slices}
    fit_only = _fit({key: _of_fold(rows, Fold.FIT) for key, rows in fair.items()})
    everything = _fit(fair)
    return tuple(_calibrate_slice(one, fair[one.slice_key], fit_only, everything) for one in slices)


def _calibrate_slice(
    one: SliceLabels, rows: Rows, fit_only: Fitted, everything: Fitted
) -> SliceCalibration:
    key = one.slice_key
    composite = _tally(rows)
    held = _of_fold(rows, Fold.HOLD)
    on_maps = one.judges and not any(isinstance(m, Unfitted) for m in fit_only[key].values())
    maps = fit_only[key] if on_maps else everything[key]
    certified_on = _mapped_tally(held, maps) if on_maps else composite
    verdict = _certified(one, certified_on)
    if on_maps and isinstance(verdict, Certificate):
        verdict = replace(verdict, scale=Scale.CALIBRATED)
    fitted = {name: m for name, m in fit_only[key].items() if not isinstance(m, Unfitted)}
    held_out = _mapped_tally(held, fit_only[key]) if fitted else None
    return SliceCalibration(
        slice_key=key,
        verdict=verdict,
        maps=maps,
        reliability=reliability(composite),
        calibrated=None if held_out is None else reliability(held_out),
        curve=risk_coverage(certified_on),
        labels=_by_origin(one.rows),
        data_hash=composite.data_hash,
        composite=composite,
        certified_on=certified_on,
        held_out=held_out,
    )


def _certified(one: SliceLabels, tally: Tally) -> Certificate | Uncertified:
    key, demand, provenance = one.slice_key, one.demand, one.provenance
    if one.missed is None:
        return certify(tally, slice_key=key, demand=demand, provenance=provenance)
    return certify_allowing(
        tally, slice_key=key, demand=demand, provenance=provenance, measured=one.missed
    )


def _fit(rows: Mapping[str, Rows]) -> dict[str, FittedMaps]:
    """Fit maps by slice and stratum; each stratum's slices lean on each other."""
    result: dict[str, FittedMaps] = {key: {} for key in rows}
    for name, judged in ((UNJUDGED, False), (JUDGED, True)):
        tallies = {
            key: _tally([row for row in of if row.stratum.decision.judged is judged])
            for key, of in rows.items()
        }
        if any(tally.n for tally in tallies.values()):
            for key, fitted in fit_slices(tallies).items():
                result[key][name] = fitted
    return result


def _mapped_tally(rows: Rows, maps: FittedMaps) -> Tally:
    """Count labels by the bin of their calibrated value; those without a map are left out."""
    places, correct, counts = [], [], []
    tables = {name: table_of(one) for name, one in maps.items() if not isinstance(one, Unfitted)}
    bins = {name: bins_of(np.asarray(table)) for name, table in tables.items()}
    for row in rows:
        name = JUDGED if row.stratum.decision.judged else UNJUDGED
        if name in bins:
            places.append(int(bins[name][row.score_bin]))
            correct.append(row.correct)
            counts.append(row.count)
    return tally_counts(places, correct, counts)


def table_of(fitted: CalibrationMap | SliceMap) -> tuple[float, ...]:
    """Return a map's value in every score bin: 10,001 probabilities."""
    return tuple(fitted(scores_of(np.arange(BINS))).tolist())


def _tally(rows: Rows) -> Tally:
    return tally_counts(
        [row.score_bin for row in rows],
        [row.correct for row in rows],
        [row.count for row in rows],
    )


def _representative(rows: Rows) -> Rows:
    """Keep the labels that are a fair sample of what can be automated.

    Of what acted alone only the audit speaks (and what later contradicted it): a reviewer or an
    import could pick the good ones among those that were drawn.
    """
    return [
        row
        for row in rows
        if row.stratum.decision.representative
        and (row.stratum.decision.propensity >= 1.0 or row.stratum.source in _OF_THE_SAMPLE)
    ]


_OF_THE_SAMPLE = frozenset({OutcomeSource.AUDIT, OutcomeSource.INCIDENT})


def _of_fold(rows: Rows, fold: Fold) -> Rows:
    return [row for row in rows if row.stratum.decision.fold is fold]


def _by_origin(rows: Rows) -> dict[str, int]:
    """Count labels by source, by sight of the proposal, and by whether they are a fair sample."""
    counts: dict[str, int] = {}
    for row in rows:
        sample = "representative" if row.stratum.decision.representative else "selected"
        sight = "anchored" if row.stratum.anchored else "blind"
        for name in (str(row.stratum.source), sight, sample):
            counts[name] = counts.get(name, 0) + row.count
    return dict(sorted(counts.items()))
