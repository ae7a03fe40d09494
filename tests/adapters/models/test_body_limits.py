"""What a reply may hold: a small body that would be built into a huge one is refused unparsed."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.adapters.models.body_limits import (
    CHAT,
    MOST_DIMENSIONS,
    BodyLimits,
    BodyMeter,
    BodyRefused,
    chat_limits,
    embedding_limits,
    limited_to,
)
from sureline.adapters.models.client import PydanticAIClient
from sureline.application.ports.models import Asking
from sureline.errors import ModelFailed
from tests.adapters.models.conftest import prompt
from tests.model_servers import ModelServer, Raw, Say, Wire

JSON = st.recursive(
    st.none() | st.integers() | st.text(alphabet='a\\"{[,é\n'),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(alphabet='\\"{,'), inner),
    max_leaves=30,
)


def held(found: Any) -> tuple[int, int]:
    """Return how many objects and separators of values JSON holds."""
    if isinstance(found, dict):
        inner = [held(one) for one in found.values()]
        objects, values = 1, 1 + max(len(found) - 1, 0)
    elif isinstance(found, list):
        inner = [held(one) for one in found]
        objects, values = 0, 1 + max(len(found) - 1, 0)
    else:
        return 0, 0
    return objects + sum(one for one, _ in inner), values + sum(one for _, one in inner)


@given(found=JSON, length=st.integers(1, 20), ascii_only=st.booleans())
def test_what_stands_in_strings_is_not_counted(found: Any, length: int, ascii_only: bool) -> None:
    """However a body is cut into blocks, exactly its objects and values are counted."""
    body = json.dumps(found, ensure_ascii=ascii_only).encode()
    objects, values = held(found)

    def read(limits: BodyLimits) -> None:
        with limited_to(limits):
            meter = BodyMeter()
        for at in range(0, len(body), length):
            meter.add(body[at : at + length])

    read(BodyLimits(size=len(body), objects=objects, values=values))
    for less in ({"objects": objects - 1, "values": values}, {"objects": 9**9, "values": -1}):
        if objects or values > max(less["values"], 0):
            with pytest.raises(BodyRefused):
                read(BodyLimits(size=len(body), **less))


def many(one: bytes, times: int) -> Raw:
    listed = b"[" + b",".join([one] * times) + b"]"
    return Raw(b'{"choices":%b,"output":%b,"content":%b}' % (listed, listed, listed))


HOSTILE = {
    "empty objects": many(b"{}", 600_000),
    "few kilobytes of empty objects": many(b"{}", 300),
    "numbers": many(b"1", 4_000_000),
    "empty lists": many(b"[]", 2_000),
    "choices": many(b'{"index":0,"message":{"role":"assistant","content":"{}"}}', 100_000),
    "objects after a string with quotes": Raw(
        b'{"a":"\\\\\\"","b":[' + b",".join([b"{}"] * 1000) + b"]}"
    ),
    "two bytes a character": Raw(json.dumps({"choices": [{}] * 9}).encode("utf-16-le")),
    "a text of two megabytes": Say("x" * 2**21),
}


@pytest.mark.parametrize("step", HOSTILE.values(), ids=HOSTILE)
async def test_a_body_that_holds_too_much_is_never_parsed(
    client: PydanticAIClient, server: ModelServer, asking: Asking, step: Raw
) -> None:
    """The libraries would build an object for each value, on the loop, for seconds."""
    server.script(step)
    with pytest.raises(ModelFailed) as caught:
        await client.ask(prompt(), asking)
    assert (caught.value.reason, caught.value.detail) == (
        "unreadable_response",
        {"category": "body_refused"},
    )


async def test_a_long_text_of_brackets_is_no_structure(
    client: PydanticAIClient, server: ModelServer, asking: Asking
) -> None:
    """What stands in a reply's text is text, however much it looks like JSON."""
    text = '{"a": [1, 2, "\\\\\\""]}, ' * 4_000
    server.script(Say(text))
    assert (await client.ask(prompt(), asking)).text == text


async def test_log_probabilities_that_were_asked_for_have_room(
    client: PydanticAIClient, server: ModelServer, wire: Wire
) -> None:
    """As many as tokens may come, in a question for them and in no other."""
    step = Say("a", logprobs=(-0.5,) * 4096)
    server.script(step, step)
    asking = Asking(model=wire.model, max_tokens=4096, logprobs=True)
    reply = await client.ask(prompt("a"), asking)
    assert len(reply.logprobs) == (0 if wire.name == "messages" else 4096)
    if wire.name != "messages":
        with pytest.raises(ModelFailed):
            await client.ask(prompt("b"), Asking(model=wire.model, max_tokens=4096))


async def test_limits_hold_for_one_question_each() -> None:
    """Questions that are asked at once by other tasks keep limits of their own."""

    async def count(limits: BodyLimits, objects: int) -> None:
        with limited_to(limits):
            await asyncio.sleep(0)
            BodyMeter().add(b"{" * objects)

    await asyncio.gather(
        count(embedding_limits(1_000), 1_200),
        count(chat_limits(1_000), 1_200),
        count(chat_limits(None), CHAT.objects),
    )
    with pytest.raises(BodyRefused):
        await count(chat_limits(None), CHAT.objects + 1)


@pytest.mark.parametrize("texts", [1, 32])
def test_the_longest_vectors_have_room(texts: int) -> None:
    """A row of the most dimensions for each text, as long as a provider writes them."""
    row = {"object": "embedding", "index": 0, "embedding": [-0.1234567] * MOST_DIMENSIONS}
    body = json.dumps({"object": "list", "data": [row] * texts, "model": "m"}).encode()
    with limited_to(embedding_limits(texts)):
        BodyMeter().add(body)
