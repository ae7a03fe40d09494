"""Whom an item waits for, step by step."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.core.review.groups import (
    audience,
    called_channels,
    group_of,
    hours_of,
    least_levels,
    steps_of,
)
from sureline.core.values.groups import ON_CALL, Group, Groups, OnCall
from sureline.core.values.hours import Window, WorkingHours

OFFICE = WorkingHours(time_zone="UTC", windows=(Window(weekday=0, begins=540, ends=1020),))
ACCOUNTS = Group(
    name="accounts",
    members=("ada", "kim"),
    slices=("invoices", "bills"),
    hours=OFFICE,
    on_call=OnCall(person="lee", channel="pager"),
    steps=("leads", ON_CALL),
)
LEADS = Group(name="leads", members=("bo",), on_call=OnCall(channel="bell"))
LETTERS = Group(name="letters", members=("lee",), slices=("letters",))
NOBODY = Group(name="nobody", slices=("orphans",))
GROUPS: Groups = {one.name: one for one in (ACCOUNTS, LEADS, LETTERS, NOBODY)}

OFFERED = {
    "a member": ("ada", {"letters": 1}),
    "a member of the step's group": ("bo", {"invoices": 1, "bills": 1, "letters": 1}),
    "whoever is on call, member of another group": ("lee", {"invoices": 1, "bills": 1}),
    "who is in no group": ("mo", {}),
}


@pytest.mark.parametrize(("name", "least"), OFFERED.values(), ids=OFFERED.keys())
def test_a_group_narrows_what_is_offered(name: str, least: dict[str, int | None]) -> None:
    """Members are offered their slices, and others' from the step on at which they are asked."""
    assert least_levels(GROUPS, name) == least


def test_who_is_asked_at_no_step_is_never_offered_it() -> None:
    """With an on-call person, an item of another group stays with those who are named."""
    called = Group(name="a", members=("ada",), slices=("x",), on_call=OnCall(person="lee"))
    other = Group(name="b", members=("bo",), slices=("y",))
    assert least_levels({"a": called, "b": other}, "bo") == {"x": None}
    assert least_levels({"a": called, "b": other}, "ada") == {"y": 1}


def test_hours_follow_the_steps() -> None:
    """The group's own, the next group's (none: the clock), then the on-call's, who has none."""
    assert hours_of(GROUPS, "invoices") == (OFFICE, None, None)
    assert hours_of(GROUPS, "letters") == ()
    assert hours_of(GROUPS, "strange") == ()
    assert hours_of({"a": Group(name="a", slices=("x",), hours=OFFICE)}, "x") == (OFFICE,)


def test_the_channels_of_those_on_call_are_told() -> None:
    """The group's own at each step, another's from the step on at which it is asked."""
    both = ("pager", "bell")
    assert called_channels(GROUPS) == {
        "invoices": (("pager",), both, both),
        "bills": (("pager",), both, both),
    }


names = st.sampled_from(["ada", "bo", "kim", "lee", "mo"])
called = st.none() | st.builds(
    OnCall, person=st.none() | names, channel=st.none() | st.just("pager")
)


@st.composite
def divisions(draw: st.DrawFn) -> Groups:
    """Return groups as a policy may have them: any members, steps and on-calls."""
    found: dict[str, Group] = {}
    for index, name in enumerate(("a", "b", "c")):
        on_call = draw(called)
        others = [one for one in ("a", "b", "c") if one != name]
        steps = st.sampled_from([*others, *([ON_CALL] if on_call else [])])
        found[name] = Group(
            name=name,
            members=tuple(draw(st.lists(names, unique=True, max_size=3))),
            slices=(f"s{index}",),
            on_call=on_call,
            steps=tuple(draw(st.lists(steps, max_size=3))),
        )
    return found


@given(divisions())
def test_no_item_is_out_of_everybodys_sight(groups: Groups) -> None:
    """At each level there is somebody whom an item is offered to, and a step up asks more."""
    for group in groups.values():
        before: frozenset[str] = frozenset()
        for level in range(7):
            found = audience(groups, group, level)
            if found is None:
                assert all(audience(groups, group, more) is None for more in range(level, 7))
                break
            assert found >= before
            assert found
            before = frozenset(found)


@given(divisions(), names)
def test_what_is_offered_is_what_one_is_asked_for(groups: Groups, name: str) -> None:
    """The two ways to say it agree, for whoever is in a group."""
    least = least_levels(groups, name)
    in_one = any(name in one.members for one in groups.values())
    for key in ("s0", "s1", "s2"):
        group = group_of(groups, key)
        assert group is not None
        for level in range(7):
            found = audience(groups, group, level)
            asked = found is None or name in found or not in_one
            from_level = least.get(key, 0)
            assert asked is (from_level is not None and level >= from_level)


@given(divisions())
def test_hours_have_an_entry_for_each_step(groups: Groups) -> None:
    """What is counted in hours says so for the bottom and for every step."""
    for group in groups.values():
        found = hours_of(groups, group.slices[0])
        assert len(found) in {0, 1 + len(steps_of(group))}
