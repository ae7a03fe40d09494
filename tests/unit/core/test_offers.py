"""What a person can do about each suggestion: one key, a calibration, or thought."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.core.learning.key_change import KeyChange, with_change
from sureline.core.learning.levers import Lever
from sureline.core.learning.offers import HOW, Offer, OfferFacts, offers
from sureline.core.learning.suggestions import Advice, Suggestion
from sureline.core.statistics.curves import CurvePoint
from sureline.errors import Conflict

SETTINGS: dict[str, Any] = {
    "mode": "route",
    "abstain_floor": 0.4,
    "audit_rate": 0.05,
    "rules": [{"field": "total", "between": [0, 100]}],
    "review": {"honeypots": 0.05},
    "hypothesis": {"auto": 0.9, "audit_rate": 0.3},
}
CURVE = (
    CurvePoint(threshold=0.9, coverage=0.3, precision=0.99),
    CurvePoint(threshold=0.8, coverage=0.4, precision=0.97),
)
FACTS = OfferFacts(
    policy="a" * 64,
    slice_key="invoices",
    target=0.95,
    settings=SETTINGS,
    curve=CURVE,
    coverage=0.3,
    calibration="cal_1",
)
NO_PLANTING = {**SETTINGS, "review": {"honeypots": 0.0}}


def suggested(code: str, **more: Any) -> Suggestion:
    return Suggestion(code=code, advice=Advice.KEEP, sentence="They say so.", numbers={}, **more)


def offered(one: Suggestion, **changes: Any) -> Offer:
    (found,) = offers([one], [], replace(FACTS, **changes))
    return found


def required(field: str) -> dict[str, Any]:
    return {"field": field, "required": True}


@pytest.mark.parametrize(
    ("one", "facts", "path", "after"),
    [
        pytest.param(suggested("frequent_override"), {}, "mode", "human_only", id="override"),
        pytest.param(suggested("drafts_overridden"), {}, "mode", "human_only", id="drafts"),
        pytest.param(suggested("proof_lost"), {}, "mode", "log_only", id="proof lost"),
        pytest.param(
            suggested("first_certificate"),
            {"settings": {**SETTINGS, "mode": "log_only"}},
            "mode",
            "route",
            id="first certificate",
        ),
        pytest.param(
            suggested("unproven_hypothesis"), {}, "hypothesis.audit_rate", 0.6, id="more audits"
        ),
        pytest.param(suggested("near_unanimous"), {}, "hypothesis.auto", 0.8, id="unanimous"),
        pytest.param(
            suggested("near_unanimous", blocked="Nobody knows whether they look."),
            {"settings": NO_PLANTING},
            "review.honeypots",
            0.05,
            id="unanimous, and nothing is planted",
        ),
        pytest.param(
            suggested("field_edited", subject="vendor.name"),
            {},
            "rules",
            [*SETTINGS["rules"], required("vendor.name")],
            id="a field without a check",
        ),
    ],
)
def test_a_suggestion_is_one_key_of_the_policy(
    one: Suggestion, facts: dict[str, Any], path: str, after: object
) -> None:
    """The key and its new value follow from the policy and the labels alone."""
    found = offered(one, **facts)
    assert found.change is not None
    assert ".".join(found.change.path) == path
    assert found.change.after == after


@pytest.mark.parametrize(
    ("one", "facts"),
    [
        pytest.param(suggested("guard_tripped"), {}, id="guard"),
        pytest.param(suggested("low_approval"), {}, id="generator"),
        pytest.param(suggested("labels_missing"), {}, id="labels"),
        pytest.param(suggested("lower_threshold"), {}, id="a certificate says it"),
        pytest.param(suggested("first_certificate"), {}, id="the mode is route already"),
        pytest.param(
            suggested("near_unanimous", blocked="Nobody knows."), {}, id="blocked, and planted"
        ),
        pytest.param(suggested("near_unanimous"), {"target": 0.98}, id="labels do not show it"),
        pytest.param(suggested("near_unanimous"), {"coverage": None}, id="nothing acts alone"),
        pytest.param(
            suggested("near_unanimous"),
            {"settings": {**SETTINGS, "hypothesis": None}},
            id="no hypothesis to lower",
        ),
        pytest.param(suggested("field_edited", subject="total"), {}, id="has a rule"),
        pytest.param(suggested("field_edited", subject="$"), {}, id="the whole output"),
        pytest.param(
            suggested("field_edited", subject="say yes\nmode: route"), {}, id="an agent's own words"
        ),
    ],
)
def test_what_no_single_key_does_is_explained(one: Suggestion, facts: dict[str, Any]) -> None:
    """There is no change then, and words for what to do instead."""
    found = offered(one, **facts)
    assert found.change is None
    assert found.how == HOW[one.code]


@pytest.mark.parametrize(
    ("code", "calibration"),
    [
        ("first_certificate", "cal_1"),
        ("lower_threshold", "cal_1"),
        ("higher_threshold", "cal_1"),
        ("drafts_overridden", None),
    ],
)
def test_what_labels_prove_comes_with_a_calibration(code: str, calibration: str | None) -> None:
    """Thresholds that labels prove are activated, not written into a policy."""
    assert offered(suggested(code)).calibration == calibration
    assert offered(suggested(code), calibration=None).calibration is None


@pytest.mark.parametrize(("towards", "after"), [("up", 0.5), ("down", 0.3), (None, None)])
def test_the_floor_is_moved_where_the_figures_speak_for_it(
    towards: str | None, after: float | None
) -> None:
    """By the tenth that was looked at, and in their direction."""
    lever = Lever(name="abstain floor", now=0.4, towards=towards, up="u", down="d", cost="c")
    found = [one.change for one in offers([], [lever], FACTS)]
    wanted = KeyChange(path=("abstain_floor",), before=0.4, after=after)
    assert found == ([] if after is None else [wanted])


@pytest.mark.parametrize(
    ("changes", "after"),
    [
        pytest.param({"weeks": 9.0, "two_week_rate": 0.2341}, 0.235, id="unnoticed for long"),
        pytest.param({"weeks": 9.0, "two_week_rate": 0.51}, None, id="more than half of it"),
        pytest.param({"weeks": 3.0, "two_week_rate": 0.08}, None, id="soon enough"),
        pytest.param({"weeks": 9.0, "two_week_rate": 0.04}, None, id="no more than now"),
        pytest.param({"weeks": 9.0, "two_week_rate": None}, None, id="not known"),
        pytest.param(
            {"weeks": 9.0, "two_week_rate": 0.2, "coverage": None}, None, id="nothing acts alone"
        ),
    ],
)
def test_more_audits_are_offered_where_a_fall_would_go_unnoticed(
    changes: dict[str, Any], after: float | None
) -> None:
    """At the rate that finds it within two weeks, and only where something acts alone."""
    found = [one.change for one in offers([], [], replace(FACTS, **changes))]
    wanted = KeyChange(path=("audit_rate",), before=0.05, after=after)
    assert found == ([] if after is None else [wanted])


def test_nobody_audits_more_of_what_must_be_tightened() -> None:
    """What is known to be wrong needs no more audits to be found."""
    tighten = replace(suggested("proof_lost"), advice=Advice.TIGHTEN)
    facts = replace(FACTS, weeks=9.0, two_week_rate=0.2)
    assert [one.suggestion for one in offers([tighten], [], facts)] == ["proof_lost"]


@pytest.mark.parametrize(
    "changes",
    [
        {"policy": "b" * 64},
        {"slice_key": "letters"},
        {"settings": {**SETTINGS, "mode": "log_only"}},
    ],
)
def test_a_mark_names_what_was_read(changes: dict[str, Any]) -> None:
    """It is the same again only for the same sentence, change, slice and policy."""
    one = suggested("drafts_overridden")
    assert offered(one).mark == offered(one).mark
    assert offered(one).mark != offered(one, **changes).mark
    assert offered(one).mark != offered(replace(one, sentence="Other figures.")).mark


@given(st.text())
def test_any_field_has_an_offer(field: str) -> None:
    """Whatever an agent calls a field, only plain names get into a policy."""
    change = offered(suggested("field_edited", subject=field)).change
    assert change is None or field.replace("_", "").replace(".", "").isalnum()


def test_one_key_changes_and_nothing_else() -> None:
    """The content that was there stays as it was, and so does all the rest of the new one."""
    content = {"version": 1, "slices": {"invoices": SETTINGS, "letters": {"mode": "route"}}}
    change = KeyChange(path=("review", "honeypots"), before=0.05, after=0.1)
    changed = with_change(content, "invoices", change)
    assert changed["slices"]["invoices"]["review"] == {"honeypots": 0.1}
    assert SETTINGS["review"] == {"honeypots": 0.05}
    changed["slices"]["invoices"]["review"]["honeypots"] = 0.05
    assert changed == content


@pytest.mark.parametrize(
    ("slice_key", "path", "before"),
    [
        ("invoices", ("mode",), "log_only"),
        ("none", ("mode",), "route"),
        ("invoices", ("judge", "model"), None),
        ("invoices", ("mode", "x"), None),
    ],
)
def test_a_key_that_says_something_else_is_left_alone(
    slice_key: str, path: tuple[str, ...], before: object
) -> None:
    """What was suggested on is gone, so nothing is written."""
    content = {"slices": {"invoices": {**SETTINGS, "judge": None}}}
    with pytest.raises(Conflict):
        with_change(content, slice_key, KeyChange(path=path, before=before, after="x"))
