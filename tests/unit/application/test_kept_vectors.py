"""Vectors that are kept for a moment: of one model, in their place, and gone after an erasure."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sureline.application.kept_vectors import KeptVectors
from sureline.application.ports.embedder import Embedded


class Counting:
    """Embeds a text by its length and its own name; `asked` lists what it was given."""

    name = "counting"

    def __init__(self):
        self.asked = []
        self.models = []
        self.model_id = "one"
        self.broken = False

    async def embedded(self, texts):
        self.asked.append(list(texts))
        if self.models:
            self.model_id = self.models.pop(0)
        rows = np.array([self.row(text) for text in texts], np.float32).reshape(-1, 2)
        if self.broken:
            rows[:] = np.nan
        return Embedded(rows=rows, model_id=self.model_id, answered="m")

    def row(self, text):
        angle = len(text) / 1e6 + len(self.model_id)
        return [math.cos(angle), math.sin(angle)]

    def rows(self, texts):
        return np.array([self.row(text) for text in texts], np.float32)


async def test_a_text_is_embedded_once():
    """What was embedded before comes back in its place beside what is new."""
    model = Counting()
    kept = KeptVectors(model)
    first = await kept.embedded(["task", "a"])
    second = await kept.embedded(["bb", "task", "ccc"])
    third = await kept.embedded(["task", "bb"])

    assert model.asked == [["task", "a"], ["bb", "ccc"]]
    assert (first.rows == model.rows(["task", "a"])).all()
    assert (second.rows == model.rows(["bb", "task", "ccc"])).all()
    assert (third.rows == model.rows(["task", "bb"])).all()
    assert (third.model_id, third.answered, third.usage.cached) == ("one", "m", True)


async def test_equal_texts_are_asked_for_once():
    """In one request too: a batch has one task many times."""
    model = Counting()
    found = await KeptVectors(model).embedded(["task", "a", "task", "bb", "task"])

    assert model.asked == [["task", "a", "bb"]]
    assert (found.rows == model.rows(["task", "a", "task", "bb", "task"])).all()


async def test_two_models_never_stand_side_by_side():
    """Where another model answers for what is missing, it embeds everything."""
    model = Counting()
    kept = KeptVectors(model)
    await kept.embedded(["task", "a"])
    model.models = ["three", "three"]
    found = await kept.embedded(["task", "b"])

    assert model.asked[1:] == [["b"], ["task", "b"]]
    assert found.model_id == "three"
    assert (found.rows == model.rows(["task", "b"])).all()
    await kept.embedded(["task"])
    assert len(model.asked) == 3


async def test_what_is_used_stays():
    """The text that was used longest ago goes first."""
    model = Counting()
    kept = KeptVectors(model, most=3)
    for text in ("a", "b", "c", "d"):
        await kept.embedded(["task", text])
    model.asked.clear()
    await kept.embedded(["task", "d"])
    await kept.embedded(["b"])

    assert model.asked == [["b"]]


async def test_an_erasure_forgets():
    """After `forget` everything is embedded anew."""
    model = Counting()
    kept = KeptVectors(model)
    await kept.embedded(["task"])
    kept.forget()
    await kept.embedded(["task"])

    assert model.asked == [["task"], ["task"]]


async def test_long_texts_are_not_kept_nor_taken_for_each_other():
    """Two texts too long to be kept have each their own vector."""
    model = Counting()
    kept = KeptVectors(model)
    texts = ["x" * 100_001, "task", "y" * 100_002]
    for _ in range(2):
        found = await kept.embedded(texts)
        assert (found.rows == model.rows(texts)).all()
    assert model.asked[1] == [texts[0], texts[2]]


@pytest.mark.parametrize("texts", [[], ["\ud800"], ["a", "a"]], ids=ascii)
async def test_odd_requests(texts):
    """No text, a lone surrogate, and one text twice are nothing special."""
    kept = KeptVectors(Counting())
    for _ in range(2):
        assert len((await kept.embedded(texts)).rows) == len(texts)


async def test_a_kept_row_is_a_copy():
    """Who changes what came back changes nothing that is kept."""
    model = Counting()
    kept = KeptVectors(model)
    (await kept.embedded(["task"])).rows[:] = 0

    assert ((await kept.embedded(["task"])).rows == model.rows(["task"])).all()


async def test_a_fault_of_a_moment_does_not_stay():
    """A vector that cannot be compared is asked for anew the next time."""
    model = Counting()
    kept = KeptVectors(model)
    model.broken = True
    await kept.embedded(["task"])
    model.broken = False

    assert ((await kept.embedded(["task"])).rows == model.rows(["task"])).all()
