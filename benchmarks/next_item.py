"""From a verdict to the next item: how long it takes, answered at once or after a redirection.

A queue is filled by rows (see p8_queue), with real decisions at its head. A reviewer without a
browser rejects one after the other over HTTP: sending the verdict claims the next item, and either
its page is the answer, or an address under which it is asked for. On a real network each answer
costs a way there and back besides; here it costs next to nothing.

Run: python benchmarks/next_item.py [--items 100000] [--verdicts 100]
"""

from __future__ import annotations

import argparse
import asyncio
import re
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import httpx
from p8_queue import fill

from sureline.application.intake import read_proposal
from sureline.application.ports.keys import Role
from sureline.bootstrap import Services, open_services
from sureline.web.app import create_app
from sureline.web.server import HttpServer, listen

POLICY = """\
version: 1
slices:
  invoices:
    weights: {verification: 1}
    output: {json_schema: {type: object, properties: {total: {type: number}}}}
    grounding: {fields: [total], types: {total: money}}
    review: {deadline_minutes: 50}
"""
SOURCE = "Invoice\n" + "One line of the source, as long as a line is.\n" * 60 + "Total: 12.50 EUR"


async def prepared(services: Services, items: int, verdicts: int) -> str:
    """Fill the queue and return the secret of a reviewer's key."""
    await services.policies.introduce(POLICY)
    await fill(services, items)
    for number in range(2 * verdicts + 2):
        await services.decider.decide(
            read_proposal(
                {
                    "slice_key": "invoices",
                    "task": f"read invoice {number}",
                    "source": [{"ref": "mail", "text": SOURCE}],
                    "output": {"total": 12.5},
                    "stakes": "irreversible",
                    "force_human": True,
                },
                workspace="default",
            )
        )
    made = await services.keys.create(
        role=Role.REVIEWER, name="Ada", workspace="default", slices=(), at=services.clock.now()
    )
    return made[1]


def value_of(page: str, name: str) -> str:
    """Return the value of a page's first input of this name."""
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    return found.group(1) if found else ""


def rejected(
    client: httpx.Client, page: httpx.Response, direct: bool
) -> tuple[httpx.Response, float]:
    """Reject what is shown; return the next page, and after how many milliseconds it was there."""
    place = re.search(r'action="(/reviews/[^"]*)" class="verdict"', page.text)
    assert place is not None, page.text[:2000]
    form = {"csrf": value_of(page.text, "csrf"), "act": "reject", "direct": "1" if direct else ""}
    form |= {name: value_of(page.text, name) for name in ("digest", "shown", "as")}
    start = perf_counter()
    reply = client.post(place.group(1), data=form)
    if reply.status_code == 303:
        reply = client.get(reply.headers["location"])
    took = (perf_counter() - start) * 1000
    assert reply.status_code == 200, reply.text[:500]
    return reply, took


def measure(url: str, secret: str, verdicts: int) -> None:
    """Reject, and print what each way took."""
    with httpx.Client(base_url=url, timeout=60) as client:
        client.post("/login", data={"key": secret})
        csrf = value_of(client.get("/").text, "csrf")
        page = client.get(client.post("/next", data={"csrf": csrf}).headers["location"])
        for name, direct in (("the answer is the next item", True), ("a redirection", False)):
            times = []
            for _ in range(verdicts):
                page, took = rejected(client, page, direct)
                times.append(took)
            times.sort()
            middle, last = times[len(times) // 2], times[int(0.99 * len(times))]
            print(f"{name:30} median {middle:6.1f} ms  p99 {last:6.1f} ms", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve a long queue and work through its head."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--verdicts", type=int, default=100)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="sureline-next-") as folder:
        services = open_services(f"sqlite:///{Path(folder) / 'sureline.db'}")
        secret = asyncio.run(prepared(services, options.items, options.verdicts))
        listener = listen("127.0.0.1", 0)
        server = HttpServer(create_app(services))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            port = listener.getsockname()[1]
            measure(f"http://127.0.0.1:{port}", secret, options.verdicts)
        finally:
            server.should_exit = True
            thread.join()
            listener.close()
            services.close()


if __name__ == "__main__":
    main()
