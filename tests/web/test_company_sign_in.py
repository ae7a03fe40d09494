"""People whom their company's proxy has signed in, over real connections from two addresses."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from sureline.application.company_sign_in import CompanySignIn
from sureline.application.ports.keys import Role
from sureline.web.settings import ServerSettings
from tests.web.browsing import value_of
from tests.web.served import ADMIN, AUDITOR, REVIEWER, Served, serve

PROXY, STRANGER = "127.0.0.2", "127.0.0.1"
SETTINGS = ServerSettings(
    company=CompanySignIn(
        header="x-forwarded-user",
        groups="x-forwarded-groups",
        proxies=frozenset({PROXY}),
        roles={"gate": ADMIN, "looking": REVIEWER, "audit": AUDITOR},
    )
)
ADA = {"x-forwarded-user": "ada@example.com", "x-forwarded-groups": "all,looking"}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A server that believes one proxy."""
    with serve(tmp_path, SETTINGS) as one:
        yield one


class Person:
    """A browser of somebody; its requests come from `peer` with the headers that it is given."""

    def __init__(self, served: Served, headers: dict[str, str], *, peer: str = PROXY) -> None:
        self.client = httpx.Client(
            base_url=served.url,
            headers={"accept": "text/html", **headers},
            transport=httpx.HTTPTransport(local_address=peer),
            timeout=20,
        )
        served.clients[self] = self.client

    def get(self, path: str = "/", **more: Any) -> httpx.Response:
        """Open a page as a browser does, and follow where it leads."""
        return self.client.get(path, follow_redirects=True, **more)

    def post(self, path: str, **form: str) -> httpx.Response:
        """Send a form with the token of the page."""
        given = {"csrf": value_of(self.get("/").text, "csrf"), **form}
        return self.client.post(path, data=given)


def asked(served: Served, **fields: Any) -> str:
    given = {"slice_key": "replies", "output": "Dear Ada, yes.", "force_human": True, **fields}
    return str(served.decide(**given).json()["id"])


def approve(person: Person, review_id: str) -> httpx.Response:
    page = person.get(f"/reviews/{review_id}").text
    given = {name: value_of(page, name) for name in ("digest", "as")}
    return person.post(f"/reviews/{review_id}", act="approve", **given)


def by(served: Served, review_id: str) -> dict[str, Any]:
    found: dict[str, Any] = served.call("GET", f"/v1/reviews/{review_id}", AUDITOR).json()["review"]
    return found


def test_whom_the_company_knows_gets_to_what_was_asked_for(served: Served) -> None:
    """No key and no form: the page opens under the person's own name, and a verdict bears it."""
    review_id = asked(served)
    ada = Person(served, ADA)
    sent = ada.client.get(f"/reviews/{review_id}")
    assert sent.headers["location"] == f"/login?next=/reviews/{review_id}"
    page = ada.get(f"/reviews/{review_id}")
    assert page.url.path == f"/reviews/{review_id}"
    assert "company:ada@example.com (reviewer)" in page.text
    assert approve(ada, review_id).status_code == 303
    assert by(served, review_id)["verdict"]["by"] == "company:ada@example.com"


def test_the_ledger_says_that_the_company_vouched(served: Served) -> None:
    """A switch that somebody turned is recorded in the name that no key can have."""
    boss = Person(served, {**ADA, "x-forwarded-groups": "gate"})
    done = boss.post("/switches", scope="global", turn="on", reason="it looks odd")
    assert done.status_code == 303, done.text
    (switch,) = asyncio.run(served.services.ledger.switches("default"))
    assert switch.by == "company:ada@example.com"
    entries = served.call("GET", "/v1/logbook", ADMIN).json()["entries"]
    assert "company:ada@example.com" in {one["by"] for one in entries}


@pytest.mark.parametrize(
    "headers",
    [
        ADA,
        {**ADA, "x-forwarded-for": PROXY},
        {**ADA, "forwarded": f"for={PROXY}", "x-real-ip": PROXY},
        {"x-forwarded-groups": "gate"},
    ],
    ids=["header", "x-forwarded-for", "forwarded", "groups alone"],
)
def test_from_anybody_else_the_header_is_refused_and_logged(
    served: Served, headers: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    """What counts is who is connected; the log names the address and not the person."""
    stranger = Person(served, headers, peer=STRANGER)
    with caplog.at_level(logging.WARNING, "sureline.web"):
        for path in ("/", "/login", "/switches"):
            refused = stranger.get(path)
            assert refused.status_code == 401
            assert "your company gives you" in refused.text.replace("&#39;", "'")
            assert "set-cookie" not in refused.headers
        assert stranger.client.post("/login", data={"key": served.keys[ADMIN]}).status_code == 401
    assert STRANGER in caplog.text
    assert "ada" not in caplog.text


def test_a_stolen_cookie_is_nothing_without_the_proxy(served: Served) -> None:
    """A session holds only while the proxy says that it is this person."""
    ada = Person(served, ADA)
    ada.get("/")
    assert ada.client.cookies
    stranger = Person(served, {}, peer=STRANGER)
    bob = Person(served, {**ADA, "x-forwarded-user": "bob@example.com"})
    for other in (stranger, bob):
        other.client.cookies.update(ada.client.cookies)
    assert stranger.client.get("/").status_code == 401
    assert bob.client.get("/").headers["location"].startswith("/login")
    assert "company:bob@example.com" in bob.get("/").text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([], 401),
        ([("x-forwarded-user", "")], 401),
        ([("x-forwarded-user", "ada"), ("x-forwarded-user", "ada")], 401),
        ([("x-forwarded-user", "eve"), ("X-Forwarded-User", "ada")], 401),
        ([("x-forwarded-user", "eve, ada")], 401),
        ([("x-forwarded-user", "a\tda")], 401),
        ([("x-forwarded-user", b"a\xc2\x85da")], 401),
        ([("x-forwarded-user", "a\u202eda".encode())], 401),
        ([("x-forwarded-user", b"\xff\xfe")], 401),
        ([("x-forwarded-user", "a" * 201)], 401),
        ([("x_forwarded_user", "ada")], 401),
        ([("x-forwarded-user", "a" * 200)], 200),
        ([("x-forwarded-user", "Ada Löwe <ada@example.com>".encode())], 200),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_name_that_can_be_read_two_ways_is_refused(
    served: Served, headers: list[tuple[str, Any]], status: int
) -> None:
    """Absent, empty, twice, joined, steering, hidden, overlong or no UTF-8: nobody comes in."""
    person = Person(served, {})
    given = [
        (name.encode(), text if isinstance(text, bytes) else text.encode())
        for name, text in [*headers, ("x-forwarded-groups", "looking")]
    ]
    last = person.client.get("/login", headers=given)
    assert last.status_code == (303 if status == 200 else status)
    assert ("set-cookie" in last.headers) is (status == 200)


@pytest.mark.parametrize(
    ("groups", "status"),
    [
        ([], 403),
        ([b""], 403),
        ([b"all"], 403),
        ([b"LOOKING"], 403),
        ([b"looking2, look"], 403),
        ([b"agent,admin,reviewer"], 403),
        ([b"looking", b"gate"], 401),
        ([b"looking\x01"], 400),
        ([b"\xff"], 401),
        ([b"a" * 33_000], 401),
        ([b"all ,  looking"], 303),
    ],
    ids=lambda value: str(value)[:40],
)
def test_without_a_group_that_may_do_something_there_is_nothing_to_see(
    served: Served, groups: list[bytes], status: int
) -> None:
    """Whom the company knows and no role is given to is told so, in words and by name."""
    person = Person(served, {"x-forwarded-user": "ada@example.com"})
    given = [(b"x-forwarded-groups", one) for one in groups]
    answer = person.client.get("/login", headers=given)
    assert answer.status_code == status
    if status == 403:
        assert "none of your groups may do" in answer.text
        assert "company:ada@example.com" in answer.text


def test_who_loses_a_role_has_lost_it_at_once(served: Served) -> None:
    """Groups are read on every request: the same session can do less, then nothing."""
    review_id = asked(served)
    ada = Person(served, {**ADA, "x-forwarded-groups": "gate"})
    assert 'name="turn"' in ada.get("/switches").text
    csrf = value_of(ada.get("/").text, "csrf")
    form = {"csrf": csrf, "scope": "global", "turn": "on", "reason": "x"}
    less = {"x-forwarded-groups": "looking"}
    assert ada.client.post("/switches", data=form, headers=less).status_code == 403
    nothing = {"x-forwarded-groups": "all"}
    assert ada.client.get("/", headers=nothing).status_code == 403
    decide = {"csrf": csrf, "act": "claim"}
    path = f"/reviews/{review_id}"
    assert ada.client.post(path, data=decide, headers=nothing).status_code == 403
    assert by(served, review_id)["claimed_by"] is None
    assert ada.client.post(path, data=decide, headers=less).status_code == 303


def test_forms_still_need_their_token(served: Served) -> None:
    """The proxy adds its header to forged forms, too: without the page's token nothing happens."""
    review_id = asked(served)
    ada = Person(served, ADA)
    path, form = f"/reviews/{review_id}", {"act": "claim"}
    first = ada.client.post(path, data=form)
    assert first.headers["location"].startswith("/login")  # no session yet: nothing is done
    ada.get("/")
    mine = value_of(ada.get("/").text, "csrf")
    other = value_of(Person(served, {**ADA, "x-forwarded-user": "bob"}).get("/").text, "csrf")
    for sent, headers in (
        (form, {}),
        ({**form, "csrf": other}, {}),
        ({**form, "csrf": mine}, {"sec-fetch-site": "cross-site"}),
        ({**form, "csrf": mine}, {"origin": "https://evil.example"}),
    ):
        assert ada.client.post(path, data=sent, headers=headers).status_code == 403
    assert by(served, review_id)["state"] == "pending"
    assert ada.client.post(path, data={**form, "csrf": mine}).status_code == 303


def test_one_person_is_one_of_two_eyes(tmp_path: Path) -> None:
    """Spellings of a name are one person, and no key is ever that person."""
    policy = """\
version: 1
slices:
  replies: {mode: route, output: {structured: false}, review: {approvals: 2}}
"""
    with serve(tmp_path, SETTINGS, policy=policy) as served:
        review_id = asked(served)
        assert approve(Person(served, ADA), review_id).status_code == 303
        again = approve(Person(served, {**ADA, "x-forwarded-user": "ADA@Example.com"}), review_id)
        assert again.status_code != 303
        assert by(served, review_id)["state"] != "decided"
        assert approve(Person(served, {**ADA, "x-forwarded-user": "bob"}), review_id).is_redirect
        assert by(served, review_id)["state"] == "decided"


def test_with_it_keys_are_for_programs(served: Served) -> None:
    """A key opens no page; over HTTP it is what it was."""
    ada = Person(served, ADA)
    refused = ada.client.post("/login", data={"key": served.keys[ADMIN]})
    assert refused.status_code == 403
    assert "keys are for programs" in refused.text
    assert served.call("GET", "/v1/switches", ADMIN).status_code == 200


@pytest.mark.parametrize("path", ["/v1/switches", "/v1/decisions/none", "/metrics"])
def test_over_http_the_header_is_no_key(served: Served, path: str) -> None:
    """Programs come with keys; the header gives no role there, the agent's least of all."""
    ada = Person(served, {**ADA, "x-forwarded-groups": "gate"})
    ada.get("/")
    assert ada.client.get(path).status_code == 401


def test_signing_out_says_what_it_does_not_do(served: Served) -> None:
    """The session ends, and the page says that the company's sign-in goes on."""
    ada = Person(served, ADA)
    page = ada.post("/logout")
    assert page.status_code == 200
    assert "still knows you" in page.text
    assert "Max-Age=0" in page.headers["set-cookie"]
    assert not ada.client.cookies


def test_open_forms_survive_a_second_tab(served: Served) -> None:
    """Signing in anew where there is a session keeps it, and with it the token of open pages."""
    ada = Person(served, ADA)
    before = value_of(ada.get("/").text, "csrf")
    assert "set-cookie" not in ada.client.get("/login?next=/slices").headers
    assert value_of(ada.get("/").text, "csrf") == before
    assert ada.client.get("/login?next=//evil.example").headers["location"] == "/"


@pytest.mark.parametrize("peer", [PROXY, STRANGER])
def test_where_it_is_off_the_header_means_nothing(tmp_path: Path, peer: str) -> None:
    """By default nobody is believed, whoever sends it."""
    with serve(tmp_path) as served:
        person = Person(served, {**ADA, "x-forwarded-groups": "gate"}, peer=peer)
        assert person.client.get("/").headers["location"].startswith("/login")
        assert "API key" in person.get("/").text
        signed = person.client.post("/login", data={"key": served.keys[Role.REVIEWER]})
        assert signed.status_code == 303
        assert "a reviewer (reviewer)" in person.get("/").text
