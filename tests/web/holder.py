"""People and programs by their name, each with the key of the day."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx

from sureline.application.ports.keys import Role
from tests.web.served import Served, awaited


class Holder:
    """A person or program with the key of the day; `rotate` gives them another of their name."""

    def __init__(self, served: Served, name: str, role: Role) -> None:
        self.served, self.name, self.role = served, name, role
        self.rotate()

    def rotate(self) -> None:
        self.secret = self.served.make_key(self.role, name=self.name)

    def call(self, method: str, path: str, **more: Any) -> httpx.Response:
        with self.served.client(secret=self.secret) as client:
            return client.request(method, path, **more)

    def submit(self, slice_key: str, output: str = "Yes.") -> str:
        body = {"slice_key": slice_key, "task": f"Answer {output}", "output": output}
        made = self.call("POST", "/v1/decisions", json=body)
        assert made.status_code == 201, made.text
        return str(made.json()["id"])

    def next(self) -> str | None:
        found = self.call("POST", "/v1/reviews/next").json()["review"]
        return None if found is None else str(found["id"])

    def decide(self, review_id: str, action: str = "approve") -> httpx.Response:
        shown = self.call("GET", f"/v1/reviews/{review_id}").json()["review"]
        body = {"action": action, "digest": shown["digest"]}
        return self.call("POST", f"/v1/reviews/{review_id}/decide", json=body)


def released(served: Served) -> None:
    """Let the time pass in which verdicts can be taken back, and let the server sweep."""
    served.clock.advance(timedelta(seconds=11))
    awaited(served.services.desk.settle())
    awaited(served.services.attention.sweep())
