"""Make an item whose output is known to be wrong: one rejected before, or a right one spoilt."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from sureline.application.current import Current
from sureline.application.encode import encode_answer, encode_body
from sureline.application.ports.planted import Beside, Material
from sureline.application.review.item import CLAIMED
from sureline.application.review.remeasured import Remeasuring
from sureline.core.canonical import canonical_json
from sureline.core.checks.result import Validator
from sureline.core.gate.sampling import Purpose, draw
from sureline.core.review.alike_id import alike_ids, opened_id
from sureline.core.review.honeypot import (
    PAST_REJECT,
    Planted,
    PlantedFor,
    Unplanted,
    planted_review,
)
from sureline.core.review.opening import content_digest, uncertainty_of
from sureline.core.review.pick import Pick
from sureline.core.review.spoiling import Spoilt, spoilings
from sureline.core.values.decision import Decision
from sureline.core.values.proposal import Stakes
from sureline.core.values.review import Review

TRIED = 8
"""How many decisions of each kind are tried before it is left: all of it holds up the queue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownErrors:
    """Makes planted items; `secret` settles which, so that nobody can foresee it."""

    secret: bytes
    new_id: Callable[[], str]
    validators: Mapping[str, Validator]

    def made(
        self, item: Review, there: Beside, current: Current, now: datetime
    ) -> Planted | Unplanted:
        """Return a planted item to lie behind `item` from `now` on, or why there is none.

        It comes from what was rejected or from what was right and is spoilt, whichever is drawn and
        would have come to a person beside this item.
        """
        pick, beside = self._pick(item.id), json.loads(there.body)
        material = _in_drawn_order(_like(there.material, beside), pick)
        if not material:
            return Unplanted.NO_MATERIAL
        new_id = self._id(item, there, pick, now)
        way = Remeasuring(
            current=current, beside=beside, validators=self.validators, secret=self.secret
        )
        rejected, right = _rejected(material), [one for one in material if one.correct]
        offers = [_as_rejected(rejected[:TRIED]), _spoilt(right[:TRIED], pick)]
        if pick("way", 2):
            offers.reverse()
        anything = False
        for source, output, origin in (one for offer in offers for one in offer):
            anything = True
            decision = way.decided(source.body, source.answer, source.request, output, new_id, now)
            if decision is not None:
                return _planted(item, source, origin, decision, now)
        return Unplanted.CHECKS_CATCH_IT if anything else Unplanted.NOTHING_TO_CHANGE

    def _id(self, item: Review, there: Beside, pick: Pick, now: datetime) -> str:
        """Return a free id like the neighbour's."""
        alike = alike_ids(item.id, there.ids, pick)
        free = next((one for one in alike if not there.is_taken(one)), None)
        return opened_id(self.new_id(), now) if free is None else free

    def _pick(self, key: str) -> Pick:
        return lambda what, of: int(
            draw(self.secret, Purpose.HONEYPOT, f"made\0{key}\0{what}") * of
        )


Offer = tuple[Material, Any, str]


def _like(material: Sequence[Material], beside: Mapping[str, Any]) -> list[Material]:
    """Return what was measured as the neighbour was: else its signals would tell them apart."""
    found = []
    for one in material:
        body = json.loads(one.body)
        if body["measurement"] == beside["measurement"] or body["signals"].keys() == (
            beside["signals"].keys()
        ):
            found.append(one)
    return found


def _in_drawn_order(material: Sequence[Material], pick: Pick) -> list[Material]:
    return sorted(material, key=lambda one: pick(one.decision_id, 2**32))


def _rejected(material: Sequence[Material]) -> list[Material]:
    """Return what was rejected, where somebody else reviews too: who did it would know it."""
    people = {one.by for one in material}
    return [one for one in material if not one.correct and people - {one.by}]


def _as_rejected(rejected: Iterable[Material]) -> Iterator[Offer]:
    for one in rejected:
        yield one, json.loads(one.answer)["output"], PAST_REJECT


def _spoilt(right: Iterable[Material], pick: Pick) -> Iterator[Offer]:
    for one in right:
        answer, request = json.loads(one.answer), json.loads(one.request)
        sources = [each["text"] for each in request.get("source", ())]
        said = _said_of(answer, request)
        own = partial(_of, pick, one.decision_id)
        for each in spoilings(answer["output"], [request["task"], *sources], own):
            if not _is_quoted(each, said):
                yield one, each.output, each.way


def _of(pick: Pick, decision_id: str, what: str, of: int) -> int:
    return pick(f"{decision_id}\0{what}", of)


def _said_of(answer: Mapping[str, Any], request: Mapping[str, Any]) -> str:
    """Return what others than the checks say of an output, and what its agent says of it."""
    claims = [request[name] for name in CLAIMED if name in request]
    others = {
        name: one for name, one in answer.get("findings", {}).items() if name != "verification"
    }
    return canonical_json([claims, others]).decode()


def _is_quoted(one: Spoilt, said: str) -> bool:
    """Tell whether something quotes what is no longer there: that would give it away."""
    return re.search(rf"(?<!\w){re.escape(one.gone)}(?!\w)", said) is not None


def _planted(
    item: Review, source: Material, origin: str, decision: Decision, now: datetime
) -> Planted:
    return Planted(
        review=planted_review(
            item,
            new_id=decision.id,
            digest=content_digest(decision.output),
            rank=Stakes(decision.stakes).rank,
            uncertainty=uncertainty_of(decision.confidence),
            not_by=(),
            now=now,
        ),
        purpose=PlantedFor.HONEYPOT,
        source_id=source.decision_id,
        origin=origin,
        trigger=f"{PlantedFor.HONEYPOT}:{item.id}",
        body=encode_body(decision),
        answer=encode_answer(decision),
    )
