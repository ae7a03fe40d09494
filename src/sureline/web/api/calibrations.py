"""Compute certificates from the labels and make them current."""

from __future__ import annotations

from sureline.application.calibrations import CalibrationChange
from sureline.application.recalibrate import calibration_json
from sureline.errors import NotFound, PolicyError
from sureline.web.api.policies import check_whole
from sureline.web.api.shapes import (
    ActivationFields,
    CalibrationActivatedShape,
    CalibrationFields,
    CalibrationShape,
    CalibrationsShape,
)
from sureline.web.faults import NotReady
from sureline.web.operation import ADMINS, READERS, Answer, Call, Operation
from sureline.web.reply import Reply


async def show(call: Call) -> Reply:
    """Return the stored calibrations."""
    found = await call.context.services.calibrations.stored()
    return Reply.json(
        {
            "calibrations": [
                {
                    "id": one["id"],
                    "created_at": one["created_at"].isoformat(),
                    "active": one["active"],
                    "share": one["share"],
                }
                for one in found
            ]
        }
    )


async def compute(call: Call) -> Reply:
    """Certify every slice from its labels, as a proposal."""
    check_whole(call)
    try:
        calibration = await call.context.off_loop(call.context.services.recalibrator.recalibrate)
    except PolicyError as error:
        raise NotReady("no policy can be used here; nothing was computed") from error
    return Reply.json(calibration_json(calibration), status=201)


async def activate(call: Call) -> Reply:
    """Make a calibration's certificates current."""
    check_whole(call)
    services, wanted = call.context.services, call.params["id"]
    known = await services.registry.calibrations(call.key.workspace)
    if wanted not in {one["id"] for one in known}:
        raise NotFound("there is no such calibration")
    change = await services.calibrations.activate(
        wanted,
        by=call.key.name,
        note=call.body.get("note", ""),
        share=call.body.get("share", 1.0),
    )
    return _changed(change)


async def rollback(call: Call) -> Reply:
    """Make current again what was before this calibration."""
    check_whole(call)
    change = await call.context.services.calibrations.rollback(
        by=call.key.name, note=call.body.get("note", ""), expected=call.params["id"]
    )
    return _changed(change)


def _changed(change: CalibrationChange) -> Reply:
    return Reply.json(
        {
            "kind": "calibration",
            "subject": change.after,
            "by": change.by,
            "share": change.share,
        }
    )


OPERATIONS = (
    Operation(
        method="GET",
        path="/v1/calibrations",
        name="listCalibrations",
        about="Return the stored calibrations, newest first.",
        run=show,
        roles=READERS,
        answers={200: Answer("The calibrations.", CalibrationsShape)},
    ),
    Operation(
        method="POST",
        path="/v1/calibrations",
        name="recalibrate",
        about="Compute certificates and reliability from the labels. Nothing changes until the "
        "result is activated.",
        run=compute,
        roles=ADMINS,
        answers={201: Answer("The calibration, stored as a proposal.", CalibrationShape)},
    ),
    Operation(
        method="POST",
        path="/v1/calibrations/{id}/activate",
        name="activateCalibration",
        about="Make a calibration's certificates current, in every process; with a `share`, for so "
        "many of the decisions, while the others keep what was active before.",
        run=activate,
        roles=ADMINS,
        body=CalibrationFields,
        may_be_empty=True,
        answers={200: Answer("The calibration holds now.", CalibrationActivatedShape)},
        problems=frozenset({404}),
    ),
    Operation(
        method="POST",
        path="/v1/calibrations/{id}/rollback",
        name="rollbackCalibration",
        about="Take the active calibration back: the one before it holds again, in every process. "
        "Refused if another calibration is active, or if there is none before it and it is not "
        "staged.",
        run=rollback,
        roles=ADMINS,
        body=ActivationFields,
        may_be_empty=True,
        answers={200: Answer("The calibration that holds now.", CalibrationActivatedShape)},
        problems=frozenset({409}),
    ),
)
