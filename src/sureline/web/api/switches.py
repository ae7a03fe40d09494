"""The kill switch over HTTP (G29)."""

from __future__ import annotations

from typing import Any

from sureline.application.ports.keys import ApiKey
from sureline.bootstrap import Services
from sureline.core.gate.acting import acting
from sureline.core.values.switch import Switch
from sureline.errors import Forbidden, PolicyError, UnknownSlice
from sureline.web.access import check_slice
from sureline.web.api.shapes import SwitchesShape, SwitchFields, SwitchShape
from sureline.web.operation import ADMINS, READERS, Answer, Call, Operation
from sureline.web.reply import Reply

_SLICE = "slice:"
GLOBAL = "global"


async def show(call: Call) -> Reply:
    """Return every switch, those of the server's environment included."""
    switches = await switches_seen(call.context.services, call.key)
    return Reply.json(
        {"on": any(one.on for one in switches), "switches": [switch_json(one) for one in switches]}
    )


async def turn(call: Call) -> Reply:
    """Turn a switch on or off; it holds from the next decision on, in every process."""
    body = call.body
    switch = await turn_switch(
        call.context.services, call.key, body["scope"], on=body["on"], reason=body["reason"]
    )
    return Reply.json(switch_json(switch))


async def switches_seen(services: Services, key: ApiKey) -> list[Switch]:
    """Return the environment's switches, and the newest of every scope that concerns the key."""
    hard = services.plugins.hard_switch.read(key.workspace)
    stored = await services.ledger.switches(key.workspace)
    return [*hard, *(one for one in stored if concerns(key, one.scope))]


async def turn_switch(
    services: Services, key: ApiKey, scope: str, *, on: bool, reason: str
) -> Switch:
    """Turn a switch in the name of a key. Raises Forbidden, UnknownSlice and StoreError."""
    _check_scope(key, scope)
    if on:
        await _check_known(services, scope)
    switch = Switch(
        workspace=key.workspace,
        scope=scope,
        on=on,
        reason=reason,
        by=acting(key.name, field="key"),
        changed_at=services.clock.now(),
    )
    await services.ledger.set_switch(switch)
    return switch


def concerns(key: ApiKey, scope: str) -> bool:
    """Tell whether a switch is the key's to see: everything's, or one of its slices'.

    A batch says not of which slices it is; on the page of an item its switch is shown to whoever
    may see the item.
    """
    if not key.slices or scope == GLOBAL:
        return True
    return scope.startswith(_SLICE) and scope.removeprefix(_SLICE) in key.slices


def _check_scope(key: ApiKey, scope: str) -> None:
    """Keep a key that is bound to slices to the switches of those."""
    if not key.slices:
        return
    if not scope.startswith(_SLICE):
        raise Forbidden("this key is bound to slices, so it turns only their switches")
    check_slice(key, scope.removeprefix(_SLICE))


async def _check_known(services: Services, scope: str) -> None:
    """Refuse a switch that would stop nothing: in an emergency a slip of the pen must be seen."""
    if not scope.startswith(_SLICE):
        return
    try:
        policy = await services.policies.latest()
    except PolicyError:
        return  # without a readable policy nothing is decided; the switch is kept all the same
    slice_key = scope.removeprefix(_SLICE)
    if slice_key not in policy.slices:
        known = ", ".join(sorted(policy.slices))
        raise UnknownSlice(
            f"the policy has no slice {slice_key!r} (it has: {known})", field="scope"
        )


def switch_json(switch: Switch) -> dict[str, Any]:
    """Return a switch as JSON values."""
    return {
        "scope": switch.scope,
        "on": switch.on,
        "reason": switch.reason,
        "by": switch.by,
        "changed_at": switch.changed_at.isoformat(),
    }


OPERATIONS = (
    Operation(
        method="GET",
        path="/v1/switches",
        name="listSwitches",
        about="Return the newest state of every switch.",
        run=show,
        roles=READERS,
        answers={200: Answer("The switches.", SwitchesShape)},
    ),
    Operation(
        method="PUT",
        path="/v1/switches",
        name="turnSwitch",
        about="Turn a switch on or off. While one is on, nothing in its scope is automated and "
        "no approval can be used.",
        run=turn,
        roles=ADMINS,
        body=SwitchFields,
        answers={200: Answer("The switch as it is now.", SwitchShape)},
    ),
)
