"""Incidents and recalls as a page: what was wrong, and calling back what is like it (R14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sureline.application.ports.keys import Role
from sureline.bootstrap import Services
from sureline.core.values.incident import Incident
from sureline.core.values.outcome import Outcome, OutcomeSource
from sureline.core.values.recall import RecallWanted
from sureline.errors import Conflict, Forbidden, InvalidInput, NotFound, SurelineError, UnknownSlice
from sureline.web.access import may_see
from sureline.web.api.incidents import close_incident
from sureline.web.api.recalls import start_recall, wanted_of
from sureline.web.pages.page import Page, Visit, redirect
from sureline.web.pages.templates import step
from sureline.web.reply import Reply

ADMINS = frozenset({Role.ADMIN})
MOST = 100
"""Rows that are shown at once."""
LONGEST = 2_000
SOURCES = {
    OutcomeSource.INCIDENT: "reported as an incident",
    OutcomeSource.AUDIT: "an audit",
    OutcomeSource.REVIEW: "a review",
    OutcomeSource.IMPORT: "an import",
}
FIELDS = ("certificate", "model", "policy", "since", "until", "slice_key")


async def show(visit: Visit) -> Reply:
    """Show open incidents, or all, and the latest recalls."""
    return await _shown(visit)


async def close(visit: Visit) -> Reply:
    """Close the incident that the form names."""
    try:
        note = _text(visit.form, "note", "say what came of it")
        services, key = visit.context.services, visit.signed_in.key
        await close_incident(services, key, visit.params["id"], note)
    except (Conflict, Forbidden, InvalidInput, NotFound) as error:
        return await _shown(visit, error=error)
    return redirect(f"/incidents?closed={step(visit.params['id'])}")


async def preview(visit: Visit) -> Reply:
    """Count and list what a recall would cover; a link that is followed changes nothing."""
    try:
        return await _previewed(visit, _wanted(visit, visit.query))
    except (Forbidden, InvalidInput) as error:
        return await _shown(visit, error=error)


async def recall(visit: Visit) -> Reply:
    """Begin the recall that was previewed; the server goes on with it."""
    try:
        wanted = _wanted(visit, visit.form)
    except (Forbidden, InvalidInput) as error:
        return await _shown(visit, error=error)
    try:
        reason = _text(visit.form, "reason", "say why; whoever reviews the items reads it")
        begun = await start_recall(visit.context.services, visit.signed_in.key, wanted, reason)
    except UnknownSlice as error:
        return await _shown(visit, error=error)
    except InvalidInput as error:
        return await _previewed(visit, wanted, error=error)
    return redirect(f"/incidents?begun={step(begun.id)}")


async def _shown(visit: Visit, *, error: SurelineError | None = None) -> Reply:
    services, key = visit.context.services, visit.signed_in.key
    every, offset = "all" in visit.query, visit.number("offset")
    found = await services.store.incidents.list(
        services.workspace,
        only_open=not every,
        slices=key.slices,
        limit=MOST + 1,
        offset=offset,
    )
    shown = found[:MOST]
    recalls = [
        one
        for one in await services.store.recalls.list(services.workspace, limit=MOST)
        if not key.slices or one.wanted.slice_key in key.slices
    ]
    return visit.html(
        "incidents.html.j2",
        status=200 if error is None else error.status,
        error=None if error is None else error.message,
        incidents=shown,
        said=await _said(services, shown),
        sources=SOURCES,
        begun=next((one for one in recalls if one.id == visit.query.get("begun")), None),
        closed=await _closed(visit),
        more=len(found) > MOST,
        offset=offset,
        page=MOST,
        every=every,
        recalls=recalls,
        fields=FIELDS,
        may_act=key.role in ADMINS,
        typed={**visit.query, **visit.form},
    )


async def _said(services: Services, shown: Sequence[Incident]) -> dict[str, Outcome]:
    """Return the answers that opened incidents; a comment is there until it is erased."""
    said: dict[str, Outcome] = {}
    for one in shown:
        answers = await services.ledger.outcomes(services.workspace, one.decision_id)
        opened = next((answer for answer in answers if answer.id == one.outcome_id), None)
        if opened is not None:
            said[one.id] = opened
    return said


async def _closed(visit: Visit) -> Incident | None:
    """Return the incident that the address says was just closed, if this key may see it."""
    named, services = visit.query.get("closed"), visit.context.services
    found = await services.store.incidents.get(services.workspace, named) if named else None
    if found is None or found.is_open or not may_see(visit.signed_in.key, found.slice_key):
        return None
    return found


async def _previewed(
    visit: Visit, wanted: RecallWanted, *, error: SurelineError | None = None
) -> Reply:
    recaller = visit.context.services.recaller
    after = visit.number("after")
    page = await recaller.listed(wanted, after=after, limit=MOST)
    given = visit.form if error is not None else visit.query
    return visit.html(
        "recall.html.j2",
        status=200 if error is None else error.status,
        error=None if error is None else error.message,
        counts=await recaller.preview(wanted),
        covered=page.covered,
        next_mark=page.next_mark,
        given=[(name, given[name].strip()) for name in FIELDS if given.get(name, "").strip()],
    )


def _wanted(visit: Visit, given: Mapping[str, str]) -> RecallWanted:
    """Return what a form names; a field that is left empty does not matter."""
    named = {name: given[name].strip() for name in FIELDS if given.get(name, "").strip()}
    return wanted_of(visit.signed_in.key, named)


def _text(form: Mapping[str, str], name: str, lacking: str) -> str:
    text = form.get(name, "").strip()
    if not text or len(text) > LONGEST:
        raise InvalidInput(f"{lacking}, in at most {LONGEST} characters", field=name)
    return text


PAGES = (
    Page(method="GET", path="/incidents", run=show),
    Page(method="POST", path="/incidents/{id}", run=close, roles=ADMINS),
    Page(method="GET", path="/recall", run=preview, roles=ADMINS),
    Page(method="POST", path="/recall", run=recall, roles=ADMINS),
)
