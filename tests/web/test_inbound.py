"""Verdicts from other surfaces: signed, done once, and by all rules of the queue."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from sureline.application.ports.keys import Role
from sureline.core.review.opening import content_digest
from sureline.web.settings import ServerSettings
from tests.receivers import SECRET
from tests.web.chatting import OTHER_SECRET, Chat, chatting
from tests.web.served import AGENT, AUDITOR, REVIEWER


@pytest.fixture(autouse=True)
def _secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAT_SECRET", SECRET)
    monkeypatch.setenv("TICKETS_SECRET", OTHER_SECRET)


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Chat]:
    with chatting(tmp_path) as one:
        yield one


def test_a_verdict_from_chat_is_its_persons(chat: Chat) -> None:
    """It is recorded under the source and the person, released after the undo time, and a label."""
    item = chat.item()
    said = chat.say({**item, "action": "approve", "reviewer": "U1", "reason": "looks right"})
    assert said.status_code == 200, said.text
    answer = said.json()
    assert (answer["state"], answer["by"]) == ("decided", "inbound:chat:Ada")
    assert "looks right" not in said.text
    chat.served.clock.advance(timedelta(seconds=11))
    path = f"/v1/decisions/{item['review_id']}"
    outcome = chat.served.call("GET", f"{path}/review").json()["outcome"]
    assert (outcome["by"], outcome["comment"]) == ("inbound:chat:Ada", "looks right")
    assert outcome["correct"] is True
    assert chat.served.call("POST", f"{path}/consume").status_code == 200


@pytest.mark.parametrize(
    ("action", "more", "state"),
    [
        ("approve", {}, "decided"),
        ("reject", {"reason": "not_in_source"}, "decided"),
        ("edit", {"output": "No."}, "decided"),
        ("escalate", {"reason": "too much for me"}, "escalated"),
        ("skip", {}, "pending"),
    ],
    ids=["approve", "reject", "edit", "escalate", "skip"],
)
def test_whatever_a_reviewer_can_say(
    chat: Chat, action: str, more: dict[str, str], state: str
) -> None:
    """Each action does what it does at the desk, and the same again does nothing more."""
    item = chat.item()
    said = {**item, "action": action, "reviewer": "U1", **more}
    first = chat.say(said)
    assert (first.status_code, first.json()["state"]) == (200, state), first.text
    assert "sureline-repeated" not in first.headers
    stands = chat.state(item["review_id"])
    again = chat.say(said)
    assert (again.status_code, again.content) == (200, first.content)
    assert again.headers["sureline-repeated"] == "true"
    assert chat.state(item["review_id"]) == stands
    if action == "edit":
        assert first.json()["digest"] == content_digest("No.")


REFUSED: dict[str, Callable[[Chat, bytes], tuple[bytes, dict[str, str]]]] = {
    "no headers": lambda chat, body: (body, {"content-type": "application/json"}),
    "no signature": lambda chat, body: (body, _without(chat, body, "webhook-signature")),
    "no id": lambda chat, body: (body, _without(chat, body, "webhook-id")),
    "no time": lambda chat, body: (body, _without(chat, body, "webhook-timestamp")),
    "another id": lambda chat, body: (body, _with(chat, body, "webhook-id", "msg_other")),
    "a shifted time": lambda chat, body: (
        body,
        _with(
            chat,
            body,
            "webhook-timestamp",
            str(int(chat.served.clock.now().timestamp()) + 1),
        ),
    ),
    "six minutes ago": lambda chat, body: (
        body,
        chat.headers(body, "msg", ago=timedelta(minutes=6)),
    ),
    "six minutes ahead": lambda chat, body: (
        body,
        chat.headers(body, "msg", ago=timedelta(minutes=-6)),
    ),
    "a time without zone": lambda chat, body: (
        body,
        _with(chat, body, "webhook-timestamp", "2026-01-05T09:00:00"),
    ),
    "a negative time": lambda chat, body: (body, _with(chat, body, "webhook-timestamp", "-1")),
    "a time in digits of another script": lambda chat, body: (
        body,
        _with(chat, body, "webhook-timestamp", "\u0661\u0662".encode().decode("latin-1")),
    ),
    "another body": lambda chat, body: (body + b" ", chat.headers(body, "msg")),
    "signed text, sent otherwise": lambda chat, body: (
        json.dumps(json.loads(body), indent=1).encode(),
        chat.headers(body, "msg"),
    ),
    "no base64": lambda chat, body: (body, _with(chat, body, "webhook-signature", "v1,%%%")),
    "another version": lambda chat, body: (
        body,
        _with(chat, body, "webhook-signature", "v2,c2Vj"),
    ),
    "without a version": lambda chat, body: (body, _with(chat, body, "webhook-signature", "x")),
    "the right one too late among many": lambda chat, body: (
        body,
        _with(
            chat,
            body,
            "webhook-signature",
            " ".join(["v1,c2Vj"] * 10 + [chat.headers(body, "msg")["webhook-signature"]]),
        ),
    ),
    "bytes that are no header of a signature": lambda chat, body: (
        body,
        _with(chat, body, "webhook-signature", "v1,\xff\xfe"),
    ),
    "a very long signature": lambda chat, body: (
        body,
        _with(chat, body, "webhook-signature", "v1," + "A" * 5000),
    ),
}


def _without(chat: Chat, body: bytes, name: str) -> dict[str, str]:
    return {key: text for key, text in chat.headers(body, "msg").items() if key != name}


def _with(chat: Chat, body: bytes, name: str, text: str) -> dict[str, Any]:
    return {**chat.headers(body, "msg"), name: text.encode("latin-1")}


@pytest.mark.parametrize("wrong", REFUSED.values(), ids=REFUSED)
def test_what_is_not_signed_is_not_looked_at(
    chat: Chat, wrong: Callable[[Chat, bytes], tuple[bytes, dict[str, str]]]
) -> None:
    """Every fault of a signature gets one and the same answer, and the item still waits."""
    item = chat.item()
    body = json.dumps({**item, "action": "approve", "reviewer": "U1"}).encode()
    answer = chat.send(*wrong(chat, body))
    assert (answer.status_code, answer.json()["code"]) == (401, "not_signed")
    unknown = chat.send(body, chat.headers(body, "msg"), source="nobody")
    assert answer.content == unknown.content
    assert chat.state(item["review_id"])["state"] == "pending"


def test_a_source_is_known_by_its_own_secret(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another source's secret, one that is none, and a variable that is not set fit nothing."""
    item = chat.item()
    said = {**item, "action": "approve", "reviewer": "U1"}
    assert chat.say(said, source="tickets").status_code == 401
    for text in ("", "whsec_c2hvcnQ=", "no base64 at all"):
        monkeypatch.setenv("CHAT_SECRET", text)
        assert chat.say(said).status_code == 401
    monkeypatch.setenv("CHAT_SECRET", SECRET)
    assert chat.say(said).status_code == 200


def test_while_a_secret_is_changed_a_sender_signs_with_both(chat: Chat) -> None:
    """Of several signatures one has to fit."""
    body = json.dumps({**chat.item(), "action": "approve", "reviewer": "U1"}).encode()
    headers = chat.headers(body, "msg")
    headers["webhook-signature"] = f"v1,c2Vj v1a,x {headers['webhook-signature']}"
    assert chat.send(body, headers).status_code == 200


BODIES = {
    "no JSON": (b"approve", 400),
    "no UTF-8": (b'{"a": "\xe9"}', 400),
    "nothing": (b"", 400),
    "a list": (b"[]", 422),
    "a key twice": (b'{"action": "approve", "action": "reject"}', 400),
    "no number": (b'{"output": NaN}', 400),
    "too deep": (b'{"output": ' + b"[" * 100 + b"]" * 100 + b"}", 400),
}


@pytest.mark.parametrize(("body", "status"), BODIES.values(), ids=BODIES)
def test_a_signed_body_that_cannot_be_read(chat: Chat, body: bytes, status: int) -> None:
    """It is refused with its position, as everywhere."""
    assert chat.say(body).status_code == status


WRONG = {
    "no reviewer": {"reviewer": None},
    "a number for a reviewer": {"reviewer": 1},
    "a list for an id": {"review_id": ["x"]},
    "an act that is none": {"action": "release"},
    "a digest that is none": {"digest": "abc"},
    "an unknown key": {"by": "Ada"},
    "an edit without output": {"action": "edit"},
    "an approval with another output": {"output": "No."},
    "a very long reason": {"reason": "x" * 20_001},
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_fields_are_read_strictly(chat: Chat, change: dict[str, Any]) -> None:
    """A wrong type, an unknown key, a missing one: 422, and nothing is done."""
    item = chat.item()
    answer = chat.say({**item, "action": "approve", "reviewer": "U1", **change})
    assert answer.status_code == 422, answer.text
    assert chat.state(item["review_id"])["state"] == "pending"


def test_what_is_wrong_with_an_edit_is_not_kept(chat: Chat) -> None:
    """An edit that cannot be used is refused by its field; the words that quote it are gone."""
    made = chat.served.decide(output={"total": 1}, force_human=True).json()
    item = {"review_id": made["id"], "digest": content_digest({"total": 1})}
    said = {**item, "action": "edit", "reviewer": "U1", "output": {"total": "a secret word"}}
    refused = chat.say(said, as_id="msg_1")
    assert (refused.status_code, refused.json()["field"]) == (422, "output")
    store = Path(chat.served.services.store.url.removeprefix("sqlite:///"))
    kept = b"".join(path.read_bytes() for path in store.parent.glob("store.db*"))
    assert made["id"].encode() in kept
    assert b"a secret word" not in kept
    assert chat.say({**said, "output": {"total": 2}}, as_id="msg_2").status_code == 200


def test_only_people_of_the_source_decide(chat: Chat) -> None:
    """Neither an unknown id nor a name nor a recorded name is anybody."""
    item = chat.item()
    for stranger in ("U3", "Ada", "inbound:chat:Ada"):
        answer = chat.say({**item, "action": "approve", "reviewer": stranger})
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    assert chat.state(item["review_id"])["state"] == "pending"


def test_a_source_keeps_to_its_slices(chat: Chat) -> None:
    """A source that is bound to slices decides nothing in others."""
    tickets = Chat(served=chat.served, name="tickets", secret=OTHER_SECRET)
    item = tickets.item()
    answer = tickets.say({**item, "action": "approve", "reviewer": "a1"})
    assert answer.status_code == 403
    assert chat.state(item["review_id"])["state"] == "pending"


def test_a_stale_digest_decides_nothing(chat: Chat) -> None:
    """What changed since it was shown must be looked at again, to step aside as well."""
    item = chat.item()
    old = {**item, "digest": content_digest("Something else.")}
    for action in ("approve", "reject", "skip", "escalate"):
        answer = chat.say({**old, "action": action, "reviewer": "U1"})
        assert answer.status_code == 409
        assert "changed since it was shown" in answer.json()["detail"]
    assert chat.state(item["review_id"])["state"] == "pending"


def test_what_is_over_is_over(chat: Chat) -> None:
    """An expired item, a decided one and one that never was are refused as on the pages."""
    expired, decided = chat.item("Expired."), chat.item("Decided.")
    assert chat.say({**decided, "action": "reject", "reviewer": "U2"}).status_code == 200
    lost = chat.say({**decided, "action": "approve", "reviewer": "U1"})
    assert (lost.status_code, lost.json()["code"]) == (409, "conflict")
    assert "decided: reject by inbound:chat:Bo" in lost.json()["detail"]
    for _ in range(2):
        chat.served.clock.advance(timedelta(days=1))
        asyncio.run(chat.served.services.desk.settle())
    late = chat.say({**expired, "action": "approve", "reviewer": "U1"})
    assert (late.status_code, "expired" in late.json()["detail"]) == (409, True)
    never = chat.say({**expired, "review_id": "never", "action": "approve", "reviewer": "U1"})
    assert never.status_code == 404


def test_a_refusal_is_repeated_to_its_delivery_only(chat: Chat) -> None:
    """Sent again, it stays refused: it must not succeed in secret; said anew, it is done."""
    item = chat.item()
    bo = chat.served.make_key(REVIEWER, name="Kim")
    with chat.served.client(secret=bo) as kim:
        assert kim.post(f"/v1/reviews/{item['review_id']}/claim").status_code == 200
        said = {**item, "action": "approve", "reviewer": "U1"}
        refused = chat.say(said, as_id="msg_first")
        assert (refused.status_code, "claimed by Kim" in refused.text) == (409, True)
        kim.post(f"/v1/reviews/{item['review_id']}/release")
    again = chat.say(said, as_id="msg_first")
    assert (again.status_code, again.content) == (409, refused.content)
    assert chat.state(item["review_id"])["state"] == "pending"
    assert chat.say(said, as_id="msg_second").status_code == 200


def test_one_id_is_one_delivery(chat: Chat) -> None:
    """An id that comes with another body is refused; the first verdict stands."""
    first, second = chat.item("One."), chat.item("Two.")
    said = {"action": "approve", "reviewer": "U1"}
    assert chat.say({**first, **said}, as_id="msg_1").status_code == 200
    mixed = chat.say({**second, **said}, as_id="msg_1")
    assert (mixed.status_code, mixed.json()["code"]) == (409, "conflict")
    assert chat.state(second["review_id"])["state"] == "pending"


def test_a_retry_with_other_spaces_is_the_same(chat: Chat) -> None:
    """What a body says tells deliveries apart, not how it is written."""
    said = {**chat.item(), "action": "approve", "reviewer": "U1"}
    first = chat.say(json.dumps(said).encode(), as_id="msg_1")
    again = chat.say(json.dumps(said, indent=2, sort_keys=True).encode(), as_id="msg_1")
    assert (first.status_code, again.status_code) == (200, 200)
    assert again.content == first.content


FOUR_EYES = """\
version: 1
slices:
  replies: {four_eyes: true, output: {structured: false}}
  invoices: {output: {structured: false}}
"""


def test_a_person_is_one_on_every_surface(tmp_path: Path) -> None:
    """Who approved on the pages is no second pair of eyes in a chat; somebody else is."""
    with chatting(tmp_path, policy=FOUR_EYES) as chat:
        item = chat.item()
        ada = chat.served.make_key(REVIEWER, name="Ada")
        with chat.served.client(secret=ada) as page:
            said = {"action": "approve", "digest": item["digest"]}
            assert page.post(f"/v1/reviews/{item['review_id']}/decide", json=said).is_success
            own = chat.say({**item, "action": "approve", "reviewer": "U1"})
            assert own.status_code == 409
            assert "approved this already" in own.json()["detail"]
            assert page.post("/v1/reviews/next").json()["review"] is None
        other = chat.say({**item, "action": "approve", "reviewer": "U2"}).json()
        assert other["approvals"] == ["Ada", "inbound:chat:Bo"]
        assert other["state"] == "decided"


def test_nobody_decides_from_a_chat_about_their_own(chat: Chat) -> None:
    """The person behind the key that submitted cannot approve through a source."""
    agent = chat.served.make_key(AGENT, name="Ada")
    with chat.served.client(secret=agent) as ada:
        proposal = {"slice_key": "replies", "task": "answer", "output": "Mine."}
        made = ada.post("/v1/decisions", json=proposal).json()
    item = {"review_id": made["id"], "digest": content_digest("Mine.")}
    own = chat.say({**item, "action": "approve", "reviewer": "U1"})
    assert (own.status_code, own.json()["code"]) == (403, "forbidden")
    assert chat.say({**item, "action": "approve", "reviewer": "U2"}).status_code == 200


def test_a_name_that_only_reads_like_a_keys_says_nothing(chat: Chat) -> None:
    """ "ADA" with a key beside Ada in the policy would be two people; so Ada cannot act at all."""
    chat.served.make_key(REVIEWER, name="ADA")
    item = chat.item()
    answer = chat.say({**item, "action": "approve", "reviewer": "U1"})
    assert answer.status_code == 403
    assert chat.say({**item, "action": "approve", "reviewer": "U2"}).status_code == 200


def test_nobody_gets_more_by_a_chat_than_by_their_keys(chat: Chat) -> None:
    """A key that is bound to slices binds its person in the chat; one that is revoked ends them.

    An agent's key of the same name adds nothing to that.
    """
    keys, clock = chat.served.services.keys, chat.served.clock
    chat.served.make_key(AGENT, name="Ada")
    chat.served.make_key(REVIEWER, name="Ada", slices=("invoices",))
    item = chat.item()
    said = {**item, "action": "approve", "reviewer": "U1"}
    bound = chat.say(said)
    assert (bound.status_code, "own key is bound" in bound.json()["detail"]) == (403, True)
    chat.served.make_key(REVIEWER, name="Ada", slices=("replies",))
    assert chat.say(said).status_code == 200
    for one in asyncio.run(keys.all("default")):
        if one.name == "Ada" and one.role is REVIEWER:
            asyncio.run(keys.revoke("default", one.id, clock.now()))
    ended = chat.say({**chat.item("Later."), "action": "approve", "reviewer": "U1"})
    assert (ended.status_code, "were revoked" in ended.json()["detail"]) == (403, True)


@pytest.mark.parametrize("slices", [(), ("replies",), ("invoices",)], ids=["all", "own", "other"])
@pytest.mark.parametrize("role", [AUDITOR, AGENT])
def test_who_may_not_decide_by_key_does_not_by_chat(
    chat: Chat, role: Role, slices: tuple[str, ...]
) -> None:
    """Somebody with an auditor's or an agent's key alone says nothing; a reviewer's lets them."""
    chat.served.make_key(role, name="Ada", slices=slices)
    said = {**chat.item(), "action": "approve", "reviewer": "U1"}
    refused = chat.say(said)
    assert (refused.status_code, "decide nothing" in refused.json()["detail"]) == (403, True)
    assert chat.state(said["review_id"])["state"] == "pending"
    chat.served.make_key(REVIEWER, name="Ada")
    assert chat.say(said).status_code == 200


def test_a_large_body_is_refused_before_it_is_complete(chat: Chat) -> None:
    """The size is limited as for every body, signed or not."""
    body = b'{"output": "' + b"x" * (3 * 1024 * 1024) + b'"}'
    answer = chat.send(body, chat.headers(b"", "msg"))
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


def test_unsigned_bodies_take_nothing_from_agents(chat: Chat) -> None:
    """What waits to be complete has a budget of its own: when it is used up, agents go on."""
    head = "".join(f"{name}: {text}\r\n" for name, text in chat.headers(b"", "msg").items())
    start = f"POST /v1/inbound/chat HTTP/1.1\r\nhost: x\r\ncontent-length: 2000000\r\n{head}\r\n"
    address = ("127.0.0.1", urlsplit(chat.served.url).port)
    with ExitStack() as held:
        for _ in range(5):
            one = held.enter_context(socket.create_connection(address))
            one.sendall(start.encode() + b" " * 1_900_000)
        large = b" " * 1_000_000
        tried = (chat.send(large, chat.headers(large, "msg")).status_code for _ in range(100))
        assert 503 in tried
        agent = chat.served.decide(slice_key="replies", output="x" * 1_000_000)
        assert agent.status_code == 201


def test_deliveries_of_one_address_are_limited(chat: Chat) -> None:
    """Whoever sends too many is told to wait, signed or not."""
    statuses = {chat.send(b"{}", {}).status_code for _ in range(600)}
    assert statuses == {401, 429}
    chat.served.clock.advance(timedelta(seconds=1))
    assert chat.say({**chat.item(), "action": "approve", "reviewer": "U1"}).status_code == 200


def test_old_deliveries_are_forgotten(chat: Chat) -> None:
    """After three days a delivery's answer is swept; a day after it came it is still there."""
    said = {**chat.item(), "action": "skip", "reviewer": "U1"}
    chat.say(said)
    inbound = chat.served.services.inbound
    chat.served.clock.advance(timedelta(days=1))
    assert asyncio.run(inbound.forget()) == 0
    assert "sureline-repeated" in chat.say(said).headers
    chat.served.clock.advance(timedelta(days=2, seconds=1))
    assert asyncio.run(inbound.forget()) == 1
    assert "sureline-repeated" not in chat.say(said).headers


def test_settings_refuse_an_ack_that_never_comes() -> None:
    """The time to answer is above 0, like every limit."""
    with pytest.raises(Exception, match="above 0"):
        ServerSettings(ack_seconds=0)
