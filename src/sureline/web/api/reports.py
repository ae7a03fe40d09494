"""The calibration report: what may act alone, what should change, and why."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict

from sureline.application.calibration_report import report_json
from sureline.errors import PolicyError
from sureline.web.api.policies import check_whole
from sureline.web.api.shapes import Moment
from sureline.web.faults import NotReady
from sureline.web.operation import READERS, Answer, Call, Operation
from sureline.web.reply import Reply


class ReportShape(TypedDict):
    """What labels and decisions say now; each slice with its advice and the figures behind it."""

    at: Moment
    workspace: str
    policy: str
    calibration: str
    active: str | None
    slices: list[dict[str, Any]]
    routes: dict[str, list[dict[str, Any]]]
    notes: list[str]


async def show(call: Call) -> Reply:
    """Draw up the report from what is recorded now."""
    check_whole(call)
    try:
        report = await call.context.off_loop(call.context.services.reporter.report)
    except PolicyError as error:
        raise NotReady("no policy can be used here; there is nothing to report on") from error
    return Reply.json(report_json(report))


OPERATIONS = (
    Operation(
        method="GET",
        path="/v1/reports/latest",
        name="readReport",
        about="Return the calibration report of now: what to loosen, what to tighten, and why. "
        "Nothing is changed or stored.",
        run=show,
        roles=READERS,
        answers={200: Answer("The report; the figures are those of the HTML file.", ReportShape)},
    ),
)
