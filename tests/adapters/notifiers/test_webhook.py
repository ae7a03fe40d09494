"""A signed request on the wire."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from sureline.adapters.notifiers.webhook import WebhookNotifier, retry_after
from sureline.errors import DeliveryFailed
from tests.receivers import receiving
from tests.sending import MOMENT, PARCEL, notifier


async def failure(one: WebhookNotifier) -> DeliveryFailed:
    with pytest.raises(DeliveryFailed) as failed:
        await one.send(PARCEL)
    return failed.value


@pytest.mark.parametrize("status", [200, 201, 202, 204])
async def test_any_2xx_is_delivered(status: int) -> None:
    """The receiver verifies the request with the public library."""
    with receiving(status) as receiver:
        await notifier(receiver.url).send(PARCEL)
        (request,) = receiver.received
    event = request.verified()
    assert (request.id, event["id"]) == ("dlv_1", "evt_1")
    assert event["data"]["link"] == "https://review.example.com/reviews/d%2F1%20%E2%80%AE"


@pytest.mark.parametrize(
    ("status", "code", "gone", "refused"),
    [
        (301, "redirect_301", False, False),
        (307, "redirect_307", False, False),
        (400, "status_400", False, True),
        (401, "status_401", False, True),
        (404, "status_404", False, True),
        (408, "status_408", False, False),
        (410, "status_410", True, True),
        (425, "status_425", False, False),
        (429, "status_429", False, False),
        (500, "status_500", False, False),
        (503, "status_503", False, False),
    ],
)
async def test_anything_else_failed(status: int, code: str, gone: bool, refused: bool) -> None:
    """410 ends the channel; another 4xx that is no matter of time, this delivery."""
    with receiving(status) as receiver:
        error = await failure(notifier(receiver.url))
    assert (error.code, error.gone, error.refused) == (code, gone, refused)


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("120", 120.0),
        ("Mon, 05 Jan 2026 09:00:30 GMT", 30.0),
        ("Mon, 05 Jan 2026 08:00:00 GMT", 0.0),
        ("-5", 0.0),
        ("soon", 0.0),
        ("1e9", 0.0),
        ("9" * 400, math.inf),
        (None, 0.0),
    ],
)
def test_how_long_a_receiver_asks_to_be_left_alone(said: str | None, seconds: float) -> None:
    """Retry-After is a number of seconds or a date; what is neither asks for nothing."""
    assert retry_after(said, MOMENT) == seconds


async def test_a_busy_receiver_s_wait_is_handed_on() -> None:
    """The wait of an answer 429 is in the error."""
    with receiving(429, headers={"retry-after": "90"}) as receiver:
        error = await failure(notifier(receiver.url))
    assert error.seconds == 90


async def test_an_endless_answer_is_not_read() -> None:
    """The head of the answer decides; of a body of 50 MB next to nothing is taken."""
    with receiving(200, body=b"x" * 50_000_000) as receiver:
        await notifier(receiver.url).send(PARCEL)
        assert len(receiver.received) == 1


async def test_the_connection_goes_to_the_address_that_was_checked() -> None:
    """The name is looked up once; the request still carries it."""
    asked = []

    async def once(host: str, port: int) -> Sequence[str]:
        asked.append((host, port))
        return ["127.0.0.1"]

    with receiving() as receiver:
        url = f"http://hooks.example.com:{receiver.port}/hook?x=1"
        await notifier(url, resolve=once).send(PARCEL)
        (request,) = receiver.received
    assert asked == [("hooks.example.com", receiver.port)]
    assert request.headers["host"] == f"hooks.example.com:{receiver.port}"
    assert request.path == "/hook?x=1"


async def test_of_several_addresses_the_first_that_answers_is_taken() -> None:
    """An address that refuses the connection is passed over."""

    async def two(host: str, port: int) -> Sequence[str]:
        return ["::1", "127.0.0.1"]

    with receiving() as receiver:
        url = f"http://hooks.example.com:{receiver.port}/hook"
        await notifier(url, resolve=two).send(PARCEL)
        assert len(receiver.received) == 1


async def test_nobody_there() -> None:
    """A closed port is a failure like others."""
    with receiving() as receiver:
        url = receiver.url
    assert (await failure(notifier(url))).code == "not_connected"


async def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy would connect to whatever address it finds."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with receiving() as receiver:
        await notifier(receiver.url).send(PARCEL)
        assert len(receiver.received) == 1


async def test_no_error_names_the_secret() -> None:
    """A secret that cannot be read is not quoted."""
    error = await failure(notifier("https://hooks.example.com/", secret=lambda: "whsec_%%hush"))
    assert "hush" not in str(error)
    assert error.code == "bad_secret"
