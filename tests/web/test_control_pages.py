"""The pages that show how the gate is doing, and the two acts on them: switches and policies."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from sureline.core.values.switch import Switch
from sureline.testing import FakeModels
from tests.web.controlled import HOSTILE, controlled, seen, signed_in
from tests.web.served import ADMIN, AUDITOR, POLICY, REVIEWER, Served, awaited, serve

PAGES = (
    "/dashboard",
    "/slices",
    "/slices/invoices",
    "/confident-rejects",
    "/policy",
    "/switches",
    "/incidents",
    "/logbook",
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server on half a year of decisions; its tests change nothing in it."""
    with controlled(tmp_path_factory.mktemp("world")) as one:
        yield one


@pytest.fixture
def admin(served: Served) -> Iterator[httpx.Client]:
    """A browser in which an admin has signed in."""
    with signed_in(served, ADMIN) as one:
        yield one


def bound(served: Served, role: Any, *slices: str) -> AbstractContextManager[httpx.Client]:
    """Return a browser in which the holder of a key for some slices has signed in."""
    return signed_in(served, secret=served.make_key(role, slices=slices))


def post(client: httpx.Client, path: str, **fields: str) -> httpx.Response:
    """Send a form with the token that the page has."""
    token = re.search(r'name="csrf" value="([0-9a-f]+)"', client.get(path).text)
    assert token is not None
    return client.post(path, data={"csrf": token.group(1), **fields})


def rows_of_ledger(served: Served) -> int:
    """Return how many rows the ledger has."""
    return asyncio.run(served.services.ledger.verify()).rows


@pytest.mark.parametrize("role", [REVIEWER, ADMIN, AUDITOR])
@pytest.mark.parametrize("path", PAGES)
def test_everybody_reads_and_nothing_is_changed_by_it(world: Served, path: str, role: Any) -> None:
    """Each page opens for each role, needs no inline code, and writes nothing to the ledger."""
    before = rows_of_ledger(world)
    with signed_in(world, role) as client:
        page = client.get(path)
    assert page.status_code == 200
    assert "script-src 'self'; style-src 'self'" in page.headers["content-security-policy"]
    assert " style=" not in page.text
    assert "<style" not in page.text
    assert "<script>" not in page.text
    assert f'href="{path.split("/inv")[0]}" aria-current="page"' in page.text
    assert rows_of_ledger(world) == before


@pytest.mark.parametrize("path", [*PAGES, "/decisions/d1"])
def test_nobody_reads_without_signing_in(world: Served, path: str) -> None:
    """A stranger is sent to the page for signing in."""
    answer = httpx.get(world.url + path)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/login?next=")


def test_the_dashboard_says_what_is_known_and_what_is_not(world: Served) -> None:
    """Figures stand with their intervals and counts; what nobody measured is not known."""
    with signed_in(world) as client:
        page = seen(client, "/dashboard")
    letters = page[page.index('href="/slices/letters"') :]
    letters = letters[: letters.index("</tr>")]
    assert re.search(r"71\.9.% <span class=\"soft range\">\(68.% to 76.%, 287 of 399\)", letters)
    assert "with people" in letters
    assert "alarm" in letters
    claims = page[page.index('href="/slices/claims"') :]
    assert "not known" in claims[: claims.index("</tr>")]
    assert page.count("<svg") == 1 + 2 * 5
    assert "3<small>0 claimed, 0 escalated" in page


def test_figures_of_the_first_day_agree_and_say_what_they_leave_out(served: Served) -> None:
    """What acted today acted lately, and drafts that count in no figure are counted out loud."""
    served.decide()
    for number in range(3):
        made = served.decide(task=f"read {number}", force_human=True).json()
        shown = served.call("GET", f"/v1/reviews/{made['id']}", REVIEWER).json()
        body = {"action": "reject", "digest": shown["review"]["digest"]}
        path = f"/v1/reviews/{made['id']}/decide"
        assert served.call("POST", path, REVIEWER, json=body).status_code == 200
    served.clock.advance(timedelta(minutes=1))
    awaited(served.services.desk.settle())
    with signed_in(served) as client:
        page, slice_page = seen(client, "/dashboard"), seen(client, "/slices/invoices")
    for text in (page, slice_page):
        assert "1 of 4 decisions" in text
        assert "3 of outputs that no score could have let act" in text
    assert "no drafts were answered that count" in slice_page


def test_a_slice_says_what_is_missing_and_what_to_do(world: Served) -> None:
    """In words: how many labels, why, and which command a person would run."""
    with signed_in(world) as client:
        assert "11 more labels without an error" in seen(client, "/slices/claims")
        invoices = seen(client, "/slices/invoices")
    assert "256 of 273 labels there were right" in invoices
    assert "sureline calibration activate cal_" in invoices
    assert "dinvoices-004763" in invoices


def test_confident_mistakes_lead_to_their_decisions(world: Served) -> None:
    """What scored high and was wrong is listed, each with its decision."""
    with signed_in(world) as client:
        page = seen(client, "/confident-rejects?slice=invoices")
        assert "letters" not in page[page.index("<main") :]
        link = re.search(r'href="(/decisions/dinvoices-\d+)"', page)
        assert link is not None
        decision = client.get(link.group(1))
    assert decision.status_code == 200
    assert "wrong" in decision.text


def test_keys_for_some_slices_see_no_others(world: Served) -> None:
    """No page names another slice, its switches, its policy or its decisions."""
    with bound(world, REVIEWER, "invoices") as client:
        for path in PAGES:
            page = seen(client, path)
            assert "letters" not in page, path
            assert "refunds" not in page, path
        assert client.get("/slices/letters").status_code == 403
        assert client.get("/decisions/dletters-004500").status_code in {403, 404}
        latest = re.search(r"dinvoices-\d+", client.get("/slices/invoices").text)
        assert latest is not None
        assert client.get(f"/decisions/{latest.group()}").status_code == 200


def test_hostile_text_is_inert_and_spelled_out(world: Served) -> None:
    """What an agent wrote is escaped, and what hides in it is named."""
    with signed_in(world, ADMIN) as client:
        link = re.search(r'href="(/decisions/[^"]+)"', client.get("/slices/refunds").text)
        assert link is not None
        pages = [client.get(path).text for path in (link.group(1), "/switches", "/logbook")]
    for page in pages:
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert(1)" in page
        assert "U+202E" in page
        assert not set(HOSTILE) & set("\u202e\u200b\x1b") & set(page)
    assert "An agent wrote this" in pages[0]


def test_what_is_audited_blind_stays_unseen_until_it_is_answered(served: Served) -> None:
    """A reviewer sees no score before the audit has its answer; an auditor does."""
    with_audits = POLICY.replace("mode: route\n", "mode: route\n    audit_rate: 1\n", 1)
    asyncio.run(_use(served, with_audits))
    made = served.decide().json()
    assert served.call("GET", f"/v1/decisions/{made['id']}", ADMIN).json()["audit"] is True
    path = f"/decisions/{made['id']}"
    with signed_in(served, REVIEWER) as reviewer, signed_in(served, AUDITOR) as auditor:
        assert "waits for an audit" in reviewer.get(path).text
        assert "Composite" not in reviewer.get(path).text
        assert "Composite" in auditor.get(path).text
        given = {"decision_id": made["id"], "action": "approve", "source": "audit"}
        assert served.call("POST", "/v1/outcomes", REVIEWER, json=given).status_code == 201
        assert "Composite" in reviewer.get(path).text


def test_a_decision_shows_all_that_led_to_it(served: Served, admin: httpx.Client) -> None:
    """Signals, threshold, reasons in order, policy, place in the ledger, and what became of it."""
    made = served.decide().json()
    page = admin.get(f"/decisions/{made['id']}").text
    place = asyncio.run(served.services.store.provenance.place("default", made["id"]))
    assert place is not None
    assert f"entry {place.seq}" in page
    assert place.hash.hex() in page
    assert made["policy"] in page
    assert made["measurement"] in page
    codes = re.findall(r'data-code="([a-z_]+)"', page)
    assert codes == [one["code"] for one in made["reasons"]]
    assert "not used" in page
    assert "Weight 1.0" in page
    served.call("POST", f"/v1/decisions/{made['id']}/consume")
    assert "not used" not in admin.get(f"/decisions/{made['id']}").text


def test_an_erased_payload_is_shown_as_erased(served: Served, admin: httpx.Client) -> None:
    """Figures stay; the text is gone, and the page says by whom and why."""
    made = served.decide(task="the secret task").json()
    path = f"/decisions/{made['id']}"
    assert "the secret task" in admin.get(path).text
    asyncio.run(
        served.services.ledger.erase(
            "default", made["id"], by="ada", reason="asked to", at=served.clock.now()
        )
    )
    page = admin.get(path).text
    assert "the secret task" not in page
    assert "by ada: asked to" in page
    assert admin.get("/decisions/nothing").status_code == 404


def test_the_kill_switch_of_the_page_holds_for_the_next_decision(
    served: Served, admin: httpx.Client
) -> None:
    """On, with a reason, and off again; every act stands in the history under the key's name."""
    assert served.decide().json()["route"] == "auto_approve"
    assert post(admin, "/switches", scope="global", turn="on", reason="odd").status_code == 200
    assert served.decide(task="another").json()["route"] == "human_required"
    page = admin.get("/switches").text
    assert "Nothing is automated" in page
    assert "by a admin: odd" in page
    assert "1 switch is on" in admin.get("/dashboard").text
    post(admin, "/switches", scope="global", turn="off", reason="found it")
    assert served.decide(task="a third").json()["route"] == "auto_approve"
    assert "found it" in admin.get("/logbook").text


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        pytest.param({"scope": "global", "turn": "on", "reason": " "}, 422, id="no reason"),
        pytest.param({"scope": "global", "turn": "true", "reason": "x"}, 422, id="no button"),
        pytest.param({"scope": "slice:", "turn": "on", "reason": "x"}, 422, id="no slice"),
        pytest.param({"scope": "slice:typo", "turn": "on", "reason": "x"}, 422, id="typo"),
        pytest.param({"scope": "all", "turn": "on", "reason": "x"}, 422, id="no scope"),
    ],
)
def test_a_switch_that_says_too_little_turns_nothing(
    served: Served, admin: httpx.Client, fields: dict[str, str], status: int
) -> None:
    """The page comes back with what was typed and what is wrong."""
    answer = post(admin, "/switches", **fields)
    assert answer.status_code == status
    assert 'role="alert"' in answer.text
    assert asyncio.run(served.services.ledger.switch_history("default")) == []


def test_one_batch_can_be_stopped(served: Served, admin: httpx.Client) -> None:
    """Only what belongs to it goes to people."""
    post(admin, "/switches", batch="b7", turn="on", reason="bad scan")
    assert served.decide(batch_id="b7").json()["route"] == "human_required"
    assert served.decide(task="other", batch_id="b8").json()["route"] == "auto_approve"


@pytest.mark.parametrize("role", [REVIEWER, AUDITOR])
def test_only_admins_act(served: Served, role: Any) -> None:
    """Others see no form, and a form that they make up is refused."""
    with signed_in(served, role) as client:
        page = client.get("/switches").text
        assert "Only an admin turns switches" in page
        assert 'action="/switches"' not in page
        turned = post(client, "/switches", scope="global", turn="on", reason="x")
        assert turned.status_code == 403
        assert post(client, "/policy", hash="a" * 64, note="x").status_code == 403
    assert asyncio.run(served.services.ledger.switch_history("default")) == []


def test_an_admin_of_one_slice_stops_that_slice_alone(served: Served) -> None:
    """A key that is bound to slices turns their switches, and activates no policy."""
    with bound(served, ADMIN, "invoices") as client:
        refused = post(client, "/switches", scope="global", turn="on", reason="x")
        assert refused.status_code == 403
        assert post(client, "/policy", hash="a" * 64, note="x").status_code == 403
        post(client, "/switches", scope="slice:invoices", turn="on", reason="x")
    assert served.decide().json()["route"] == "human_required"


def test_switches_of_the_environment_are_shown(served: Served, admin: httpx.Client) -> None:
    """They hold whatever the page says, and the page says so."""
    hard: Any = served.services.plugins.hard_switch
    hard.on.append(
        Switch(
            workspace="default",
            scope="global",
            on=True,
            reason="SURELINE_KILL is set",
            by="environment",
            changed_at=served.clock.now(),
        )
    )
    assert "SURELINE_KILL is set" in admin.get("/switches").text


def test_a_policy_is_compared_then_activated(served: Served, admin: httpx.Client) -> None:
    """What changes stands in words with what would end; the note is in the logbook."""
    proposed = asyncio.run(
        served.services.policies.propose(
            POLICY.replace("mode: log_only", "mode: human_only").replace(
                "weights: {verification: 1}",
                "weights: {verification: 1}\n    target_precision: 0.97",
            ),
            by="ada",
        )
    )
    before = asyncio.run(served.services.policies.active_hash())
    path = f"/policy?show={proposed.policy.hash}"
    page = admin.get(path).text
    assert "<code>slices.replies.mode</code> changes from " in page
    assert "slice replies: people decide everything from then on" in page
    late = post(admin, path, hash=proposed.policy.hash, seen="another", note="x")
    assert late.status_code == 409
    done = post(admin, path, hash=proposed.policy.hash, seen=str(before), note="as agreed")
    assert done.status_code == 200
    assert asyncio.run(served.services.policies.active_hash()) == proposed.policy.hash
    assert "by a admin: as agreed" in admin.get("/policy").text
    assert "as agreed" in admin.get("/logbook").text
    assert admin.get("/policy?show=nothing").status_code == 404


def test_labels_that_would_be_void_are_counted(world: Served) -> None:
    """A change of what scores depend on says how many labels count no more."""
    policies = world.services.policies
    text = asyncio.run(policies.latest()).raw
    changed = {**text, "slices": {**text["slices"]}}
    changed["slices"]["letters"] = {
        **text["slices"]["letters"],
        "weights": {"verification": 1, "history": 1},
    }
    proposed = asyncio.run(policies.propose(yaml.safe_dump(changed), by="ada"))
    with signed_in(world) as client:
        page = client.get(f"/policy?show={proposed.policy.hash}").text
    assert re.search(r"slice letters: scores are measured otherwise.* \d+ labels of the", page)
    with bound(world, REVIEWER, "invoices") as client:
        assert "letters" not in client.get(f"/policy?show={proposed.policy.hash}").text


def test_a_store_without_a_policy_still_has_pages(tmp_path: Path) -> None:
    """The kill switch, the logbook and the policies can be seen before there is any policy."""
    with serve(tmp_path, policy=None) as one, signed_in(one, ADMIN) as client:
        for path in ("/dashboard", "/slices", "/slices/x", "/confident-rejects"):
            assert "no policy to show this for" in client.get(path).text
        for path in ("/policy", "/switches", "/logbook"):
            assert client.get(path).status_code == 200


def test_pages_do_not_wait_for_the_report(world: Served) -> None:
    """A report of the last minute serves everybody; it is drawn up anew after that."""
    with signed_in(world) as client:
        seen(client, "/dashboard")
        begun = time.perf_counter()
        for path in PAGES:
            client.get(path)
        assert time.perf_counter() - begun < 5
        world.clock.advance(timedelta(minutes=2))
        assert "From labels up to" in seen(client, "/dashboard")


JUDGED = POLICY.replace(
    "weights: {verification: 1}\n",
    "weights: {verification: 1, judge: 1}\n"
    "    judge: {model: 'some:judge', otherwise: 1.0, borderline: 1.0}\n",
)


def test_second_opinions_are_shown_with_their_models_and_failures(tmp_path: Path) -> None:
    """A judge that fails is on the dashboard, with an alarm; its model is on the decision."""

    def says(prompt: Any, asking: Any) -> str:
        return "no answer at all"

    models = FakeModels(says)
    with serve(tmp_path, policy=JUDGED, model_client=models) as one, signed_in(one) as client:
        for number in range(25):
            made = one.decide(task=f"t{number}").json()
        page = seen(client, "/dashboard")
        part = page[page.index("Second opinions") :]
        assert "some:judge" in part
        assert "100.0\N{NO-BREAK SPACE}%" in part
        assert 'class="problem"' in part
        decision = client.get(f"/decisions/{made['id']}").text
        assert "some:judge" in decision
        assert "not known" in decision
        assert client.get("/slices/invoices").status_code == 200


async def _use(served: Served, text: str) -> None:
    book = served.services.policies
    loaded = await book.propose(text, by="ada")
    await book.activate(loaded.policy.hash, by="ada")
