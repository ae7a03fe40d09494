"""What labels say of a second opinion: the verdict is in words, and rests on intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from sureline.core.canonical import json_bytes
from sureline.core.learning.opinion_facts import (
    OpinionEvidence,
    OpinionFacts,
    OpinionVerdict,
)
from sureline.core.statistics.discrimination import Weighed, discrimination
from sureline.core.values.said import Said, said_in
from sureline.core.values.signal import Signal, SignalKind

JUDGE = SignalKind.JUDGE


def facts(
    *rows: tuple[bool, bool, int], confidence: float = 1.0, weight: float = 0.25
) -> OpinionFacts:
    """Gather (agreed, correct, count) and return what they say."""
    evidence = OpinionEvidence("judge")
    for agreed, correct, count in rows:
        chance = confidence if agreed else 1 - confidence
        said = Said(signal="judge", chance=chance, against=not agreed, model="m-1")
        for _ in range(count):
            evidence.add(said, correct=correct, weight=1.0)
    return evidence.facts(weight)


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        pytest.param(
            ((True, True, 90), (True, False, 5), (False, True, 5), (False, False, 20)),
            OpinionVerdict.TELLS,
            id="it knows",
        ),
        pytest.param(
            ((True, True, 80), (True, False, 40), (False, True, 60), (False, False, 4)),
            OpinionVerdict.MISLEADS,
            id="it likes the wrong ones",
        ),
        pytest.param(
            ((True, True, 160), (True, False, 40), (False, True, 80), (False, False, 20)),
            OpinionVerdict.ADDS_NOTHING,
            id="four of five are right either way",
        ),
        pytest.param(
            ((True, True, 10), (True, False, 8), (False, True, 2), (False, False, 9)),
            OpinionVerdict.TOO_FEW,
            id="29 labels",
        ),
        pytest.param(
            ((True, True, 200), (False, True, 40), (True, False, 4)),
            OpinionVerdict.TOO_FEW,
            id="hardly any wrong one",
        ),
        pytest.param(
            ((True, True, 200), (True, False, 100)),
            OpinionVerdict.ADDS_NOTHING,
            id="it always agrees",
        ),
    ],
)
def test_the_verdict_in_words(
    rows: tuple[tuple[bool, bool, int], ...], verdict: OpinionVerdict
) -> None:
    """Each kind of opinion is called what it is, and only harm and waste get an advice."""
    found = facts(*rows)
    assert found.verdict is verdict
    advised = verdict in {OpinionVerdict.MISLEADS, OpinionVerdict.ADDS_NOTHING}
    assert (found.advice is not None) is advised


def test_intervals_are_exact_where_labels_count_the_same() -> None:
    """8 of 10 right has the interval of Clopper and Pearson, .444 to .975."""
    found = facts((True, True, 8), (True, False, 2), (False, False, 30))
    assert found.agreed.labels == 10
    assert (found.agreed.low, found.agreed.high) == pytest.approx((0.4439, 0.9748), abs=1e-4)


def test_what_is_audited_seldom_counts_for_what_is_not_seen() -> None:
    """A judge that says nothing is not called misleading because agreement is audited seldom.

    Of what it agreed with, the easy outputs act alone and are audited at one in ten; the hard
    ones are all seen. Without weights the agreed ones would look worse than the refuted.
    """
    chance = np.random.default_rng(5)
    weighted, plain = OpinionEvidence("judge"), OpinionEvidence("judge")
    for _ in range(4_000):
        easy, agrees = bool(chance.random() < 0.6), bool(chance.random() < 0.8)
        correct = bool(chance.random() < (0.97 if easy else 0.6))
        alone = easy and agrees
        if alone and chance.random() > 0.1:
            continue
        said = Said(signal="judge", chance=float(agrees), against=not agrees, model=None)
        weighted.add(said, correct=correct, weight=10.0 if alone else 1.0)
        plain.add(said, correct=correct, weight=1.0)
    assert plain.facts(0.2).verdict is OpinionVerdict.MISLEADS
    assert weighted.facts(0.2).verdict is OpinionVerdict.ADDS_NOTHING


def test_an_advice_names_the_weight() -> None:
    """Lowering a weight is advised only where there is one."""
    rows = ((True, True, 80), (True, False, 40), (False, True, 60), (False, False, 4))
    assert "now 0.25 of the score" in str(facts(*rows).advice)
    assert "weight" not in str(facts(*rows, weight=0.0).advice)


def test_a_confidence_is_compared_with_what_was_right() -> None:
    """A judge that is .9 sure and right half of the time is drawn as overconfident."""
    found = facts((True, True, 50), (True, False, 50), confidence=0.9)
    (bucket,) = [one for one in found.buckets if one.n]
    assert (bucket.n, bucket.verdict) == (100, "overconfident")
    assert bucket.predicted == pytest.approx(0.9)


def read(*signals: Signal) -> list[Said]:
    body: dict[str, Any] = {
        one.name: {
            "state": one.state,
            "value": one.value,
            "kind": one.kind,
            "reason": one.reason,
            "detail": one.detail,
        }
        for one in signals
    }
    return list(said_in(json_bytes({"signals": body})))


@pytest.mark.parametrize(
    ("signal", "chance", "against"),
    [
        (Signal.measured("judge", JUDGE, 1.0, detail={"confidence": 0.8}), 0.8, False),
        (
            Signal.measured("judge", JUDGE, 0.0, detail={"confidence": 0.9, "verdict": "refuted"}),
            pytest.approx(0.1),
            True,
        ),
        (
            Signal.not_applicable("judge", JUDGE, "inconclusive", detail={"confidence": 0.4}),
            0.6,
            True,
        ),
        (Signal.measured("judge", JUDGE, 0.7), 0.7, False),
        (Signal.measured("self_evaluation", JUDGE, 0.35), 0.35, True),
        (Signal.measured("consistency", SignalKind.SELF_REPORT, 1.0), 1.0, False),
    ],
    ids=["agreed", "refuted", "inconclusive", "graded", "evaluation", "consistency"],
)
def test_what_an_opinion_stands_for(signal: Signal, chance: float, against: bool) -> None:
    """A confidence in a refutation is a doubt in the output."""
    (said,) = read(signal)
    assert (said.chance, said.against) == (chance, against)


def test_each_judge_of_a_panel_is_told_apart() -> None:
    """The labels can say which of them misleads; one that did not answer said nothing."""
    cards = [
        {"asked": "a:x", "model": "x-1", "agrees": True, "confidence": 0.9},
        {"asked": "b:y", "agrees": False, "confidence": 0.75},
        {"asked": "c:z", "reason": "timeout"},
    ]
    detail = {"cards": cards, "verdict": "refuted", "confidence": 0.75}
    found = read(Signal.measured("judge", JUDGE, 0.0, detail=detail))
    assert [(one.signal, one.chance, one.against, one.model) for one in found] == [
        ("judge", 0.25, True, None),
        ("judge a:x", 0.9, False, "x-1"),
        ("judge b:y", 0.25, True, None),
    ]


@pytest.mark.parametrize(
    "signal",
    [
        Signal.failed("judge", JUDGE, "timeout", detail={"confidence": 0.9}),
        Signal.not_sampled("judge", JUDGE),
        Signal.not_applicable("judge", JUDGE, "inconclusive"),
        Signal.measured("verification", SignalKind.DETERMINISTIC, 1.0),
    ],
    ids=["failed", "not sampled", "no figure", "a check"],
)
def test_what_is_no_answer_says_nothing(signal: Signal) -> None:
    """Only opinions that were given count, and no figure is made up."""
    assert read(signal) == []


@given(
    st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=4, max_size=60).filter(
        lambda rows: len({label for _, label in rows}) == 2
    )
)
def test_the_area_is_that_of_mann_and_whitney(rows: list[tuple[int, bool]]) -> None:
    """Ties count half, and the interval holds the estimate within [0, 1]."""
    right: dict[int, Weighed] = {}
    wrong: dict[int, Weighed] = {}
    for place, label in rows:
        (right if label else wrong).setdefault(place, Weighed()).add(1.0)
    good = [place for place, label in rows if label]
    bad = [place for place, label in rows if not label]
    found = discrimination(right, wrong)
    assert found is not None
    expected = mannwhitneyu(good, bad).statistic / len(good) / len(bad)
    assert found.auroc == pytest.approx(expected)
    assert 0 <= found.low <= found.auroc <= found.high <= 1


@pytest.mark.parametrize("ties", [1, 2, 1_000], ids=["one value", "two values", "many"])
@pytest.mark.parametrize("labels", [40, 150])
def test_a_score_that_says_nothing_is_seldom_said_to_mislead(ties: int, labels: int) -> None:
    """In at most one of thirty draws does an interval of 95 % lie wholly below one half."""
    chance = np.random.default_rng(11)
    below = 0
    for _ in range(600):
        right: dict[int, Weighed] = {}
        wrong: dict[int, Weighed] = {}
        for _ in range(labels):
            side = right if chance.random() < 0.7 else wrong
            side.setdefault(int(chance.integers(ties)), Weighed()).add(1.0)
        found = discrimination(right, wrong)
        below += found is not None and found.high < 0.5
    assert below <= 600 / 30


def test_without_both_kinds_there_is_no_area() -> None:
    """Right outputs alone cannot be told from wrong ones."""
    one = {3: Weighed(labels=1, weight=1.0, squares=1.0)}
    assert discrimination(one, {}) is None
    assert discrimination({}, one) is None
