"""What is at stake, and who says so."""

from __future__ import annotations

import pytest

from sureline.core.gate.stakes import settle_stakes
from sureline.core.values.policy import ActionClass
from sureline.core.values.proposal import Proposal, Stakes
from tests.builders import slice_policy

CLASSES = {
    "payment": ActionClass(name="payment", stakes=Stakes.IRREVERSIBLE, human=True),
    "refund": ActionClass(name="refund", stakes=Stakes.HIGH_COST, human=False),
    "note": ActionClass(name="note", stakes=Stakes.REVERSIBLE, human=False),
}


@pytest.mark.parametrize(
    ("of_slice", "own_class", "claimed_class", "claimed", "stakes", "always_human", "known"),
    [
        (Stakes.REVERSIBLE, None, None, None, Stakes.REVERSIBLE, False, True),
        (Stakes.REVERSIBLE, None, "refund", None, Stakes.HIGH_COST, False, True),
        (Stakes.REVERSIBLE, "refund", "note", None, Stakes.HIGH_COST, False, True),
        (Stakes.REVERSIBLE, "payment", "note", None, Stakes.IRREVERSIBLE, True, True),
        (Stakes.HIGH_COST, None, "note", Stakes.REVERSIBLE, Stakes.HIGH_COST, False, True),
        (Stakes.REVERSIBLE, None, None, Stakes.IRREVERSIBLE, Stakes.IRREVERSIBLE, True, True),
        (Stakes.REVERSIBLE, None, "tidy", None, Stakes.IRREVERSIBLE, True, False),
    ],
)
def test_the_most_restrictive_of_policy_and_claim_holds(
    of_slice: Stakes, own_class: str | None, claimed_class: str | None, claimed: Stakes | None,
    stakes: Stakes, always_human: bool, known: bool,
) -> None:  # fmt: skip
    """G27: an agent may raise the stakes, never lower them; an unknown class is the worst."""
    proposal = Proposal(
        slice_key="invoices", task="t", output={}, action_class=claimed_class, stakes=claimed
    )
    found = settle_stakes(proposal, slice_policy(stakes=of_slice, action_class=own_class), CLASSES)
    assert (found.stakes, found.always_human, found.known) == (stakes, always_human, known)


@pytest.mark.parametrize(
    ("own_class", "claimed_class", "approvals"),
    [(None, None, 1), (None, "note", 1), ("wire", "note", 3), (None, "wire", 3), (None, "tidy", 3)],
)
def test_as_many_approve_as_the_strictest_class_asks_for(
    own_class: str | None, claimed_class: str | None, approvals: int
) -> None:
    """R12: a claim never lowers how many must approve; an unknown class needs the most of all."""
    wire = ActionClass(name="wire", stakes=Stakes.IRREVERSIBLE, human=True, approvals=3)
    proposal = Proposal(slice_key="invoices", task="t", output={}, action_class=claimed_class)
    policy = slice_policy(action_class=own_class)
    assert settle_stakes(proposal, policy, {**CLASSES, "wire": wire}).approvals == approvals
