"""The pages over HTTP: who gets in, what changes what, and what a page says."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.web.browsing import Visitor, value_of
from tests.web.served import ADMIN, AGENT, AUDITOR, POLICY, REVIEWER, Served, awaited, serve

FORM = "application/x-www-form-urlencoded"
HTML = {"accept": "text/html"}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A server of one test's own."""
    with serve(tmp_path) as one:
        yield one


@pytest.fixture
def visitor(served: Served) -> Visitor:
    """A reviewer who is signed in."""
    return Visitor(served)


def asked(served: Served, output: Any = "Dear Ada, yes.", **fields: Any) -> str:
    given = {"slice_key": "replies", "output": output, "force_human": True, **fields}
    return str(served.decide(**given).json()["id"])


def state(served: Served, review_id: str) -> dict[str, Any]:
    found: dict[str, Any] = served.call("GET", f"/v1/reviews/{review_id}", REVIEWER).json()
    return found["review"]


# Who gets in


def test_strangers_are_sent_to_sign_in_and_come_back(served: Served) -> None:
    """A page asks who you are first, and then shows what was asked for."""
    review_id = asked(served)
    with httpx.Client(base_url=served.url, headers=HTML) as client:
        sent = client.get(f"/reviews/{review_id}")
        assert (sent.status_code, sent.headers["location"]) == (
            303,
            f"/login?next=/reviews/{review_id}",
        )
        form = client.get(sent.headers["location"]).text
        target = value_of(form, "next")
        answer = client.post("/login", data={"key": served.keys[REVIEWER], "next": target})
        assert answer.headers["location"] == f"/reviews/{review_id}"
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Lax" in cookie
        assert "Secure" not in cookie
        assert client.get(target).status_code == 200


def test_behind_tls_the_cookie_stays_there(served: Served) -> None:
    """A browser that speaks TLS never sends the session without."""
    headers = {**HTML, "x-forwarded-proto": "https"}
    answer = httpx.post(f"{served.url}/login", data={"key": served.keys[ADMIN]}, headers=headers)
    assert "; Secure" in answer.headers["set-cookie"]


@pytest.mark.parametrize(
    "target",
    ["//ex.invalid", "https://ex.invalid/", "/\\ex.invalid", "javascript:alert(1)", "", "/\n/ex"],
)
def test_signing_in_never_leads_elsewhere(served: Served, target: str) -> None:
    """The address to go back to is one of ours, whatever a link says."""
    form = {"key": served.keys[ADMIN], "next": target}
    answer = httpx.post(f"{served.url}/login", data=form, headers=HTML)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")


@pytest.mark.parametrize("key", ["", "wrong", "x" * 5000, "\u202e", "agent"])
def test_a_wrong_key_does_not_sign_in(served: Served, key: str) -> None:
    """Neither an unknown key nor an agent's opens anything, and the page does not repeat it."""
    secret = served.keys[AGENT] if key == "agent" else key
    answer = httpx.post(f"{served.url}/login", data={"key": secret}, headers=HTML)
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers
    assert not secret or secret not in answer.text


@pytest.mark.parametrize(
    ("secret", "said"),
    [
        pytest.param("", "enter your key", id="nothing"),
        pytest.param(" ", "enter your key", id="a space"),
        pytest.param("agent", "an agent&#39;s", id="an agent's"),
        pytest.param("guess", "no key of a reviewer", id="a guess"),
        pytest.param("revoked", "no key of a reviewer", id="one that was revoked"),
        pytest.param("foreign", "no key of a reviewer", id="another workspace's agent"),
    ],
)
def test_the_form_says_what_is_wrong_with_a_key(served: Served, secret: str, said: str) -> None:
    """Nothing and an agent's key have words of their own; of others nothing can be found out."""
    keys = {
        "agent": lambda: served.keys[AGENT],
        "foreign": lambda: served.make_key(AGENT, workspace="other"),
        "revoked": lambda: revoked(served),
    }
    given = keys[secret]() if secret in keys else secret
    answer = httpx.post(f"{served.url}/login", data={"key": given}, headers=HTML)
    assert answer.status_code == 401
    assert said in answer.text


def revoked(served: Served) -> str:
    """Return the secret of an agent's key that was revoked."""
    secret = served.make_key(AGENT, name="gone")
    for one in awaited(served.services.keys.all("default")):
        if one.name == "gone":
            awaited(served.services.keys.revoke("default", one.id, served.clock.now()))
    return secret


def test_guessing_is_slowed(served: Served) -> None:
    """After many attempts an address has to wait, even with the right key."""
    with httpx.Client(base_url=served.url, headers=HTML) as client:
        while (answer := client.post("/login", data={"key": "guess"})).status_code == 401:
            pass
        assert answer.status_code == 429
        assert "wait a moment" in answer.text
        assert "retry-after" in answer.headers
        good = {"key": served.keys[ADMIN]}
        assert client.post("/login", data=good).status_code == 429


@pytest.mark.parametrize("cookie", ["sureline_session=x", "sureline_session=a.b.c.d", "=;;=", "é"])
def test_a_forged_cookie_signs_nobody_in(served: Served, cookie: str) -> None:
    """Only a cookie that we signed counts."""
    headers = {"accept": b"text/html", "cookie": cookie.encode()}
    assert httpx.get(f"{served.url}/", headers=headers).status_code == 303


def test_a_session_ends_with_its_key_its_time_and_by_signing_out(served: Served) -> None:
    """Revoking a key ends its sessions at once; they last twelve hours; leaving is leaving."""
    secret = served.make_key(REVIEWER, name="Ada")
    visitor = Visitor(served, secret=secret)
    left = visitor.post("/logout")
    assert "Max-Age=0" in left.headers["set-cookie"]
    assert visitor.get("/").status_code == 303

    visitor = Visitor(served, secret=secret)
    served.clock.advance(timedelta(hours=13))
    assert visitor.get("/").status_code == 303

    visitor = Visitor(served, secret=secret)
    found = asyncio.run(served.services.keys.find(secret))
    assert found is not None
    asyncio.run(served.services.keys.revoke("default", found.id, at=served.clock.now()))
    assert visitor.get("/").status_code == 303


def test_forms_of_other_sites_are_refused(served: Served, visitor: Visitor) -> None:
    """Without the session's token, or from another site, nothing happens."""
    review_id = asked(served)
    path, client = f"/reviews/{review_id}", visitor.client
    form = {"act": "reject", "digest": state(served, review_id)["digest"]}
    refused = [
        client.post(path, data=form),
        client.post(path, data={**form, "csrf": "é"}),
        client.post(path, data={**form, "csrf": Visitor(served, ADMIN).csrf}),
        client.post(
            path, data={**form, "csrf": visitor.csrf}, headers={"sec-fetch-site": "cross-site"}
        ),
        client.post(
            path, data={**form, "csrf": visitor.csrf}, headers={"origin": "https://ex.invalid"}
        ),
        client.post("/login", data={"key": "x"}, headers={"origin": "null"}),
    ]
    assert [one.status_code for one in refused] == [403] * 6
    assert state(served, review_id)["state"] == "pending"
    ours = client.post(path, data={**form, "csrf": visitor.csrf}, headers={"origin": served.url})
    assert ours.status_code == 303


@pytest.mark.parametrize("role", [AUDITOR, REVIEWER, ADMIN])
def test_auditors_look_and_do_not_touch(served: Served, role: Any) -> None:
    """Only reviewers and admins have the buttons, and only they may press them."""
    review_id = asked(served)
    visitor = Visitor(served, role)
    page = visitor.get(f"/reviews/{review_id}")
    assert page.status_code == 200
    may = role is not AUDITOR
    assert ('value="approve"' in page.text) is may
    done = visitor.post(f"/reviews/{review_id}", act="claim")
    assert done.status_code == (303 if may else 403)


def test_nobody_decides_about_their_own(served: Served) -> None:
    """The page of one's own proposal has no buttons, and pressing them is refused."""
    review_id = str(
        served.decide(ADMIN, slice_key="replies", output="Yes.", force_human=True).json()["id"]
    )
    visitor = Visitor(served, ADMIN)
    page = visitor.get(f"/reviews/{review_id}").text
    assert "your own proposal" in page
    assert 'value="approve"' not in page
    assert visitor.decide(review_id, "approve").status_code == 403


def test_a_key_of_one_slice_sees_no_other(served: Served) -> None:
    """Lists, counts and items of other slices are not shown to a bound key."""
    hidden, seen = asked(served), asked(served, {"total": 1}, slice_key="invoices")
    visitor = Visitor(served, secret=served.make_key(REVIEWER, name="Bound", slices=("invoices",)))
    for path in ("/", "/?slice=replies", "/counts"):
        text = visitor.get(path).text
        assert hidden not in text
        assert "replies</a>" not in text
        assert ">replies<" not in text
    assert seen in visitor.get("/").text
    assert visitor.get(f"/reviews/{hidden}").status_code == 403
    assert visitor.get(f"/reviews/{hidden}/whole/output").status_code == 403


# What changes what


@pytest.mark.parametrize("path", ["/", "/?over=1", "/counts", "/reviews/{id}", "/login", "/next"])
def test_following_links_changes_nothing(served: Served, visitor: Visitor, path: str) -> None:
    """A scanner that opens every address leaves an item as it was, though its time has come."""
    review_id = asked(served)
    served.clock.advance(timedelta(hours=11))
    before = state(served, review_id)
    for query in ("?act=approve", "?approve=1", ""):
        visitor.get(path.format(id=review_id) + query)
    assert state(served, review_id) == before


def test_what_time_has_done_is_seen_before_it_is_written(served: Served) -> None:
    """An expired item is shown as expired, is in no list of what waits, and takes no verdict."""
    review_id = asked(served)
    served.clock.advance(timedelta(days=1, hours=1))
    visitor = Visitor(served)
    assert "step 1 up" in visitor.get(f"/reviews/{review_id}").text
    asyncio.run(served.services.desk.settle())
    served.clock.advance(timedelta(days=2))
    visitor = Visitor(served)
    page = visitor.get(f"/reviews/{review_id}").text
    assert "it expired and was not approved" in page
    assert review_id not in visitor.get("/").text
    digest = state(served, review_id)["digest"]
    late = visitor.post(f"/reviews/{review_id}", act="approve", digest=digest)
    assert late.status_code == 409
    assert 'role="alert"' in late.text


def test_after_a_verdict_the_next_item_opens_and_the_last_can_be_taken_back(
    served: Served, visitor: Visitor
) -> None:
    """The next page says what was done and until when; undo returns to it and leaves the other."""
    first, second = asked(served), asked(served)
    done = visitor.decide(first, "approve")
    assert done.headers["location"] == f"/reviews/{second}?done={first}"
    page = visitor.get(done.headers["location"]).text
    assert f"You have approved {first}." in page
    assert 'It is final in <b data-left="10">10\N{NO-BREAK SPACE}s</b> (09:00:10 UTC).' in page
    assert state(served, second)["claimed_by"] == "a reviewer"
    back = visitor.post(f"/reviews/{first}", act="undo", leaving=second)
    assert back.headers["location"] == f"/reviews/{first}"
    assert state(served, second)["state"] == "pending"
    assert state(served, first)["state"] == "claimed"
    again = visitor.decide(first, "reject")
    last = visitor.decide(second, "skip")
    assert again.headers["location"] == f"/reviews/{second}?done={first}"
    assert last.headers["location"] == f"/?done={second}"
    assert "left" in visitor.get(last.headers["location"]).text


def test_who_comes_second_is_told(served: Served, visitor: Visitor) -> None:
    """A claim, a verdict and a stale page are explained, and nothing is overwritten."""
    review_id = asked(served)
    other = Visitor(served, ADMIN)
    other.post(f"/reviews/{review_id}", act="claim")
    page = visitor.get(f"/reviews/{review_id}").text
    assert "a admin is at it until" in page
    assert 'value="approve"' not in page
    digest = state(served, review_id)["digest"]
    told = visitor.post(f"/reviews/{review_id}", act="approve", digest=digest)
    assert (told.status_code, "claimed by a admin" in told.text) == (409, True)
    other.decide(review_id, "edit", edited="Dear Ada, no.")
    told = visitor.post(f"/reviews/{review_id}", act="approve", digest=digest)
    assert told.status_code == 409


def test_holding_on_is_a_post_that_says_until_when(served: Served, visitor: Visitor) -> None:
    """A script renews a claim; once it is lost the answer says who has it."""
    review_id = asked(served)
    held = visitor.post(f"/reviews/{review_id}/hold")
    assert (held.status_code, held.text) == (200, "2026-01-05T09:15:00+00:00")
    served.clock.advance(timedelta(minutes=16))
    Visitor(served, ADMIN).post(f"/reviews/{review_id}", act="claim")
    lost = visitor.post(f"/reviews/{review_id}/hold")
    assert (lost.status_code, "a admin" in lost.text) == (409, True)


# Editing


def test_a_form_of_fields_keeps_types(served: Served, visitor: Visitor) -> None:
    """Only what was typed over changes, and a number stays a number."""
    output = {"total": 12, "paid": True, "lines": [{"name": "Ink", "price": 1.5}], "note": None}
    review_id = asked(served, output, slice_key="invoices")
    page = visitor.get(f"/reviews/{review_id}").text
    assert value_of(page, "field/lines/0/price") == "1.5"
    done = visitor.decide(
        review_id, "edit", **{"field/total": "13.50", "field/paid": "false", "seconds": "41"}
    )
    assert done.status_code == 303
    served.clock.advance(timedelta(seconds=11))
    found = served.call("GET", f"/v1/decisions/{review_id}/review").json()
    edited = {**output, "total": 13.5, "paid": False}
    assert found["outcome"]["action"] == "edit"
    assert served.call("GET", f"/v1/reviews/{review_id}", REVIEWER).json()["output"] == edited


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"field/total": "twelve"}, "total: expected a number"),
        ({"field/total": ""}, "total: expected a number"),
        ({"field/total": "NaN"}, "total: expected a number"),
        ({}, "changes nothing"),
        ({"as": "json", "edited": "{"}, "expected JSON"),
        ({"as": "json", "edited": '{"total": NaN}'}, "NaN"),
        ({"as": "json", "edited": '{"total": 1, "total": 2}'}, "twice"),
        ({"as": "json", "edited": "[" * 100_000}, "expected JSON"),
        ({"as": "json", "edited": '{"total": "x"}'}, "cannot be used"),
        ({"field/total": "13", "comment": "x" * 2001}, "at most 2000 characters"),
    ],
)
def test_a_bad_edit_changes_nothing_and_is_not_lost(
    served: Served, visitor: Visitor, form: dict[str, str], said: str
) -> None:
    """What cannot be used is refused with its field, and the page still has what was typed."""
    review_id = asked(served, {"total": 12}, slice_key="invoices")
    refused = visitor.decide(review_id, "edit", **form)
    assert refused.status_code == 422
    assert said in refused.text
    assert state(served, review_id)["version"] == 1
    if "field/total" in form:
        assert value_of(refused.text, "field/total") == form["field/total"]


def test_a_draft_that_was_typed_over_is_not_approved_as_it_was(
    served: Served, visitor: Visitor
) -> None:
    """Approving with changes in the form is refused; rejecting needs no draft."""
    review_id = asked(served, {"total": 12}, slice_key="invoices")
    refused = visitor.decide(review_id, "approve", **{"field/total": "13"})
    assert (refused.status_code, "the draft was changed" in refused.text) == (422, True)
    assert visitor.decide(review_id, "reject", **{"field/total": "13"}).status_code == 303


# What a page says


def test_the_screen_has_what_it_takes_to_decide(served: Served, visitor: Visitor) -> None:
    """Why, stakes, what was found, evidence with its places, claims apart, consequence (A24)."""
    review_id = asked(
        served,
        {"total": 12},
        slice_key="invoices",
        source=[{"ref": "mail", "text": "Total: 12.00 EUR"}],
        self_report={"confidence": 0.99},
        alternatives=["13"],
    )
    page = visitor.get(f"/reviews/{review_id}").text
    for wanted in (
        "The call asked for a person.",
        "can be undone",
        "What the agent claims",
        "alternatives",
        '<mark title="total">12.00</mark>',
        "stands in mail (claimed)",
        "<svg",
        "threshold 0.850",
        "Approving hands it to the agent, which may act on it",
    ):
        assert wanted in page, wanted


def test_an_audit_shows_nothing_of_the_gates_view(tmp_path: Path) -> None:
    """Signals, reasons, claims and marks are left out for who is to judge by themselves."""
    policy = POLICY.replace("reject_audit_rate: 0", "audit_rate: 1")
    with serve(tmp_path, policy=policy) as served:
        made = served.decide(source=[{"ref": "a", "text": "total 12"}], self_report=1.0).json()
        assert made["route"] == "auto_approve"
        visitor = Visitor(served)
        assert "audit" in visitor.get("/?kind=audit").text
        page = visitor.get(f"/reviews/{made['id']}").text
        assert "drawn at random" in page
        for hidden in (
            "Signals",
            "What the agent claims",
            "<mark",
            "<svg",
            'name="field',
            "stands",
        ):
            assert hidden not in page
        assert visitor.decide(made["id"], "reject", reason="wrong_value").status_code == 303


@pytest.mark.parametrize("query", ["offset=abc", "offset=-1", "offset=9e99", "offset=" + "9" * 400])
def test_nonsense_in_an_address_is_no_error(visitor: Visitor, query: str) -> None:
    """What an address says badly counts as not said."""
    assert visitor.get(f"/?{query}&kind=x&slice=%ff&over").status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing", 404),
        ("GET", "/reviews/none", 404),
        ("GET", "/reviews/%ff", 404),
        ("DELETE", "/", 405),
        ("GET", "/logout", 405),
        ("GET", "/static/no.js", 404),
        ("GET", "/static/..%2fapp.py", 404),
    ],
)
def test_a_browser_gets_its_mistakes_as_pages(
    visitor: Visitor, method: str, path: str, status: int
) -> None:
    """Mistakes are pages with the same guards, a HEAD is an empty one, programs get problems."""
    answer = visitor.client.request(method, path)
    assert answer.status_code == status
    assert answer.headers["content-type"].startswith("text/html")
    assert "script-src 'self'; style-src 'self'" in answer.headers["content-security-policy"]
    assert "Traceback" not in answer.text
    program = visitor.client.request(method, path, headers={"accept": "application/json"})
    if path in {"/nothing", "/logout"}:
        assert program.headers["content-type"] == "application/problem+json"


def test_a_head_is_a_page_without_a_body(visitor: Visitor) -> None:
    """HEAD answers as GET does."""
    answer = visitor.client.head("/")
    assert (answer.status_code, answer.content) == (200, b"")


def test_the_form_has_limits(visitor: Visitor) -> None:
    """Too much, too many fields and another media type are refused."""
    client = visitor.client
    large = client.post("/next", content=b"a" * (3 << 20), headers={"content-type": FORM})
    many = client.post("/next", content=b"&".join([b"a=1"] * 3000), headers={"content-type": FORM})
    other = client.post("/next", json={"csrf": visitor.csrf})
    broken = client.post("/next", content=b"\xff", headers={"content-type": FORM})
    codes = [one.status_code for one in (large, many, other, broken)]
    assert codes == [413, 422, 415, 422]


def test_an_id_may_hold_anything(served: Served, visitor: Visitor) -> None:
    """An agent chooses ids; whatever is in one, its links and forms work."""
    odd = 'a/b?c#d%&"<i>\u202e'
    review_id = asked(served, id=odd)
    assert review_id == odd
    page = visitor.get("/").text
    assert "/reviews/a%2Fb%3Fc%23d%25%26%22%3Ci%3E%E2%80%AE" in page
    assert "<i>" not in page
    path = "/reviews/a%2Fb%3Fc%23d%25%26%22%3Ci%3E%E2%80%AE"
    assert visitor.get(path).status_code == 200
    assert visitor.post(path, act="claim").headers["location"] == path
