"""How far further generations repeat an output, field by field."""

from __future__ import annotations

import json
import random
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.core.checks.parse import parse_output
from sureline.core.checks.paths import ABSENT
from sureline.core.opinions.agreement import MAX_FIELDS, Agreement, agreement

HERE: dict[str, Any] = {"vendor": "ACME", "total": 5, "paid": True, "note": None}


def agreed(output: object, *generations: object) -> Agreement:
    found = agreement(output, generations)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("output", "generation", "value"),
    [
        pytest.param(HERE, HERE, 1.0, id="the same"),
        pytest.param(HERE, HERE | {"total": 5.0}, 1.0, id="1 is 1.0"),
        pytest.param(HERE, HERE | {"total": "5"}, 0.75, id="a text is no number"),
        pytest.param(HERE, HERE | {"paid": 1}, 0.75, id="true is no number"),
        pytest.param({"n": 0}, {"n": False}, 0.0, id="false is no number"),
        pytest.param({"n": 2**53 + 1}, {"n": float(2**53)}, 0.0, id="exact beyond doubles"),
        pytest.param({"n": 0.1}, {"n": 0.1 + 1e-12}, 0.0, id="no tolerance"),
        pytest.param({"t": "e\u0301"}, {"t": "\u00e9"}, 1.0, id="composed or not"),
        pytest.param({"t": "ACME"}, {"t": "Acme"}, 0.0, id="case counts"),
        pytest.param({"t": "ACME"}, {"t": "ACME "}, 0.0, id="spaces count"),
        pytest.param({"t": "A"}, {"t": "\u0410"}, 0.0, id="look-alike letters differ"),
        pytest.param({"note": None}, {}, 0.0, id="null is not absent"),
        pytest.param({}, {"a": 1}, 0.0, id="nothing here"),
        pytest.param({"a": 1}, {}, 0.0, id="nothing there"),
        pytest.param({"a": {}}, {"a": {}}, 1.0, id="both empty"),
        pytest.param({"a": {}}, {"a": []}, 0.0, id="empty object, empty list"),
        pytest.param({"a": 1}, {"a": 1, "b": 2, "c": 3, "d": 4}, 0.25, id="added fields count"),
        pytest.param({"l": [1, 2]}, {"l": [2, 1]}, 0.0, id="the order of a list counts"),
        pytest.param({"l": [1, 2]}, {"l": [1, 2, 3, 4]}, 0.5, id="a longer list"),
        pytest.param({"l": [1, 2, 3, 4]}, {"l": [1]}, 0.25, id="a shorter list"),
        pytest.param({"a": {"x": 1}}, {"a": [1]}, 0.0, id="another kind"),
        pytest.param({"a.b": 1}, {"a": {"b": 1}}, 0.0, id="a key with a point is no path"),
        pytest.param({"a[0]": 1}, {"a": [1]}, 0.0, id="nor one with brackets"),
        pytest.param(7, 7.0, 1.0, id="a bare number"),
        pytest.param(HERE, ABSENT, 0.0, id="unreadable"),
    ],
)
def test_one_generation(output: object, generation: object, value: float) -> None:
    """What agrees and what does not."""
    assert agreed(output, generation).value == value


def test_a_long_list_does_not_outweigh_a_total() -> None:
    """Each key of an object counts alike, however much stands under it."""
    lines = [{"amount": n} for n in range(100)]
    found = agreed({"total": 5, "lines": lines}, {"total": 6, "lines": lines})
    assert found.value == 0.5
    assert found.fields == 101


def test_the_fields_in_dispute_are_named_most_disputed_first() -> None:
    """Each finding has the path, how many differ, and what most of them say."""
    output = {"vendor": "ACME", "lines": [{"amount": 5}, {"amount": 7}]}
    found = agreed(
        output,
        {"vendor": "ACME", "lines": [{"amount": 6}, {"amount": 7}]},
        {"vendor": "ACME", "lines": [{"amount": 6}, {"amount": 7}], "tax": 1},
        {"vendor": "Acme", "lines": [{"amount": 8}]},
        ABSENT,
    )
    assert [(one.field, one.code) for one in found.findings] == [
        ("lines[0].amount", "generations_differ"),
        ("vendor", "generations_differ"),
        ("lines[1].amount", "generations_differ"),
        ("tax", "generations_have_more"),
    ]
    assert found.findings[0].message == (
        "4 of 4 further generations say otherwise, most often 6; here it is 5."
    )
    assert found.findings[3].message == (
        "1 of 4 further generations have this field, most often with 1; it is missing here."
    )
    assert found.lowest == 0.0
    assert not any(one.fatal or one.penalty for one in found.findings)


def test_long_lists_of_findings_and_long_names_are_cut() -> None:
    """Findings stay readable, whatever a generation holds."""
    found = agreed({str(n): n for n in range(50)}, {"x" * 5000: "y" * 5000})
    assert len(found.findings) == 21
    assert found.findings[-1].code == "more"
    assert all(len(one.message) < 400 and len(one.field or "") < 210 for one in found.findings)


def test_an_output_of_too_many_fields_is_not_compared() -> None:
    """At the limit it is, beyond it is not: the time is bounded."""
    output = list(range(MAX_FIELDS))
    assert agreed(output, output).value == 1.0
    assert agreement([*output, 1], [output]) is None


def test_without_generations_there_is_no_agreement() -> None:
    """No evidence is not full agreement."""
    with pytest.raises(ValueError, match="at least one"):
        agreement(HERE, [])


def test_deep_and_large_values_take_bounded_time() -> None:
    """The deepest and largest admitted values are compared in well under a second."""
    deep: Any = 1
    for _ in range(63):
        deep = {"a": deep}
    wide = {f"k{n}": n for n in range(MAX_FIELDS)}
    huge = {f"x{n}": n for n in range(100_000)}
    started = time.process_time()
    assert agreed(deep, *[deep] * 64).value == 1.0
    assert agreed(wide, *[wide] * 64).value == 1.0
    assert agreed(wide, huge).value == 0.0
    assert time.process_time() - started < 2.0


keys = st.sampled_from(["a", "b", "a.b", "[]", "lines[0]", "", "__proto__", "\u202e"])
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 2), st.sampled_from([0.5, 1.0, "1", "x", "e\u0301"])
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3)),
    max_leaves=12,
)
generations = st.lists(st.one_of(values, st.just(ABSENT)), min_size=1, max_size=6)


@given(values, generations)
def test_agreement_is_a_share(output: object, said: list[object]) -> None:
    """Whatever is compared, value and lowest are in [0, 1], and findings come with dispute."""
    found = agreed(output, *said)
    assert 0.0 <= found.value <= 1.0
    assert 0.0 <= found.lowest <= 1.0
    assert (found.value == 1.0) == (not found.findings) == (found.lowest == 1.0)


@given(values, st.integers(1, 5))
def test_copies_agree_fully(output: object, count: int) -> None:
    """An output agrees with itself, read back from its JSON."""
    copy = parse_output(json.loads(json.dumps(output)), structured=False).value
    assert agreed(output, *[copy] * count).value == 1.0


@given(values, generations, st.randoms(use_true_random=False))
def test_the_order_of_generations_does_not_matter(
    output: object, said: list[object], order: random.Random
) -> None:
    """Value, figures and findings are the same for every order."""
    shuffled = list(said)
    order.shuffle(shuffled)
    assert agreed(output, *shuffled) == agreed(output, *said)


@given(values, generations, values, st.data())
def test_a_generation_that_agrees_less_never_raises_the_value(
    output: object, said: list[object], other: object, data: st.DataObject
) -> None:
    """Whatever takes the place of a generation that agreed more, with any fields, is no gain."""
    index = data.draw(st.integers(0, len(said) - 1))
    if agreed(output, other).value > agreed(output, said[index]).value:
        said[index], other = other, said[index]
    changed = [other if place == index else one for place, one in enumerate(said)]
    assert agreed(output, *changed).value <= agreed(output, *said).value
