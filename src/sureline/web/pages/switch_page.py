"""The switches: stop all automation, or a part of it, with a reason; who did so and when (G29)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sureline.application.ports.keys import ApiKey, Role
from sureline.bootstrap import Services
from sureline.core.values.switch import Switch
from sureline.errors import Forbidden, InvalidInput, PolicyError, SurelineError
from sureline.web.access import may_see
from sureline.web.api.switches import concerns, switches_seen, turn_switch
from sureline.web.pages.apart import apart
from sureline.web.pages.page import Page, Visit, redirect
from sureline.web.reply import Reply

ADMINS = frozenset({Role.ADMIN})
GLOBAL = "global"
MOST_HISTORY = 100
"""Rows of the history that are shown, the newest."""
LONGEST_SCOPE, LONGEST_REASON = 210, 2_000


async def show(visit: Visit) -> Reply:
    """Show all switches and what was turned before."""
    return await _shown(visit)


async def turn(visit: Visit) -> Reply:
    """Turn the switch that the pressed button names; it holds from the next decision on."""
    form = visit.form
    try:
        await turn_switch(
            visit.context.services,
            visit.signed_in.key,
            _scope(form),
            on=_wanted(form.get("turn", "")),
            reason=_reason(form.get("reason", "")),
        )
    except (Forbidden, InvalidInput) as error:
        return await _shown(visit, error=error)
    return redirect("/switches")


async def _shown(visit: Visit, *, error: SurelineError | None = None) -> Reply:
    services, key = visit.context.services, visit.signed_in.key
    hard = services.plugins.hard_switch.read(services.workspace)
    stored = (await switches_seen(services, key))[len(hard) :]
    history = await apart(lambda: _history(services, key))
    everything = next((one for one in stored if one.scope == GLOBAL), None)
    return visit.html(
        "switches.html.j2",
        status=200 if error is None else error.status,
        error=None if error is None else error.message,
        hard=hard,
        everything=everything,
        rest=[one for one in stored if one.scope != GLOBAL],
        history=history[: -MOST_HISTORY - 1 : -1],
        slices=await _slices(services, key),
        may_turn=key.role in ADMINS,
        may_turn_all=key.role in ADMINS and not key.slices,
        typed=visit.form if error is not None else {},
    )


async def _history(services: Services, key: ApiKey) -> Sequence[Switch]:
    """Return every row that concerns a key, oldest first."""
    rows = await services.ledger.switch_history(services.workspace)
    return [one for one in rows if concerns(key, one.scope)]


async def _slices(services: Services, key: ApiKey) -> list[str]:
    """Return the slices whose switch a key may see; none where there is no policy."""
    try:
        policy = await services.policies.latest()
    except PolicyError:
        return []
    return [one for one in sorted(policy.slices) if may_see(key, one)]


def _scope(form: Mapping[str, str]) -> str:
    text = f"batch:{form['batch'].strip()}" if "batch" in form else form.get("scope", "")
    kind, _, name = text.partition(":")
    fits = text == GLOBAL or (kind in {"slice", "batch"} and name.strip())
    if not fits or len(text) > LONGEST_SCOPE:
        raise InvalidInput("expected global, slice:<key> or batch:<id>", field="scope")
    return text


def _wanted(text: str) -> bool:
    """Read the button; nothing else turns anything, so that no slip turns a switch off."""
    if text not in {"on", "off"}:
        raise InvalidInput("expected one of the buttons", field="turn")
    return text == "on"


def _reason(text: str) -> str:
    reason = text.strip()
    if not reason or len(reason) > LONGEST_REASON:
        raise InvalidInput(
            f"say why, in at most {LONGEST_REASON} characters; whoever comes next reads it",
            field="reason",
        )
    return reason


PAGES = (
    Page(method="GET", path="/switches", run=show),
    Page(method="POST", path="/switches", run=turn, roles=ADMINS),
)
