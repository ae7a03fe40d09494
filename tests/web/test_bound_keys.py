"""Whoever is bound to slices sees nothing of others: pages, files and the API."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from sureline.application.ports.keys import Role
from tests.web.browsing import Visitor
from tests.web.served import ADMIN, AUDITOR, POLICY, REVIEWER, Served, serve

HIDDEN = "xyzzy"
OF_OTHERS = f"""
groups:
  {HIDDEN}-team: {{members: [{HIDDEN}-person], slices: [replies]}}
inbound:
  - {{name: {HIDDEN}-chat, secret_from: CHAT_SECRET, reviewers: {{U1: {HIDDEN}-person}}}}
notifications:
  channels:
    - name: {HIDDEN}-hook
      kind: webhook
      url: https://{HIDDEN}.example.com/x
      secret_from: HOOK_SECRET
      slices: [replies]
"""
PATHS = [
    "/policy",
    "/logbook",
    "/logbook.csv",
    "/switches",
    "/dashboard",
    "/v1/switches",
    "/v1/logbook",
]
SEEN_BY_ALL = {"/v1/switches": "on fire", "/switches": "on fire"}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server on which much has happened in the slice `replies`, and everything is stopped."""
    with serve(Path(tmp_path_factory.mktemp("bound")), policy=POLICY + OF_OTHERS) as one:
        for scope, reason in ((f"batch:{HIDDEN}", HIDDEN), ("slice:replies", HIDDEN)):
            turned = {"scope": scope, "on": True, "reason": reason}
            assert one.call("PUT", "/v1/switches", ADMIN, json=turned).is_success
        stopped = {"scope": "global", "on": True, "reason": "on fire"}
        assert one.call("PUT", "/v1/switches", ADMIN, json=stopped).is_success
        recalled = {"since": "2020-01-01", "reason": HIDDEN}
        assert one.call("POST", "/v1/recalls", ADMIN, json=recalled).is_success
        yield one


def read(served: Served, path: str, secret: str) -> str:
    """Return what somebody with this key reads at an address."""
    if path.startswith("/v1/"):
        with served.client(secret=secret) as client:
            answer = client.get(path)
    else:
        answer = Visitor(served, secret=secret).get(path)
    assert answer.status_code == 200
    return answer.text


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("role", [REVIEWER, AUDITOR, ADMIN])
def test_a_bound_key_reads_nothing_of_other_slices(served: Served, path: str, role: Role) -> None:
    """Neither who works on them, nor where their notices go, nor why their batches stand still."""
    bound = served.make_key(role, name=f"bound {role}", slices=("invoices",))
    text = read(served, path, bound)
    assert HIDDEN not in text
    assert SEEN_BY_ALL.get(path, "") in text


@pytest.mark.parametrize("path", PATHS)
def test_whoever_is_bound_to_none_reads_it_all(served: Served, path: str) -> None:
    """What is kept from some is on the same pages for the others."""
    assert HIDDEN in read(served, path, served.make_key(AUDITOR, name="whole"))


def test_the_rates_of_a_change_are_of_the_slices_that_are_seen(tmp_path: Path) -> None:
    """Around a change that concerns everything, a bound key reads how its own slices did."""
    with serve(tmp_path) as one:
        for number in range(3):
            one.decide(output={"total": number}, slice_key="invoices")
        for number in range(2):
            one.decide(output=f"Dear {number}.", slice_key="replies")
        one.clock.advance(timedelta(days=1))
        stopped = {"scope": "global", "on": True, "reason": "x"}
        assert one.call("PUT", "/v1/switches", ADMIN, json=stopped).is_success
        found = {}
        for slices in ((), ("invoices",), ("replies",)):
            secret = one.make_key(AUDITOR, name=f"of {slices}", slices=slices)
            with one.client(secret=secret) as client:
                entries = client.get("/v1/logbook").json()["entries"]
            (entry,) = [each for each in entries if each["change"] == "switch on"]
            found[slices] = entry["before"]["decisions"]
    assert found == {(): 5, ("invoices",): 3, ("replies",): 2}
