"""One decision with everything that led to it and everything that became of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sureline.application.ports.keys import Role
from sureline.application.ports.ledger import StoredDecision
from sureline.application.review.item import CLAIMED
from sureline.bootstrap import Services
from sureline.core.checks.grounding import CLAIMED as CLAIMED_SOURCE
from sureline.core.gate.composition import VERIFICATION
from sureline.core.values.certificate import Certificate
from sureline.core.values.outcome import Outcome, OutcomeSource
from sureline.errors import NotFound, PolicyError, UnknownSlice
from sureline.web.access import check_slice
from sureline.web.pages.page import Page, Visit
from sureline.web.pages.templates import as_json
from sureline.web.reply import Reply

LONGEST = 50_000
"""Characters of one text that are shown; the API has the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A text that an agent wrote, cut where it is longer than a page can bear."""

    name: str
    text: str
    left_out: int
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalCard:
    """One signal of a decision: what it said, what it weighed, and what it found.

    `weight` is None where the policy of that time cannot be read.
    """

    name: str
    said: Mapping[str, Any]
    weight: float | None
    findings: Sequence[Mapping[str, Any]]


async def show(visit: Visit) -> Reply:
    """Show a decision with its provenance; what is still to be judged blind stays unseen."""
    services, key = visit.context.services, visit.signed_in.key
    stored = await services.seen.decision(services.workspace, visit.params["id"])
    if stored is None:
        raise NotFound("there is no such decision")
    check_slice(key, stored.slice_key)
    body = json.loads(stored.body)
    outcomes = await services.seen.outcomes(services.workspace, stored.id)
    review = await services.store.reviews.get(services.workspace, stored.id)
    named = (services.workspace, stored.id)
    judges = key.role is Role.REVIEWER
    if judges and waits_for_audit(body, outcomes):
        return visit.html("decision_blind.html.j2", stored=stored)
    answer = None if stored.answer is None else json.loads(stored.answer)
    return visit.html(
        "decision.html.j2",
        stored=stored,
        body=body,
        answer=answer,
        cards=await _cards(services, stored, body, answer),
        passages=_passages(stored, answer),
        claims=_claims(stored),
        erasure=None if answer is not None else await services.seen.erasure(*named),
        certificate=await _certificate(services, stored, body.get("certificate")),
        outcomes=outcomes,
        review=review,
        unvouched=not judges and stored.submitted_by and _is_unvouched(body),
        is_open=judges and review is not None and review.state.is_open,
        # Where it stands in the ledger is for auditors: planted items stand in none.
        place=None if judges else await services.store.provenance.place(*named),
    )


def _is_unvouched(body: Mapping[str, Any]) -> bool:
    """Tell whether values stand only in a source that the caller's key does not vouch for."""
    said = body.get("signals", {}).get(VERIFICATION, {}).get("detail", {})
    return CLAIMED_SOURCE in said.get("codes", ())


def waits_for_audit(body: Mapping[str, Any], outcomes: Sequence[Outcome]) -> bool:
    """Tell whether a person is yet to judge it without the gate's view."""
    return body.get("audit") is True and not any(
        one.source is OutcomeSource.AUDIT for one in outcomes
    )


async def _cards(
    services: Services,
    stored: StoredDecision,
    body: Mapping[str, Any],
    answer: Mapping[str, Any] | None,
) -> list[SignalCard]:
    weights = await _weights(services, stored, body)
    found = {} if answer is None else answer.get("findings", {})
    checks = () if answer is None else answer.get("feedback", ())
    return [
        SignalCard(
            name=name,
            said=one,
            weight=None if weights is None else weights.get(name, 0.0),
            findings=checks if name == "verification" else found.get(name, ()),
        )
        for name, one in body.get("signals", {}).items()
    ]


async def _weights(
    services: Services, stored: StoredDecision, body: Mapping[str, Any]
) -> Mapping[str, float] | None:
    """Return what the decision's own policy gave each signal to say."""
    try:
        policy = await services.policies.stored(body.get("policy", ""))
    except (NotFound, PolicyError):
        return None
    one = policy.slices.get(stored.slice_key)
    return None if one is None else one.weights


async def _certificate(
    services: Services, stored: StoredDecision, certificate_id: str | None
) -> Certificate | None:
    """Return the certificate that a decision names, if it is the one that holds still."""
    if certificate_id is None:
        return None
    try:
        current = await services.currents.latest(stored.slice_key)
    except (PolicyError, UnknownSlice):
        return None
    found = current.certificate
    return found if found is not None and found.id == certificate_id else None


def _passages(stored: StoredDecision, answer: Mapping[str, Any] | None) -> list[Passage]:
    """Return what the agent was to do, from what, and what it made."""
    if stored.request is None or answer is None:
        return []
    request = json.loads(stored.request)
    sources = [
        _passage(
            f"Source {one.get('ref', '')}",
            one.get("text", ""),
            "" if one.get("trusted") else "as the agent says",
        )
        for one in request.get("source", ())
    ]
    output = answer.get("output_text") or as_json(answer.get("output"))
    return [_passage("Output", output), _passage("Task", request.get("task", "")), *sources]


def _claims(stored: StoredDecision) -> list[Passage]:
    """Return what the agent says of its own output."""
    if stored.request is None:
        return []
    request = json.loads(stored.request)
    return [_passage(name, as_json(request[name])) for name in CLAIMED if request.get(name)]


def _passage(name: str, text: str, note: str = "") -> Passage:
    return Passage(name=name, text=text[:LONGEST], left_out=max(0, len(text) - LONGEST), note=note)


PAGES = (Page(method="GET", path="/decisions/{id}", run=show),)
