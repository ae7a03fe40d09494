"""The demonstration's result as a report."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from sureline.application.report import (
    Curve,
    Headline,
    ReasonRow,
    ReportData,
    RouteRow,
    SliceRow,
)
from sureline.application.report_words import verdict_sentence
from sureline.core.statistics.binomial import lower_bound, upper_bound
from sureline.core.statistics.curves import CurvePoint, histogram, risk_coverage
from sureline.core.statistics.reliability import reliability
from sureline.core.statistics.tally import Tally, tally_labels
from sureline.core.values.certificate import Certificate
from sureline.demo.result import DemoResult, Routed

LEFT_OUT = (
    "Labels that are not counted are of outputs that no threshold could have automated: a signal "
    "was missing, as history is while there are few similar cases, or a fatal check failed."
)

_TAIL = 0.025
_POINTS = 60


def report_data(result: DemoResult, *, made_at: datetime) -> ReportData:
    """Draw up the report: figures from the labels of the log-only part, routes from the rest."""
    everything = tally(result.logged)
    table = reliability(everything)
    scores = [item.score for item in (*result.logged, *result.routed) if item.score is not None]
    return ReportData(
        title="What may act alone",
        subtitle=result.about,
        made_at=made_at,
        headline=headline(result),
        quality=(
            ("AUROC of the score", _figure(result.auroc)),
            ("Right over all outputs", f"{100 * result.accuracy:.1f} %"),
            ("Calibration error (ECE)", _figure(table.ece)),
            ("Brier score", _figure(table.brier)),
        ),
        buckets=tuple(bucket for bucket in table.buckets if bucket.n),
        histogram=histogram(scores, [1] * len(scores)),
        curves=tuple(_curve(key, result) for key in _by_labels(result)),
        slices=slice_rows(result),
        routes=tuple(RouteRow(route=str(r), count=n) for r, n in result.routes.items()),
        reasons=tuple(
            ReasonRow(code=code, count=count, example=example)
            for code, (count, example) in result.reasons.items()
        ),
        notes=(
            f"{len(result.logged):,} outputs were decided in log-only mode and labelled; the "
            f"{len(result.routed):,} after them were routed and then compared with the truth.",
            LEFT_OUT,
            *miss_notes(result),
        ),
    )


def headline(result: DemoResult) -> Headline:
    """Sum the routed part up."""
    automated, correct = len(result.automated), result.correct
    interval = None
    if automated:
        interval = (
            float(lower_bound(correct, automated, _TAIL)),
            float(upper_bound(correct, automated, _TAIL)),
        )
    return Headline(
        items=len(result.routed),
        automated=automated,
        correct=correct,
        precision=result.precision,
        interval=interval,
        target=result.target,
        delta=result.delta,
        sentence=_sentence(result),
    )


def miss_notes(result: DemoResult) -> tuple[str, ...]:
    """Say it plainly where what acted alone was less precise than the target."""
    head = headline(result)
    if not result.missed or head.interval is None:
        return ()
    chance = (
        "The interval includes the target, so chance can explain it."
        if head.interval[1] >= result.target
        else "Chance hardly explains it: the certificate was wrong, or later outputs differ "
        "from the labelled ones."
    )
    return (f"What acted alone was less precise than the target in this run. {chance}",)


def slice_rows(result: DemoResult) -> tuple[SliceRow, ...]:
    """Sum every slice up, those with most labels first."""
    return tuple(slice_row(key, result) for key in _by_labels(result))


def slice_row(key: str, result: DemoResult) -> SliceRow:
    """Sum one slice up."""
    labelled = [item for item in result.logged if item.slice_key == key]
    automated = [item for item in result.automated if item.slice_key == key]
    verdict = result.verdicts.get(key)
    certificate = verdict if isinstance(verdict, Certificate) else None
    return SliceRow(
        slice_key=key,
        labels=len(labelled),
        counted=0 if verdict is None else verdict.n,
        accuracy=sum(item.correct for item in labelled) / max(1, len(labelled)),
        decided=sum(item.slice_key == key for item in result.routed),
        automated=len(automated),
        correct=sum(item.correct for item in automated),
        threshold=certificate.threshold if certificate else None,
        lower_bound=certificate.lower_bound if certificate else None,
        sentence=verdict_sentence(verdict),
    )


def tally(items: Sequence[Routed]) -> Tally:
    """Count the labels of scored items."""
    pairs = [(item.score, item.correct) for item in items if item.score is not None]
    return tally_labels(
        np.array([score for score, _ in pairs]), np.array([right for _, right in pairs])
    )


def _by_labels(result: DemoResult) -> list[str]:
    """Return the slices, those with most labels first."""
    keys = sorted({item.slice_key for item in (*result.logged, *result.routed)})
    count = {key: sum(item.slice_key == key for item in result.logged) for key in keys}
    return sorted(keys, key=lambda key: -count[key])


def _curve(key: str, result: DemoResult) -> Curve:
    """Draw one slice's curve from its labels, with the point that the certificate allows."""
    counted = tally([item for item in result.logged if item.slice_key == key])
    verdict = result.verdicts.get(key)
    certified = None
    if isinstance(verdict, Certificate):
        certified = CurvePoint(
            threshold=verdict.threshold,
            coverage=verdict.coverage,
            precision=verdict.correct / verdict.in_band,
        )
    return Curve(slice_key=key, points=risk_coverage(counted, points=_POINTS), certified=certified)


def _sentence(result: DemoResult) -> str:
    """Say in one sentence what is certified."""
    certified = [v for v in result.verdicts.values() if isinstance(v, Certificate)]
    slices = len(result.verdicts)
    if not certified:
        return (
            f"No certificate: none of {slices} slices has shown a precision of "
            f"{100 * result.target:g} % on its labels, so people see everything."
        )
    share = sum(certificate.in_band for certificate in certified)
    labels = sum(certificate.n for certificate in certified)
    return (
        f"Certified: {len(certified)} of {slices} slices may act alone above their thresholds. "
        f"For each, the claim of at least {100 * result.target:g} % precision is wrong with "
        f"probability at most {100 * result.delta:g} %. {share} of their {labels} labels lie there."
    )


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
