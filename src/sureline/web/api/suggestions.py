"""Make a proposed policy of what the report suggests (R8)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from sureline.application.acceptance import Accepted, accepted_json
from sureline.application.ports.keys import ApiKey
from sureline.errors import PolicyError
from sureline.web.api.policies import check_whole
from sureline.web.context import ServerContext
from sureline.web.faults import NotReady
from sureline.web.operation import ADMINS, Answer, Call, Operation
from sureline.web.reply import Reply


@with_config(ConfigDict(extra="forbid", strict=True))
class AcceptFields(TypedDict):
    """The mark of the offer that was read, as the report has it."""

    mark: Annotated[str, Field(min_length=1, max_length=64)]


class AcceptedShape(TypedDict):
    """The policy that was proposed, and the one key in which it differs from what holds.

    `restricted` says that it gives the slice to people, whose switch was turned on.
    """

    policy: str
    key: str
    before: Any
    after: Any
    restricted: bool
    warnings: list[str]


async def accept(call: Call) -> Reply:
    """Propose the policy that holds with the key changed that a suggestion names."""
    check_whole(call)
    try:
        made = await accepted(
            call.context,
            call.key,
            call.params["key"],
            call.params["suggestion"],
            mark=call.body["mark"],
        )
    except PolicyError as error:
        raise NotReady("no policy can be used here; nothing is suggested") from error
    return Reply.json(accepted_json(made), status=201)


async def accepted(
    context: ServerContext, key: ApiKey, slice_key: str, suggestion: str, *, mark: str
) -> Accepted:
    """Accept a suggestion in the name of a key, on figures of now; see `Acceptance.accept`."""
    report = await context.fresh_report()
    return await context.services.acceptance.accept(
        report, slice_key, suggestion, by=key.name, mark=mark
    )


OPERATIONS = (
    Operation(
        method="POST",
        path="/v1/slices/{key}/suggestions/{suggestion}",
        name="acceptSuggestion",
        about="Propose the policy that holds with the one key changed that a suggestion of the "
        "report names. It changes no routing until it is activated. Refused if the figures have "
        "changed since they were read, or if no single key does it.",
        run=accept,
        roles=ADMINS,
        body=AcceptFields,
        answers={201: Answer("The policy that was proposed.", AcceptedShape)},
        problems=frozenset({404, 409}),
    ),
)
