"""Rows of area 5-approval about verdicts from other surfaces: repeats, replays, signatures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from sureline.core.review.message import message
from sureline.web.settings import ServerSettings
from tests.receivers import SECRET
from tests.sending import NOTICE
from tests.web.chatting import Chat, chatting
from tests.web.held_reviews import HeldReviews, held, until_answered, verdicts

Cases = Mapping[str, dict[str, Any]]


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAT_SECRET", SECRET)


def test_a23_an_act_that_is_sent_three_times_is_one_verdict(cases: Cases, tmp_path: Path) -> None:
    """A delivery that comes three times while the first is in work is acknowledged, and done once.

    Later repeats get the stored answer. Our own messages have no buttons that could be sent again.
    """
    assert "duplicates answered from the stored result" in cases["A23"]["expected"]
    assert set(message([NOTICE], page="https://x.example").__slots__) == {"title", "body"}
    found: list[HeldReviews] = []
    settings = ServerSettings(ack_seconds=0.05)
    with chatting(tmp_path, settings=settings, change=held(found)) as chat:
        item = chat.item()
        said = {**item, "action": "approve", "reviewer": "U1"}

        def send(_: int) -> httpx.Response:
            return chat.say(said, as_id="msg_1")

        with ThreadPoolExecutor(3) as pool:
            early = list(pool.map(send, range(3)))
        assert [one.status_code for one in early] == [202] * 3
        found[0].go.set()
        answered = until_answered(chat, said)
        late = [send(0) for _ in range(3)]
        assert [one.content for one in late] == [answered.content] * 3
        assert {one.headers["sureline-repeated"] for one in late} == {"true"}
        assert found[0].changes == 1
        assert verdicts(chat, item) == ["approve"]


def test_a41_the_same_body_under_a_new_id_acts_once(cases: Cases, tmp_path: Path) -> None:
    """Id and time are signed, so that neither can be changed; a body that is known does nothing."""
    assert "body digest also deduped" in cases["A41"]["expected"]
    with chatting(tmp_path) as chat:
        item = chat.item()
        body = json.dumps({**item, "action": "escalate", "reviewer": "U1"}).encode()
        headers = chat.headers(body, "msg_1")
        first = chat.send(body, headers)
        assert (first.status_code, first.json()["level"]) == (200, 1)
        for name, text in (("webhook-id", cases["A41"]["input"]["delivery_id"]), later(headers)):
            assert chat.send(body, {**headers, name: text}).status_code == 401
        replayed = chat.send(body, chat.headers(body, "msg_2"))
        assert (replayed.status_code, replayed.content) == (200, first.content)
        assert replayed.headers["sureline-repeated"] == "true"
        assert chat.state(item["review_id"])["level"] == 1


def later(headers: dict[str, str]) -> tuple[str, str]:
    """Return the time of a delivery one second later."""
    return "webhook-timestamp", str(int(headers["webhook-timestamp"]) + 1)


def test_a43_the_bytes_are_verified_before_they_are_read(cases: Cases, tmp_path: Path) -> None:
    """A signature over the same JSON written otherwise fits nothing; over these bytes it does."""
    given = cases["A43"]["input"]
    raw, signed_over = given["body_bytes"].encode(), given["signed_over"].encode()
    with chatting(tmp_path) as chat:
        assert chat.send(raw, chat.headers(signed_over, "msg_1")).status_code == 401
        assert chat.send(raw, chat.headers(raw, "msg_1")).status_code == 422
        not_json = b"{ not JSON"
        assert chat.send(not_json, chat.headers(signed_over, "msg_2")).status_code == 401
        assert rewritten(chat) == (401, "pending", 200, "decided")


def rewritten(chat: Chat) -> tuple[int, str, int, str]:
    """Send a verdict with other spaces than were signed, then as it was signed."""
    item = chat.item()
    body = json.dumps({**item, "action": "approve", "reviewer": "U1"}, indent=1).encode()
    compact = json.dumps(json.loads(body), separators=(",", ":")).encode()
    headers = chat.headers(compact, "msg_3")
    wrong, between = chat.send(body, headers), chat.state(item["review_id"])
    right, after = chat.send(compact, headers), chat.state(item["review_id"])
    return wrong.status_code, between["state"], right.status_code, after["state"]
