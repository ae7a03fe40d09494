"""Vectors that are kept for a moment: of one model, in their place, and gone after an erasure."""

from __future__ import annotations

import numpy as np
import pytest

from sureline.application.kept_vectors import KeptVectors
from sureline.application.ports.embedder import Embedded


class Counting:
    """Embeds a text as its length and first letter; `asked` lists what it was given."""

    name = "counting"

    def __init__(self):
        self.asked = []
        self.models = []
        self.model_id = "one"

    async def embedded(self, texts):
        self.asked.append(list(texts))
        if self.models:
            self.model_id = self.models.pop(0)
        rows = [[len(text), ord(text[0]), len(self.model_id)] for text in texts]
        return Embedded(
            rows=np.array(rows, np.float32).reshape(-1, 3), model_id=self.model_id, answered="m"
        )


async def test_a_text_is_embedded_once():
    """What was embedded before comes back in its place beside what is new."""
    model = Counting()
    kept = KeptVectors(model)
    first = await kept.embedded(["task", "a"])
    second = await kept.embedded(["bb", "task", "ccc"])
    third = await kept.embedded(["task", "bb"])

    assert model.asked == [["task", "a"], ["bb", "ccc"]]
    assert first.rows[:, 0].tolist() == [4, 1]
    assert second.rows[:, 0].tolist() == [2, 4, 3]
    assert third.rows[:, 0].tolist() == [4, 2]
    assert (third.model_id, third.answered) == ("one", "m")


async def test_equal_texts_are_asked_for_once():
    """In one request too: a batch has one task many times."""
    model = Counting()
    found = await KeptVectors(model).embedded(["task", "a", "task", "bb", "task"])

    assert model.asked == [["task", "a", "bb"]]
    assert found.rows[:, 0].tolist() == [4, 1, 4, 2, 4]


async def test_two_models_never_stand_side_by_side():
    """Where another model answers for what is missing, it embeds everything."""
    model = Counting()
    kept = KeptVectors(model)
    await kept.embedded(["task", "a"])
    model.models = ["three", "three"]
    found = await kept.embedded(["task", "b"])

    assert model.asked[1:] == [["b"], ["task", "b"]]
    assert (found.model_id, found.rows[:, 2].tolist()) == ("three", [5, 5])
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
        assert found.rows[:, 0].tolist() == [100_001, 4, 100_002]
    assert model.asked[1] == [texts[0], texts[2]]


@pytest.mark.parametrize("texts", [[], ["\ud800"], ["a", "a"]], ids=ascii)
async def test_odd_requests(texts):
    """No text, a lone surrogate, and one text twice are nothing special."""
    kept = KeptVectors(Counting())
    for _ in range(2):
        assert len((await kept.embedded(texts)).rows) == len(texts)


async def test_a_kept_row_is_a_copy():
    """Who changes what came back changes nothing that is kept."""
    kept = KeptVectors(Counting())
    (await kept.embedded(["task"])).rows[:] = 0

    assert (await kept.embedded(["task"])).rows[0, 0] == 4
