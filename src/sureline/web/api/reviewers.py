"""How people review: all of them for the lead, and for anybody else themselves (R7, L12)."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from sureline.application.ports.keys import ApiKey, Role
from sureline.application.review.reviewers import ReviewersReport, reviewers_json
from sureline.bootstrap import Services
from sureline.web.api.shapes import Moment, Unit
from sureline.web.operation import Answer, Call, Operation
from sureline.web.reply import Reply

REVIEWING = frozenset({Role.REVIEWER, Role.ADMIN})


class NoticedShape(TypedDict):
    """Planted errors that were noticed, with the 95 % interval of the share."""

    caught: int
    shown: int
    share: Unit | None
    interval: tuple[float, float]
    noticed_at_least: Unit


class AgreementShape(TypedDict):
    """Cohen's kappa of what two people decided blind, with its 95 % interval."""

    pairs: int
    agreed: Unit | None
    kappa: float | None
    interval: tuple[float, float]


class PairShape(AgreementShape):
    """The agreement of two people."""

    people: list[str]


class WorkShape(TypedDict):
    """What somebody's verdicts look like; a streak is of approvals."""

    items: int
    approved: int
    median_seconds: float | None
    p95_seconds: float | None
    streak: int
    longest_streak: int
    honeypots: NoticedShape
    agreement: AgreementShape


class SliceWorkShape(WorkShape):
    """The same of one slice."""

    slice_key: str


class WayShape(TypedDict):
    """The same by one of several ways, by the name that is recorded for it."""

    by: str
    items: int
    approved: int
    median_seconds: float | None
    p95_seconds: float | None
    streak: int
    longest_streak: int
    honeypots: NoticedShape


class ReviewerShape(WorkShape):
    """One person; `flagged` where it is shown that planted errors are missed."""

    name: str
    flagged: bool
    evidence: float
    evidence_needed: float
    inattentive_in: list[str]
    slices: list[SliceWorkShape]
    ways: list[WayShape]


class AgreementsShape(TypedDict):
    """Agreement by slice and by pair; empty but for the lead."""

    by_slice: dict[str, AgreementShape]
    by_pair: list[PairShape]


class UnplantedShape(TypedDict):
    """A slice in which no error could be planted where one belonged, and why."""

    slice_key: str
    reason: Literal["no_material", "nothing_to_change", "checks_catch_it"]
    sentence: str


class ReviewersShape(TypedDict):
    """How people worked since a moment, 90 days ago."""

    since: Moment
    flagged: list[str]
    reviewers: list[ReviewerShape]
    agreement: AgreementsShape
    unplanted: list[UnplantedShape]


async def reviewers_seen(services: Services, key: ApiKey) -> ReviewersReport:
    """Return what a key's holder may see: an admin everybody, anybody else themselves alone."""
    if key.role is Role.ADMIN:
        return await services.reviewers.everybody(key.slices)
    return await services.reviewers.only(key.name)


async def show(call: Call) -> Reply:
    """Return how people review."""
    services = call.context.services
    found = await call.context.off_loop(lambda: reviewers_seen(services, call.key))
    return Reply.json(reviewers_json(found))


OPERATIONS = (
    Operation(
        method="GET",
        path="/v1/reviewers",
        name="listReviewers",
        about="Return how people reviewed in the last 90 days: time, streaks, planted errors "
        "noticed, agreement. An admin sees everybody, a reviewer themselves and nobody else.",
        run=show,
        roles=REVIEWING,
        answers={200: Answer("The figures that the key may see.", ReviewersShape)},
    ),
)
