"""Bad canaries are made of good ones: anew for each seed, the same for the same, always bad."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.bootstrap import canaries_of
from sureline.core.opinions.canary import Canary, FailureMode
from sureline.core.opinions.canary_making import RECIPES
from sureline.core.opinions.evaluation_prompt import INSTRUCTIONS as EVALUATION
from sureline.core.opinions.fence import fenced
from sureline.core.opinions.judge_prompt import INSTRUCTIONS as JUDGEMENT
from tests.fake_evaluators import obedient, strict

SEEDS = st.text(max_size=20)


def answer(fake: object, canary: Canary) -> bool:
    """Return whether a fake judge agrees with a canary."""
    content = "\n\n".join(
        fenced(label, text, "0123456789abcdef")
        for label, text in (
            ("TASK", canary.task),
            ("SOURCE", canary.source),
            ("OUTPUT", canary.output),
        )
    )
    return bool(json.loads(fake(JUDGEMENT, content))["agrees"])  # type: ignore[operator]


def by_id(seed: str) -> dict[str, Canary]:
    return {one.id: one for one in canaries_of(seed)}


def test_the_set_has_its_size_and_covers_every_mode() -> None:
    """20 bad ones, half of them made, over all failure modes; 10 good ones; several languages."""
    found = canaries_of("any")
    bad = [one for one in found if one.is_bad]
    assert (len(bad), sum(one.made for one in bad), len(found) - len(bad)) == (20, 10, 10)
    assert min(Counter(one.mode for one in bad)[mode] for mode in FailureMode) >= 2
    assert len({one.language for one in found}) >= 6
    assert len({one.id for one in found}) == 30


@given(SEEDS)
def test_a_reader_of_the_text_tells_every_canary(seed: str) -> None:
    """Whatever the seed, what is made is bad for a reason that stands in the text."""
    wrong = [one.id for one in canaries_of(seed) if answer(strict, one) == one.is_bad]
    assert wrong == []


@given(SEEDS)
def test_a_seed_settles_everything(seed: str) -> None:
    """The same seed makes the same canaries, so that a failure can be read afterwards."""
    assert canaries_of(seed) == canaries_of(seed)


@given(SEEDS)
def test_what_is_made_differs_from_what_is_good(seed: str) -> None:
    """No made canary is a good output, and each has the task and source of a good one."""
    found = canaries_of(seed)
    good = [one for one in found if not one.is_bad]
    for one in found:
        if one.made:
            assert (one.task, one.source, one.output) not in {
                (each.task, each.source, each.output) for each in good
            }
            assert (one.task, one.source) in {(each.task, each.source) for each in good}


def test_seeds_make_different_canaries() -> None:
    """Hardly a made canary of one seed appears in another: there is little to know by heart."""
    made = [
        (one.id, one.task, one.output)
        for number in range(40)
        for one in canaries_of(f"seed {number}")
        if one.made
    ]
    different = Counter(name for name, *_ in set(made))
    # Where only names are exchanged, or answers, there are few ways to do it.
    few = {"made_swapped_names": 3, "made_other_answer": 20}
    for recipe in RECIPES:
        name = f"made_{recipe.name}"
        assert different[name] >= few.get(name, 12), different


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda one: one.name)
def test_each_recipe_makes_its_mode(recipe: object) -> None:
    """A made canary has its recipe's failure mode and an id that stays from seed to seed."""
    name = f"made_{recipe.name}"  # type: ignore[attr-defined]
    for seed in ("a", "b"):
        assert by_id(seed)[name].mode is recipe.mode  # type: ignore[attr-defined]


def test_an_obedient_reader_falls_for_what_is_injected_only() -> None:
    """Injections are what they claim to be: orders that a model may follow."""
    fooled = {one.mode for one in canaries_of("x") if one.is_bad and answer(obedient, one)}
    assert fooled == {FailureMode.INJECTED}


def test_a_forged_fence_does_not_know_the_nonce() -> None:
    """What looks like the end of the data is drawn, and no two seeds draw the same."""
    marks = {
        mark
        for number in range(20)
        for mark in re.findall(r"[0-9a-f]{16}", by_id(str(number))["made_forged_fence"].output)
    }
    assert len(marks) == 20


def test_figures_of_good_outputs_stand_in_task_or_source() -> None:
    """Else a changed figure could not be told from a good one."""
    for one in canaries_of("x"):
        if not one.is_bad:
            given_figures = set(re.findall(r"\d+", f"{one.task}{one.source}"))
            assert set(re.findall(r"\d+", one.output)) <= given_figures


def test_evaluator_and_judge_are_told_apart_by_their_instructions() -> None:
    """The fakes choose the form of their reply by what the prompts ask for."""
    assert '"deductions"' in EVALUATION
    assert '"deductions"' not in JUDGEMENT
