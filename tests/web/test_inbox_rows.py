"""What each row of the inbox says, and deciding about many rows at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from sureline.web.pages.selection import PICK
from tests.web.browsing import Visitor
from tests.web.served import ADMIN, AGENT, AUDITOR, POLICY, REVIEWER, Served, awaited, serve

GROUNDED = """
  receipts:
    mode: human_only
    grounding: {fields: [total]}
"""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A server of one test's own, with a slice whose totals must stand in the source."""
    with serve(tmp_path, policy=POLICY.rstrip("\n") + GROUNDED) as one:
        yield one


@pytest.fixture
def visitor(served: Served) -> Visitor:
    """A reviewer who is signed in."""
    return Visitor(served)


def receipt(served: Served, name: str, total: Any = "2135.0", **fields: Any) -> str:
    made = served.decide(
        id=name,
        slice_key="receipts",
        output={"total": total},
        source=[{"ref": "receipt", "text": "in all 12.50"}],
        **fields,
    )
    assert made.status_code == 201, made.text
    return name


def asked(served: Served, name: str, **fields: Any) -> str:
    given = {"slice_key": "replies", "output": f"Dear {name}.", "force_human": True, **fields}
    made = served.decide(id=name, **given)
    assert made.status_code == 201, made.text
    return name


def row(page: str, name: str) -> str:
    """Return the row of an item."""
    found = re.search(
        rf"<tr data-row[^>]*>(?:(?!</tr>).)*/reviews/{name}\b.*?</tr>", page, re.DOTALL
    )
    assert found is not None, name
    return found.group()


def picks(page: str, *names: str) -> dict[str, str]:
    """Return what the checkboxes of these items send."""
    boxes = [
        re.search(
            r'<input type="checkbox" form="picked" name="([^"]+)" value="([^"]+)"', row(page, one)
        )
        for one in names
    ]
    return {found.group(1): unescape(found.group(2)) for found in boxes if found is not None}


def state(served: Served, name: str) -> str:
    found = served.call("GET", f"/v1/reviews/{name}", REVIEWER).json()["review"]
    return str(found["state"])


# What a row says


def test_a_row_says_what_was_found_and_how_sure_the_gate_is(
    served: Served, visitor: Visitor
) -> None:
    """The finding that matters most, and a bar; nothing where nothing was found."""
    receipt(served, "a")
    asked(served, "b")
    page = visitor.get("/").text
    assert "total: &#39;2135.0&#39; is not in the source" in row(page, "a")
    assert 'class="beam"' in row(page, "a")
    assert "line found" not in row(page, "b")


def test_what_was_found_is_escaped_and_spelled_out(served: Served, visitor: Visitor) -> None:
    """A finding quotes what an agent wrote."""
    receipt(served, "a", "<b>9\u202e9</b>")
    found = row(visitor.get("/").text, "a")
    assert "<b>" not in found
    assert "\u202e" not in found


def test_what_was_found_is_searched_and_erased(served: Served, visitor: Visitor) -> None:
    """The figure that is wrong leads to its item, until its payload is erased."""
    receipt(served, "a")
    receipt(served, "b", "12.50")
    page = visitor.get("/?find=2135.0").text
    assert "/reviews/a" in page
    assert "/reviews/b" not in page
    assert "not in outputs and sources" in page
    ledger, now = served.services.ledger, served.clock.now()
    awaited(ledger.erase("default", "a", by="dpo", reason="asked", at=now))
    for path in ("/?find=2135.0&over=1", "/?over=1", "/"):
        assert "is not in the source" not in visitor.get(path).text


def test_a_corrected_draft_has_its_old_finding_no_more(served: Served) -> None:
    """What was found is about what the agent wrote, not about what a person made of it."""
    with_two = Visitor(served)
    name = receipt(served, "a")
    assert "is not in the source" in row(with_two.get("/").text, name)
    reviews = served.services.store.reviews
    from dataclasses import replace

    from sureline.adapters.storage.queued import put_reviews

    item = awaited(reviews.get("default", name))
    edited = replace(item, version=2)
    awaited(
        served.services.store.reviews._database.write(
            lambda transaction: put_reviews(transaction, [(item, edited)])
        )
    )
    assert "is not in the source" not in row(with_two.get("/").text, name)


@pytest.mark.parametrize("blind", ["audit", "answer_first"])
def test_a_blind_row_shows_nothing_of_the_gate(tmp_path: Path, blind: str) -> None:
    """Neither auditors nor whoever answers first learn from the list what the gate thought."""
    how = "mode: route\n    audit_rate: 1.0" if blind == "audit" else "mode: route"
    policy = POLICY.replace("mode: route", how, 1)
    if blind == "answer_first":
        policy = policy.rstrip("\n") + GROUNDED + "    review: {answer_first: 1.0}\n"
    with serve(tmp_path, policy=policy) as one:
        if blind == "audit":
            one.decide(id="a", task="read the invoice")
        else:
            receipt(one, "a")
        found = row(Visitor(one).get("/").text, "a")
        assert 'class="level"' not in found
        assert "line found" not in found
        assert "checkbox" not in found


# Many at once


def test_what_is_selected_is_approved_and_taken_back(served: Served, visitor: Visitor) -> None:
    """Each as it was listed; all of it can be undone together, until the first is handed out."""
    for name in ("a", "b", "c"):
        asked(served, name)
    page = visitor.get("/").text
    done = visitor.post("/picked", act="approve", **{"in": ""}, **picks(page, "a", "b"))
    assert done.status_code == 200
    assert "2 of 2 approved." in done.text
    assert [state(served, one) for one in ("a", "b", "c")] == ["decided", "decided", "pending"]
    back = dict(re.findall(r'name="(pick-\d+)" value="([^"]+)">', done.text.partition("<h1>")[0]))
    undone = visitor.post("/picked", act="undo", **{"in": ""}, **back)
    assert "2 of 2 taken back." in undone.text
    assert state(served, "a") == state(served, "b") == "claimed", "as after any undo"


def test_what_became_of_a_selection_is_told_in_every_view(served: Served, visitor: Visitor) -> None:
    """Also where the view would lead on: to an item whose id is what is searched for."""
    asked(served, "a")
    page = visitor.get("/").text
    visitor.post("/views", act="save", name="one", opens="1", **{"in": "slice=receipts"})
    for view in ("find=a", ""):
        done = visitor.post("/picked", act="approve", **{"in": view}, **picks(page, "a"))
        assert done.status_code == 200
        assert "of 1 approved." in done.text


def test_each_that_is_left_is_named_with_the_reason(served: Served, visitor: Visitor) -> None:
    """One that was decided, changed, or has higher stakes holds up no other."""
    for name in ("a", "b", "c"):
        asked(served, name)
    page = visitor.get("/").text
    chosen = picks(page, "a", "b", "c")
    visitor.post("/picked", act="reject", **{"in": ""}, **picks(page, "b"))
    first, *_ = [one for one in chosen if row(page, "c").count(f'"{one}"')]
    chosen[first] = "0" * 64 + " c"
    asked(served, "hard", stakes="irreversible")
    asked(served, "own", stakes="irreversible")
    chosen[f"{PICK}90"] = "0" * 64 + " hard"
    chosen[f"{PICK}91"] = "0" * 64 + " nothing"
    done = visitor.post("/picked", act="approve", **{"in": "slice=replies"}, **chosen).text
    assert "1 of 5 approved." in done
    told = dict(re.findall(r'<li><a href="/reviews/([^"?]+)[^"]*">[^<]*</a>: ([^<]*)</li>', done))
    assert set(told) == {"b", "c", "hard", "nothing"}
    assert "only reversible items" in told["hard"]
    assert "no such review" in told["nothing"]
    assert state(served, "a") == "decided"
    assert state(served, "c") == state(served, "hard") == "pending"
    assert 'data-at="/?slice=replies"' in done, "a reload sends nothing again"


def test_only_what_may_be_decided_unread_has_a_checkbox(served: Served, visitor: Visitor) -> None:
    """Not higher stakes, not what somebody else is at, nothing for who only looks."""
    asked(served, "a")
    asked(served, "hard", stakes="irreversible")
    asked(served, "held")
    Visitor(served, ADMIN).post("/reviews/held", act="claim")
    page = visitor.get("/").text
    assert ["checkbox" in row(page, one) for one in ("a", "hard", "held")] == [True, False, False]
    assert 'id="picked"' not in Visitor(served, AUDITOR).get("/").text
    assert (
        "checkbox"
        not in visitor.get("/?over=1").text.partition("<tbody>")[2].partition("</tbody>")[0]
    )


def test_items_with_the_same_finding_are_marked_alike(served: Served, visitor: Visitor) -> None:
    """The figures may differ; another slice or another finding is something else."""
    receipt(served, "a", "2135.0")
    receipt(served, "b", "99.9")
    receipt(served, "c", None)
    asked(served, "d")
    page = visitor.get("/").text
    marks = {
        one: re.search(r'data-same="(\w+)"', row(page, one)).group(1)  # type: ignore[union-attr]
        for one in ("a", "b", "c", "d")
    }
    assert marks["a"] == marks["b"]
    assert len(set(marks.values())) == 3


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ({"act": "approve"}, 200),
        ({"act": "burn"}, 422),
        ({}, 422),
        ({"act": "approve", "csrf": "wrong"}, 403),
        ({"act": "reject", "pick-1": "%%% %ff%00"}, 200),
        ({"act": "reject", "pick-1": ""}, 200),
        ({"act": "approve", "pick-1": "d a", "pick-2": "d a"}, 422),
        ({"act": "approve", **{f"pick-{one}": f"d {one}" for one in range(101)}}, 422),
    ],
    ids=["none", "no button", "no act", "forged", "nonsense", "empty", "twice", "too many"],
)
def test_a_bad_selection_changes_nothing(
    served: Served, visitor: Visitor, form: dict[str, str], status: int
) -> None:
    """It is answered in words, and the item waits on."""
    asked(served, "a")
    given = {"csrf": visitor.csrf, "in": "", **form}
    assert visitor.client.post("/picked", data=given).status_code == status
    assert state(served, "a") == "pending"


def test_a_bound_key_decides_nothing_of_other_slices(served: Served) -> None:
    """Whatever a form names."""
    receipt(served, "a")
    bound = Visitor(served, secret=served.make_key(REVIEWER, slices=("replies",)))
    digest = served.call("GET", "/v1/reviews/a", REVIEWER).json()["review"]["digest"]
    for act in ("approve", "reject", "undo"):
        done = bound.post("/picked", act=act, **{"in": "", f"{PICK}1": f"{digest} a"})
        assert "0 of 1" in done.text
    assert state(served, "a") == "pending"


def test_nobody_decides_about_their_own(served: Served, visitor: Visitor) -> None:
    """An agent's key cannot come in at all; a person's own proposal has no checkbox."""
    assert Visitor(served, AGENT).post("/picked", act="approve").status_code in {303, 401, 403}
    made = served.call(
        "POST",
        "/v1/decisions",
        ADMIN,
        json={"id": "own", "slice_key": "replies", "task": "t", "output": "x", "force_human": True},
    )
    if made.status_code == 201:
        page = Visitor(served, ADMIN).get("/").text
        assert "checkbox" not in row(page, "own")


def test_what_is_handed_out_cannot_be_taken_back(served: Served, visitor: Visitor) -> None:
    """After the time to undo, each is named as it stands."""
    asked(served, "a")
    page = visitor.get("/").text
    chosen = picks(page, "a")
    visitor.post("/picked", act="reject", **{"in": ""}, **chosen)
    served.clock.advance(timedelta(minutes=5))
    again = Visitor(served).post("/picked", act="undo", **{"in": ""}, **chosen)
    assert "0 of 1 taken back." in again.text
    assert state(served, "a") == "decided"
