"""`sureline recalibrate`: from the labels so far to certificates, as a proposal (L1, L2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from sureline.application.label_precision import excluded_sentence
from sureline.application.recalibrate import Calibration, SliceCalibration, calibration_json
from sureline.application.report_words import allowance_sentence
from sureline.bootstrap import Services, write_calibration_html
from sureline.cli.options import JsonOption, PolicyOption, StoreOption, WorkspaceOption
from sureline.cli.output import note, print_json, print_table, say
from sureline.cli.session import on_store
from sureline.core.gate.acting import acting
from sureline.core.values.certificate import Certificate
from sureline.core.values.threshold_text import threshold_text

COUNTED = "labels counted / given"
NOT_COUNTED = (
    "labels not counted are of outputs that no threshold could have automated (a fatal check, a "
    "missing signal, ...) or came about because of the score"
)


def recalibrate(
    activate: Annotated[
        bool, typer.Option("--activate", help="Make the certificates current; needs --by.")
    ] = False,
    by: Annotated[str | None, typer.Option("--by", help="Who activates; it is recorded.")] = None,
    why: Annotated[str, typer.Option("--note", help="Why; it is recorded.")] = "",
    report: Annotated[
        Path | None, typer.Option("--report", help="Write the report to this HTML file too.")
    ] = None,
    policy: PolicyOption = None,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Compute certificates and reliability per slice; nothing changes until they are activated.

    Exit code 0 whatever the labels say: a slice without a certificate is a result.
    """
    named = acting(by or "", field="--by") if activate else None

    async def work(services: Services) -> tuple[Calibration, Mapping[str, int], Sequence[str]]:
        # Not `prepare`: labels are there already, nothing has to be measured here.
        if policy is not None:
            await services.policies.introduce(policy)
        calibration = await services.recalibrator.recalibrate()
        if named is not None:
            await services.recalibrator.activate(calibration.id, by=named, note=why)
        if report is not None:
            write_calibration_html(await services.reporter.report(calibration), report)
        earlier = await services.recalibrator.labels_of_earlier_models(calibration)
        return calibration, earlier, await services.model_notes()

    calibration, earlier, notes = on_store(work, store=store, workspace=workspace, by=named)
    if as_json:
        print_json(
            {
                **calibration_json(calibration),
                "given": dict(calibration.given),
                "given_under_earlier_models": dict(earlier),
                "notes": list(notes),
                "activated": activate,
            }
        )
    else:
        _show_changed_models(notes, earlier)
        _show(calibration, activated=activate)
    if report is not None:
        note(f"the report is in {report}")


def _show_changed_models(notes: Sequence[str], earlier: Mapping[str, int]) -> None:
    """Say why labels that were given do not count, where another model answers than at first."""
    for text in notes:
        say(f"note: {text}")
    for key, count in earlier.items():
        say(f"note: {key} has {count} labels of the earlier model; they do not count below")


def _show(calibration: Calibration, *, activated: bool) -> None:
    print_table(
        f"Certificates ({calibration.id})",
        ("slice", COUNTED, "threshold", "automates", "proven precision", "target"),
        [_certificate_row(one, calibration.given[one.slice_key]) for one in calibration.slices],
    )
    if any(one.verdict.n < calibration.given[one.slice_key] for one in calibration.slices):
        say(NOT_COUNTED)
    for one in calibration.slices:
        if not isinstance(one.verdict, Certificate):
            say(f"{one.slice_key}: {one.verdict.reason}: {one.verdict.message}")
        _show_who_looked(one)
    reliability = [row for one in calibration.slices for row in _reliability_rows(one)]
    if reliability:
        print_table(
            "Reliability: how often outputs with such a score were correct",
            ("slice", "score", "labels", "predicted", "actual", "verdict"),
            reliability,
        )
    if activated:
        say(f"{calibration.id} is active now")
    else:
        say("nothing has changed; to use this: sureline recalibrate --activate --by NAME")


def _show_who_looked(one: SliceCalibration) -> None:
    """Say how many labels do not count for want of looking, and what is allowed for."""
    excluded = excluded_sentence(one.verdict.labels_excluded)
    allowed = "" if one.certificate is None else allowance_sentence(one.certificate)
    for sentence in filter(None, (excluded, allowed)):
        say(f"{one.slice_key}: {sentence}")


def _certificate_row(one: SliceCalibration, given: int) -> tuple[Any, ...]:
    labels = f"{one.verdict.n} / {given}"
    found = one.certificate
    if found is None:
        return (one.slice_key, labels, "none", "0 %", "", "")
    return (
        one.slice_key,
        labels,
        threshold_text(found.threshold),
        f"{found.coverage:.1%}",
        f"{found.lower_bound:.4f}",
        f"{found.target:g}",
    )


def _reliability_rows(one: SliceCalibration) -> Iterator[tuple[Any, ...]]:
    for bucket in one.reliability.buckets:
        if bucket.n == 0 or bucket.predicted is None or bucket.actual is None:
            continue
        yield (
            one.slice_key,
            f"{bucket.low:.2f}-{bucket.high:.2f}",
            bucket.n,
            f"{bucket.predicted:.3f}",
            f"{bucket.actual:.3f}",
            bucket.verdict,
        )
