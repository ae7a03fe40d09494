"""What a slice's scores are bound to follows the models that answered."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sureline.core.gate.answered import (
    LONGEST_ID,
    ModelsSeen,
    answers_in,
    measurement_with,
    names_another_generator,
    second_models,
)
from sureline.core.values.policy import (
    ConsistencyPolicy,
    HistoryPolicy,
    JudgePolicy,
    SelfEvaluationPolicy,
)
from sureline.core.values.proposal import Generator, Proposal
from tests.builders import slice_policy

NOW = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
SEEN = ModelsSeen(first={"m": "A"}, latest={"m": "B"}, noted={"m": NOW}, changed={"m": NOW})


@pytest.mark.parametrize(
    ("seen", "answers", "others"),
    [
        (ModelsSeen(), {}, {}),
        (ModelsSeen(), {"m": ("A",)}, {}),
        (ModelsSeen(), {"m": ("A", "B")}, {"m": ("A", "B")}),
        (SEEN, {}, {"m": ("B",)}),
        (SEEN, {"m": ("A",)}, {}),
        (SEEN, {"m": ("C",)}, {"m": ("C",)}),
        (SEEN, {"m": ("A", "B")}, {"m": ("A", "B")}),
        (ModelsSeen(unreadable=True), {"m": ("A",)}, {"m": ("unreadable",)}),
    ],
    ids=[
        "never asked",
        "the first answer",
        "two at once, first",
        "not asked, the latest counts",
        "back to the first",
        "a third",
        "two roles, two answers",
        "a damaged note",
    ],
)
def test_others_are_those_that_are_not_the_first(
    seen: ModelsSeen, answers: dict[str, tuple[str, ...]], others: dict[str, tuple[str, ...]]
) -> None:
    """The first id behind a name is meant; any other, or several, make another measurement."""
    assert seen.others(("m",), answers) == others


def test_only_the_names_of_a_slice_count() -> None:
    """What answers to another slice's judge changes nothing here."""
    assert SEEN.others(("n",), {"m": ("C",)}) == {}


@pytest.mark.parametrize(
    ("at", "latest"),
    [(NOW + timedelta(seconds=1), "C"), (NOW - timedelta(seconds=1), "B")],
    ids=["newer than the note", "older than the note"],
)
def test_the_newer_of_note_and_answer_is_the_latest(at: datetime, latest: str) -> None:
    """What this process heard last counts, unless another has written down a later one."""
    found = SEEN.with_latest({"m": ("C", at)})
    assert (found.first["m"], found.latest["m"]) == ("A", latest)


def test_the_first_answer_of_all_is_the_first_before_it_is_written_down() -> None:
    """Two decisions at once, both before the first note, do not both count as the first."""
    found = ModelsSeen().with_latest({"m": ("A", NOW)})
    assert found.others(("m",), {"m": ("B",)}) == {"m": ("B",)}


@pytest.mark.parametrize(
    ("answers", "news"),
    [({"m": ("B",)}, {}), ({"m": ("A",)}, {"m": "A"}), ({"m": ("A", "B")}, {"m": "A"})],
    ids=["the latest", "another", "both"],
)
def test_news_is_what_is_not_the_latest(
    answers: dict[str, tuple[str, ...]], news: dict[str, str]
) -> None:
    """Nothing is written down for the model that is known."""
    assert SEEN.news(answers) == news


def test_answers_are_read_from_cards_of_signals_and_of_panels() -> None:
    """A failed signal with a card counts; one that was never answered does not."""
    details: list[dict[str, Any]] = [
        {"asked": "m", "model": "A"},
        {"asked": "m", "model": "B", "reason": "truncated"},
        {"asked": "n"},
        {"cards": [{"asked": "n", "model": "C"}, {"asked": "o", "reason": "timeout"}]},
    ]
    assert answers_in(details, ("m", "n", "o")) == {"m": ("A", "B"), "n": ("C",)}


@pytest.mark.parametrize(
    "detail",
    [
        {"asked": ["m"], "model": "A"},
        {"asked": "m", "model": {"A": 1}},
        {"asked": "m", "model": ""},
        {"asked": "somebody else's", "model": "A"},
        {"cards": "no cards"},
        {"cards": [None, 3, "x"]},
    ],
    ids=["a list", "an object", "empty", "no name of the slice", "no list", "no cards in it"],
)
def test_a_plugin_may_put_anything_into_a_detail(detail: dict[str, Any]) -> None:
    """What is no pair of texts, or asks nobody whom the policy names, is no answer."""
    assert answers_in([detail], ("m",)) == {}


def test_an_id_without_end_is_kept_short_and_apart() -> None:
    """A provider that answers with a megabyte does not fill the ledger, nor hide a change."""
    ids = ["x" * 10**6, "x" * (10**6 - 1) + "y", "x" * LONGEST_ID]
    kept = {answers_in([{"asked": "m", "model": one}], ("m",))["m"][0] for one in ids}
    assert len(kept) == 3
    assert max(map(len, kept)) <= LONGEST_ID


def test_a_measurement_tells_who_answered_to_which_name() -> None:
    """Without others it is the policy's; otherwise names and ids, in any order, make it."""
    assert measurement_with("base", {}) == "base"
    one, other = {"m": ("A",), "n": ("B",)}, {"n": ("B",), "m": ("A",)}
    assert measurement_with("base", one) == measurement_with("base", other)
    found = {
        measurement_with(base, others)
        for base in ("base", "other")
        for others in ({"m": ("A",)}, {"m": ("B",)}, {"n": ("A",)}, {"m": ("A", "B")})
    }
    assert len(found) == 8


@pytest.mark.parametrize(
    ("meant", "named", "another"),
    [
        (None, "p:b", False),
        ("p:a", None, False),
        ("p:a", "a-2026-01-01", False),
        ("p:a", "p:b", True),
        ("p:a", "", True),
    ],
    ids=["none is meant", "none is named", "the same, dated", "another", "nothing"],
)
def test_a_claimed_generator_only_takes_automation_away(
    meant: str | None, named: str | None, another: bool
) -> None:
    """Only where both are named can they differ."""
    policy = slice_policy(generator=None if meant is None else Generator(model=meant))
    claim = None if named is None else Generator(model=named)
    proposal = Proposal(slice_key="invoices", task="", output=None, generator=claim)
    assert names_another_generator(proposal, policy) is another


def test_all_models_whose_answers_bear_on_a_score_count() -> None:
    """Judges, evaluator, a generator that is asked again, and a provider's embedder."""
    policy = slice_policy(
        judge=JudgePolicy(model="p:judge"),
        self_evaluation=SelfEvaluationPolicy(model="p:evaluator", deductions="[]"),
        consistency=ConsistencyPolicy(ask=True),
        generator=Generator(model="p:gen"),
        history=HistoryPolicy(embedder="p:embedder"),
    )
    assert second_models(policy) == ("p:embedder", "p:evaluator", "p:gen", "p:judge")
    assert second_models(slice_policy(history=HistoryPolicy(embedder="p:embedder"))) == ()
