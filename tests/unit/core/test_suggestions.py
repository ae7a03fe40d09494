"""What counts suggest: one row for each thing that a slice can need."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.core.learning.slice_facts import Band, Share, SliceFacts
from sureline.core.learning.suggestions import Advice, suggest

LOOSE = Band(threshold=0.8, coverage=0.6)
STRICT = Band(threshold=0.9, coverage=0.3)
HEALTHY = SliceFacts(
    slice_key="invoices",
    target=0.95,
    held=LOOSE,
    proposed=LOOSE,
    right=Share(part=900, whole=1000),
    band=Share(part=590, whole=600),
    approved=Share(part=70, whole=100),
)
NEW = replace(HEALTHY, held=None, proposed=None, band=Share(), labels_missing=31)


@pytest.mark.parametrize(
    ("changes", "codes", "advice"),
    [
        pytest.param({}, ["as_it_should_be"], Advice.KEEP, id="nothing to do"),
        pytest.param(
            {"tripped": Share(part=9, whole=40)}, ["guard_tripped"], Advice.TIGHTEN, id="guard"
        ),
        pytest.param({"held": None}, ["first_certificate"], Advice.LOOSEN, id="first certificate"),
        pytest.param({"held": STRICT}, ["lower_threshold"], Advice.LOOSEN, id="looser is proven"),
        pytest.param(
            {"proposed": STRICT}, ["higher_threshold"], Advice.TIGHTEN, id="only stricter is proven"
        ),
        pytest.param(
            {"proposed": Band(threshold=0.81, coverage=0.59)},
            ["as_it_should_be"],
            Advice.KEEP,
            id="one point more is no change",
        ),
        pytest.param({"proposed": None}, ["proof_lost"], Advice.TIGHTEN, id="proof lost"),
        pytest.param(
            {"proposed": None, "hypothesis": True, "labels_missing": 31},
            ["unproven_hypothesis"],
            Advice.COLLECT,
            id="a hypothesis that labels could prove",
        ),
        pytest.param(
            {"proposed": None, "hypothesis": True},
            ["proof_lost"],
            Advice.TIGHTEN,
            id="a hypothesis that no labels are known to prove",
        ),
        pytest.param(
            {"band": Share(part=540, whole=600)},
            ["frequent_override"],
            Advice.TIGHTEN,
            id="errors above the threshold",
        ),
        pytest.param(
            {"band": Share(part=28, whole=30)},
            ["as_it_should_be"],
            Advice.KEEP,
            id="a few errors are chance",
        ),
        pytest.param(
            {"right": Share(part=29, whole=100), "held": None, "proposed": None, "band": Share()},
            ["low_approval"],
            Advice.REPAIR,
            id="approval under 30 %",
        ),
        pytest.param(
            {"right": Share(part=5, whole=20), "approved": Share(), "held": None, "proposed": None},
            ["nothing_proven"],
            Advice.COLLECT,
            id="too few to call it low",
        ),
        pytest.param(
            {"held": None, "human_only": True}, ["left_to_people"], Advice.KEEP, id="human only"
        ),
        pytest.param(
            {"approved": Share(part=40, whole=100)},
            ["drafts_overridden"],
            Advice.REPAIR,
            id="most drafts are changed",
        ),
        pytest.param(
            {"corrections": {"vendor": 12, "date": 3}, "corrected": 15},
            ["as_it_should_be", "field_edited"],
            Advice.KEEP,
            id="one field edited often",
        ),
        pytest.param(
            {"corrections": {"total": 12}, "corrected": 12, "noticed": {"total": 12}},
            ["as_it_should_be", "field_flagged"],
            Advice.KEEP,
            id="a field that the checks flag already",
        ),
        pytest.param(
            {"corrections": {"total": 12}, "corrected": 12, "noticed": {"total": 9}},
            ["as_it_should_be", "field_edited"],
            Advice.KEEP,
            id="a field that the checks flag too seldom",
        ),
        pytest.param(
            {"corrections": {"vendor": 4}, "corrected": 4},
            ["as_it_should_be"],
            Advice.KEEP,
            id="four edits are few",
        ),
        pytest.param(
            {"approved": Share(part=99, whole=100), "honeypots": Share(part=60, whole=62)},
            ["near_unanimous"],
            Advice.LOOSEN,
            id="unanimous and attentive",
        ),
    ],
)
def test_facts_suggest(changes: dict[str, object], codes: list[str], advice: Advice) -> None:
    """Each situation has its suggestion, and the most urgent is the advice."""
    found = suggest(replace(HEALTHY, **changes))  # type: ignore[arg-type]
    assert [one.code for one in found] == codes
    assert found[0].advice is advice


@pytest.mark.parametrize(
    ("honeypots", "word"),
    [
        pytest.param(None, "not known", id="unknown"),
        pytest.param(Share(part=8, whole=10), "too few", id="too uncertain"),
    ],
)
def test_unanimity_alone_loosens_nothing(honeypots: Share | None, word: str) -> None:
    """It is also what not looking looks like, so it is blocked and never the advice."""
    facts = replace(HEALTHY, approved=Share(part=100, whole=100), honeypots=honeypots)
    first, blocked = suggest(facts)
    assert first.code == "as_it_should_be"
    assert (blocked.code, blocked.advice) == ("near_unanimous", Advice.LOOSEN)
    assert word in (blocked.blocked or "")


@pytest.mark.parametrize(
    ("caught", "shown", "counts"),
    [
        pytest.param(14, 14, True, id="14 of 14: at least .807"),
        pytest.param(13, 13, False, id="13 of 13: at least .794"),
        pytest.param(90, 100, True, id="90 of 100: at least .836"),
        pytest.param(85, 100, False, id="85 of 100: at least .779"),
    ],
)
def test_unanimity_counts_from_a_lower_bound_of_eight_tenths(
    caught: int, shown: int, counts: bool
) -> None:
    """The exact one-sided 95 % bound of the planted errors that were noticed decides."""
    seen = Share(part=caught, whole=shown)
    (found,) = [
        one
        for one in suggest(replace(HEALTHY, approved=Share(part=98, whole=100), honeypots=seen))
        if one.code == "near_unanimous"
    ]
    assert (found.blocked is None) == counts
    assert found.numbers == {"approved": 98, "answers": 100, "noticed_at_least": seen.low}


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        pytest.param({"right": Share(part=30, whole=100)}, "low_approval", id="30 % is enough"),
        pytest.param({"right": Share(part=8, whole=29)}, "low_approval", id="29 labels are few"),
        pytest.param({"approved": Share(part=97, whole=100)}, "near_unanimous", id="97 %"),
        pytest.param({"approved": Share(part=29, whole=29)}, "near_unanimous", id="29 answers"),
        pytest.param({"approved": Share(part=50, whole=100)}, "drafts_overridden", id="half"),
        pytest.param({"corrections": {"a": 5}, "corrected": 10}, "field_edited", id="half of them"),
    ],
)
def test_below_their_numbers_nothing_is_suggested(facts: dict[str, object], code: str) -> None:
    """Each suggestion begins where its numbers say, not before."""
    found = suggest(replace(HEALTHY, **facts))  # type: ignore[arg-type]
    assert code not in {one.code for one in found}


def test_what_is_missing_is_said() -> None:
    """Without a certificate the advice is to label, with the number that would do."""
    (only,) = suggest(NEW)
    assert only.advice is Advice.COLLECT
    assert "31 more labels without an error" in only.sentence


def test_the_most_urgent_comes_first() -> None:
    """A slice that must be tightened says so before anything else."""
    found = suggest(
        replace(
            HEALTHY,
            tripped=Share(part=9, whole=40),
            proposed=None,
            corrections={"vendor": 12},
            corrected=12,
        )
    )
    assert [one.advice for one in found] == [Advice.TIGHTEN, Advice.TIGHTEN, Advice.CHECK]
    assert found[0].code == "guard_tripped"


bands = st.none() | st.builds(Band, threshold=st.floats(0, 1), coverage=st.floats(0, 1))


@st.composite
def shares(draw: st.DrawFn) -> Share:
    whole = draw(st.integers(0, 500))
    return Share(part=draw(st.integers(0, whole)), whole=whole)


@given(
    st.builds(
        SliceFacts,
        slice_key=st.just("a"),
        target=st.floats(0.5, 0.99),
        held=bands,
        proposed=bands,
        right=shares(),
        band=shares(),
        approved=shares(),
        honeypots=st.none() | shares(),
        tripped=st.none() | shares(),
        labels_missing=st.none() | st.integers(1, 9999),
    )
)
def test_there_is_always_an_advice_and_danger_wins(facts: SliceFacts) -> None:
    """Whatever the counts, something is said first, and a tripped slice is never loosened."""
    found = suggest(facts)
    assert not found[0].blocked
    assert found[0].advice is not Advice.CHECK
    if facts.tripped is not None:
        assert found[0].advice is Advice.TIGHTEN
