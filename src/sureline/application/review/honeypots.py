"""Plant known errors among what people review, so that it shows whether they look (R7)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sureline.application.encode import with_output
from sureline.application.policies import PolicyBook
from sureline.application.ports.clock import Clock
from sureline.application.ports.planted import Material, PlantedStore
from sureline.core.canonical import canonical_json, json_bytes
from sureline.core.gate.sampling import Purpose, draw
from sureline.core.opinions.canary import Canary
from sureline.core.opinions.canary_making import RECIPES, make_bad
from sureline.core.review.honeypot import (
    Planted,
    PlantedFor,
    disguised,
    is_place,
    planted_review,
    run_length,
)
from sureline.core.review.opening import content_digest, uncertainty_of
from sureline.core.values.proposal import Stakes
from sureline.core.values.review import Review
from sureline.errors import SurelineError

PAST_REJECT = "past_reject"
SPOILING = tuple(one for one in RECIPES if one.name == "changed_figure")
"""The one recipe of the canaries that makes of any right output one that is surely wrong.

The others depend on what the slice is about (an answer to another task may be right as well), or
break a form that the checks would have caught before a person sees it.
"""
_FIGURE = re.compile(r"\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Planter:
    """Plants known errors in one workspace; `secret` settles where, `new_id` makes ids.

    It is not part of deciding: a queue in which nothing could be planted works as well.
    """

    planted: PlantedStore
    policies: PolicyBook
    clock: Clock
    secret: bytes
    new_id: Callable[[], str]
    workspace: str

    async def plant(self) -> int:
        """Walk over what is new in the queue and plant; return how many were planted."""
        shares = await self._shares()
        if not any(shares.values()):
            return 0
        now = self.clock.now()

        def choose(
            item: Review, ordinal: int, material: Callable[[], Sequence[Material]]
        ) -> Planted | None:
            share = shares.get(item.slice_key, 0.0)
            if not self._is_place(item.slice_key, ordinal, share):
                return None
            return self._made(item, material(), now)

        return await self.planted.plant(self.workspace, choose, now=now)

    async def _shares(self) -> dict[str, float]:
        """Return the share of each slice; nothing is planted where no policy can be used."""
        try:
            policy = await self.policies.latest()
        except SurelineError:
            return {}
        return {key: one.attention.honeypots for key, one in policy.slices.items()}

    def _is_place(self, slice_key: str, ordinal: int, share: float) -> bool:
        if share <= 0:
            return False
        run = (ordinal - 1) // run_length(share)
        place = draw(self.secret, Purpose.HONEYPOT, f"{self.workspace}\0{slice_key}\0{run}")
        return is_place(ordinal, share, place)

    def _made(self, item: Review, material: Sequence[Material], now: datetime) -> Planted | None:
        """Return a past reject or a spoilt output, whichever is drawn and there is; or None."""
        ways: list[Callable[[], tuple[Material, str, bytes | None] | None]] = [
            lambda: self._past_reject(item.id, _rejected(material)),
            lambda: self._spoilt(item.id, [one for one in material if one.correct]),
        ]
        if draw(self.secret, Purpose.HONEYPOT, f"way\0{item.id}") < 0.5:
            ways.reverse()
        found = next(filter(None, (way() for way in ways)), None)
        return None if found is None else self._planted(item, *found, now)

    def _past_reject(
        self, key: str, rejected: Sequence[Material]
    ) -> tuple[Material, str, bytes | None] | None:
        if not rejected:
            return None
        place = draw(self.secret, Purpose.HONEYPOT, f"reject\0{key}")
        return rejected[int(place * len(rejected))], PAST_REJECT, None

    def _spoilt(
        self, key: str, right: Sequence[Material]
    ) -> tuple[Material, str, bytes | None] | None:
        by_id = {one.decision_id: one for one in right}
        seed = f"{draw(self.secret, Purpose.HONEYPOT, f'spoil{key}'):.17f}"
        found = make_bad([_canary(one) for one in right], seed, recipes=SPOILING)
        if not found:
            return None
        made = found[0]
        source = by_id[made.kind]
        output = _read(made.output, json.loads(source.answer)["output"])
        answer = None if output is None else _spoilt_answer(source.answer, output)
        return None if answer is None else (source, made.id, answer)

    def _planted(
        self, item: Review, source: Material, origin: str, answer: bytes | None, now: datetime
    ) -> Planted:
        new_id, output = self.new_id(), json.loads(answer or source.answer)["output"]
        return Planted(
            review=planted_review(
                item,
                new_id=new_id,
                digest=content_digest(output),
                rank=Stakes(source.stakes).rank,
                uncertainty=uncertainty_of(source.confidence),
                not_by=(),
                now=now,
            ),
            purpose=PlantedFor.HONEYPOT,
            source_id=source.decision_id,
            origin=origin,
            trigger=f"{PlantedFor.HONEYPOT}:{item.id}",
            body=json_bytes(
                disguised({**json.loads(source.body), "policy": source.policy}, new_id, now)
            ),
            answer=answer,
        )


def _rejected(material: Sequence[Material]) -> list[Material]:
    """Return what was rejected, where somebody else reviews too: who did it would know it."""
    people = {one.by for one in material}
    return [one for one in material if not one.correct and people - {one.by}]


def _canary(one: Material) -> Canary:
    """Return a right output as a good canary; its kind is the decision that it is of."""
    request: Mapping[str, Any] = json.loads(one.request)
    output = json.loads(one.answer)["output"]
    return Canary(
        id=one.decision_id,
        task=request["task"],
        source="\n".join(each["text"] for each in request.get("source", ())),
        output=output if isinstance(output, str) else canonical_json(output).decode(),
        mode=None,
        language="en",
        kind=one.decision_id,
    )


def _spoilt_answer(answer: bytes, output: Any) -> bytes | None:
    """Return an answer with its output spoilt and all that was found of it.

    None where a finding quotes the figure that is no longer there: it would give it away.
    """
    given, spoilt = json.loads(answer), json.loads(with_output(answer, canonical_json(output)))
    found = json.dumps([given["feedback"], given.get("findings")])
    before, after = (set(_FIGURE.findall(json.dumps(one["output"]))) for one in (given, spoilt))
    if (before - after) & set(_FIGURE.findall(found)):
        return None
    return json_bytes({**spoilt, "feedback": given["feedback"]})


def _read(text: str, like: Any) -> Any:
    """Read a spoilt output back as what it was made of; None where it is not that any more."""
    if isinstance(like, str):
        return text
    try:
        output = json.loads(text)
    except ValueError:
        return None
    return output if type(output) is type(like) and output != like else None
