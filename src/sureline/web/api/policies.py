"""Propose policies and make them current."""

from __future__ import annotations

from sureline.bootstrap import check_sources
from sureline.core.values.policy import Policy
from sureline.errors import Forbidden
from sureline.web.api.shapes import (
    ActivatedShape,
    ActivationFields,
    PoliciesShape,
    PolicyFields,
    ProposedPolicyShape,
)
from sureline.web.operation import ADMINS, READERS, Answer, Call, Operation
from sureline.web.reply import Reply


async def show(call: Call) -> Reply:
    """Return the stored policies."""
    found = await call.context.services.policies.proposed()
    return Reply.json(
        {
            "policies": [
                {
                    "hash": one["hash"],
                    "proposed_at": one["proposed_at"].isoformat(),
                    "active": one["active"],
                }
                for one in found
            ]
        }
    )


async def propose(call: Call) -> Reply:
    """Check and store a policy; routing stays as it is, restrictions hold at once."""
    check_whole(call)
    services = call.context.services
    loaded = await call.context.off_loop(
        lambda: services.policies.propose(call.body["text"], by=call.key.name)
    )
    return Reply.json(
        {
            "hash": loaded.policy.hash,
            "active": await services.policies.active_hash() == loaded.policy.hash,
            "slices": sorted(loaded.policy.slices),
            "warnings": list(loaded.warnings),
        },
        status=201,
    )


async def activate(call: Call) -> Reply:
    """Make a stored policy current."""
    check_whole(call)
    services = call.context.services
    policy: Policy = await services.policies.stored(call.params["hash"])
    check_sources(policy, services.plugins)
    note = call.body.get("note", "")
    await services.policies.activate(policy.hash, by=call.key.name, note=note)
    return Reply.json({"kind": "policy", "subject": policy.hash, "by": call.key.name})


def check_whole(call: Call) -> None:
    """Raise Forbidden for a key that is bound to slices: this touches all of them."""
    if call.key.slices:
        raise Forbidden("this key is bound to slices, and this touches all of them")


OPERATIONS = (
    Operation(
        method="GET",
        path="/v1/policies",
        name="listPolicies",
        about="Return the stored policies, newest first.",
        run=show,
        roles=READERS,
        answers={200: Answer("The policies.", PoliciesShape)},
    ),
    Operation(
        method="POST",
        path="/v1/policies",
        name="proposePolicy",
        about="Check a policy and store it. It changes no routing until it is activated; only "
        "slices that it gives to people are given to them at once.",
        run=propose,
        roles=ADMINS,
        body=PolicyFields,
        answers={201: Answer("The policy is sound and stored.", ProposedPolicyShape)},
    ),
    Operation(
        method="POST",
        path="/v1/policies/{hash}/activate",
        name="activatePolicy",
        about="Make a stored policy current, in every process.",
        run=activate,
        roles=ADMINS,
        body=ActivationFields,
        may_be_empty=True,
        answers={200: Answer("The policy holds now.", ActivatedShape)},
        problems=frozenset({404}),
    ),
)
