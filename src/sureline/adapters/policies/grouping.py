"""Which slices the groups of a policy mean, and what is wrong between groups and the rest."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from sureline.adapters.policies.explain import validated
from sureline.adapters.policies.faults import Faults, shown
from sureline.adapters.policies.group_settings import GroupSettings
from sureline.adapters.policies.notification_settings import NotificationSettings
from sureline.adapters.policies.settings import SliceSettings
from sureline.adapters.policies.tree import Node
from sureline.core.review.groups import hours_of
from sureline.core.values.groups import ON_CALL, Group, Groups
from sureline.core.values.policy import SlicePolicy


def read_groups(
    entries: Mapping[str, Node],
    slices: Mapping[str, SliceSettings | None],
    notifications: NotificationSettings | None,
    faults: Faults,
) -> dict[str, GroupSettings]:
    """Return the groups of a policy; whatever they name must be there."""
    found: dict[str, GroupSettings] = {}
    for name, node in entries.items():
        if not isinstance(node.value, dict):
            faults.add(node, f"expected a mapping of settings, found {shown(node.plain())}")
        elif name == ON_CALL:
            faults.add_key(node, f'"{ON_CALL}" is a step, not the name of a group')
        elif (settings := validated(GroupSettings, node, faults)) is not None:
            found[name] = settings
    channels = {one.name for one in notifications.channels} if notifications else set()
    for name, settings in found.items():
        node = entries[name]
        _check_slices(node, settings, slices, faults)
        _check_steps(node, settings, entries, faults)
        _check_channel(node, settings, channels, faults)
        _warn(node, settings, slices, faults)
    _check_once(entries, found, slices, faults)
    return found


def frozen_groups(settings: Mapping[str, GroupSettings], slices: Collection[str]) -> Groups:
    """Return the groups as the core's values; their slices are resolved."""
    meant = resolved({name: one.slices for name, one in settings.items()}, slices)
    return {
        name: Group(
            name=name,
            members=tuple(one.members),
            slices=tuple(key for key in sorted(slices) if meant.get(key) == [name]),
            hours=one.working_hours(),
            on_call=one.called(),
            steps=tuple(one.steps),
        )
        for name, one in sorted(settings.items())
    }


def with_hours(policy: SlicePolicy, groups: Groups) -> SlicePolicy:
    """Return a slice's policy whose deadlines count in the hours of its group."""
    rules = replace(policy.review, hours=hours_of(groups, policy.key))
    return replace(policy, review=rules)


def resolved(patterns: Mapping[str, Iterable[str]], slices: Iterable[str]) -> dict[str, list[str]]:
    """Return the groups that mean a slice; by name before by pattern."""
    found: dict[str, list[str]] = {}
    for key in slices:
        named = [name for name, given in patterns.items() if key in given]
        matched = [
            name for name, given in patterns.items() if any(_matches(one, key) for one in given)
        ]
        if named or matched:
            found[key] = named or matched
    return found


def _matches(pattern: str, slice_key: str) -> bool:
    """Tell whether a pattern means a slice: `*` stands for any characters."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), slice_key) is not None


def _check_slices(
    node: Node, settings: GroupSettings, slices: Collection[str], faults: Faults
) -> None:
    for place, pattern in enumerate(settings.slices):
        if not any(_matches(pattern, key) for key in slices):
            where = node.deepest(("slices", place))[0]
            what = "that matches" if "*" in pattern else "named"
            faults.add(where, f'there is no slice {what} "{pattern}"')


def _check_once(
    entries: Mapping[str, Node],
    found: Mapping[str, GroupSettings],
    slices: Collection[str],
    faults: Faults,
) -> None:
    meant = resolved({name: one.slices for name, one in found.items()}, slices)
    for key, names in meant.items():
        for name in names[1:]:
            where = entries[name].deepest(("slices",))[0]
            faults.add(
                where, f'the slice "{key}" is in the group {names[0]} too; it belongs to one group'
            )


def _check_steps(
    node: Node, settings: GroupSettings, groups: Collection[str], faults: Faults
) -> None:
    for place, step in enumerate(settings.steps):
        where = node.deepest(("steps", place))[0]
        if step == ON_CALL and settings.on_call is None:
            faults.add(where, "the step on_call needs on_call: a person, a channel, or both")
        elif step != ON_CALL and step not in groups:
            faults.add(where, f'there is no group "{step}"')
        elif step == node.path.rpartition(".")[2]:
            faults.add(where, "a step leads to another group, or to on_call")


def _check_channel(
    node: Node, settings: GroupSettings, channels: Collection[str], faults: Faults
) -> None:
    channel = None if settings.on_call is None else settings.on_call.channel
    if channel is not None and channel not in channels:
        where = node.deepest(("on_call", "channel"))[0]
        faults.add(where, f'there is no channel "{channel}" in notifications')


def _warn(
    node: Node,
    settings: GroupSettings,
    slices: Mapping[str, SliceSettings | None],
    faults: Faults,
) -> None:
    """Say what leaves items to people who were not meant, or to nobody in time."""
    if settings.slices and not settings.members:
        faults.warn(node, "nobody is a member, so its slices are for everybody")
    steps = max(len(settings.steps), settings.on_call is not None)
    for key, one in sorted(slices.items()):
        if one is None or not any(_matches(pattern, key) for pattern in settings.slices):
            continue
        if one.review.escalations < steps:
            faults.warn(
                node,
                f'items of the slice "{key}" go {one.review.escalations} steps up '
                f"(review.escalations) and then expire, but the group has {steps}",
            )
