"""Take a proposal in: redacted as the policy says, identified, and with what is known of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sureline.application.answer import Answer, replay
from sureline.application.current import Current, Currents
from sureline.application.identify import Identity, identify
from sureline.application.ports.ledger import Prior, StoredDecision
from sureline.core.redaction import NOTHING, Redacted, redacted
from sureline.core.values.policy import SlicePolicy
from sureline.core.values.proposal import Proposal
from sureline.core.values.redaction import RedactionPolicy
from sureline.errors import Conflict, NotFound, PolicyError, UnknownSlice

LONG = 20_000
"""Characters of task and sources from which on redacting is done beside the event loop."""

Rules = tuple[RedactionPolicy, bool]
"""What is redacted, and whether outputs are structured."""
_NONE: Rules = (NOTHING, True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entered:
    """A proposal that came in: `proposal` is what is kept and shown, `checked` what came.

    `current` is None only where what is stored is all there is to answer with.
    """

    proposal: Proposal
    checked: Proposal
    redacted: Mapping[str, int]
    identity: Identity
    prior: Prior
    current: Current | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """Where proposals come in; `rules` remembers what each slice redacts."""

    secret: bytes
    rules: dict[str, Rules] = field(default_factory=dict)

    async def enter(
        self,
        proposal: Proposal,
        currents: Currents,
        read_prior: Callable[[Proposal, Identity], Awaitable[Prior]],
    ) -> Entered:
        """Return a proposal as it is kept, with what the store knows and what holds.

        All digests are of the redacted form: one of the original could be guessed from. The policy
        is known only after the store was asked, so after a change of it that is done again.
        Raises UnknownSlice and PolicyError, but not where the decision is stored already; and
        UnknownSlice always for the slice of a kind of mission.
        """
        used = self.rules.get(proposal.slice_key, _NONE)
        while True:
            shown = await _redacted(proposal, used)
            identity = identify(shown.proposal, self.secret)
            prior = await read_prior(proposal, identity)
            current = await _current(currents, self.secret, proposal, identity, prior)
            if current is not None:
                refuse_missions(current.policy)
            now = used if current is None else _rules_of(current.policy)
            if now == used:
                return Entered(
                    proposal=shown.proposal,
                    checked=proposal,
                    redacted=shown.counts,
                    identity=identity,
                    prior=prior,
                    current=current,
                )
            used = self.rules[proposal.slice_key] = now

    async def replayed(
        self, entered: Entered, stored: StoredDecision, currents: Currents
    ) -> Answer:
        """Answer with what is stored, redacting as it was done then. Raises Conflict."""
        try:
            return replay(stored, entered.identity)
        except Conflict:
            then = await _rules_then(currents, stored)
            if then is None or then == self.rules.get(stored.slice_key, _NONE):
                raise
        shown = await _redacted(entered.checked, then)
        return replay(stored, identify(shown.proposal, self.secret))


def refuse_missions(policy: SlicePolicy) -> None:
    """Raise UnknownSlice for the slice of a kind of mission: who proposes there judges itself."""
    if policy.is_mission:
        raise UnknownSlice(
            f"{policy.key!r} is a kind of mission: its decisions are evaluations that sureline "
            "makes itself, and no proposal is taken in; create a mission of that kind instead",
            field="slice_key",
        )


async def _redacted(proposal: Proposal, rules: Rules) -> Redacted:
    policy, structured = rules
    size = len(proposal.task) + sum(len(one.text) for one in proposal.source)
    if not policy.any or size < LONG:
        return redacted(proposal, policy, structured=structured)
    return await asyncio.to_thread(redacted, proposal, policy, structured=structured)


async def _current(
    currents: Currents, secret: bytes, proposal: Proposal, identity: Identity, prior: Prior
) -> Current | None:
    try:
        return await currents.at(
            proposal.slice_key,
            prior.activation_mark,
            secret=secret,
            sample_key=identity.sample_key,
        )
    except (PolicyError, UnknownSlice):
        if prior.existing is None:
            raise
        return None


def _rules_of(policy: SlicePolicy) -> Rules:
    return policy.redact, policy.checks.structured


async def _rules_then(currents: Currents, stored: StoredDecision) -> Rules | None:
    """Return what was redacted under the policy of a stored decision, None if nobody knows."""
    try:
        body: Any = json.loads(stored.body)
        policy = await currents.stored(str(body["policy"]))
        return _rules_of(policy.slices[stored.slice_key])
    except (ValueError, KeyError, TypeError, NotFound, PolicyError):
        return None
