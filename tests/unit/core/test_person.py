"""Who is one person, however the name is written or the way in is called."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.core.gate.acting import acting, check_distinct
from sureline.core.values.person import person_of, readings, same_person
from sureline.errors import InvalidInput

ONE = {
    "case": "ADA",
    "blanks": " A da ",
    "another blank": "A\u00a0da",
    "full width": "\uff21\uff44\uff41",
    "zero width": "Ada\u200b",
    "joined": "A\u200dda",
    "turned around": "\u202eAda",
    "a control character": "Ad\x07a",
    "a filler": "ada\u3164",
    "a filler, half width": "ada\uffa0",
    "a variation selector": "Ada\ufe0f",
    "a tag": "Ada\U000e0061",
    "a Cyrillic capital": "\u0410da",
    "a Cyrillic letter": "Ad\u0430",
    "wholly Cyrillic": "\u0410\u0501\u0430",
    "a Greek capital": "\u0391da",
    "a phonetic letter": "Ad\u0251",
    "Cherokee": "\u13aada",
    "from a chat": "inbound:chat:Ada",
    "from a chat, in small letters": "inbound:chat:ada",
    "from her company": "company:ada",
}
OTHERS = ["Bo", "Ada B", "Ad\u00e1", "Ida", "\u0410\u043d\u043d\u0430", "inbound:chat:Bo", "", "."]
DECEIVING = {
    "zero width": "Ada\u200b",
    "joined": "A\u200dda",
    "a filler": "ada\u3164",
    "a Hangul filler": "\u115fAda",
    "a line": "Ada\nB",
    "commands to a terminal": "Ada\x1b[31m",
    "a private character": "Ada\ue000",
    "an unassigned one": "Ada\U000e0fff",
}
OWN = [
    "guard",
    "GUARD",
    "content_mismatch",
    "Content_Mismatch",
    "content_mi\u0455match",
    "deadline",
]
MIXED = [
    "\u0410da",
    "Ad\u0430",
    "Ada \u041f\u0435\u0442\u0440\u043e\u0432",
    "\u0391da",
    "A\u0561da",
]
PLAIN = [
    "Ada",
    "Ada Lovelace-Byron 2",
    "Zo\u00eb \u0141ukasiewicz",
    "\u0410\u043d\u043d\u0430 \u041f\u0435\u0442\u0440\u043e\u0432\u0430",
    "\u7530\u4e2d \u30bf\u30ed\u30fc",
    "\u7530\u4e2d Taro",
    "\uae40\ucca0\uc218",
    "ada@example.com",
    "x",
]


@pytest.mark.parametrize("name", ONE.values(), ids=ONE)
def test_ways_of_writing_a_name_are_one_person(name: str) -> None:
    """Whatever looks the same is the same person, in either order."""
    assert same_person("Ada", name)
    assert same_person(name, "Ada")


@pytest.mark.parametrize("name", OTHERS)
def test_others_are_others(name: str) -> None:
    """A name that one can tell apart is somebody else's; nobody is nobody."""
    assert not same_person("Ada", name)
    assert not same_person(None, name)


@given(st.text(max_size=30))
def test_everybody_is_themselves(name: str) -> None:
    """Whatever the name: it is its own, also from a chat, and there is a way to read it."""
    assert same_person(name, name)
    assert readings(name)
    assert same_person(f"inbound:chat:{name}", name) or person_of(name) != name


@pytest.mark.parametrize("name", DECEIVING.values(), ids=DECEIVING)
def test_what_is_not_seen_is_in_no_name(name: str) -> None:
    """A name with hidden characters is refused wherever somebody acts."""
    with pytest.raises(InvalidInput, match="not seen"):
        acting(name)


@pytest.mark.parametrize("name", OWN)
def test_names_of_surelines_own_are_nobodys(name: str) -> None:
    """What stands under such a name is read as the gate's own word, so no person has it."""
    with pytest.raises(InvalidInput, match="give yours"):
        acting(name)


@pytest.mark.parametrize("name", MIXED)
def test_a_name_of_several_scripts_is_refused(name: str) -> None:
    """Letters of scripts that look alike are not mixed, even with nobody to be confused with."""
    with pytest.raises(InvalidInput, match="several scripts"):
        check_distinct(name, [])


@pytest.mark.parametrize("name", PLAIN)
def test_names_of_people_are_taken(name: str) -> None:
    """Names in one script, or in those that are written together, are names."""
    assert acting(f" {name} ") == name
    check_distinct(name, [name, "Somebody"])


@pytest.mark.parametrize("name", ["ada", "A d a", "\uff21\uff44\uff41", "\u0410\u0501\u0430"])
def test_what_reads_like_a_known_name_is_refused(name: str) -> None:
    """Beside a key for Ada nothing is made that looks like her, of one script or not."""
    with pytest.raises(InvalidInput, match="there is a key for 'Ada'"):
        check_distinct(name, ["Bo", "Ada"])
