"""Which items somebody is offered, and who is told of a step up (R15).

A group narrows what its members are offered, and locks nobody out. Each step up adds people and
takes none away, so that no item is out of everybody's sight.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from sureline.core.values.groups import ON_CALL, Group, Groups
from sureline.core.values.hours import WorkingHours


def group_of(groups: Groups, slice_key: str) -> Group | None:
    """Return the group of a slice, None if it has none: then it is for everybody."""
    return next((one for one in groups.values() if slice_key in one.slices), None)


def steps_of(group: Group) -> tuple[str, ...]:
    """Return where items go, step by step; without steps, to the on-call if there is one."""
    if group.steps or group.on_call is None:
        return group.steps
    return (ON_CALL,)


def audience(groups: Groups, group: Group, level: int) -> AbstractSet[str] | None:
    """Return for whom a group's items wait at a level; None where they wait for everybody.

    At the bottom they are the group's members. Further up come those of each step, and the person
    on call; where a step names nobody who can come, everybody does.
    """
    if not group.members:
        return None
    found = set(group.members)
    if level > 0 and group.on_call is not None and group.on_call.person is not None:
        found.add(group.on_call.person)
    for step in _reached(group, level):
        added = _added(groups, group, step)
        if not added:
            return None
        found |= added
    return found


def least_levels(groups: Groups, name: str) -> dict[str, int | None]:
    """Return from which level on somebody is offered a slice's items, None for never.

    Slices that are missing are offered at every level. Who is a member of no group is offered
    everything.
    """
    if all(name not in one.members for one in groups.values()):
        return {}
    found: dict[str, int | None] = {}
    for group in groups.values():
        level = _least(groups, group, name)
        if level != 0:
            found |= dict.fromkeys(group.slices, level)
    return found


def hours_of(groups: Groups, slice_key: str) -> tuple[WorkingHours | None, ...]:
    """Return in whose hours a slice's deadlines count, by level; the last holds from there on.

    The on-call has no hours: what waits for them counts on the clock.
    """
    group = group_of(groups, slice_key)
    if group is None:
        return ()
    steps = steps_of(group)
    # Without anybody to go to, what went a step up waits for the group still.
    further = [None if one == ON_CALL else groups[one].hours for one in steps]
    found = (group.hours, *further)
    return found if any(found) else ()


def called_channels(groups: Groups) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Return the channels of the on-calls by slice and level; the last holds from there on.

    They are told of each step up and of expiry, at any hour.
    """
    return {
        key: tuple(_channels(groups, group, level) for level in range(len(steps_of(group)) + 1))
        for group in groups.values()
        for key in group.slices
        if any(_channels(groups, group, len(steps_of(group))))
    }


def _reached(group: Group, level: int) -> tuple[str, ...]:
    """Return the steps that an item at this level has come to; none named is a step as well."""
    steps = steps_of(group)
    return (steps or ("",))[:level]


def _added(groups: Groups, group: Group, step: str) -> AbstractSet[str]:
    """Return who is asked at a step beside those who were asked before."""
    asked = groups.get(step)
    called = group.on_call if asked is None else asked.on_call
    found = set(() if asked is None else asked.members)
    if called is not None and called.person is not None:
        found.add(called.person)
    return found


def _least(groups: Groups, group: Group, name: str) -> int | None:
    for level in range(max(1, len(steps_of(group))) + 1):
        found = audience(groups, group, level)
        if found is None or name in found:
            return level
    return None


def _channels(groups: Groups, group: Group, level: int) -> tuple[str, ...]:
    asked = [group, *(groups[one] for one in _reached(group, level) if one in groups)]
    called = (one.on_call for one in asked)
    return tuple(
        dict.fromkeys(one.channel for one in called if one is not None and one.channel is not None)
    )
