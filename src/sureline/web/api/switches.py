"""The kill switch over HTTP (G29)."""

from __future__ import annotations

from typing import Any

from sureline.application.ports.keys import ApiKey
from sureline.core.gate.acting import acting
from sureline.core.values.switch import Switch
from sureline.errors import Forbidden, PolicyError, UnknownSlice
from sureline.web.access import check_slice
from sureline.web.api.shapes import SwitchesShape, SwitchFields, SwitchShape
from sureline.web.operation import ADMINS, READERS, Answer, Call, Operation
from sureline.web.reply import Reply

_SLICE = "slice:"


async def show(call: Call) -> Reply:
    """Return every switch, those of the server's environment included."""
    services, workspace = call.context.services, call.key.workspace
    hard = services.plugins.hard_switch.read(workspace)
    stored = await services.ledger.switches(workspace)
    switches = [*hard, *(one for one in stored if _concerns(call.key, one.scope))]
    return Reply.json(
        {"on": any(one.on for one in switches), "switches": [switch_json(one) for one in switches]}
    )


async def turn(call: Call) -> Reply:
    """Turn a switch on or off; it holds from the next decision on, in every process."""
    services, scope = call.context.services, call.body["scope"]
    _check_scope(call.key, scope)
    if call.body["on"]:
        await _check_known(call, scope)
    switch = Switch(
        workspace=call.key.workspace,
        scope=scope,
        on=call.body["on"],
        reason=call.body["reason"],
        by=acting(call.key.name, field="key"),
        changed_at=services.clock.now(),
    )
    await services.ledger.set_switch(switch)
    return Reply.json(switch_json(switch))


def _concerns(key: ApiKey, scope: str) -> bool:
    """Tell whether a switch bears on the slices that the key may see."""
    return not (key.slices and scope.startswith(_SLICE)) or (
        scope.removeprefix(_SLICE) in key.slices
    )


def _check_scope(key: ApiKey, scope: str) -> None:
    """Keep a key that is bound to slices to the switches of those."""
    if not key.slices:
        return
    if not scope.startswith(_SLICE):
        raise Forbidden("this key is bound to slices, so it turns only their switches")
    check_slice(key, scope.removeprefix(_SLICE))


async def _check_known(call: Call, scope: str) -> None:
    """Refuse a switch that would stop nothing: in an emergency a slip of the pen must be seen."""
    if not scope.startswith(_SLICE):
        return
    try:
        policy = await call.context.services.policies.latest()
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
