"""Read what a supervised mission is and how it is invoked: the file of `sureline mission run`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Self
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field, model_validator

from sureline.adapters.policies.explain import validated
from sureline.adapters.policies.faults import Faults, shown
from sureline.adapters.policies.mission_reading import read_missions
from sureline.adapters.policies.setting import Settings, Text, is_name, setting
from sureline.adapters.policies.tree import Node, without
from sureline.adapters.policies.yaml_reader import decoded, read_tree
from sureline.errors import PolicyError

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_DURATION = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)(s|m|h|d)\Z", re.ASCII)
DURATION = "a time such as 30s, 15m, 2h or 1d"
_KINDS = "missions"
COMMAND = "a list: the program and its arguments"
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")


def seconds_of(text: str) -> float:
    """Return the seconds of a text such as 90s or 1.5h. Raises ValueError."""
    found = _DURATION.match(text)
    if found is None or not float(found[1]):
        raise ValueError(f'expected {DURATION}, found "{text}"')
    return float(found[1]) * _UNITS[found[2]]


def _duration(text: str) -> str:
    seconds_of(text)
    return text


def _zone(text: str) -> str:
    try:
        ZoneInfo(text)
    except (ValueError, OSError, KeyError) as error:
        words = f'expected a time zone such as Europe/London or UTC, found "{text}"'
        raise ValueError(words) from error
    return text


def _id(text: str) -> str:
    if not _ID.match(text):
        raise ValueError(
            'expected up to 100 letters, digits, "_", "-" and ".", the first a letter or a digit; '
            f'found "{text}"'
        )
    return text


def _words(text: str) -> str:
    if not text.strip():
        raise ValueError("expected a text that is not empty")
    return text


def _kind(text: str) -> str:
    if not is_name(text):
        raise ValueError(f'expected the name of a kind of mission in the policy, found "{text}"')
    return text


Duration = Annotated[str, AfterValidator(_duration)]
Command = Annotated[list[Annotated[str, Field(max_length=10_000)]], Field(min_length=1)]
Words = Annotated[str, AfterValidator(_words), Field(max_length=20_000)]


class TriggerSettings(Settings):
    """When the command is invoked: one of four."""

    every: Duration | None = setting(
        None, expected=DURATION, meaning="At once, then at this interval, without drift."
    )
    cron: Annotated[str, Field(min_length=1, max_length=200)] | None = setting(
        None,
        expected='five fields in quotes, such as "40 1 * * *"',
        meaning="At times of a local clock: minute, hour, day, month, weekday.",
    )
    timezone: Annotated[str, AfterValidator(_zone)] | None = setting(
        None,
        expected="a time zone such as Europe/London",
        meaning="Whose clock `cron` goes by; it must be said.",
    )
    file: Text | None = setting(
        None,
        expected="a path",
        meaning="When this file's content is another, once it has not changed for a second.",
    )
    queue: Text | None = setting(
        None,
        expected="a directory",
        meaning="For each file of this directory, the oldest first; it is moved to done/ or "
        "failed/.",
    )

    @model_validator(mode="after")
    def _one(self) -> Self:
        names = ("every", "cron", "file", "queue")
        given = [name for name in names if getattr(self, name) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none of them"
            raise ValueError(f"expected one of every, cron, file and queue, found {found}")
        if (self.timezone is not None) != (self.cron is not None):
            raise ValueError(
                "cron needs a timezone, such as timezone: Europe/London"
                if self.cron
                else "a timezone is only for cron"
            )
        return self


class CheckSettings(Settings):
    """The program that finds out whether the objective is achieved."""

    command: Command = setting(
        ...,
        expected=COMMAND,
        meaning="Exit code 0 is achieved, 1 is not achieved, anything else is a failed evaluation.",
    )


class LimitSettings(Settings):
    """Limits that are tighter than the kind's."""

    hours: Annotated[float, Field(gt=0, le=24 * 366)] | None = setting(
        None, expected="a number of hours over 0", meaning="From its creation to its deadline."
    )
    max_invocations: Annotated[int, Field(ge=1, le=1_000_000)] | None = setting(
        None, expected="a whole number from 1", meaning="The most invocations."
    )


class MissionSettings(Settings):
    """What a supervised mission is and how it is invoked."""

    id: Annotated[str, AfterValidator(_id)] = setting(
        ...,
        expected="a name for this one mission",
        meaning="A mission of this id is gone on with, whatever happened to this program.",
    )
    kind: Annotated[str, AfterValidator(_kind)] = setting(
        ..., expected="the name of a kind in the policy", meaning="Which rules it is held to."
    )
    policy: Text | None = setting(
        None,
        expected="the path of a policy file",
        meaning="A policy file that is brought before the store first; without it the store's "
        "current policy holds.",
    )
    objective: Words = setting(..., expected="a text", meaning="What is to be achieved.")
    criteria: Annotated[list[Words], Field(max_length=100)] = setting(
        [], expected="a list of texts", meaning="What must hold for it to be achieved."
    )
    trigger: TriggerSettings = setting(
        ...,
        expected="one of every, cron, file and queue",
        meaning="When the command is invoked.",
    )
    check: CheckSettings | None = setting(
        None,
        expected="a mapping with command",
        meaning="Finds out whether the objective is achieved; without it the kind's judge does.",
    )
    limits: LimitSettings = setting(
        LimitSettings(), expected="a mapping with hours or max_invocations", meaning="Tighter ones."
    )
    timeout: Duration = setting(
        "15m", expected=DURATION, meaning="An invocation that takes longer is ended."
    )
    grace_seconds: Annotated[float, Field(ge=0, le=600)] = setting(
        10.0,
        expected="a number from 0 to 600",
        meaning="How long what is asked to end (SIGTERM) has before it is made to (SIGKILL).",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MissionFile:
    """A supervised mission's file as it was read; paths in it are relative to `folder`."""

    path: Path
    settings: MissionSettings
    policy: str | None = None
    """A policy of the kinds that the file itself describes under `missions`, None for none."""
    warnings: tuple[str, ...] = ()
    limits_at: Mapping[str, str] = field(default_factory=dict)
    """Where each limit that it sets stands: file, line, column and key."""

    @property
    def folder(self) -> Path:
        """Return the folder of the file."""
        return self.path.parent

    def beside(self, path: str) -> Path:
        """Return a path of the file."""
        return self.folder / path


def read_mission_file(path: Path) -> MissionFile:
    """Read the file. Raises PolicyError with every fault at its place, one a line."""
    faults = Faults()
    try:
        data = path.read_bytes()
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise PolicyError(f"{path}: the mission cannot be read: {why}") from error
    root = read_tree(decoded(data, str(path)), str(path), faults, first="objective")
    settings = _settings(root, faults)
    policy = _own_kinds(root, faults)
    if settings is not None and settings.trigger.queue is not None:
        _check_queue(root.entries["trigger"], path.parent / settings.trigger.queue, faults)
    faults.raise_if_any()
    assert settings is not None
    limits = root.entries["limits"].entries if "limits" in root.entries else {}
    return MissionFile(
        path=path,
        settings=settings,
        policy=policy,
        warnings=faults.warnings,
        limits_at={name: f"{one.place}: {one.path}" for name, one in limits.items()},
    )


def _check_queue(trigger: Node, folder: Path, faults: Faults) -> None:
    if not folder.is_dir():
        faults.add(trigger.entries["queue"], f"{str(folder)!r} is no directory")
    elif not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        faults.add(trigger.entries["queue"], f"{str(folder)!r} may not be read and written")


def _settings(root: Node, faults: Faults) -> MissionSettings | None:
    if not root.entries:
        found: Any = shown(root.plain())
        faults.add(root, f"expected a mapping with id, kind, objective and trigger, found {found}")
        return None
    return validated(MissionSettings, without(root, (_KINDS,)), faults)


def _own_kinds(root: Node, faults: Faults) -> str | None:
    """Return a policy of the kinds that the file describes, which read as a policy's do."""
    given = root.entries.get(_KINDS)
    if given is None:
        return None
    if not given.entries:
        faults.add(given, f"expected a mapping of kinds of missions, found {shown(given.plain())}")
        return None
    read_missions(given.entries, (), faults)
    if "policy" in root.entries:
        faults.add_key(given, "a file has policy or missions, not both")
    return json.dumps({"version": 1, _KINDS: given.plain()})
