"""Cases of approvals: one verdict an item, bound to what was shown, that time alone never gives."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import sqlite3
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from sureline.application.ports.keys import Role
from sureline.config import EnvironmentSwitch
from sureline.core.review.opening import content_digest
from sureline.testing import MOMENT
from tests.web.served import ADMIN, AGENT, REVIEWER, HeldSwitch, Served, serve

Json = dict[str, Any]

POLICY = f"""\
version: 1
action_classes:
  transfer: {{stakes: irreversible, approvals: 2}}
slices:
  pay:
    mode: route
    weights: {{verification: 1}}
    output:
      json_schema:
        type: object
        properties: {{amount: {{type: number}}}}
    hypothesis: {{auto: 0.85, allow_uncertified: true, starts: {MOMENT.date()}}}
"""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serve(tmp_path, policy=POLICY) as one:
        yield one


def submit(served: Served, output: Any, role: Role = AGENT, **more: Any) -> Json:
    """Submit an output that a person must see; return the decision."""
    given = {"slice_key": "pay", "task": "pay", "output": output, "force_human": True, **more}
    found: Json = served.decide(role, **given).json()
    return found


def shown(served: Served, review_id: str) -> Json:
    found: Json = served.call("GET", f"/v1/reviews/{review_id}", REVIEWER).json()
    return found


def act(served: Served, review_id: str, name: str, role: Role = REVIEWER, **body: Any) -> Any:
    more = {"json": body} if body else {}
    return served.call("POST", f"/v1/reviews/{review_id}/{name}", role, **more)


def decide(served: Served, review_id: str, action: str, role: Role = REVIEWER, **body: Any) -> Any:
    digest = body.pop("digest", None) or shown(served, review_id)["review"]["digest"]
    return act(served, review_id, "decide", role, action=action, digest=digest, **body)


def released(served: Served, decision_id: str, **body: Any) -> httpx.Response:
    """Let the undo window pass, then use the approval."""
    served.clock.advance(timedelta(seconds=11))
    more = {"json": body} if body else {}
    return served.call("POST", f"/v1/decisions/{decision_id}/consume", **more)


def answer(served: Served, decision_id: str) -> Json:
    found: Json = served.call("GET", f"/v1/decisions/{decision_id}/review").json()
    return found


def test_a02_of_two_items_the_answered_one_is_not_asked_again(served: Served) -> None:
    """One of a run's two items is answered: it stays so, and the run waits for the other."""
    first, second = (submit(served, {"amount": n}, batch_id="run")["id"] for n in (1, 2))
    decide(served, first, "approve")
    served.clock.advance(timedelta(seconds=11))
    assert answer(served, first)["state"] == "answered"
    assert answer(served, second)["state"] == "pending"
    taken = [served.call("POST", "/v1/reviews/next", REVIEWER).json()["review"] for _ in range(2)]
    assert [None if one is None else one["id"] for one in taken] == [second, None]


def _approve_and_use(url: str, reviewer: str, agent: str, review_id: str, digest: str) -> list[int]:
    """Approve from a process of its own."""
    body = {"action": "approve", "digest": digest}
    address = f"{url}/v1/reviews/{review_id}/decide"
    headers = {"authorization": f"Bearer {reviewer}"}
    return [httpx.post(address, headers=headers, json=body, timeout=30).status_code]


def test_a06_two_surfaces_approve_and_one_use_is_handed_out(served: Served) -> None:
    """Two processes approve the same item: one verdict; of many uses at once one is granted."""
    made = submit(served, {"amount": 1})
    digest = shown(served, made["id"])["review"]["digest"]
    other = served.make_key(REVIEWER, name="another reviewer")
    jobs = [
        (served.url, secret, served.keys[AGENT], made["id"], digest)
        for secret in (served.keys[REVIEWER], other)
    ]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        statuses = [one for found in pool.starmap(_approve_and_use, jobs) for one in found]
    assert sorted(statuses) == [200, 409]
    served.clock.advance(timedelta(seconds=11))
    path = f"/v1/decisions/{made['id']}/consume"
    with ThreadPoolExecutor(8) as threads:
        used = list(threads.map(lambda _: served.call("POST", path).status_code, range(8)))
    assert sorted(used) == [200] + [409] * 7


def test_a07_the_loser_is_told_what_was_decided(served: Served) -> None:
    """Who comes second gets 409 with the verdict; 404 is for what there never was."""
    made = submit(served, {"amount": 1})
    digest = shown(served, made["id"])["review"]["digest"]
    other = served.make_key(REVIEWER, name="another reviewer")
    clients = [served.client(REVIEWER), served.client(secret=other)]
    path = f"/v1/reviews/{made['id']}/decide"

    def say(at: int) -> httpx.Response:
        action = ("approve", "reject")[at]
        return clients[at].post(path, json={"action": action, "digest": digest})

    with ThreadPoolExecutor(2) as threads:
        found = sorted(threads.map(say, range(2)), key=lambda one: one.status_code)
    won, lost = found
    assert (won.status_code, lost.status_code) == (200, 409)
    verdict = won.json()["verdict"]
    assert f"decided: {verdict['action']} by {verdict['by']}" in lost.json()["detail"]
    assert act(served, "unknown", "decide", action="approve", digest=digest).status_code == 404
    for client in clients:
        client.close()


def test_a09_an_approval_opens_nothing_for_others(served: Served) -> None:
    """While one run is released, another call of the same action is still held."""
    first = submit(served, {"amount": 1}, action_class="transfer")
    decide(served, first["id"], "approve")
    second = submit(served, {"amount": 1}, action_class="transfer", task="pay again")
    assert not second["approved"]
    assert released(served, second["id"]).status_code == 409


def test_a10_what_is_shown_is_what_is_released(served: Served) -> None:
    """An edit is a new version: shown, hashed and handed out as it is, after its own approval."""
    made = submit(served, {"amount": 250}, action_class="transfer")
    before = shown(served, made["id"])["review"]["digest"]
    decide(served, made["id"], "edit", edited={"amount": 25000})
    item = shown(served, made["id"])
    assert (item["output"], item["review"]["version"]) == ({"amount": 25000}, 2)
    assert item["review"]["digest"] == content_digest({"amount": 25000})
    stale = decide(served, made["id"], "approve", ADMIN, digest=before)
    assert stale.status_code == 409
    assert released(served, made["id"]).status_code == 409
    assert decide(served, made["id"], "approve", ADMIN).status_code == 200
    assert released(served, made["id"]).json()["output"] == {"amount": 25000}


def test_a11_an_approval_is_for_its_content_only(served: Served, cases: Mapping[str, Json]) -> None:
    """Ten times the approved amount is refused; the try is on record and voids the approval."""
    asked = cases["A11"]["input"]
    made = submit(served, asked["approved_digest_of"])
    decide(served, made["id"], "approve")
    tried = content_digest(asked["execute"])
    refused = released(served, made["id"], digest=tried)
    assert refused.status_code == 409
    assert "not what was approved" in refused.json()["detail"]
    outcomes = asyncio.run(served.services.ledger.outcomes("default", made["id"]))
    assert (outcomes[-1].by, outcomes[-1].content) == ("content_mismatch", tried)
    own = content_digest(asked["approved_digest_of"])
    assert released(served, made["id"], digest=own).status_code == 409


def test_a12_the_digest_is_of_the_validated_content(cases: Mapping[str, Json]) -> None:
    """Digests of docs/explanation/review.md: 3, "3" and a stated default are three contents."""
    found = [content_digest(one) for one in cases["A12"]["input"]]
    assert len(set(found)) == 3
    page = Path(__file__).parents[2] / "docs" / "explanation" / "review.md"
    text = page.read_text("utf-8")
    for content, digest in zip(cases["A12"]["input"], found, strict=True):
        vector = f"| `{json.dumps(content, separators=(',', ':'))}` | `{digest}` |"
        assert vector in text


def test_a13_every_field_is_bound(served: Served, cases: Mapping[str, Json]) -> None:
    """A retry with another body is another item; the old approval does not cover it."""
    asked = cases["A13"]["input"]
    first = submit(served, asked["approved"])
    decide(served, first["id"], "approve")
    retry = submit(served, asked["retry"], retry_of=first["id"])
    assert released(served, retry["id"]).status_code == 409
    assert answer(served, retry["id"])["state"] == "pending"
    refused = released(served, first["id"], digest=content_digest(asked["retry"]))
    assert refused.status_code == 409


def test_a14_a_verdict_outlives_the_policy(served: Served) -> None:
    """Once approved, the output is handed out though its slice has left the policy since."""
    made = submit(served, {"amount": 1})
    decide(served, made["id"], "approve")
    activate(served, POLICY.replace("  pay:", "  other:"))
    assert served.decide(slice_key="pay", output={"amount": 1}).status_code == 422
    assert released(served, made["id"]).status_code == 200


def activate(served: Served, text: str) -> None:
    stored = served.call("POST", "/v1/policies", ADMIN, json={"text": text}).json()
    path = f"/v1/policies/{stored['hash']}/activate"
    assert served.call("POST", path, ADMIN).status_code == 200


def test_a15_a_review_that_timed_out_is_no_approval(served: Served) -> None:
    """Without a verdict it expires: nothing is released, and nobody is said to have decided."""
    made = submit(served, {"amount": 1})
    served.clock.advance(timedelta(days=3))
    found = answer(served, made["id"])
    if found["state"] == "pending":  # it has gone a step up first
        served.clock.advance(timedelta(days=3))
        found = answer(served, made["id"])
    assert (found["outcome"]["action"], found["outcome"]["by"]) == ("expired", "deadline")
    assert shown(served, made["id"])["review"]["state"] == "expired"
    refused = released(served, made["id"])
    assert (refused.status_code, "in time" in refused.json()["detail"]) == (409, True)
    assert decide(served, made["id"], "approve").status_code == 409


def test_a16_every_review_has_an_end(served: Served) -> None:
    """Without any setting there is a deadline; it goes a step up before it expires."""
    made = submit(served, {"amount": 1})
    item = shown(served, made["id"])["review"]
    assert item["deadline"] == (MOMENT + timedelta(days=1)).isoformat()
    served.clock.advance(timedelta(days=1))
    up = shown(served, made["id"])["review"]
    assert (up["state"], up["level"]) == ("escalated", 1)
    assert released(served, made["id"]).status_code == 409


def test_a17_a_timeout_is_nobodys_rejection(served: Served) -> None:
    """What expired is no label: it counts neither as a rejection nor in any rate of approval."""
    made = submit(served, {"amount": 1})
    for _ in range(2):
        served.clock.advance(timedelta(days=1))
        asyncio.run(served.services.desk.settle())
    outcome = answer(served, made["id"])["outcome"]
    assert (outcome["action"], outcome["correct"]) == ("expired", None)
    assert _labels(served) == 0


def _labels(served: Served) -> int:
    with sqlite3.connect(served.services.store.url.removeprefix("sqlite:///")) as connection:
        (count,) = connection.execute("SELECT count(*) FROM labels").fetchone()
    connection.close()
    return int(count)


def test_a44_a_moment_that_cannot_be_read_fails_closed(served: Served, tmp_path: Path) -> None:
    """A date where a moment belongs is refused at intake; stored, the item is never released."""
    naive = served.decide(output={"amount": 1}, slice_key="pay", deadline="2026-12-24")
    assert naive.status_code == 422
    made, other = submit(served, {"amount": 1}), submit(served, {"amount": 2})
    decide(served, made["id"], "approve")
    with sqlite3.connect(tmp_path / "store.db") as connection:
        connection.execute("UPDATE reviews SET deadline = '2026-12-24' WHERE id = ?", (made["id"],))
    connection.close()
    refused = released(served, made["id"])
    assert refused.status_code == 503
    assert decide(served, other["id"], "approve").status_code == 200
    assert released(served, other["id"]).status_code == 200


def test_a45_nobody_approves_their_own(served: Served) -> None:
    """The key that submitted can neither decide nor label it, and agents never decide."""
    made = submit(served, {"amount": 1}, ADMIN)
    digest = shown(served, made["id"])["review"]["digest"]
    assert decide(served, made["id"], "approve", ADMIN).status_code == 403
    rows = {"action": "approve", "items": [{"id": made["id"], "digest": digest}]}
    bulk = served.call("POST", "/v1/reviews/bulk", ADMIN, json=rows).json()
    assert bulk["items"][0]["problem"]["code"] == "Forbidden"
    label = {"decision_id": made["id"], "action": "approve"}
    assert served.call("POST", "/v1/outcomes", ADMIN, json=label).status_code == 403
    for path, body in (
        (f"/v1/reviews/{made['id']}/decide", {"action": "approve", "digest": digest}),
        ("/v1/outcomes", label),
    ):
        assert served.call("POST", path, AGENT, json=body).status_code == 403
    assert released(served, made["id"]).status_code in {404, 409}
    assert decide(served, made["id"], "approve").status_code == 200


def test_a47_a_change_of_mode_resolves_nothing(served: Served) -> None:
    """What waits goes on waiting under its own rules; the change is in the logbook."""
    waiting = [submit(served, {"amount": n})["id"] for n in range(3)]
    activate(served, POLICY + "    review: {deadline_minutes: 1, undo_seconds: 0}\n")
    assert served.decide(slice_key="pay", output={"amount": 9}).json()["approved"]
    served.clock.advance(timedelta(minutes=5))
    for review_id in waiting:
        assert shown(served, review_id)["review"]["state"] == "pending"
        assert released(served, review_id).status_code == 409
    logbook = served.call("GET", "/v1/logbook", ADMIN).text
    assert "policy" in logbook


def test_a48_only_a_clear_no_turns_a_switch_off(
    cases: Mapping[str, Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is not clearly off forces a person, a slip of the pen included."""
    asked = cases["A48"]["input"]["APPROVAL_FORCE_HUMAN"]
    given = [(text.replace("\\n", "\n"), True) for text in asked]
    given += [(text, False) for text in ("0", "false", "Off", " no ")]
    assert not EnvironmentSwitch().read("default")
    for text, is_on in given:
        monkeypatch.setenv("SURELINE_FORCE_HUMAN", text)
        assert bool(EnvironmentSwitch().read("default")) is is_on, text


def test_a49_a_switch_holds_from_the_next_item_on(served: Served) -> None:
    """In the middle of a batch a switch turned on stops the rest, approvals in flight included."""
    switch = served.services.plugins.hard_switch
    assert isinstance(switch, HeldSwitch)
    before = [served.decide(slice_key="pay", output={"amount": n}).json() for n in range(5)]
    body = {"scope": "slice:pay", "on": True, "reason": "stop"}
    assert served.call("PUT", "/v1/switches", ADMIN, json=body).status_code == 200
    after = [served.decide(slice_key="pay", output={"amount": n}).json() for n in range(10, 15)]
    assert [one["approved"] for one in before + after] == [True] * 5 + [False] * 5
    assert released(served, before[0]["id"]).status_code == 409


def test_a50_a_row_that_changed_is_left_and_named(served: Served) -> None:
    """Of three selected rows one is at another version: it stays, the others are approved."""
    rows = []
    for number in range(3):
        made = submit(served, {"amount": number})
        rows.append({"id": made["id"], "digest": shown(served, made["id"])["review"]["digest"]})
    decide(served, rows[1]["id"], "edit", edited={"amount": 100})
    act(served, rows[1]["id"], "undo")
    decide(served, rows[1]["id"], "edit", edited={"amount": 200})
    high = submit(served, {"amount": 4}, stakes="high_cost")
    rows.append({"id": high["id"], "digest": shown(served, high["id"])["review"]["digest"]})
    body = {"action": "approve", "items": rows}
    found = served.call("POST", "/v1/reviews/bulk", ADMIN, json=body).json()
    problems = [one["problem"] and one["problem"]["code"] for one in found["items"]]
    assert problems == [None, "Conflict", None, "Refused"]
    assert found["done"] == 2
    assert shown(served, high["id"])["review"]["state"] == "pending"


def test_a51_a_button_from_before_a_restart_works(tmp_path: Path) -> None:
    """Ids are durable: after a restart the old page's verdict counts, and a waiter times out."""
    with serve(tmp_path, policy=POLICY) as served:
        made = submit(served, {"amount": 1})
        digest = shown(served, made["id"])["review"]["digest"]
    with serve(tmp_path, policy=POLICY) as again:
        found = again.call("GET", f"/v1/decisions/{made['id']}/review", ADMIN).json()
        assert found["state"] == "pending"
        assert decide(again, made["id"], "approve", digest=digest).status_code == 200
        gone = act(again, "forgotten", "decide", action="approve", digest=digest)
        assert (gone.status_code, gone.json()["detail"]) == (404, "there is no such review")


def test_a52_an_approval_says_under_which_policy_it_was_given(served: Served) -> None:
    """The card names the policy; used under a later one, the record still says which it was."""
    made = submit(served, {"amount": 1})
    assert shown(served, made["id"])["decision"]["policy"] == made["policy"]
    decide(served, made["id"], "approve")
    activate(served, POLICY.replace("amount: {type: number}", "amount: {type: string}"))
    used = released(served, made["id"]).json()
    assert used["policy"] == made["policy"]
    assert used["output"] == {"amount": 1}
    later = served.decide(slice_key="pay", output={"amount": "1"}, task="later").json()
    assert later["policy"] != made["policy"]
