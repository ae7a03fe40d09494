"""What a policy may say about groups of reviewers, and what is refused with its place."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from sureline.adapters.policies import load_policy, policy_from_canonical
from sureline.core.values.groups import OnCall
from sureline.core.values.hours import Window
from sureline.core.values.notification import Notice, NoticeKind
from sureline.errors import PolicyError

BASE = """\
version: 1
defaults: {output: {structured: false}, weights: {verification: 1}, prose: [{max_length: 500}]}
slices: {invoices.de: , invoices.uk: {review: {escalations: 2}}, replies: }
notifications:
  channels:
    - {name: team, kind: message, address_from: TEAM, slices: [replies]}
    - {name: pager, kind: message, address_from: PAGER, events: [opened], slices: [replies]}
"""
WHOLE = """\
groups:
  accounts:
    members: [Ada, Kim]
    slices: [invoices.*]
    hours:
      time_zone: Europe/Berlin
      week: {mon-thu: "08:00-12:00, 13:00-17:00", fri: 22:00-06:00+1}
    on_call: {person: Lee, channel: pager}
  british: {members: [Bo], slices: [invoices.uk], steps: [accounts]}
"""


def test_what_is_written_is_what_holds() -> None:
    """Slices are resolved, a name before a pattern; hours become the slice's own rules."""
    loaded = load_policy(BASE + WHOLE)
    accounts, british = loaded.policy.groups.values()
    assert accounts.slices == ("invoices.de",)
    assert british.slices == ("invoices.uk",)
    assert accounts.on_call == OnCall(person="Lee", channel="pager")
    assert accounts.hours is not None
    assert Window(weekday=4, begins=1320, ends=1800) in accounts.hours.windows
    assert len(accounts.hours.windows) == 9
    slices = loaded.policy.slices
    assert slices["invoices.de"].review.hours == (accounts.hours, None)
    assert slices["invoices.uk"].review.hours == (None, accounts.hours)
    assert slices["replies"].review.hours == ()
    assert loaded.warnings == ()
    assert policy_from_canonical(loaded.text) == loaded.policy


def test_groups_change_the_policy_and_no_measurement() -> None:
    """Another division of work is another policy; a certificate stays."""
    bare, whole = load_policy(BASE).policy, load_policy(BASE + WHOLE).policy
    assert bare.hash != whole.hash
    assert bare.measurement_hashes == whole.measurement_hashes


@pytest.mark.parametrize(
    ("kind", "slice_key", "told"),
    [
        (NoticeKind.OPENED, "invoices.de", ()),
        (NoticeKind.ESCALATED, "invoices.de", ("pager",)),
        (NoticeKind.EXPIRED, "invoices.de", ("pager",)),
        (NoticeKind.DECIDED, "invoices.de", ()),
        (NoticeKind.ESCALATED, "invoices.uk", ("pager",)),
        (NoticeKind.ESCALATED, "replies", ("team",)),
        (NoticeKind.OPENED, "replies", ("team", "pager")),
    ],
)
def test_whoever_is_on_call_is_told(
    kind: NoticeKind, slice_key: str, told: tuple[str, ...]
) -> None:
    """A step up and an expiry reach the on-call's channel, whatever else it takes."""
    notice = Notice(
        workspace="default",
        id="e1",
        kind=kind,
        slice_key=slice_key,
        review_id="d1",
        decision_id="d1",
        at=datetime(2026, 1, 1, tzinfo=UTC),
        level=0 if kind is NoticeKind.OPENED else 1,
    )
    assert load_policy(BASE + WHOLE).policy.notifications.receivers(notice) == told


def group(text: str) -> str:
    return f"groups:\n  one:\n    {text}\n"


HOURS = "hours: {time_zone: UTC, week: "
REFUSED = {
    "no mapping": ("groups: 3\n", ":8:9: groups: expected a mapping of groups"),
    "no mapping in it": (group("3"), ":10:5: groups.one: expected a mapping of settings"),
    "an unknown key": (group("people: [ada]"), 'unknown key "people"'),
    "an unknown slice": (
        group("slices: [bills]"),
        ':10:14: groups.one.slices[0]: there is no slice named "bills"',
    ),
    "a pattern without slices": (
        group("slices: [bill*]"),
        'there is no slice that matches "bill*"',
    ),
    "a slice in two groups": (
        "groups: {one: {slices: ['*']}, two: {slices: [invoices.*]}}\n",
        'the slice "invoices.de" is in the group one too',
    ),
    "a member twice": (group("members: [ada, ada]"), "members: ada stands there twice"),
    "a place that is no time zone": (
        group("hours: {time_zone: Berlin, week: {mon: 09:00-17:00}}"),
        'groups.one.hours.time_zone: expected a time zone such as Europe/Berlin, found "Berlin"',
    ),
    "no week": (group("hours: {time_zone: UTC}"), 'the key "week" is missing'),
    "an empty week": (group(f"{HOURS}{{}}}}"), "expected a mapping of days"),
    "days that are none": (
        group(f"{HOURS}{{mo: 09:00-17:00}}}}"),
        'expected days such as mon-fri, sat, found "mo"',
    ),
    "days backwards": (
        group(f"{HOURS}{{fri-mon: 09:00-17:00}}}}"),
        '"fri-mon" ends before it begins',
    ),
    "a day twice": (group(f"{HOURS}{{'mon, mon': 09:00-17:00}}}}"), "names a day twice"),
    "times that are none": (
        group(f"{HOURS}{{mon: 9-17}}}}"),
        "groups.one.hours.week.mon: expected times such as 08:00-12:00",
    ),
    "to before from": (group(f"{HOURS}{{mon: 22:00-06:00}}}}"), 'write "22:00-06:00+1"'),
    "no time at all": (group(f"{HOURS}{{mon: 09:00-09:00}}}}"), "ends before it begins"),
    "longer than a day": (group(f"{HOURS}{{mon: 09:00-10:00+1}}}}"), "is longer than a day"),
    "an hour that is none": (group(f"{HOURS}{{mon: 09:00-25:00}}}}"), "from 00:00 to 24:00"),
    "working time without hours": (group("deadline: working"), "deadline: working needs hours"),
    "nobody on call": (group("on_call: {}"), "on_call needs a person, a channel, or both"),
    "an unknown channel": (
        group("on_call: {channel: bell}"),
        ':10:24: groups.one.on_call.channel: there is no channel "bell"',
    ),
    "an unknown step": (group("steps: [two]"), 'groups.one.steps[0]: there is no group "two"'),
    "a step to itself": (group("steps: [one]"), "a step leads to another group"),
    "a step to nobody": (group("steps: [on_call]"), "the step on_call needs on_call"),
    "a group named as a step": ("groups: {on_call: {}}\n", "is a step, not the name of a group"),
}


@pytest.mark.parametrize(("text", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused(tmp_path: Path, text: str, said: str) -> None:
    """A fault names file, line and key, and what was expected."""
    file = tmp_path / "policy.yaml"
    file.write_text(BASE + text, "utf-8")
    with pytest.raises(PolicyError) as caught:
        load_policy(file)
    assert f"{file}:" in caught.value.message
    assert said in caught.value.message


WARNED = {
    "nobody is there": (group("slices: [replies]"), "nobody is a member, so its slices are"),
    "a step that is never reached": (
        group("{members: [ada], slices: [replies], on_call: {person: lee}, steps: [two, on_call]}")
        + "  two: {members: [bo]}\n",
        'items of the slice "replies" go 1 steps up',
    ),
}


@pytest.mark.parametrize(("text", "said"), WARNED.values(), ids=WARNED.keys())
def test_what_is_warned_of(text: str, said: str) -> None:
    """Where items reach nobody in time, the author is told, and the policy can be used."""
    (warning,) = load_policy(BASE + text).warnings
    assert said in warning
