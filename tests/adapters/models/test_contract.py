"""What holds of every provider's wire format, over real HTTP."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from sureline.adapters.models.bounded_http import MOST_BYTES
from sureline.adapters.models.client import PydanticAIClient
from sureline.application.ports.models import Asking, Ended
from sureline.errors import ModelFailed
from tests.adapters.models.conftest import SCHEMA, Pauses, prompt
from tests.model_servers import (
    WIRES,
    CutOff,
    Endless,
    Fault,
    ModelServer,
    Never,
    Raw,
    Reset,
    Say,
    Slow,
    Step,
    Wire,
)

Make = Callable[..., PydanticAIClient]
SECRET = "the-secret-of-the-payload"


async def reason_of(client: PydanticAIClient, asking: Asking) -> ModelFailed:
    with pytest.raises(ModelFailed) as caught:
        await client.ask(prompt(), asking)
    error: ModelFailed = caught.value
    assert SECRET not in repr(error.detail) + str(error)
    assert error.__cause__ is None
    return error


async def test_a_model_is_shown_the_prompt_and_its_reply_is_returned(
    client: PydanticAIClient, server: ModelServer, asking: Asking, wire: Wire
) -> None:
    """Instructions, content, settings and schema arrive; text, id, tokens and cost come back."""
    server.script(Say('{"agrees": true}', tokens=(1000, 200)))
    reply = await client.ask(prompt(), asking)
    asked = server.asked[0]
    assert (asked.instructions, asked.turns) == ("Refute it.", (("user", "Is it right?"),))
    assert (asked.model, asked.max_tokens, asked.temperature) == (wire.answers, 300, 0.0)
    assert asked.schema == SCHEMA
    assert (reply.text, reply.model, reply.ended) == (
        '{"agrees": true}',
        wire.answers,
        Ended.COMPLETE,
    )
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (1000, 200)
    assert reply.usage.cost == pytest.approx(0.002 if wire.name == "messages" else 0.00027)
    assert (reply.usage.calls, reply.usage.retries, reply.usage.cached) == (1, 0, False)


async def test_an_exchange_is_shown_in_turns(
    client: PydanticAIClient, server: ModelServer, asking: Asking
) -> None:
    """The model sees its earlier reply as its own, and the complaint as ours."""
    await client.ask(prompt("Well?", "Maybe.", "Answer in JSON."), asking)
    await client.ask(prompt("Well?", "", "Say something."), asking)
    assert server.asked[0].turns == (
        ("user", "Well?"),
        ("assistant", "Maybe."),
        ("user", "Answer in JSON."),
    )
    assert [role for role, _ in server.asked[1].turns] == ["user", "assistant", "user"]
    assert {asked.instructions for asked in server.asked} == {"Refute it."}


async def test_the_model_that_answers_is_named(
    client: PydanticAIClient, server: ModelServer, asking: Asking
) -> None:
    """A reply carries the id that the provider gave, with nothing hidden in it."""
    server.script(Say("a", model="other-2026-11-30"), Say("b", model="x\n" + SECRET * 20))
    assert (await client.ask(prompt("a"), asking)).model == "other-2026-11-30"
    hostile = (await client.ask(prompt("b"), asking)).model
    assert hostile.startswith("x?")
    assert len(hostile) == 128


@pytest.mark.parametrize(
    ("said", "text", "ended"),
    [
        pytest.param(Say("half", ended="length"), "half", Ended.TRUNCATED, id="cut by tokens"),
        pytest.param(Say("", ended="length"), "", Ended.TRUNCATED, id="cut before a word"),
        pytest.param(Say("", ended="filter"), "", Ended.REFUSED, id="content filter"),
        pytest.param(Say("I cannot.", ended="refusal"), None, Ended.REFUSED, id="refusal"),
        pytest.param(Say(calls=({"a": 1},)), '{"a":1}', Ended.COMPLETE, id="tool call"),
        pytest.param(Say(calls=({}, {})), "", Ended.COMPLETE, id="two tool calls"),
        pytest.param(Say("b", thinking="a"), "b", Ended.COMPLETE, id="thinking left out"),
        pytest.param(Say("x" * 200_000), "x" * 200_000, Ended.COMPLETE, id="200 kB"),
        pytest.param(Say("a \ud800 b"), "a ? b", Ended.COMPLETE, id="half a surrogate"),
        pytest.param(Say("\x00\u202e"), "\x00\u202e", Ended.COMPLETE, id="control characters"),
    ],
)
async def test_how_a_reply_ended_is_told(
    client: PydanticAIClient,
    server: ModelServer,
    asking: Asking,
    said: Say,
    text: str | None,
    ended: Ended,
) -> None:
    """Cut-off, filtered and refused replies say so; tool calls count as text, thoughts do not."""
    server.script(said)
    reply = await client.ask(prompt(), asking)
    assert reply.ended is ended
    if text is not None:
        assert reply.text.replace(": ", ":") == text


async def test_usage_that_is_not_told_is_not_known(
    client: PydanticAIClient, server: ModelServer, asking: Asking, wire: Wire
) -> None:
    """Without figures of the provider tokens and cost are None, never 0."""
    server.script(Say("a", tokens=None))
    if wire.name == "messages":  # where usage is a part of every answer
        assert (await reason_of(client, asking)).reason == "unreadable_response"
        return
    usage = (await client.ask(prompt(), asking)).usage
    assert (usage.input_tokens, usage.output_tokens, usage.cost) == (None, None, None)


async def test_the_cost_of_an_unknown_model_is_not_known(
    client: PydanticAIClient, server: ModelServer, asking: Asking
) -> None:
    """A model that has no price has no cost, and its tokens are counted all the same."""
    server.script(Say("a", model="no-such-model-at-all", tokens=(7, 3)))
    usage = (await client.ask(prompt(), asking)).usage
    assert (usage.input_tokens, usage.output_tokens, usage.cost) == (7, 3, None)


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Fault(500), id="500"),
        pytest.param(Fault(502), id="502"),
        pytest.param(Fault(503), id="503"),
        pytest.param(Fault(529), id="overloaded"),
        pytest.param(Fault(408), id="408"),
        pytest.param(Fault(409), id="409"),
        pytest.param(Fault(429), id="429"),
        pytest.param(Reset(), id="reset"),
        pytest.param(CutOff(), id="cut off"),
    ],
)
async def test_a_passing_fault_of_the_transport_is_tried_again(
    client: PydanticAIClient, server: ModelServer, asking: Asking, pauses: Pauses, fault: Step
) -> None:
    """Two faults, then an answer: it is returned, after pauses that double."""
    server.script(fault, fault, "yes")
    reply = await client.ask(prompt(), asking)
    assert (reply.text, reply.usage.retries, reply.usage.calls) == ("yes", 2, 1)
    assert pauses.slept == [0.5, 1.0]


@pytest.mark.parametrize(
    ("headers", "slept"),
    [
        pytest.param({"Retry-After": "2"}, [2.0], id="seconds"),
        pytest.param({"retry-after-ms": "700"}, [0.7], id="milliseconds"),
        pytest.param({"Retry-After": "-3"}, [0.5], id="negative"),
        pytest.param({"Retry-After": "soon"}, [0.5], id="no number"),
        pytest.param({"Retry-After": "nan"}, [0.5], id="nan"),
        pytest.param({}, [0.5], id="absent"),
    ],
)
async def test_a_wait_that_the_provider_asks_for_is_kept_to(
    client: PydanticAIClient,
    server: ModelServer,
    asking: Asking,
    pauses: Pauses,
    headers: dict[str, str],
    slept: list[float],
) -> None:
    """Retry-After sets the pause where it is a number of seconds."""
    server.script(Fault(429, headers=headers), "yes")
    assert (await client.ask(prompt(), asking)).text == "yes"
    assert pauses.slept == slept


async def test_a_wait_beyond_the_time_limit_is_not_begun(
    client: PydanticAIClient, server: ModelServer, asking: Asking, pauses: Pauses
) -> None:
    """If the provider asks to wait longer than an opinion may take, it fails at once."""
    server.script(Fault(429, headers={"Retry-After": "60"}))
    error = await reason_of(client, asking)
    assert (error.reason, error.detail) == ("rate_limited", {"status": 429})
    assert (pauses.slept, len(server.asked)) == ([], 1)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        pytest.param(Fault(500, SECRET), "server_error", id="500"),
        pytest.param(Fault(529, SECRET), "server_error", id="overloaded"),
        pytest.param(Fault(429, SECRET), "rate_limited", id="429"),
        pytest.param(Reset(), "unreachable", id="reset"),
        pytest.param(CutOff(), "unreachable", id="cut off"),
    ],
)
async def test_a_lasting_fault_is_given_up(
    client: PydanticAIClient, server: ModelServer, asking: Asking, fault: Step, reason: str
) -> None:
    """After the last further try the reason is told, without a word of the provider."""
    server.says = lambda asked: fault
    error = await reason_of(client, asking)
    assert (error.reason, error.detail["retries"], len(server.asked)) == (reason, 2, 3)


@pytest.mark.parametrize(
    ("fault", "reason", "detail"),
    [
        pytest.param(Fault(401, SECRET), "unauthorized", {"status": 401}, id="401"),
        pytest.param(Fault(403, SECRET), "unauthorized", {"status": 403}, id="403"),
        pytest.param(Fault(404, SECRET), "not_found", {"status": 404}, id="404"),
        pytest.param(Fault(400, SECRET), "rejected", {"status": 400}, id="400"),
        pytest.param(Fault(422, SECRET), "rejected", {"status": 422}, id="422"),
        pytest.param(Fault(413, SECRET), "rejected", {"status": 413}, id="413"),
        pytest.param(
            Fault(402, SECRET), "rejected", {"status": 402, "category": "quota"}, id="no money"
        ),
        pytest.param(
            Fault(503, SECRET, headers={"x-should-retry": "false"}),
            "server_error",
            {"status": 503},
            id="told not to",
        ),
    ],
)
async def test_what_would_fail_again_is_not_tried_again(
    client: PydanticAIClient,
    server: ModelServer,
    asking: Asking,
    fault: Fault,
    reason: str,
    detail: dict[str, object],
) -> None:
    """A refused request is sent once; the detail holds the status and no text."""
    server.script(fault)
    error = await reason_of(client, asking)
    assert (error.reason, error.detail, len(server.asked)) == (reason, detail, 1)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(Raw(b"{" + SECRET.encode()), id="broken JSON"),
        pytest.param(Raw(b""), id="nothing"),
        pytest.param(Raw(b"null"), id="null"),
        pytest.param(Raw(b"[]"), id="a list"),
        pytest.param(Raw(b'"' + SECRET.encode() + b'"'), id="a string"),
        pytest.param(Raw({"hello": SECRET}), id="another shape"),
        pytest.param(Raw({"choices": SECRET, "output": 3, "content": SECRET}), id="other types"),
        pytest.param(Raw({"choices": [[]], "output": [[]], "content": [[]]}), id="lists in lists"),
        pytest.param(
            Raw({"choices": [None], "output": [None], "content": [None]}), id="nulls in lists"
        ),
        pytest.param(Raw(b"<html>" + SECRET.encode(), kind="text/html"), id="a page"),
        pytest.param(Raw(b"\xff\xfe\x00" * 9), id="no text"),
        pytest.param(Raw(b"[" * 200_000), id="deep"),
        pytest.param(Raw(b'{"id": ' + b"9" * 10_000 + b"}"), id="a long number"),
        pytest.param(Raw(b"{}", headers={"Content-Encoding": "gzip"}), id="compressed"),
        pytest.param(Raw(b"", status=302, headers={"Location": "/v1"}), id="redirected"),
        pytest.param(Endless(), id="endless"),
    ],
)
async def test_a_response_of_another_form_is_unreadable(
    client: PydanticAIClient, server: ModelServer, asking: Asking, body: Step
) -> None:
    """Whatever the body is, the opinion fails with a reason; nothing is asked again."""
    server.script(body)
    error = await reason_of(client, asking)
    assert (error.reason, len(server.asked)) == ("unreadable_response", 1)


async def test_an_answer_with_nothing_in_it_is_unreadable(
    client: PydanticAIClient, server: ModelServer, asking: Asking, wire: Wire
) -> None:
    """No choice, no output, no content: there is no reply to read."""
    server.script(Raw(wire.empty))
    assert (await reason_of(client, asking)).reason == "unreadable_response"


async def test_an_error_inside_an_answer_is_told_like_any_other(
    client: PydanticAIClient, server: ModelServer
) -> None:
    """OpenAI's responses can fail with status 200; such a fault is tried again as well."""
    responses = next(wire for wire in WIRES if wire.name == "responses")
    error = {"code": "server_error", "message": SECRET}
    failed = {**responses.empty, "status": "failed", "error": error}
    server.script(Raw(failed), "yes")
    asking = Asking(model=responses.model)
    assert (await client.ask(prompt(), asking)).usage.retries == 1
    server.says = lambda asked: Raw(failed)
    found = await reason_of(client, replace(asking, fresh=True))
    assert found.reason == "server_error"


async def test_hostile_headers_change_nothing(
    client: PydanticAIClient, server: ModelServer, asking: Asking
) -> None:
    """Cookies, odd limits and strange headers of an answer have no effect on it."""
    headers = {
        "Set-Cookie": "a=b; Path=/",
        "Retry-After": "1e999",
        "x-should-retry": "true",
        "X-Odd": "\xff\xfe" + "y" * 4000,
        "Refresh": "0; url=http://127.0.0.1:1/",
    }
    server.script(Say("yes", headers=headers))
    assert (await client.ask(prompt(), asking)).text == "yes"


async def test_a_model_that_never_answers_times_out(
    client_with: Make, server: ModelServer, asking: Asking
) -> None:
    """Silence ends with the time limit, whatever it is."""
    server.script(Never())
    error = await reason_of(client_with(seconds=0.3), asking)
    assert (error.reason, error.detail) == ("timeout", {"seconds": 0.3})


async def test_the_time_limit_holds_for_all_tries_together(
    client_with: Make, server: ModelServer, asking: Asking
) -> None:
    """A second try gets what the first one left."""
    server.script(Slow(0.2, Fault(500)), Never())
    error = await reason_of(client_with(seconds=1.5), asking)
    assert (error.reason, len(server.asked)) == ("timeout", 2)
    first, second = (float(one.headers["x-stainless-read-timeout"]) for one in server.asked)
    assert first <= 1.5
    assert second <= first - 0.2


async def test_a_huge_body_is_not_read_to_its_end(
    client: PydanticAIClient, server: ModelServer, asking: Asking
) -> None:
    """Of 50 MB only the first are read."""
    server.script(Endless(50 * 2**20))
    error = await reason_of(client, asking)
    assert error.detail == {"category": "body_refused"}
    assert MOST_BYTES < 10 * 2**20


async def test_log_probabilities_are_returned_where_they_are_offered(
    client: PydanticAIClient, server: ModelServer, wire: Wire
) -> None:
    """OpenAI's formats give them; one that is none spoils them all."""
    asking = Asking(model=wire.model, logprobs=True)
    server.script(Say("a", logprobs=(-0.5, -0.25)), Say("b", logprobs=(-0.5, 0.1)))
    expected = () if wire.name == "messages" else (-0.5, -0.25)
    assert (await client.ask(prompt("a"), asking)).logprobs == expected
    assert (await client.ask(prompt("b"), asking)).logprobs == ()


async def test_a_plain_question_asks_for_no_form(
    client: PydanticAIClient, server: ModelServer, wire: Wire
) -> None:
    """Without a schema and a temperature none is sent."""
    await client.ask(prompt(), Asking(model=wire.model))
    assert (server.asked[0].schema, server.asked[0].temperature) == (None, None)
