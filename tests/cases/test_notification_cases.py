"""Rows of area 5-approval about telling: links, repeats, private targets, redirects, replays."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from sureline.adapters.notifiers.webhook import WebhookNotifier
from sureline.core.review.callback import callback_body
from sureline.core.review.message import message
from sureline.errors import DeliveryFailed
from tests.outbox.told import courier, decide, opened, outbox, policy, release, submit, webhook
from tests.receivers import SECRET, Receiver, receiving
from tests.sending import NOTICE, PARCEL, notifier
from tests.web.browsing import Visitor
from tests.web.served import REVIEWER, serve

Cases = dict[str, dict[str, Any]]
SCANNER = {"user-agent": "link scanner", "accept": "text/html"}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK_SECRET", SECRET)


def test_a18_following_a_link_changes_nothing(cases: Cases, tmp_path: Path) -> None:
    """A scanner, and even the reviewer's own browser, opens every link: the item still waits.

    So do the links of gathered messages and of callbacks, and all that stand on the pages behind
    them. The link still works afterwards, and only the page's form, with its token, decides.
    """
    assert "GET never changes state" in cases["A18"]["expected"]
    with serve(tmp_path) as served:
        review_id = served.decide(slice_key="replies", output="Yes.").json()["id"]
        before = served.call("GET", f"/v1/reviews/{review_id}", REVIEWER).json()["review"]
        reviewer = Visitor(served, REVIEWER)
        address = urlsplit(told_links(served.url, review_id)[0])
        for path in [urlsplit(link).path for link in told_links(served.url, review_id)]:
            for query in ("", "?action=approve", "?act=approve&as=approve", "?done=" + review_id):
                for method in ("GET", "HEAD"):
                    served.call(method, path + query, None, headers=SCANNER)
                    scanned = reviewer.client.request(method, path + query, headers=SCANNER)
                    assert scanned.status_code == 200
            for link in re.findall(r'(?:href|src)="(/[^"]*)"', reviewer.get(path).text):
                assert reviewer.client.get(unescape(link), headers=SCANNER).status_code == 200
        for way in ("decide", "claim", "skip", "escalate"):
            tried = served.call("GET", f"/v1/reviews/{review_id}/{way}", REVIEWER, headers=SCANNER)
            assert tried.status_code in {404, 405}
        assert served.call("GET", "/v1/inbound/chat", None, headers=SCANNER).status_code == 405
        unsigned = reviewer.client.post(address.path, data={"act": "approve"})
        assert unsigned.status_code in {400, 403}
        found = served.call("GET", f"/v1/reviews/{review_id}", REVIEWER).json()["review"]
        assert found == before
        assert found["state"] == "pending"
        assert reviewer.decide(review_id, "approve").status_code in {200, 303}
        found = served.call("GET", f"/v1/reviews/{review_id}", REVIEWER).json()
        assert found["review"]["state"] == "decided"


def told_links(page: str, review_id: str) -> list[str]:
    """Return every link that leaves: of one item's message, of a gathered one, of a callback."""
    notice = replace(NOTICE, review_id=review_id)
    texts = [message([notice], page=page).body, message([notice, NOTICE], page=page).body]
    links = [link for text in texts for link in re.findall(r"http\S+", text)]
    event = json.loads(callback_body(notice, page=page, shown={}))
    assert len(links) == 2
    return [*links, event["data"]["link"]]


@pytest.mark.parametrize("case", ["A36"])
def test_targets_that_carry_a_private_address(case: str, cases: Cases) -> None:
    """NAT64 and 6to4 spell the machine's own addresses, and are refused before a connection."""
    for url in cases[case]["input"]["urls"]:
        one = WebhookNotifier(url=url, secret=lambda: SECRET, clock=notifier(url).clock)
        with pytest.raises(DeliveryFailed) as failed:
            asyncio.run(one.send(PARCEL))
        assert failed.value.code == "refused_target"


async def test_a37_a_redirect_is_a_failed_delivery(cases: Cases, receiver: Receiver) -> None:
    """A redirect is not followed, neither at first nor on a retry; its code is in the outbox."""
    assert "Redirects not followed" in cases["A37"]["expected"]
    with receiving(302, location=receiver.url) as redirecting:
        services = await opened(None, policy(webhook(redirecting.url)))
        await decide(services, await submit(services))
        await release(services)
        carrier = courier(services)
        await carrier.round()
        (delivery,) = await outbox(services)
        assert (delivery.state, delivery.said) == ("waiting", "redirect_302")
        await services.store.outbox.replay(
            "default", now=services.clock.now(), ids=[delivery.id], channel=None
        )
        await carrier.round()
        assert len(redirecting.received) == 2
    assert receiver.received == []
    services.close()


async def test_a39_any_bad_address_refuses_the_host(cases: Cases, receiver: Receiver) -> None:
    """A good IPv4 address does not excuse a bad IPv6 one, and nothing is connected to."""
    found = cases["A39"]["input"]["dns"]

    async def dns(host: str, port: int) -> Sequence[str]:
        return [found["A"], found["AAAA"]]

    one = notifier(f"http://ok.example:{receiver.port}/", resolve=dns)
    with pytest.raises(DeliveryFailed) as failed:
        await one.send(PARCEL)
    assert failed.value.code == "refused_target"
    assert receiver.received == []


async def test_a40_a_fan_out_has_one_event_and_several_deliveries(
    cases: Cases, receiver: Receiver
) -> None:
    """Two channels of one receiver get the same event under ids of their own, on every try."""
    assert len(cases["A40"]["input"]["deliveries"]) == 2
    receiver.says = lambda number: 503 if number <= 2 else 200
    services = await opened(
        None, policy(webhook(receiver.url, "first"), webhook(receiver.url, "second"))
    )
    await decide(services, await submit(services))
    await release(services)
    carrier = courier(services)
    await carrier.round()
    ids = [one.id for one in await outbox(services)]
    await services.store.outbox.replay("default", now=services.clock.now(), ids=ids, channel=None)
    await carrier.round()
    came = [(one.event["id"], one.id) for one in receiver.received]
    assert len(came) == 4
    assert len({event for event, _ in came}) == 1
    assert {delivery for _, delivery in came} == set(ids)
    assert len(set(ids)) == 2
    guide = Path(__file__).parents[2] / "docs" / "howto" / "be-told-when-work-waits.md"
    assert "`webhook-id`" in guide.read_text(encoding="utf-8")
    services.close()
