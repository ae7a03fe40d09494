"""An item on one screen: everything that is needed to decide about it (R1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sureline.application.ports.keys import Role
from sureline.application.review.item import ReviewItem
from sureline.core.checks.paths import ABSENT, parse_path, walk
from sureline.core.gate.composition import VERIFICATION
from sureline.core.review import transitions
from sureline.core.review.edits import edited_fields
from sureline.core.values.policy import SlicePolicy
from sureline.core.values.review import Review
from sureline.errors import InvalidInput, NotFound, PolicyError, SurelineError, UnknownSlice
from sureline.web.access import check_slice
from sureline.web.pages.editing import WHOLE, editing_of
from sureline.web.pages.effect import CONSEQUENCES, effect_of
from sureline.web.pages.evidence import LONGEST_SHOWN, cases_like, sources_of
from sureline.web.pages.notice import can_undo, notice_of
from sureline.web.pages.page import ENDED, Visit
from sureline.web.pages.standing import standing_of
from sureline.web.pages.switches_on import switches_for
from sureline.web.pages.templates import as_json
from sureline.web.pages.waterfall import waterfall
from sureline.web.reply import Reply

REVIEWERS = frozenset({Role.REVIEWER, Role.ADMIN})
CHIPS = (
    "wrong_value",
    "not_in_source",
    "incomplete",
    "off_task",
    "wrong_format",
    "wrong_tone",
    "unsafe",
    "duplicate",
    "other",
)
"""Reasons that one key chooses; a policy's own words come in a later version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """The beginning of a text, and how many characters were left out; `part` has them all."""

    part: str
    text: str
    left_out: int


def cut(part: str, text: str) -> Cut:
    """Return as much of a text as an item's page shows."""
    kept = text[:LONGEST_SHOWN]
    return Cut(part=part, text=kept, left_out=len(text) - len(kept))


async def item_of(visit: Visit) -> ReviewItem:
    """Return the item that the address names. Raises NotFound, and Forbidden for other slices."""
    name = visit.signed_in.key.name
    item = await visit.context.services.desk.show(visit.params["id"], name)
    check_slice(visit.signed_in.key, item.review.slice_key)
    return item


async def policy_of(visit: Visit, slice_key: str) -> SlicePolicy | None:
    """Return the slice's current policy, None if there is none."""
    try:
        return (await visit.context.services.desk.currents.latest(slice_key)).policy
    except (UnknownSlice, PolicyError):
        return None


async def screen(visit: Visit, *, refused: SurelineError | None = None) -> Reply:
    """Show an item; `refused` says why what was just tried did not happen."""
    item = await item_of(visit)
    now, name = visit.context.services.clock.now(), visit.signed_in.key.name
    # What time has done is shown at once; it is written by whatever acts next, never by a GET.
    review = transitions.settle(item.review, now)
    is_held = review.is_held(now)
    taken = is_held and review.claimed_by != name
    status = 200 if refused is None else refused.status
    shared = {
        "error": _sentence(refused),
        "ended": visit.query.get(ENDED) == "1",
        "item": item,
        "review": review,
        "mine": is_held and not taken,
        "typed": visit.form,
        "may_decide": _may_decide(visit, review),
        "switches": await switches_for(visit, item),
    }
    if item.is_withheld:
        return visit.html("answer_first.html.j2", status=status, **shared)
    policy = await policy_of(visit, review.slice_key)
    shared["may_decide"] = shared["may_decide"] and not taken
    return visit.html(
        "review.html.j2",
        status=status,
        **shared,
        faults=refused.faults if isinstance(refused, InvalidInput) else {},
        now=now,
        chips=CHIPS,
        taken=taken,
        can_undo=can_undo(review, name, now),
        editing=editing_of(item.output, policy, visit.form.get("as") or visit.query.get("as")),
        edits=_edits(item),
        effect=effect_of(review, item.decision),
        consequence=CONSEQUENCES.get(item.decision.get("stakes", "")),
        notice=await notice_of(visit),
        shown_mark=visit.form.get("shown") or _shown_mark(visit, review, now),
        **await _evidence(visit, item, policy),
    )


def _sentence(refused: SurelineError | None) -> str | None:
    """Return what an error says, without the name of the form's own input before it."""
    return None if refused is None else refused.message.removeprefix(f"{WHOLE}: ")


def _shown_mark(visit: Visit, review: Review, now: datetime) -> str:
    return visit.sessions.shown(visit.signed_in.key, review.id, now)


def _may_decide(visit: Visit, review: Review) -> bool:
    key = visit.signed_in.key
    return key.role in REVIEWERS and review.state.is_open and review.submitted_by != key.name


async def _evidence(
    visit: Visit, item: ReviewItem, policy: SlicePolicy | None
) -> dict[str, object]:
    recorded = await _recorded_policy(visit, item)
    weights = {} if recorded is None else recorded.weights
    checks = recorded or policy
    said: Mapping[str, Any] = item.decision.get("findings", {})
    said = {name: one for name, one in said.items() if name != VERIFICATION}  # that is the feedback
    return {
        "task": cut("task", item.task),
        "draft": cut("output", as_json(item.output)),
        "claims": [(name, cut(f"claim-{name}", as_json(one))) for name, one in item.claims.items()],
        "sources": sources_of(item, None if checks is None else checks.checks),
        "cases": await cases_like(item, visit.context.services.desk),
        "drawing": waterfall(item.decision, weights),
        "standing": standing_of(item.decision, is_rescored=item.is_rescored),
        "said": said,
    }


async def _recorded_policy(visit: Visit, item: ReviewItem) -> SlicePolicy | None:
    """Return the slice's policy by which the decision was made, None where it is not kept."""
    try:
        policy = await visit.context.services.policies.stored(item.decision.get("policy", ""))
    except (NotFound, PolicyError):
        return None
    return policy.slices.get(item.review.slice_key)


def _edits(item: ReviewItem) -> list[tuple[str, str, str]]:
    """Return what somebody edited before: the path, what was there and what is now."""
    return [
        (path, as_json(_at(item.proposed, path)), as_json(_at(item.output, path)))
        for path in edited_fields(item.proposed, item.output)
    ]


def _at(output: Any, path: str) -> Any:
    """Return what stands at a dotted path, an empty text where nothing does."""
    if path == "$":
        return output
    try:
        found = next(walk(output, parse_path(path)))[1]
    except PolicyError:  # a key with a dot or a bracket in it
        return ""
    return "" if found is ABSENT else found
