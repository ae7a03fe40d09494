"""Learn from answers: turn what a person did into a label (G23)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from sureline.application.current import Currents
from sureline.application.ports.clock import Clock
from sureline.application.ports.ledger import StoredDecision
from sureline.application.ports.reviews import ReviewStore
from sureline.application.review.hearing import Hearing
from sureline.application.review.seen import Seen
from sureline.core.learning.labels import label_of
from sureline.core.values.outcome import Action, Outcome, OutcomeSource
from sureline.core.values.policy import Mode
from sureline.errors import InvalidInput, NotFound, UnknownSlice

Choice = TypeVar("Choice", bound=StrEnum)


def choice(kind: type[Choice], value: str, field: str) -> Choice:
    """Return the member that `value` names. Raises InvalidInput telling what is allowed."""
    try:
        return kind(value)
    except ValueError:
        allowed = ", ".join(kind)
        raise InvalidInput(f"expected one of {allowed}, got {value!r}", field=field) from None


def paths(fields: Sequence[str]) -> tuple[str, ...]:
    """Return the paths of edited fields. Raises InvalidInput for a bare text."""
    if isinstance(fields, str):  # each of its letters would be a path
        raise InvalidInput("expected a list of paths, got a text", field="edited_fields")
    return tuple(fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenAnswer:
    """What a person (or the world, later) said about a decision.

    `edited_fields` are dotted paths and belong to an edit. `id` makes a repeated call harmless.
    `anchored` says that the person saw the proposal before answering.
    """

    decision_id: str
    action: Action
    by: str
    source: OutcomeSource = OutcomeSource.REVIEW
    id: str | None = None
    edited_fields: tuple[str, ...] = ()
    anchored: bool = True
    comment: str | None = None

    def __post_init__(self) -> None:
        if self.edited_fields and self.action is not Action.EDIT:
            raise InvalidInput("only an edit has edited fields", field="edited_fields")
        if self.action is Action.EXPIRED:
            raise InvalidInput("only time lets an item expire; nobody can say so", field="action")
        if not self.by.strip():
            raise InvalidInput("say who answered", field="by")


@dataclass(frozen=True, slots=True, kw_only=True)
class Labeller:
    """Records outcomes; only trusted callers reach it (G34).

    What is said of a planted item is taken like any other's, and is no label.
    """

    reviews: ReviewStore
    seen: Seen
    currents: Currents
    clock: Clock
    new_id: Callable[[], str]

    async def record(self, workspace: str, answer: GivenAnswer) -> Outcome:
        """Append an outcome to a decision, and return it as it counts.

        A reviewer's answer about what waits in the queue is their verdict there, by the queue's
        rules; what a slice only logs is not acted on, so that it is released as it comes. Raises
        NotFound, Conflict and Forbidden.
        """
        stored = await self.seen.decision(workspace, answer.decision_id)
        if stored is None:
            raise NotFound(f"there is no decision {answer.decision_id!r}")
        cosmetic = await self._cosmetic_fields(stored.slice_key)
        outcome = Outcome(
            id=answer.id or self.new_id(),
            workspace=workspace,
            decision_id=answer.decision_id,
            action=answer.action,
            correct=label_of(answer.action, answer.edited_fields, cosmetic),
            source=answer.source,
            by=answer.by,
            anchored=answer.anchored,
            recorded_at=self.clock.now(),
            comment=answer.comment,
            edited_fields=answer.edited_fields,
        )
        hearing = Hearing(outcome=outcome, at_once=_is_only_logged(stored))
        return await self.reviews.hear(outcome, hearing)

    async def _cosmetic_fields(self, slice_key: str) -> Sequence[str]:
        """Return the fields whose edit leaves the output correct, by the current policy."""
        try:
            current = await self.currents.latest(slice_key)
        except UnknownSlice:
            return ()  # the slice has left the policy since; then no edit is cosmetic
        return current.policy.cosmetic_fields


def _is_only_logged(stored: StoredDecision) -> bool:
    """Tell whether nobody acts on what is said of it; of a damaged one somebody may."""
    try:
        return bool(json.loads(stored.body)["mode"] == Mode.LOG_ONLY)
    except (ValueError, KeyError, TypeError):
        return False
