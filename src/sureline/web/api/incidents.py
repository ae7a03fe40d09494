"""Incidents over HTTP: what was released and turned out wrong (R14)."""

from __future__ import annotations

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from sureline.application.incident_json import incident_json
from sureline.application.ports.keys import ApiKey
from sureline.bootstrap import Services
from sureline.core.gate.acting import acting
from sureline.core.values.incident import Incident
from sureline.core.values.outcome import OutcomeSource
from sureline.errors import NotFound
from sureline.web.access import check_slice
from sureline.web.api.shapes import Moment, Sentence
from sureline.web.operation import ADMINS, READERS, Answer, Call, Operation, QueryNumber
from sureline.web.reply import Reply

FORBID = ConfigDict(extra="forbid", strict=True)
LIMIT = QueryNumber(
    name="limit", about="How many to return at most.", default=50.0, least=1.0, most=1_000.0
)
OFFSET = QueryNumber(
    name="offset", about="How many to leave out first.", default=0.0, least=0.0, most=1e6
)
EVERY = QueryNumber(
    name="all", about="1 returns closed ones too.", default=0.0, least=0.0, most=1.0
)


class IncidentShape(TypedDict):
    """A contradiction of what was released, and what the decision rested on."""

    id: str
    decision_id: str
    slice_key: str
    source: OutcomeSource
    opened_at: Moment
    certificate: str | None
    policy: str
    models: list[str]
    stands: bool
    closed_at: Moment | None
    closed_by: str | None
    note: str | None


class IncidentsShape(TypedDict):
    """Incidents, the newest first."""

    incidents: list[IncidentShape]


@with_config(FORBID)
class ClosingFields(TypedDict):
    """What came of an incident."""

    note: Sentence


async def show(call: Call) -> Reply:
    """Return the incidents of the slices that the key may see."""
    services = call.context.services
    found = await services.store.incidents.list(
        services.workspace,
        only_open=not EVERY.read(call),
        slices=call.key.slices,
        limit=int(LIMIT.read(call)),
        offset=int(OFFSET.read(call)),
    )
    return Reply.json({"incidents": [incident_json(one) for one in found]})


async def close(call: Call) -> Reply:
    """Close an incident with a note."""
    services, name, note = call.context.services, call.params["id"], call.body["note"]
    return Reply.json(incident_json(await close_incident(services, call.key, name, note)))


async def close_incident(services: Services, key: ApiKey, incident_id: str, note: str) -> Incident:
    """Close an incident in the name of a key. Raises NotFound, Conflict and Forbidden."""
    found = await services.store.incidents.get(services.workspace, incident_id)
    if found is None:
        raise NotFound(f"there is no incident {incident_id!r}")
    check_slice(key, found.slice_key)
    return await services.store.incidents.close(
        services.workspace,
        incident_id,
        by=acting(key.name, field="key"),
        note=note,
        at=services.clock.now(),
    )


OPERATIONS = (
    Operation(
        method="GET",
        path="/v1/incidents",
        name="listIncidents",
        about="Return what acted alone, or was released by a person, and is called wrong; the "
        "newest first.",
        run=show,
        roles=READERS,
        query=(LIMIT, OFFSET, EVERY),
        answers={200: Answer("The incidents.", IncidentsShape)},
        problems=frozenset({422}),
    ),
    Operation(
        method="POST",
        path="/v1/incidents/{id}/close",
        name="closeIncident",
        about="Close an incident with a note, in the ledger.",
        run=close,
        roles=ADMINS,
        body=ClosingFields,
        answers={200: Answer("The incident as it is now.", IncidentShape)},
        problems=frozenset({404, 409}),
    ),
)
