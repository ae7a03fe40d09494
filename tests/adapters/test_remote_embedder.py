"""A remote embedding model over real HTTP: whatever a server does, no wrong vector comes of it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.adapters.embedders.remote import RemoteModel
from sureline.adapters.models.attempts import Backoff
from sureline.adapters.models.embeddings import PydanticAIEmbeddings
from sureline.application.ports.embedder import EmbeddingReply
from sureline.application.ports.models import ModelLimits
from sureline.errors import EmbeddingFailed
from sureline.testing import FixedClock
from tests.embedding_server import DIMENSION, MODEL, EmbeddingServer, Reply, rows_of

pytest.importorskip("pydantic_ai", reason="the extra `models` is not installed")

TEXTS = ["Pay ACME 120.00", "Refund the customer", "Sign the contract"]


class Pauses:
    """Sleeps that take no time."""

    def __init__(self):
        self.slept = []

    async def sleep(self, seconds):
        self.slept.append(seconds)


@pytest.fixture
def server(monkeypatch):
    with EmbeddingServer() as server:
        server.use(monkeypatch)
        yield server


@pytest.fixture
def pauses():
    return Pauses()


@pytest.fixture
def model_with(pauses):
    def make(name=MODEL, **limits):
        backoff = Backoff(sleep=pauses.sleep, jitter=lambda: 0.0)
        client = PydanticAIEmbeddings(ModelLimits(**limits), FixedClock(), backoff=backoff)
        return RemoteModel(name, client)

    return make


@pytest.fixture
def model(model_with):
    return model_with()


async def expected(server, texts=TEXTS):
    return await server.embedder.embed(texts)


async def test_vectors_arrive_at_unit_length(server, model):
    """What the server sends is scaled to unit length; the model's own name is part of the id."""
    found = await model.embedded(TEXTS)

    assert np.allclose(found.rows, await expected(server), atol=1e-6)
    assert found.answered == "text-embedding-test"
    assert found.model_id == (f"openai:text-embedding-test:nfc-ws:window2000-mean:l2:{DIMENSION}")
    assert server.asked == [TEXTS]


async def test_what_it_took_is_told(server, model_with):
    """Tokens and list price come back with the vectors; over several requests they add up."""
    server.answers = "text-embedding-3-small"
    model = model_with("openai:text-embedding-3-small")
    usage = (await model.embedded(["word " * 20_000])).usage

    requests = len(server.asked)
    assert (usage.calls, usage.input_tokens, usage.output_tokens) == (requests, 7 * requests, 0)
    assert usage.cost == pytest.approx(requests * 7 * 0.02e-6)


async def test_rows_in_another_order_are_put_right(server, model):
    """The index says to which text a row belongs, not its place."""
    server.script(lambda body: body | {"data": list(reversed(rows_of(body)))})

    assert np.allclose((await model.embedded(TEXTS)).rows, await expected(server), atol=1e-6)


def changed_row(change):
    """Change the second row of a proper answer."""

    def step(body):
        rows = rows_of(body)
        return body | {"data": [rows[0], rows[1] | change(rows[1]), *rows[2:]]}

    return step


WRONG = {
    "missing-row": lambda body: body | {"data": rows_of(body)[:-1]},
    "one-row-too-many": lambda body: body | {"data": [*rows_of(body), rows_of(body)[0]]},
    "no-rows": lambda body: body | {"data": []},
    "data-is-no-list": lambda body: body | {"data": None},
    "same-index-twice": changed_row(lambda row: {"index": 0}),
    "index-out-of-range": changed_row(lambda row: {"index": 7}),
    "index-is-a-text": changed_row(lambda row: {"index": "1"}),
    "another-length": changed_row(lambda row: {"embedding": row["embedding"][:-1]}),
    "nan": changed_row(lambda row: {"embedding": [math.nan, *row["embedding"][1:]]}),
    "infinity": changed_row(lambda row: {"embedding": [math.inf, *row["embedding"][1:]]}),
    "overflow": changed_row(lambda row: {"embedding": [1e308] * DIMENSION}),
    "zeros": changed_row(lambda row: {"embedding": [0.0] * DIMENSION}),
    "texts-for-numbers": changed_row(lambda row: {"embedding": ["1.0"] * DIMENSION}),
    "null": changed_row(lambda row: {"embedding": None}),
    "empty-vectors": lambda body: (
        body | {"data": [row | {"embedding": []} for row in rows_of(body)]}
    ),
    "one-number": lambda body: (
        body | {"data": [row | {"embedding": [1.0]} for row in rows_of(body)]}
    ),
    "nested": changed_row(lambda row: {"embedding": [row["embedding"]]}),
    "model-of-10000-letters": lambda body: body | {"model": "m" * 10_000},
    "model-with-a-line-break": lambda body: body | {"model": "a\nb"},
    "model-is-a-number": lambda body: body | {"model": 7},
    "prose": lambda body: Reply(200, b"I cannot embed this."),
    "prose-as-text": lambda body: Reply(200, b"Hello", headers={"Content-Type": "text/plain"}),
    "empty-body": lambda body: Reply(200, b""),
    "cut-off-json": lambda body: Reply(200, b'{"data": [{"index": 0, "embedd'),
    "json-list": lambda body: Reply(200, b"[1, 2]"),
    "compressed": lambda body: Reply(200, b"\x1f\x8b", headers={"Content-Encoding": "gzip"}),
    "redirect": lambda body: Reply(307, headers={"Location": "http://127.0.0.1:9/"}),
}


@pytest.mark.parametrize("step", WRONG.values(), ids=WRONG)
async def test_a_wrong_answer_gives_no_vector(server, model, step):
    """No answer that is not exactly a vector per text is used, or asked for again."""
    server.script(step)

    with pytest.raises(EmbeddingFailed) as caught:
        await model.embedded(TEXTS)

    assert len(server.asked) == 1
    assert not any(text in str(caught.value) for text in TEXTS)
    assert np.allclose((await model.embedded(TEXTS)).rows, await expected(server), atol=1e-6)


@pytest.mark.parametrize("status", [500, 502, 503, 408, 429])
async def test_a_fault_of_the_transport_is_tried_again(server, model, pauses, status):
    """A server that fails for a moment costs a pause and nothing else."""
    server.script(*[lambda body: Reply(status, {"error": {"message": "busy"}})] * 2)

    assert np.allclose((await model.embedded(TEXTS)).rows, await expected(server), atol=1e-6)
    assert pauses.slept == [0.5, 1.0]


async def test_a_connection_that_breaks_is_tried_again(server, model):
    """A server that hangs up is asked once more."""
    server.script(lambda body: None)

    assert np.allclose((await model.embedded(TEXTS)).rows, await expected(server), atol=1e-6)
    assert len(server.asked) == 2


async def test_a_wait_that_the_server_asks_for_is_kept(server, model, pauses):
    """Retry-After takes the place of our own pause."""
    server.script(lambda body: Reply(429, b"{}", headers={"Retry-After": "3"}))
    await model.embedded(TEXTS)

    assert pauses.slept == [3.0]


@pytest.mark.parametrize(
    ("status", "reason"),
    [(400, "rejected"), (401, "unauthorized"), (403, "unauthorized"), (404, "not_found")],
)
async def test_a_refusal_is_final(server, model, pauses, status, reason):
    """What will not get better is not asked again."""
    server.script(lambda body: Reply(status, {"error": {"message": "no"}}))

    with pytest.raises(EmbeddingFailed, match=reason):
        await model.embedded(TEXTS)
    assert (len(server.asked), pauses.slept) == (1, [])


async def test_an_exhausted_quota_is_final(server, model):
    """429 for want of money is no reason to ask again."""
    error = {"error": {"message": "pay", "code": "insufficient_quota", "type": "x"}}
    server.script(lambda body: Reply(429, error))

    with pytest.raises(EmbeddingFailed, match="rejected"):
        await model.embedded(TEXTS)
    assert len(server.asked) == 1


async def test_a_server_that_stays_down_fails(server, model):
    """After the last try the text is not embedded."""
    server.script(*[lambda body: Reply(500)] * 3)

    with pytest.raises(EmbeddingFailed, match="server_error"):
        await model.embedded(TEXTS)
    assert len(server.asked) == 3


async def test_a_server_that_never_answers_fails_in_time(server, model_with):
    """The time limit holds for everything together."""
    server.script(server.never)

    with pytest.raises(EmbeddingFailed, match="timeout"):
        await model_with(seconds=0.05).embedded(TEXTS)


async def test_a_model_that_is_out_is_left_alone(server, model_with):
    """After some faults in a row nothing more is sent for a while."""
    model = model_with(retries=0, failures=2)
    server.script(*[lambda body: Reply(500)] * 2)
    for _ in range(2):
        with pytest.raises(EmbeddingFailed, match="server_error"):
            await model.embedded(TEXTS)

    with pytest.raises(EmbeddingFailed, match="resting"):
        await model.embedded(TEXTS)
    assert len(server.asked) == 2


async def test_no_server_at_all_fails(monkeypatch, model, pauses):
    """A refused connection is a fault of the transport."""
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-a-test")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")

    with pytest.raises(EmbeddingFailed, match="unreachable"):
        await model.embedded(TEXTS)
    assert len(pauses.slept) == 2


@pytest.mark.parametrize("name", ["openai:some-model", "nobody:some-model", "no-provider"])
async def test_what_cannot_be_asked_fails(monkeypatch, model_with, name):
    """No key, or an unknown provider: the text is not embedded, and the reason says so."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)

    with pytest.raises(EmbeddingFailed, match="not_configured"):
        await model_with(name).embedded(TEXTS)


async def test_another_dimension_of_the_same_model_is_refused(server, model):
    """The length that the first reply had holds, and afterwards too."""
    await model.embedded(TEXTS)
    shorter = [
        lambda body: (
            body | {"data": [row | {"embedding": row["embedding"][:32]} for row in rows_of(body)]}
        )
    ]
    server.script(*shorter)

    with pytest.raises(EmbeddingFailed, match="32 numbers, expected 64"):
        await model.embedded(TEXTS)
    assert (await model.embedded(TEXTS)).dimension == DIMENSION


async def test_another_model_behind_the_name_has_another_id(server, model):
    """Vectors of two models never go by one id."""
    first = await model.embedded(TEXTS)
    server.answers = "text-embedding-test-2"
    second = await model.embedded(TEXTS)

    assert first.model_id != second.model_id
    assert second.answered == "text-embedding-test-2"


async def test_two_models_in_one_answer_are_refused(server, model):
    """A long text whose windows two models embedded has no vector."""
    server.script(lambda body: body, lambda body: body | {"model": "another"})

    with pytest.raises(EmbeddingFailed, match="two models"):
        await model.embedded(["word " * 20_000])


async def test_a_long_text_is_averaged_over_windows(server, model):
    """Each window is short, none is lost, and requests are small."""
    text = " ".join(f"word{number}" for number in range(20_000))
    found = await model.embedded([text, "short"])

    windows = [window for request in server.asked for window in request]
    assert max(map(len, windows)) <= 2_000
    assert max(map(len, server.asked)) <= 32
    assert " ".join(windows[:-1]) == text
    rows = await server.embedder.embed(windows[:-1])
    mean = rows.sum(axis=0)
    assert np.allclose(found.rows[0], mean / np.linalg.norm(mean), atol=1e-5)


async def test_empty_texts_are_not_sent(server, model):
    """Nothing to see, nothing to send."""
    await model.embedded(["", "\u200b"])
    await model.embedded(["", "something"])

    assert server.asked == [["something"]]


class Canned:
    """A client of any provider that answers what it is told."""

    def __init__(self, reply):
        self.reply = reply

    async def embed(self, model, texts):
        return self.reply


async def test_a_reply_of_no_form_at_all_is_refused():
    """Rows of objects that are no numbers give no vector."""
    truths = [[True, False]]
    for rows in (
        truths,
        [[object(), object()]],
        [{"a": 1}],
        ["ab"],
        [[1 + 2j, 0j]],
        [[10**400, 1]],
    ):
        with pytest.raises(EmbeddingFailed):
            await RemoteModel("x:y", Canned(EmbeddingReply(rows=rows, model="m"))).embedded(["t"])


NUMBERS = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.integers(min_value=-(10**30), max_value=10**30),
    st.booleans(),
    st.none(),
    st.text(max_size=3),
)


@given(
    rows=st.one_of(
        st.lists(st.lists(NUMBERS, max_size=5), max_size=4),
        st.lists(st.lists(st.floats(), min_size=3, max_size=3), min_size=2, max_size=2),
        st.none(),
        st.text(max_size=5),
    ),
    model=st.one_of(st.text(max_size=5), st.none(), st.just("m")),
)
async def test_whatever_comes_back_is_unit_vectors_or_a_failure(rows, model):
    """No reply gives a vector that is not finite and of unit length."""
    remote = RemoteModel("x:y", Canned(EmbeddingReply(rows=rows, model=model)))
    try:
        found = await remote.embedded(["one", "two"])
    except EmbeddingFailed:
        return
    assert found.rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(found.rows, axis=1), 1, atol=1e-3)
