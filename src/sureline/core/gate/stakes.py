"""Settle what is at stake: the policy says so, an agent may only raise it (G27)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sureline.core.values.policy import UNKNOWN_ACTION, ActionClass, SlicePolicy
from sureline.core.values.proposal import Proposal, Stakes


@dataclass(frozen=True, slots=True, kw_only=True)
class AtStake:
    """The effective stakes, and whether a person must always decide (with the class's name).

    `approvals` is how many people must approve, as far as the action classes say so.
    """

    stakes: Stakes
    always_human: bool
    action_class: str | None
    known: bool = True
    approvals: int = 1


def settle_stakes(
    proposal: Proposal, policy: SlicePolicy, action_classes: Mapping[str, ActionClass]
) -> AtStake:
    """Combine slice, action class and claim to the most restrictive of them.

    An action class that the policy does not name counts as irreversible and always human, and
    so do irreversible stakes from whatever side. It needs as many approvals as any that is named.
    """
    names = [name for name in (policy.action_class, proposal.action_class) if name is not None]
    classes = [action_classes.get(name, UNKNOWN_ACTION) for name in names]
    candidates = [policy.stakes, *(action.stakes for action in classes)]
    if proposal.stakes is not None:
        candidates.append(proposal.stakes)
    stakes = max(candidates, key=lambda value: value.rank)
    known = all(name in action_classes for name in names)
    deciding = classes if known else [*classes, *action_classes.values()]
    return AtStake(
        stakes=stakes,
        always_human=stakes is Stakes.IRREVERSIBLE or any(action.human for action in classes),
        action_class=names[-1] if names else None,
        known=known,
        approvals=max((one.approvals for one in deciding), default=1),
    )
