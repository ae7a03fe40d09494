"""Read a policy file, check all of it, and freeze it."""

from __future__ import annotations

import json
from collections.abc import Container
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from pydantic import ValidationError

from sureline.adapters.policies.action_settings import ActionClassSettings
from sureline.adapters.policies.canonical import (
    VERSION,
    canonical_content,
    content_hash,
    measurement_hash,
)
from sureline.adapters.policies.compilation import check_compilation
from sureline.adapters.policies.consistency import Consistency
from sureline.adapters.policies.explain import explain, validated
from sureline.adapters.policies.faults import Faults, shown, unknown_key
from sureline.adapters.policies.freeze import frozen_classes, frozen_slice
from sureline.adapters.policies.group_settings import GroupSettings
from sureline.adapters.policies.grouping import frozen_groups, read_groups, with_hours
from sureline.adapters.policies.inbound_settings import InboundSettings, inbound_fault
from sureline.adapters.policies.mission_freeze import frozen_missions
from sureline.adapters.policies.mission_reading import read_missions
from sureline.adapters.policies.notification_settings import NotificationSettings
from sureline.adapters.policies.references import References
from sureline.adapters.policies.setting import is_name
from sureline.adapters.policies.settings import SliceSettings
from sureline.adapters.policies.tree import Node, merged, without
from sureline.adapters.policies.yaml_reader import decoded, read_tree
from sureline.application.ports.policies import LoadedPolicy
from sureline.core.canonical import canonical_json
from sureline.core.review.groups import called_channels
from sureline.core.values.mission_kind import MISSION_SLICE
from sureline.core.values.policy import Policy
from sureline.errors import PolicyError

TOP_KEYS = {
    "version": "1",
    "defaults": "a mapping of settings",
    "action_classes": "a mapping of action classes",
    "slices": "a mapping of slices",
    "notifications": "a mapping of settings",
    "inbound": "a list of sources",
    "groups": "a mapping of groups",
    "missions": "a mapping of kinds of missions",
}


def load_policy(source: str | PurePath) -> LoadedPolicy:
    """Read, check and freeze a policy.

    A path is a file, which may name other files relative to itself; a text is the policy itself
    and can name none. Raises PolicyError with every fault, one a line, in file order.
    """
    faults = Faults()
    if isinstance(source, PurePath):
        text, name, folder = _file_text(Path(source)), str(source), Path(source).parent
    else:
        text, name, folder = source, "policy", None
    references = References(folder, faults)
    try:
        root = read_tree(text, name, faults)
        content = _File(root, faults, references).content()
        faults.raise_if_any()
    except PolicyError as error:
        error.files = references.tried
        raise
    canonical = canonical_json(content).decode()
    return LoadedPolicy(
        policy=policy_from_canonical(canonical),
        text=canonical,
        warnings=faults.warnings,
        files=references.tried,
    )


def policy_from_canonical(text: str) -> Policy:
    """Read a policy back from its canonical text (JSON), as a registry stores it.

    Raises PolicyError if it is not one, or needs a newer sureline.
    """
    try:
        content = json.loads(text)
        if content["version"] != VERSION:
            raise PolicyError(f"the stored policy has version {content['version']!r}, not 1")
        slices = {
            key: frozen_slice(key, SliceSettings.model_validate(one))
            for key, one in sorted(content["slices"].items())
        }
        missions = frozen_missions(content.get("missions", {}))
        measured = {key: measurement_hash(content["slices"][key]) for key in slices}
        slices |= missions.slices
        classes = {
            name: ActionClassSettings.model_validate(one)
            for name, one in content["action_classes"].items()
        }
        told = NotificationSettings.model_validate(content.get("notifications", {}))
        grouped = {
            name: GroupSettings.model_validate(one)
            for name, one in content.get("groups", {}).items()
        }
        groups = frozen_groups(grouped, slices)
        inbound = [InboundSettings.model_validate(one) for one in content.get("inbound", [])]
    except (ValidationError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise PolicyError(f"the stored policy cannot be read: {error}") from error
    return Policy(
        hash=content_hash(text.encode()),
        slices={key: with_hours(one, groups) for key, one in slices.items()},
        action_classes=frozen_classes(classes),
        measurement_hashes={**measured, **missions.measurement_hashes},
        raw=content,
        notifications=replace(told.notifications(), called=called_channels(groups)),
        groups=groups,
        inbound=tuple(one.source() for one in inbound),
        missions=missions.kinds,
    )


def _file_text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise PolicyError(f"{path}: the policy cannot be read: {why}") from error
    return decoded(data, str(path))


class _File:
    """One policy file on its way to canonical content."""

    def __init__(self, root: Node, faults: Faults, references: References) -> None:
        self._root = root
        self._faults = faults
        self._references = references

    def content(self) -> dict[str, Any]:
        if not self._root.entries:
            self._faults.add(
                self._root,
                f"expected a mapping with version and slices, found {shown(self._root.plain())}",
            )
            self._faults.raise_if_any()
        for key, node in self._root.entries.items():
            if key not in TOP_KEYS:
                self._faults.add_key(node, unknown_key(key, TOP_KEYS))
        self._version()
        classes = self._classes()
        defaults = self._defaults()
        entries = self._section("missions")
        nodes = self._section("slices", required=not entries)
        slices = {key: self._slice(node, defaults, classes) for key, node in nodes.items()}
        missions = read_missions(entries, nodes.values(), self._faults)
        known = {**slices, **dict.fromkeys(MISSION_SLICE + name for name in missions)}
        return canonical_content(
            {key: one for key, one in slices.items() if one is not None},
            {name: one for name, one in classes.items() if one is not None},
            told := self._notifications(known),
            self._inbound(known),
            read_groups(self._section("groups"), known, told, self._faults),
            {name: one for name, one in missions.items() if one is not None},
        )

    def _version(self) -> None:
        node = self._root.entries.get("version")
        if node is None:
            self._faults.add(self._root, 'the key "version" is missing: expected version: 1')
        elif node.value is True or node.value != VERSION:
            self._faults.add(node, f"expected 1, found {shown(node.plain())}")

    def _section(self, key: str, *, required: bool = False) -> dict[str, Node]:
        node = self._root.entries.get(key)
        if node is None:
            if required:
                self._faults.add(self._root, f'the key "{key}" is missing: {TOP_KEYS[key]}')
            return {}
        if not isinstance(node.value, dict) and not (node.value is None and not required):
            self._faults.add(node, f"expected {TOP_KEYS[key]}, found {shown(node.plain())}")
        elif required and not node.value:
            self._faults.add(node, "expected at least one slice")
        for name, entry in node.entries.items():
            if key != "defaults" and not is_name(name):
                self._faults.add_key(
                    entry, f'"{name}" is no name: letters, digits, "_", "-" and ".", at most 100'
                )
        return dict(node.entries)

    def _classes(self) -> dict[str, ActionClassSettings | None]:
        return {
            name: validated(ActionClassSettings, node, self._faults)
            for name, node in self._section("action_classes").items()
        }

    def _notifications(self, slices: Container[str]) -> NotificationSettings | None:
        """Return who is told what; a slice that is named there must be one."""
        node = self._root.entries.get("notifications")
        if node is None or node.value is None:
            return None
        if not isinstance(node.value, dict):
            self._faults.add(node, f"expected a mapping of settings, found {shown(node.plain())}")
            return None
        told = validated(NotificationSettings, node, self._faults)
        for index, one in enumerate(told.fields if told else ()):
            self._check_known(node.deepest(("fields", index, "slice"))[0], one.slice, slices)
        for index, channel in enumerate(told.channels if told else ()):
            for place, key in enumerate(channel.slices):
                steps = ("channels", index, "slices", place)
                self._check_known(node.deepest(steps)[0], key, slices)
        return told

    def _inbound(self, slices: Container[str]) -> list[InboundSettings]:
        """Return from where verdicts may come; a slice that is named there must be one."""
        node = self._root.entries.get("inbound")
        if node is None or node.value is None:
            return []
        if not isinstance(node.value, tuple):
            self._faults.add(node, f"expected a list of sources, found {shown(node.plain())}")
            return []
        found = [self._source(one) for one in node.value]
        sources = [one for one in found if one is not None]
        fault = inbound_fault(sources)
        if fault is not None:
            self._faults.add(node, fault)
        for index, source in enumerate(found):
            for place, key in enumerate(source.slices if source else ()):
                self._check_known(node.deepest((index, "slices", place))[0], key, slices)
        return sources

    def _source(self, node: Node) -> InboundSettings | None:
        if isinstance(node.value, dict):
            return validated(InboundSettings, node, self._faults)
        self._faults.add(node, f"expected a mapping of settings, found {shown(node.plain())}")
        return None

    def _check_known(self, node: Node, key: str, slices: Container[str]) -> None:
        if key not in slices:
            self._faults.add(node, f'there is no slice "{key}"')

    def _defaults(self) -> Node | None:
        self._section("defaults")
        node = self._root.entries.get("defaults")
        if node is None or not node.entries:
            return None
        try:
            SliceSettings.model_validate(node.plain())
        except ValidationError as error:
            explain(error, SliceSettings, node, self._faults, partial=True)
        return node

    def _slice(
        self,
        node: Node,
        defaults: Node | None,
        classes: dict[str, ActionClassSettings | None],
    ) -> SliceSettings | None:
        if node.value is None:
            node = replace(node, value={})
        if not isinstance(node.value, dict):
            self._faults.add(node, f"expected a mapping of settings, found {shown(node.plain())}")
            return None
        whole = merged(defaults, node)
        unreadable: set[str] = set()
        try:
            settings = SliceSettings.model_validate(whole.plain())
        except ValidationError as error:
            # What is readable is still checked, so that the author learns of everything at once.
            unreadable = explain(error, SliceSettings, whole, self._faults)
            settings = SliceSettings.model_validate(without(whole, unreadable).plain())
        settings = self._references.inline(whole, settings)
        Consistency(
            node=whole,
            settings=settings,
            unreadable=unreadable,
            classes=classes,
            faults=self._faults,
        ).check()
        check_compilation(whole, settings, self._faults)
        return settings
