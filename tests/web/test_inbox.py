"""The inbox: what is found, what a view keeps, and which item comes next in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from sureline.application.ports import inbox as inbox_port
from sureline.web.pages import filters as filters_module
from sureline.web.pages.filters import Filters
from tests.web.browsing import Visitor, value_of
from tests.web.served import ADMIN, AGENT, AUDITOR, POLICY, REVIEWER, Served, awaited, serve


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A server of one test's own."""
    with serve(tmp_path) as one:
        yield one


@pytest.fixture
def visitor(served: Served) -> Visitor:
    """A reviewer who is signed in."""
    return Visitor(served)


def asked(served: Served, name: str, task: str = "answer the letter", **fields: Any) -> str:
    given = {"slice_key": "replies", "output": f"Dear {name}.", "force_human": True, **fields}
    made = served.decide(id=name, task=task, **given)
    assert made.status_code == 201, made.text
    return name


def invoice(served: Served, name: str, task: str = "read the invoice", **fields: Any) -> str:
    return asked(served, name, task, slice_key="invoices", output={"total": 1}, **fields)


def listed(page: str) -> list[str]:
    """Return the ids in the list, in its order."""
    return re.findall(r'<td><a href="/reviews/([^"?]+)', page)


def tab(page: str, name: str) -> str | None:
    """Return the count on a tab."""
    found = re.search(rf">{re.escape(name)} <b>([^<]*)</b>", page)
    return None if found is None else found.group(1)


# Search


@pytest.mark.parametrize(
    ("sought", "found"),
    [
        ("BAKERY", ["a"]),
        ("the bakery invoice", ["a"]),
        ("Zürich", ["b"]),
        ("zÜRICH letter", ["b"]),
        ("invoices", ["a"]),
        ("forced", ["a", "b"]),
        ("bakery zürich", []),
        ("%", []),
        ("_", ["a", "b"]),
        ("' OR 1=1 --", []),
    ],
)
def test_a_search_finds_words_of_task_slice_ids_and_reasons(
    served: Served, visitor: Visitor, sought: str, found: list[str]
) -> None:
    """Each word must be there, in capitals or not; no character has a meaning of its own."""
    invoice(served, "a", "read the invoice of the bakery")
    asked(served, "b", "answer the letter from Zürich")
    page = visitor.client.get("/", params={"find": sought}).text
    assert sorted(listed(page)) == found
    assert value_of(page, "find") == sought


def test_the_list_shows_what_it_is_searched_by(served: Served, visitor: Visitor) -> None:
    """Task and reasons stand under the id, and what hides in a task is spelled out."""
    asked(served, "a", "answer \u202e this <b>letter</b>")
    page = visitor.get("/").text
    assert "U+202E" in page
    assert "\u202e" not in page
    assert "&lt;b&gt;letter" in page
    assert "forced" in page


def test_an_id_leads_straight_to_its_item(served: Served, visitor: Visitor) -> None:
    """Whoever types a whole id does not want a list."""
    asked(served, "a-1")
    asked(served, "a-2")
    assert visitor.get("/?find=a-1").headers["location"].startswith("/reviews/a-1")
    assert sorted(listed(visitor.get("/?find=a-").text)) == ["a-1", "a-2"]


@pytest.mark.sqlite_file
def test_what_was_erased_is_found_no_more(served: Served, visitor: Visitor) -> None:
    """Neither what waits nor what is over has a word of an erased task."""
    asked(served, "a", "answer the secret letter")
    assert listed(visitor.get("/?find=secret").text) == ["a"]
    erase(served, "a")
    for path in ("/?find=secret", "/?find=secret&over=1", "/?over=1", "/"):
        page = visitor.get(path).text
        assert "secret letter" not in page
    assert listed(visitor.get("/?find=secret&over=1").text) == []
    assert b"secret letter" not in stored(served)


def erase(served: Served, name: str) -> None:
    ledger, now = served.services.ledger, served.clock.now()
    awaited(ledger.erase("default", name, by="dpo", reason="asked to", at=now))


def stored(served: Served) -> bytes:
    path = Path(served.services.store.url.removeprefix("sqlite:///"))
    return b"".join(one.read_bytes() for one in path.parent.iterdir() if one.is_file())


def test_a_search_says_where_it_ended(
    served: Served, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond the first items nothing is looked at, and the page says so."""
    from sureline.adapters.storage import candidates, inbox

    for module in (candidates, inbox, inbox_port):
        monkeypatch.setattr(module, "LOOKED_AT", 3)
    for number in range(4):
        asked(served, f"a{number}", "find me" if number == 3 else "another")
    page = visitor.get("/?find=find+me").text
    assert listed(page) == []
    assert "Nothing among the first" in page
    assert "those after them were not looked at" in page
    assert "The search looked at the first" in visitor.get("/?find=another").text
    assert "looked at" not in visitor.get("/").text


# Filters


def names(served: Served, visitor: Visitor, query: str) -> list[str]:
    return sorted(listed(visitor.get(f"/?{query}").text))


def test_filters_narrow_the_list(served: Served, visitor: Visitor) -> None:
    """Slice, kind, stakes, state, deadline and reason, each alone and together."""
    for name in ("a", "b", "c", "d"):
        asked(served, name)
    invoice(served, "e", stakes="irreversible")
    visitor.decide("a", "claim")
    other = Visitor(served, ADMIN)
    other.decide("b", "claim")
    other.decide("c", "escalate")
    other.decide("c", "release")
    assert names(served, visitor, "slice=invoices") == ["e"]
    assert names(served, visitor, "stakes=irreversible") == ["e"]
    assert names(served, visitor, "stakes=reversible") == ["a", "b", "c", "d"]
    assert names(served, visitor, "state=mine") == ["a"]
    assert names(served, visitor, "state=claimed") == ["a", "b"]
    assert names(served, visitor, "state=up") == ["c"]
    assert names(served, visitor, "reason=forced") == ["a", "b", "c", "d", "e"]
    assert names(served, visitor, "reason=novel") == []
    assert names(served, visitor, "kind=audit") == []
    assert names(served, visitor, "slice=replies&state=claimed&find=letter") == ["a", "b"]
    assert names(served, visitor, "due=4") == []
    served.clock.advance(timedelta(hours=21))
    visitor = Visitor(served)
    assert names(served, visitor, "due=4") == list("abcde")
    assert names(served, visitor, "due=1") == []
    assert names(served, visitor, "state=mine") == [], "the lease is over"
    assert names(served, visitor, "stakes=worst&state=x&due=99&kind=y") == list("abcde")


def test_what_is_over_is_searched_too(served: Served, visitor: Visitor) -> None:
    """The same filters hold for what is done."""
    asked(served, "a", "the first letter")
    asked(served, "b", "the second letter")
    invoice(served, "c", stakes="irreversible")
    for name in ("a", "b", "c"):
        visitor.decide(name, "reject")
    assert names(served, visitor, "over=1") == ["a", "b", "c"]
    assert names(served, visitor, "over=1&find=second") == ["b"]
    assert names(served, visitor, "over=1&stakes=irreversible") == ["c"]
    assert names(served, visitor, "over=1&slice=replies&find=letter") == ["a", "b"]


def test_pages_keep_what_was_chosen(
    served: Served, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Later and earlier pages are those of the same list, without a gap or an overlap."""
    monkeypatch.setattr("sureline.web.pages.inbox.PAGE", 2)
    for number in range(5):
        asked(served, f"a{number}", "a letter" if number != 2 else "a bill")
    first = visitor.get("/?find=letter&slice=replies").text
    later = re.search(r'<a href="([^"]*)">Later</a>', first)
    assert later is not None
    place = later.group(1).replace("&amp;", "&")
    assert parse_qs(urlsplit(place).query) == {
        "offset": ["2"],
        "find": ["letter"],
        "slice": ["replies"],
    }
    second = visitor.get(place).text
    assert [*listed(first), *listed(second)] == ["a0", "a1", "a3", "a4"]
    assert "Later" not in second


def test_a_bound_key_finds_nothing_of_other_slices(served: Served) -> None:
    """Search, tabs and the next item keep to the key's slices, whatever the address says."""
    invoice(served, "a", "a secret")
    asked(served, "b", "a letter")
    bound = Visitor(served, secret=served.make_key(REVIEWER, slices=("replies",)))
    for query in (
        "find=secret",
        "slice=invoices&find=secret",
        "reason=forced",
        "stakes=reversible",
    ):
        page = bound.get(f"/?{query}").text
        assert "a secret" not in page
        assert "a" not in listed(page)
    assert tab(bound.get("/").text, "All") == "1"
    assert bound.get("/?find=a").status_code == 303
    assert bound.get("/reviews/a").status_code == 403
    sent = bound.post("/next", **{"in": "find=secret"})
    assert sent.headers["location"] == "/?find=secret"


def test_an_audit_shows_no_reason_in_the_list(tmp_path: Path) -> None:
    """An auditor does not learn from the list, or by searching it, what the gate thought."""
    policy = POLICY.replace("mode: route", "mode: route\n    audit_rate: 1.0", 1)
    with serve(tmp_path, policy=policy) as served:
        made = served.decide(id="a", task="read the invoice").json()
        codes = [reason["code"] for reason in made["reasons"]]
        visitor = Visitor(served)
        assert listed(visitor.get("/?find=invoice&kind=audit").text) == ["a"]
        for code in codes:
            assert listed(visitor.get(f"/?reason={code}").text) == []


# The next item


def place_of(reply: Any) -> str:
    return str(reply.headers["location"]).partition("?")[0]


def test_the_next_item_stays_in_the_view(served: Served, visitor: Visitor) -> None:
    """After a verdict, a skip or `Next` comes what matches the filter, and then the list of it."""
    for number in range(3):
        invoice(served, f"i{number}", stakes="irreversible")
        asked(served, f"a{number}", "a letter to find")
    view = "find=letter"
    first = visitor.post("/next", **{"in": view})
    assert place_of(first) == "/reviews/a0"
    page = visitor.get(first.headers["location"]).text
    assert value_of(page, "in") == view
    second = visitor.decide("a0", "reject", **{"in": view})
    assert place_of(second) == "/reviews/a1"
    assert parse_qs(urlsplit(second.headers["location"]).query) == {"done": ["a0"], "in": [view]}
    third = visitor.post("/next", leaving="a1", **{"in": view})
    assert place_of(third) == "/reviews/a2"
    assert state(served, "a1") == ("pending", None), "what was left is given back"
    fourth = visitor.decide("a2", "skip", **{"in": view})
    assert place_of(fourth) == "/reviews/a1"
    last = visitor.decide("a1", "reject", **{"in": view})
    assert last.headers["location"] == "/?find=letter&done=a1"


def state(served: Served, name: str) -> tuple[str, str | None]:
    found = served.call("GET", f"/v1/reviews/{name}", REVIEWER).json()["review"]
    return found["state"], found["claimed_by"]


@pytest.mark.parametrize("view", ["", "slice=replies", "stakes=reversible", "reason=forced"])
def test_next_is_another_item_than_the_one_in_front(
    served: Served, visitor: Visitor, view: str
) -> None:
    """Also where nobody has claimed it; and with nothing else, the list."""
    for name in ("a", "b"):
        asked(served, name)
    sent = visitor.post("/next", leaving="a", **{"in": view})
    assert place_of(sent) == "/reviews/b"
    sent = visitor.post("/next", leaving="b", **{"in": view})
    assert place_of(sent) == "/reviews/a"
    assert state(served, "b") == ("pending", None)
    visitor.decide("b", "reject")
    assert place_of(visitor.post("/next", leaving="a", **{"in": view})) == "/"


def test_next_among_ones_own_goes_round(served: Served, visitor: Visitor) -> None:
    """Looking through what one holds gives nothing of it back."""
    for name in ("a", "b", "c"):
        asked(served, name)
        visitor.decide(name, "claim")
    seen, at = [], "a"
    for _ in range(3):
        at = place_of(visitor.post("/next", leaving=at, **{"in": "state=mine"})).rpartition("/")[2]
        seen.append(at)
    assert seen == ["b", "c", "a"]
    assert {state(served, name)[0] for name in ("a", "b", "c")} == {"claimed"}


def test_two_reviewers_in_one_view_get_two_items(served: Served, visitor: Visitor) -> None:
    """What somebody has is not offered to another, in a view as anywhere."""
    asked(served, "a", "a letter")
    asked(served, "b", "a letter")
    other = Visitor(served, ADMIN)
    view = {"in": "find=letter"}
    assert place_of(visitor.post("/next", **view)) == "/reviews/a"
    assert place_of(other.post("/next", **view)) == "/reviews/b"
    assert (
        place_of(
            Visitor(served, secret=served.make_key(REVIEWER, name="third")).post("/next", **view)
        )
        == "/"
    )


def test_a_verdict_can_be_answered_with_the_next_item(served: Served, visitor: Visitor) -> None:
    """A script that asks for it gets the item at once, with the address to show it under."""
    asked(served, "a")
    asked(served, "b")
    reply = visitor.decide("a", "reject", direct="1", **{"in": "slice=replies"})
    assert reply.status_code == 200
    at = re.search(r'data-at="([^"]*)"', reply.text)
    assert at is not None
    address = at.group(1).replace("&amp;", "&")
    assert address == "/reviews/b?done=a&in=slice%3Dreplies"
    assert "You have rejected a" in reply.text
    again = visitor.get(address).text
    assert "You have rejected a" in again
    assert value_of(again, "in") == value_of(reply.text, "in") == "slice=replies"
    assert visitor.decide("b", "reject", direct="1").headers["location"] == "/?done=b"


# Saved views


def test_a_view_is_saved_found_and_deleted(served: Served, visitor: Visitor) -> None:
    """It is a tab with its count, for its owner alone."""
    invoice(served, "i")
    asked(served, "a", "a letter")
    sent = visitor.post("/views", act="save", name="  Only   invoices ", **{"in": "slice=invoices"})
    assert sent.headers["location"] == "/?slice=invoices"
    page = visitor.get("/?slice=invoices").text
    assert 'href="/?slice=invoices" aria-current="page">Only invoices <b>1</b>' in page
    assert tab(page, "All") == "2"
    assert tab(page, "Mine") == "0"
    assert value_of(page, "name") == "Only invoices"
    assert tab(Visitor(served, ADMIN).get("/").text, "Only invoices") is None
    visitor.post("/views", act="delete", name="Only invoices", **{"in": ""})
    assert tab(visitor.get("/").text, "Only invoices") is None


def test_a_view_that_compares_is_counted_beside_the_page(served: Served, visitor: Visitor) -> None:
    """The page waits for no search; a script asks, and what was counted is remembered."""
    asked(served, "a", "a letter")
    visitor.post("/views", act="save", name="letters", **{"in": "find=letter"})
    assert tab(visitor.get("/").text, "letters") == "…"
    assert tab(visitor.get("/views").text, "letters") == "1"
    assert tab(visitor.get("/").text, "letters") == "1"


def test_the_inbox_opens_with_the_chosen_view(served: Served, visitor: Visitor) -> None:
    """One view opens it; everything is still a click away, and another name takes its place."""
    invoice(served, "i")
    visitor.post("/views", act="save", name="one", opens="1", **{"in": "slice=replies"})
    visitor.post("/views", act="save", name="two", opens="1", **{"in": "slice=invoices"})
    assert visitor.get("/").headers["location"] == "/?slice=invoices"
    assert visitor.get("/?done=i").headers["location"] == "/?slice=invoices&done=i"
    assert listed(visitor.get("/?all=1").text) == ["i"]
    visitor.post("/views", act="save", name="two", **{"in": "slice=invoices"})
    assert visitor.get("/").status_code == 200


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ({"name": ""}, 422),
        ({"name": "x" * 41}, 422),
        ({"name": "a\u202eb"}, 422),
        ({"name": "a", "act": "burn"}, 422),
        ({"name": "a", "csrf": "wrong"}, 403),
    ],
)
def test_a_bad_view_is_refused(
    served: Served, visitor: Visitor, form: dict[str, str], status: int
) -> None:
    """A name is short and shows itself, a button is one of ours, a form is."""
    given = {"csrf": visitor.csrf, "act": "save", "in": "slice=replies", **form}
    assert visitor.client.post("/views", data=given).status_code == status
    assert "aria-current" not in visitor.get("/views?in=slice%3Dreplies").text


def test_views_are_bounded(served: Served, visitor: Visitor) -> None:
    """The thirteenth is refused; one of a known name is not."""
    for number in range(12):
        visitor.post("/views", act="save", name=f"view {number}", **{"in": ""})
    assert visitor.post("/views", act="save", name="more", **{"in": ""}).status_code == 409
    assert visitor.post("/views", act="save", name="view 3", **{"in": ""}).status_code == 303


def test_an_auditor_has_views_but_takes_nothing(served: Served) -> None:
    """Looking is for all people, taking for those who decide."""
    asked(served, "a")
    auditor = Visitor(served, AUDITOR)
    auditor.post("/views", act="save", name="mine alone", **{"in": "slice=replies"})
    assert tab(auditor.get("/").text, "mine alone") == "1"
    assert auditor.post("/next").status_code == 403
    assert "Next" not in auditor.get("/reviews/a").text
    assert served.call("GET", "/views", AGENT).status_code == 303


def test_signing_in_leads_back_to_the_whole_address(served: Served, visitor: Visitor) -> None:
    """A link to a view is one after signing in, too."""
    visitor.client.cookies.clear()
    sent = visitor.get("/?slice=replies&find=a+b")
    form = visitor.get(sent.headers["location"]).text
    assert value_of(form, "next") == "/?slice=replies&find=a+b"


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"find": " a  b ", "slice": "x y", "kind": "audit", "stakes": "high_cost"},
        {"state": "mine", "due": "24", "reason": "below threshold", "over": "yes"},
        {"find": "\ud800 & = + % ä", "kind": "nonsense", "due": "-1"},
        {"find": "x" * 1000},
    ],
)
def test_a_filter_is_the_same_after_its_address(given: dict[str, str]) -> None:
    """What an address says is read as it was written, and written in one way."""
    filters = Filters.of(given)
    again = Filters.read(filters.query)
    assert again.query == filters.query
    assert Filters.read(again.query) == again
    assert len(filters.find) <= filters_module.LONGEST


def test_a_broken_address_is_no_filter() -> None:
    """More parts than there are choices, or none, narrow nothing."""
    assert Filters.read("&".join(["find=a"] * 100)) == Filters()
    assert Filters.read("") == Filters()
