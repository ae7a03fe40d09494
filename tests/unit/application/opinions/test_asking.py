"""Asking a model: one question, one more where the reply cannot be read, never a guess."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from sureline.application.opinions.asking import (
    MOST_KEPT,
    MOST_SHOWN_AGAIN,
    MOST_TOKENS,
    Opinion,
    Unreadable,
    ask_for,
)
from sureline.application.ports.models import Asking, Ended, Prompt, Reply
from sureline.core.values.model_card import ModelCard, Usage
from sureline.errors import ModelFailed
from sureline.testing import FakeModels

PROMPT = Prompt(instructions="Judge.", content="data", digest="d")
CARD = ModelCard(asked="m:x", prompt="p")
USAGE = Usage(input_tokens=10, output_tokens=5, cost=0.001, seconds=0.25)


def models(*says: str | Reply | ModelFailed) -> FakeModels:
    """Return models that give these replies, one after the other."""
    left = iter(says)

    def say(_prompt: Prompt, _asking: Asking) -> str | Reply:
        said = next(left)
        if isinstance(said, ModelFailed):
            raise said
        return said if isinstance(said, Reply) else reply(said)

    return FakeModels(says=say)


def reply(text: str, ended: Ended = Ended.COMPLETE) -> Reply:
    return Reply(text=text, model="x-1", ended=ended, usage=USAGE)


def read(text: str) -> int | Unreadable:
    """Read a number between brackets."""
    if text.startswith("[") and text.endswith("]"):
        return int(text[1:-1])
    return Unreadable("no_object", "Answer in brackets.")


def ask(client: FakeModels, reader: Callable[[str], Any] = read) -> Opinion[Any]:
    return asyncio.run(ask_for(client, PROMPT, Asking(model="m:x"), reader, card=CARD))


def failure(client: FakeModels, reader: Callable[[str], Any] = read) -> ModelFailed:
    with pytest.raises(ModelFailed) as caught:
        ask(client, reader)
    return caught.value


def messages(findings: Iterable[Any]) -> list[str]:
    return [one.message for one in findings]


def test_a_reply_that_can_be_read_is_asked_for_once() -> None:
    """The opinion comes with the card of the model that really answered."""
    client = models("[7]")
    opinion = ask(client)
    assert opinion.said == 7
    assert opinion.card.detail == {
        "asked": "m:x",
        "model": "x-1",
        "prompt": "p",
        "input_tokens": 10,
        "output_tokens": 5,
        "cost": 0.001,
        "ms": 250,
        "calls": 1,
    }
    assert len(client.asked) == 1


def test_a_reply_that_cannot_be_read_is_asked_for_once_more_with_the_fault() -> None:
    """The second question shows the model its reply and what was wrong with it; both are paid."""
    client = models("Seven.", "[7]")
    opinion = ask(client)
    assert opinion.said == 7
    assert (opinion.card.usage or USAGE).calls == 2
    prompt, asking = client.asked[1]
    assert prompt.exchange == ("Seven.", "Answer in brackets.")
    assert asking.fresh
    assert asking.max_tokens == client.asked[0][1].max_tokens


def test_after_two_replies_that_cannot_be_read_there_is_no_opinion() -> None:
    """The reason is that of the second reply; the reply itself is kept apart, to be erased."""
    client = models("Seven.", "Eight.", "[7]")
    error = failure(client)
    assert (error.reason, error.detail["first_fault"]) == ("no_object", "no_object")
    assert error.detail["calls"] == 2
    assert messages(error.findings) == ["Eight."]
    assert "Eight" not in str(error.detail)
    assert len(client.asked) == 2


def test_a_reply_that_was_cut_off_gets_more_room_once() -> None:
    """Where the limit of tokens was at fault, telling the model of it would not help."""
    client = models(reply("[7", Ended.TRUNCATED), "[7]")
    assert ask(client).said == 7
    (first, less), (second, more) = client.asked
    assert first.exchange == second.exchange == ()
    assert more.max_tokens == MOST_TOKENS * less.max_tokens
    assert more.fresh


def test_a_reply_that_was_cut_off_is_never_read() -> None:
    """What is there could be all there is, or not."""
    error = failure(models(reply("[9]", Ended.TRUNCATED), reply("[99]", Ended.TRUNCATED)))
    assert error.reason == "truncated"
    assert messages(error.findings) == ["[99]"]


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(reply("[9]", Ended.REFUSED), id="by_the_provider"),
        pytest.param(reply("", Ended.REFUSED), id="without_a_word"),
        pytest.param("I'm not able to help with this.", id="in_words"),
    ],
)
def test_a_refusal_is_not_asked_again(said: str | Reply) -> None:
    """A refusal is counted as one; asking again would only cost."""
    client = models(said)
    error = failure(client)
    assert error.reason == "refused"
    assert error.detail["calls"] == 1
    assert "first_fault" not in error.detail


def test_a_refusal_after_a_muddle_is_a_refusal() -> None:
    """The second reply decides, the first is on record by its code."""
    error = failure(models("Seven.", reply("No.", Ended.REFUSED)))
    assert (error.reason, error.detail["first_fault"]) == ("refused", "no_object")


@pytest.mark.parametrize("before", [(), ("Seven.",)], ids=["first", "second"])
def test_a_model_that_cannot_be_reached_is_not_asked_again(before: tuple[str, ...]) -> None:
    """The client retries what is worth it; its reason and figures are kept beside the card."""
    client = models(*before, ModelFailed("rate_limited", detail={"retries": 2}))
    error = failure(client)
    assert error.reason == "rate_limited"
    assert (error.detail["retries"], error.detail["asked"]) == (2, "m:x")
    assert messages(error.findings) == list(before)
    assert len(client.asked) == 1 + len(before)


def test_a_long_reply_is_shortened_wherever_it_is_kept_or_sent() -> None:
    """200 kB of reply cost neither a second prompt of that size nor a row of it."""
    client = models("x" * 200_000, "y" * 200_000)
    error = failure(client)
    assert len(client.asked[1][0].exchange[0]) == MOST_SHOWN_AGAIN
    assert messages(error.findings) == [
        "y" * MOST_KEPT + f" [and {200_000 - MOST_KEPT} characters more]"
    ]


def test_an_empty_reply_is_not_shown_again() -> None:
    """No provider takes an empty turn; the question is asked again as it was."""
    client = models(" \n", "")
    error = failure(client)
    assert client.asked[1][0] == PROMPT
    assert client.asked[1][1].fresh
    assert error.findings == ()


def test_half_a_character_is_neither_sent_nor_kept() -> None:
    """A reply can hold what UTF-8 cannot."""
    client = models("a\ud83d", "b\udc00")
    error = failure(client)
    assert client.asked[1][0].exchange[0] == "a?"
    assert messages(error.findings) == ["b?"]
