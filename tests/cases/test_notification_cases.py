"""Rows of area 5-approval about telling: links, repeats, private targets, redirects, replays."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from sureline.adapters.notifiers.webhook import WebhookNotifier
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

    The link still works afterwards, and only the page's form, with its token, decides.
    """
    assert "GET never changes state" in cases["A18"]["expected"]
    with serve(tmp_path) as served:
        review_id = served.decide(slice_key="replies", output="Yes.").json()["id"]
        told = message([NOTICE], page=served.url).body.replace("d%2F1%20%E2%80%AE", review_id)
        (link,) = re.findall(r"http\S+", told)
        path = urlsplit(link).path
        reviewer = Visitor(served, REVIEWER)
        for query in ("", "?action=approve", "?act=approve&as=approve"):
            served.call("GET", path + query, None, headers=SCANNER)
            assert reviewer.client.get(path + query, headers=SCANNER).status_code == 200
        unsigned = reviewer.client.post(path, data={"act": "approve"})
        assert unsigned.status_code in {400, 403}
        found = served.call("GET", f"/v1/reviews/{review_id}", REVIEWER).json()
        assert found["review"]["state"] == "pending"
        assert reviewer.decide(review_id, "approve").status_code in {200, 303}
        found = served.call("GET", f"/v1/reviews/{review_id}", REVIEWER).json()
        assert found["review"]["state"] == "decided"


def test_a23_an_act_that_is_sent_three_times_is_one_verdict(cases: Cases, tmp_path: Path) -> None:
    """Messages have no buttons that a service could send again; and a verdict repeated is one.

    The repeats are told which verdict stands.
    """
    assert "one verdict" in cases["A23"]["expected"]
    assert set(message([NOTICE], page="https://x.example").__slots__) == {"title", "body"}
    with serve(tmp_path) as served:
        review_id = served.decide(slice_key="replies", output="Yes.").json()["id"]
        digest = served.call("GET", f"/v1/reviews/{review_id}", REVIEWER).json()["review"]["digest"]

        def act(_: int) -> tuple[int, str]:
            with served.client(REVIEWER) as client:
                said = {"action": "approve", "digest": digest}
                answer = client.post(f"/v1/reviews/{review_id}/decide", json=said)
                return answer.status_code, answer.text

        with ThreadPoolExecutor(3) as pool:
            answers = list(pool.map(act, range(3)))
        assert sorted(status for status, _ in answers) == [200, 409, 409]
        assert all("approve by" in text for status, text in answers if status == 409)


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
