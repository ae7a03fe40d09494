"""The client around the wire formats: replies that are kept, outages, limits, loops and keys."""

from __future__ import annotations

import asyncio
import builtins
import gc
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from sureline.adapters.models.attempts import Backoff
from sureline.adapters.models.client import PydanticAIClient
from sureline.adapters.models.connections import SHARED_HTTP, make_model, open_http
from sureline.application.ports.models import Asking, ModelLimits, Prompt
from sureline.errors import ModelFailed
from sureline.loop_thread import LoopThread
from sureline.testing import FixedClock
from tests.adapters.models.conftest import prompt
from tests.model_servers import Fault, ModelServer, Never, Raw, Say, Slow

Make = Callable[..., PydanticAIClient]
CHAT = Asking(model="openai-chat:gpt-4o-mini")
FRESH = replace(CHAT, fresh=True)


async def reason(client: PydanticAIClient, asking: Asking = CHAT, content: str = "q") -> str:
    with pytest.raises(ModelFailed) as caught:
        await client.ask(prompt(content), asking)
    return caught.value.reason


async def test_an_equal_question_is_asked_once(
    client: PydanticAIClient, server: ModelServer
) -> None:
    """The second time the reply is the kept one, which took nothing."""
    server.script("first", "second")
    first = await client.ask(prompt(), CHAT)
    kept = await client.ask(prompt(), CHAT)
    assert (kept.text, kept.model, len(server.asked)) == ("first", first.model, 1)
    assert not first.usage.cached
    assert kept.usage.cached
    assert (kept.usage.input_tokens, kept.usage.output_tokens, kept.usage.cost) == (0, 0, 0.0)
    assert (kept.usage.calls, kept.usage.seconds) == (0, 0.0)


@pytest.mark.parametrize(
    ("other", "asking"),
    [
        pytest.param(prompt("r"), CHAT, id="another prompt"),
        pytest.param(prompt("q", "a", "b"), CHAT, id="an exchange"),
        pytest.param(prompt("q"), replace(CHAT, model="openai:gpt-4o-mini"), id="model"),
        pytest.param(prompt("q"), replace(CHAT, max_tokens=9), id="max_tokens"),
        pytest.param(prompt("q"), replace(CHAT, temperature=0.0), id="temperature"),
        pytest.param(prompt("q"), replace(CHAT, schema={"type": "object"}), id="schema"),
        pytest.param(prompt("q"), replace(CHAT, logprobs=True), id="logprobs"),
    ],
)
async def test_another_question_is_asked(
    client: PydanticAIClient, server: ModelServer, other: Prompt, asking: Asking
) -> None:
    """Whatever differs, but for nonces and `fresh`, makes another question."""
    await client.ask(prompt("q"), CHAT)
    assert not (await client.ask(other, asking)).usage.cached
    assert len(server.asked) == 2


async def test_the_same_digest_is_the_same_question(
    client: PydanticAIClient, server: ModelServer
) -> None:
    """Content that differs by its nonces alone has one digest, and is asked once."""
    await client.ask(prompt("q"), CHAT)
    assert (await client.ask(replace(prompt("q"), content="q'"), CHAT)).usage.cached


async def test_a_fresh_question_is_asked_anew(
    client: PydanticAIClient, server: ModelServer
) -> None:
    """It does not read what is kept; what it hears is what is kept from then on."""
    server.script("first", "second")
    await client.ask(prompt(), CHAT)
    assert (await client.ask(prompt(), FRESH)).text == "second"
    assert (await client.ask(prompt(), CHAT)).text == "second"
    assert len(server.asked) == 2


async def test_only_complete_replies_are_kept(
    client: PydanticAIClient, server: ModelServer
) -> None:
    """A cut-off reply, a refusal and a failure are asked for again."""
    server.script(Say("ha", ended="length"), Say("no", ended="refusal"), Fault(400), "yes")
    for _ in range(2):
        await client.ask(prompt("q"), CHAT)
    assert await reason(client) == "rejected"
    assert (await client.ask(prompt("q"), CHAT)).text == "yes"
    assert (await client.ask(prompt("q"), CHAT)).usage.cached


async def test_a_reply_is_kept_for_a_while(
    client_with: Make, clock: FixedClock, server: ModelServer
) -> None:
    """After `cache_seconds` it is asked for again, and with 0 at once."""
    client = client_with(cache_seconds=60)
    await client.ask(prompt(), CHAT)
    clock.advance(timedelta(seconds=59))
    assert (await client.ask(prompt(), CHAT)).usage.cached
    clock.advance(timedelta(seconds=2))
    assert not (await client.ask(prompt(), CHAT)).usage.cached
    forgetful = client_with(cache_seconds=0)
    for _ in range(2):
        assert not (await forgetful.ask(prompt(), CHAT)).usage.cached


async def test_so_many_replies_are_kept_and_no_giants(
    client_with: Make, server: ModelServer
) -> None:
    """The least used one goes first; a text of 100 kB is not kept at all."""
    client = client_with(cache_size=1)
    await client.ask(prompt("a"), CHAT)
    await client.ask(prompt("b"), CHAT)
    assert not (await client.ask(prompt("a"), CHAT)).usage.cached
    server.says = lambda asked: "x" * 100_000
    await client.ask(prompt("c"), CHAT)
    assert not (await client.ask(prompt("c"), CHAT)).usage.cached


async def test_equal_questions_at_once_share_a_call(
    client: PydanticAIClient, server: ModelServer
) -> None:
    """Five askers, one request, one bill; a sixth who must have it fresh has his own."""
    server.says = lambda asked: Slow(0.05, Say("yes"))
    asked = [client.ask(prompt(), CHAT) for _ in range(5)]
    replies = await asyncio.gather(*asked, client.ask(prompt(), FRESH))
    assert [reply.usage.cached for reply in replies] == [False, True, True, True, True, False]
    assert len(server.asked) == 2


async def test_no_more_than_so_many_calls_run_at_once(
    client_with: Make, server: ModelServer
) -> None:
    """Others wait for their turn; where the line is full they hear `busy`, and nobody hangs."""
    server.says = lambda asked: Slow(0.03, Say("yes"))
    client = client_with(concurrency=2, waiting=3)
    await client.ask(prompt("warm"), CHAT)

    async def ask(number: int) -> str:
        try:
            return (await client.ask(prompt(str(number)), CHAT)).text
        except ModelFailed as error:
            return error.reason

    found = await asyncio.gather(*(ask(number) for number in range(9)))
    assert found == ["yes"] * 5 + ["busy"] * 4
    assert server.most_at_once == 2


async def test_a_model_that_is_out_is_left_alone_and_comes_back_by_itself(
    client_with: Make, clock: FixedClock, server: ModelServer
) -> None:
    """After `failures` failed asks nothing is sent until the rest is over; then all is well."""
    client = client_with(retries=0, failures=3, rest_seconds=15)
    server.says = lambda asked: Fault(503)
    assert [await reason(client) for _ in range(5)] == ["server_error"] * 3 + ["resting"] * 2
    assert len(server.asked) == 3
    other = replace(CHAT, model="anthropic:claude-haiku-4-5")
    assert await reason(client, other) == "server_error"
    clock.advance(timedelta(seconds=16))
    assert await reason(client) == "server_error"
    assert await reason(client) == "resting"
    clock.advance(timedelta(seconds=16))
    server.says = lambda asked: "yes"
    for number in range(3):
        assert (await client.ask(prompt(str(number)), CHAT)).text == "yes"


async def test_what_the_provider_rejects_is_no_outage(
    client_with: Make, server: ModelServer
) -> None:
    """A bad key or an unreadable answer puts no model to rest."""
    client = client_with(failures=1)
    server.script(Fault(401), Fault(400), Raw(b"{"), "yes")
    assert [await reason(client) for _ in range(3)] == [
        "unauthorized",
        "rejected",
        "unreadable_response",
    ]
    assert (await client.ask(prompt(), CHAT)).text == "yes"


async def test_silence_is_an_outage_and_a_caller_that_leaves_is_not(
    client_with: Make, server: ModelServer
) -> None:
    """Time limits put a model to rest; an asker's own impatience does not, his patience does."""
    for patience, rests in ((0.05, False), (0.3, True), (None, True)):
        client = client_with(seconds=0.5, failures=1)
        await client.ask(prompt("warm"), CHAT)
        server.script(Never())
        if patience is None:
            assert await reason(client) == "timeout"
        else:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(client.ask(prompt(), CHAT), patience)
        if rests:
            assert await reason(client) == "resting"
        else:
            assert (await client.ask(prompt(), CHAT)).text == "yes"


async def test_a_kept_reply_is_given_while_the_model_rests(
    client_with: Make, server: ModelServer
) -> None:
    """What is known already needs no model."""
    client = client_with(failures=1, retries=0)
    server.script("yes", Fault(500))
    await client.ask(prompt("known"), CHAT)
    assert await reason(client) == "server_error"
    assert (await client.ask(prompt("known"), CHAT)).text == "yes"


async def test_nothing_listens(client: PydanticAIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused connection is `unreachable`, after the further tries."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(ModelFailed) as caught:
        await client.ask(prompt(), CHAT)
    assert (caught.value.reason, caught.value.detail) == (
        "unreachable",
        {"phase": "connect", "retries": 2},
    )


@pytest.mark.parametrize(
    ("model", "detail", "words"),
    [
        ("openai:gpt-4o", {"provider": "openai", "variable": "OPENAI_API_KEY"}, "OPENAI_API_KEY"),
        (
            "anthropic:claude-haiku-4-5",
            {"provider": "anthropic", "variable": "ANTHROPIC_API_KEY"},
            "ANTHROPIC_API_KEY",
        ),
        ("no-such:thing", {"provider": "no-such"}, "provider:name"),
        ("gpt-4o", {"provider": "gpt-4o"}, "provider:name"),
        ("test", {"provider": "test"}, "provider:name"),
        ("azure:gpt-4o", {"provider": "azure", "variable": "AZURE_OPENAI_ENDPOINT"}, "AZURE"),
        ("", {"provider": ""}, "provider:name"),
    ],
    ids=[
        "no key",
        "no other key",
        "unknown provider",
        "no provider",
        "a made-up model",
        "no address",
        "nothing",
    ],
)
async def test_a_model_that_is_not_set_up_is_named(
    client: PydanticAIClient,
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    detail: dict[str, str],
    words: str,
) -> None:
    """The error says which variable to set, and the next ask looks again."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    for _ in range(2):
        with pytest.raises(ModelFailed, match=words) as caught:
            await client.ask(prompt(), Asking(model=model))
        assert (caught.value.reason, caught.value.detail) == ("not_configured", detail)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        pytest.param("OPENAI_BASE_URL", "http://host:port", id="no address"),
        pytest.param("SSL_CERT_FILE", "/no/such/file", id="no certificates"),
    ],
)
async def test_however_a_library_complains_the_error_is_one_of_ours(
    client: PydanticAIClient, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    """A variable that makes no sense is `not_configured`."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv(variable, value)
    assert await reason(client) == "not_configured"


async def test_a_caller_that_leaves_while_a_model_is_made_disturbs_no_one(
    client: PydanticAIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The failure that nobody waits for is no complaint, and is not kept."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    heard: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: heard.append(context))
    asking = asyncio.create_task(client.ask(prompt(), CHAT))
    for _ in range(4):
        await asyncio.sleep(0)
    asking.cancel()
    await asyncio.wait([asking])
    assert await reason(client) == "not_configured"
    gc.collect()
    assert heard == []


async def test_a_key_that_comes_later_is_found(
    client: PydanticAIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing has to be started anew."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert await reason(client) == "not_configured"
    with ModelServer() as server:
        server.use(monkeypatch)
        assert (await client.ask(prompt(), CHAT)).text == "yes"


@pytest.mark.parametrize("module", ["pydantic_ai", "cachetools"])
async def test_without_the_extra_the_error_says_what_to_install(
    client: PydanticAIClient, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    """The extra's name is in the message."""
    known = builtins.__import__

    def missing(name: str, *rest: Any, **more: Any) -> Any:
        if name.partition(".")[0] == module:
            raise ImportError(f"No module named {name!r}", name=name)
        return known(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ModelFailed, match=r"sureline\[models\]") as caught:
        await client.ask(prompt(), CHAT)
    assert caught.value.reason == "not_installed"


@pytest.mark.parametrize("provider", sorted(SHARED_HTTP))
def test_providers_take_our_http_client(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each provider of the list is made from its variables, through the bounded client."""
    variables = {
        "ANTHROPIC_API_KEY": "k",
        "AZURE_OPENAI_API_KEY": "k",
        "AZURE_OPENAI_ENDPOINT": "https://x.example",
        "DEEPSEEK_API_KEY": "k",
        "FIREWORKS_API_KEY": "k",
        "LITELLM_BASE_URL": "http://127.0.0.1:9",
        "OLLAMA_BASE_URL": "http://127.0.0.1:9",
        "OPENAI_API_KEY": "k",
        "OPENAI_API_VERSION": "2024-10-21",
        "OPENROUTER_API_KEY": "k",
        "TOGETHER_API_KEY": "k",
        "VLLM_BASE_URL": "http://127.0.0.1:9",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    http = open_http()
    model = make_model(f"{provider}:some/model", http)
    client: Any = model.provider.client  # type: ignore[union-attr]
    assert client._client is http
    asyncio.run(http.aclose())


async def test_a_model_that_reasons_is_not_sent_a_temperature(
    client: PydanticAIClient, server: ModelServer
) -> None:
    """Settings that it does not take are left out, without a warning at each call."""
    for model in ("openai:gpt-5", "openai-chat:o3", "anthropic:claude-opus-4-8"):
        asking = Asking(model=model, temperature=0.0, logprobs=True)
        await client.ask(prompt(model), asking)
    assert [asked.temperature for asked in server.asked] == [None] * 3


def test_many_loops_share_replies_and_outages_but_no_connection(server: ModelServer) -> None:
    """Each `asyncio.run` has its own connections, which are closed when it ends."""
    client = PydanticAIClient(
        ModelLimits(retries=0, failures=2), FixedClock(), backoff=Backoff(jitter=lambda: 0.0)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for content in ("a", "b", "a"):
            asyncio.run(client.ask(prompt(content), CHAT))
        server.says = lambda asked: Fault(500)
        for expected in ("server_error", "server_error", "resting"):
            assert asyncio.run(reason(client)) == expected
        gc.collect()
    assert (len(server.asked), server.connections) == (4, 4)


def test_a_loop_on_a_thread_closes_its_connections(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gate's own loop leaves nothing open, whether the client is closed or not."""
    unraisable: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    for close in (True, False):
        client, thread = PydanticAIClient(ModelLimits(), FixedClock()), LoopThread()
        thread.run(client.ask(prompt("a"), CHAT))
        thread.run(client.ask(prompt("b"), CHAT))
        if close:
            thread.run(client.aclose())
        thread.close()
        del client
        gc.collect()
    assert (len(server.asked), server.connections) == (4, 2)
    assert unraisable == []


async def test_a_client_that_is_dropped_leaves_nothing_open(server: ModelServer) -> None:
    """Even while its loop goes on."""
    client = PydanticAIClient(ModelLimits(), FixedClock())
    await client.ask(prompt(), CHAT)
    del client
    gc.collect()
    for _ in range(20):
        await asyncio.sleep(0)
    gc.collect()


async def test_a_closed_client_can_be_asked_again(
    client: PydanticAIClient, server: ModelServer
) -> None:
    """It opens new connections."""
    await client.aclose()
    await client.ask(prompt("a"), CHAT)
    await client.aclose()
    assert (await client.ask(prompt("b"), CHAT)).text == "yes"
    assert server.connections == 2
