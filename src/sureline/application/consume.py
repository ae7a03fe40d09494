"""Use an automatic approval: once, soon, and only while no switch is on (G29)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sureline.application.answer import Answer
from sureline.application.current import Current, Currents
from sureline.application.encode import splice, with_output
from sureline.application.ports.clock import Clock
from sureline.application.ports.ledger import Ledger, StoredDecision
from sureline.application.ports.switches import HardSwitch
from sureline.application.review.desk import ReviewDesk
from sureline.application.review.seen import Seen
from sureline.core.gate.answered import answers_in
from sureline.core.gate.stakes import settle_stakes
from sureline.core.review.elsewhere import last_word
from sureline.core.review.opening import content_digest
from sureline.core.values.decision import Route
from sureline.core.values.outcome import MISMATCH, Action, Outcome, OutcomeSource
from sureline.core.values.policy import Mode
from sureline.core.values.proposal import Proposal, Stakes
from sureline.core.values.review import Review, ReviewKind, ReviewState
from sureline.errors import NotFound, Refused, UnknownSlice


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    """Hands out the one use of an approval, re-reading the switches first.

    A planted item has none to hand out; it is refused in words that any other could be.
    """

    ledger: Ledger
    seen: Seen
    currents: Currents
    hard_switch: HardSwitch
    desk: ReviewDesk
    clock: Clock

    async def consume(
        self, workspace: str, decision_id: str, *, digest: str | None = None
    ) -> Answer:
        """Mark the approval as used and return the decision, its output as it was approved.

        `digest` is that of the content that the caller means to use (`content_digest`); where it
        is another than what was approved, that is put on record and nobody can use the approval.
        Raises NotFound, and Refused when it was not approved, was used before, is too old, or a
        switch has been turned on since.
        """
        stored = await self.seen.decision(workspace, decision_id)
        if stored is None:
            raise NotFound(f"there is no decision {decision_id!r}")
        if stored.answer is None:
            raise Refused("the payload of this decision was erased")
        said = None
        if stored.route == Route.AUTO_APPROVE:
            await self._check_automatic(stored)
        else:
            said = await self._check_reviewed(stored)
        edited = None if said is None else said.edited
        output = json.loads(stored.answer)["output"] if edited is None else json.loads(edited)
        await self._check_content(stored, content_digest(output), said, digest)
        if not await self._used(stored):
            raise Refused("this approval was used before; an approval is used once")
        answer = stored.answer if edited is None else with_output(stored.answer, edited)
        return Answer(splice(stored.body, answer), created=False)

    async def _used(self, stored: StoredDecision) -> bool:
        """Use the approval; False where it was used before, or is none that the ledger knows."""
        if await self.ledger.decision(stored.workspace, stored.id) is None:
            return False
        return await self.ledger.consume(stored.workspace, stored.id, self.clock.now())

    async def _check_automatic(self, stored: StoredDecision) -> None:
        """Refuse unless the gate would let the same scores pass now, and nobody has objected."""
        body = json.loads(stored.body)
        now = self.clock.now()
        try:
            held = await self.currents.all_latest(stored.slice_key)
        except UnknownSlice as error:
            raise Refused("the slice behind this approval has left the policy") from error
        if held[0].policy.is_mission:
            raise Refused("an evaluation of a mission releases nothing; look at the mission")
        age = now - stored.created_at
        if not timedelta(0) <= age <= timedelta(seconds=held[0].policy.approval_ttl_seconds):
            raise Refused("this approval is too old (or dated in the future); decide again")
        said = last_word(await self.ledger.outcomes(stored.workspace, stored.id))
        if said is not None and said.by == MISMATCH:
            raise Refused(_VOID)
        if said is not None and said.action is not Action.APPROVE:
            raise Refused("a person has rejected this output since")
        # A staged calibration and the earlier one both hold: the one that let it pass must still.
        if not any(_still_holds(stored, body, current, now) for current in held):
            raise Refused(
                "the policy or certificate behind this approval has changed; decide again"
            )
        batch_id = json.loads(stored.request or b"{}").get("batch_id")
        switches = [
            *self.hard_switch.read(stored.workspace),
            *await self.ledger.switches_on(stored.workspace, stored.slice_key, batch_id),
        ]
        if switches:
            raise Refused(f"the switch {switches[0].scope} is on: {switches[0].reason}")

    async def _check_reviewed(self, stored: StoredDecision) -> Outcome:
        """Return what a person said of the output; refuse unless that releases it."""
        await self.desk.settle(stored.id)
        item = await self.desk.store.get(stored.workspace, stored.id)
        if item is not None and item.kind is ReviewKind.REVIEW:
            _check_item(item)
        last = last_word(await self.seen.outcomes(stored.workspace, stored.id), item)
        if last is None:
            raise Refused("no person has approved this output")
        if last.action is Action.EXPIRED:
            raise Refused("nobody decided about this output in time; that is no approval")
        if last.by == MISMATCH:
            raise Refused(_VOID)
        if last.action is not Action.APPROVE and last.edited is None:
            raise Refused(f"the person's answer was {last.action}")
        return last

    async def _check_content(
        self, stored: StoredDecision, digest: str, said: Outcome | None, meant: str | None
    ) -> None:
        """Refuse unless what is handed out was approved, and is what the caller means to use."""
        if said is not None and said.content is not None and said.content != digest:
            raise Refused("what is stored is not what was approved; nothing is handed out")
        if meant is None or meant == digest:
            return
        await self.ledger.record_outcome(
            Outcome(
                id=f"mismatch-{stored.id}-{meant[:16]}",
                workspace=stored.workspace,
                decision_id=stored.id,
                action=Action.ESCALATE,
                correct=None,
                source=OutcomeSource.REVIEW,
                by=MISMATCH,
                anchored=True,
                recorded_at=self.clock.now(),
                content=meant,
            )
        )
        raise Refused(
            "what is to be used is not what was approved; that is on record, and this approval "
            "cannot be used any more"
        )


_VOID = "this approval was tried on other content and cannot be used any more"


def _check_item(item: Review) -> None:
    """Refuse what the queue has not released; raises Refused.

    Where several must approve, only what they said in the queue counts.
    """
    if item.state.is_open:
        left = item.rules.approvals - len(item.approvals)
        more = f"; {left} more must" if item.approvals else ""
        raise Refused(f"no person has approved this output yet{more}")
    if not item.released:
        raise Refused("the verdict can still be taken back; ask again in a moment")
    if item.state is ReviewState.SUPERSEDED:
        raise Refused("another attempt took the place of this output")
    if item.rules.approvals > 1 and len(item.approvals) < item.rules.approvals:
        raise Refused(f"{item.rules.approvals} people must approve this output, in the queue")


def _answers(
    stored: StoredDecision, body: Mapping[str, Any], current: Current
) -> dict[str, tuple[str, ...]]:
    """Return which models measured an approval, without those that have changed since."""
    noted = current.seen.noted
    lasting = [
        asked for asked in current.names if asked not in noted or stored.created_at >= noted[asked]
    ]
    return answers_in((one["detail"] for one in body["signals"].values()), lasting)


def _still_holds(
    stored: StoredDecision, body: Mapping[str, Any], current: Current, now: datetime
) -> bool:
    """Tell whether the policy and the certificate or hypothesis behind it would let it pass."""
    policy = current.policy
    claimed = Proposal(
        slice_key=policy.key,
        task="",
        output=None,
        action_class=body["action_class"],
        stakes=Stakes(body["stakes"]),
    )
    at_stake = settle_stakes(claimed, policy, current.action_classes)
    current = current.measured_by(current.seen, _answers(stored, body, current))
    threshold = current.threshold(at_stake.stakes, now)
    return (
        policy.mode is Mode.ROUTE
        and not policy.four_eyes
        and not at_stake.always_human
        and body["measurement"] == current.measurement_hash
        and body["certificate"] == threshold.certificate
        and threshold.auto is not None
        and body["confidence"] is not None
        and body["confidence"] >= threshold.auto
    )
