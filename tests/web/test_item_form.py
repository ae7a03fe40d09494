"""The form of an item: its words, its errors, its undo, what holds while a switch is on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sureline.core.values.switch import Switch
from sureline.testing import MOMENT
from sureline.web.pages.standing import standing_of
from tests.web.browsing import Visitor, value_of
from tests.web.served import REVIEWER, HeldSwitch, Served, awaited, serve

POLICY = f"""\
version: 1
slices:
  invoices:
    mode: route
    weights: {{verification: 1}}
    output:
      json_schema:
        type: object
        required: [total, count]
        properties:
          total: {{type: number, title: "Total <b>due</b>", description: "With tax & fees."}}
          count: {{type: integer}}
          note: {{type: string, maxLength: 9}}
    review: {{honeypots: 0, double_review: 0}}
    hypothesis: {{auto: 0.95, allow_uncertified: true, starts: {MOMENT.date()}}}
"""
OUTPUT = {"total": 12, "count": 3, "note": "a bill"}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serve(tmp_path, policy=POLICY) as one:
        yield one


@pytest.fixture
def visitor(served: Served) -> Visitor:
    return Visitor(served)


def asked(served: Served, output: Any = OUTPUT, **more: Any) -> str:
    source = [{"ref": "source", "text": "Total: 12 EUR"}]
    given = {"output": output, "source": source, "force_human": True, **more}
    return str(served.decide(**given).json()["id"])


def review(served: Served, review_id: str) -> Any:
    return served.call("GET", f"/v1/reviews/{review_id}", REVIEWER).json()["review"]


# Words


def test_a_field_has_its_schema_s_title_with_its_path_beneath(
    served: Served, visitor: Visitor
) -> None:
    """Title and description are the author's words, escaped; without a title the path is it."""
    page = visitor.get(f"/reviews/{asked(served)}").text
    labels = dict(re.findall(r'<label for="(field/\w+)">(.*?)</label>', page))
    assert labels == {
        "field/total": "Total &lt;b&gt;due&lt;/b&gt; <code>total</code>",
        "field/count": "count",
        "field/note": "note",
    }
    assert "With tax &amp; fees." in page


def test_a_source_without_a_name_is_called_source(served: Served, visitor: Visitor) -> None:
    """`source` is not named twice, and what follows the deadline is a sentence."""
    page = visitor.get(f"/reviews/{asked(served)}").text
    assert "<h2>Source <span" in page
    assert "Source source" not in page
    assert not re.search(r"UTC·|UTC</", page)
    named = asked(served, {**OUTPUT, "total": 13}, source=[{"ref": "mail", "text": "12"}])
    assert "<h2>Source: mail" in visitor.get(f"/reviews/{named}").text


@pytest.mark.parametrize(
    ("decision", "said"),
    [
        ({}, "Nothing could be measured, so there is no figure."),
        (
            {"composite": 0.5, "confidence": 0.5},
            "Together 0.500. There is no threshold yet, so nothing like it acts on its own.",
        ),
        (
            {"composite": 1.0, "calibrated": 0.997, "confidence": 1.0, "threshold": 1.0},
            "Together 1.000. Calibrated 0.997: how often outputs like it were right. "
            "The certified threshold is 1.000, on the scale before calibration.",
        ),
        (
            {"composite": 1.0, "calibrated": 0.9, "confidence": 0.9, "threshold": 0.8},
            "Together 1.000. Calibrated 0.900: how often outputs like it were right. "
            "The certified threshold is 0.800, on the calibrated scale.",
        ),
        (
            {"composite": 0.5, "confidence": 0.7, "threshold": 0.8, "uncertified": True},
            "Together 0.500. The uncertified threshold is 0.800, with which 0.700 is compared.",
        ),
        (
            {"composite": 0.5, "confidence": 0.5, "threshold": 0.8},
            "Together 0.500. The certified threshold is 0.800.",
        ),
    ],
    ids=["nothing", "no threshold", "before", "calibrated", "its own", "one scale"],
)
def test_each_figure_is_said_with_its_scale(decision: dict[str, Any], said: str) -> None:
    """A figure has one name, and a threshold the scale on which it is, where there are two."""
    assert standing_of(decision) == said


def test_after_an_edit_the_figure_is_said_of_what_was_measured_again() -> None:
    """An edit's figure is not compared with a threshold."""
    said = standing_of({"composite": 0.5, "threshold": 0.4}, is_rescored=True)
    assert said == "Together 0.500, of what could be measured again."


# Errors


def test_all_wrong_fields_are_named_at_once_beside_each(served: Served, visitor: Visitor) -> None:
    """Each error stands at its field, once, and all that was typed stays."""
    review_id = asked(served)
    typed = {"field/total": "twelve", "field/count": "", "field/note": "a b", "comment": "hm"}
    refused = visitor.decide(review_id, "edit", **typed)
    assert refused.status_code == 422
    assert "Nothing was recorded. total: expected a number such as 1240.5; count: " in refused.text
    assert "total: total:" not in refused.text
    for name in ("field/total", "field/count"):
        described = rf'name="{name}"[^>]* aria-invalid="true" aria-describedby="{name}-fault"'
        assert re.search(described, refused.text)
        assert f'<p class="fault" id="{name}-fault">expected a number' in refused.text
    assert refused.text.count('class="fault"') == 2
    assert {name: value_of(refused.text, name) for name in typed} == typed


def test_what_the_schema_objects_to_stands_at_its_field(served: Served, visitor: Visitor) -> None:
    """An edit that breaks the schema is refused in words beside the field, without our names."""
    review_id = asked(served)
    refused = visitor.decide(review_id, "edit", **{"field/count": "3.5", "field/total": "1"})
    assert refused.status_code == 422
    assert 'id="field/count-fault"' in refused.text
    assert "edited: the edited" not in refused.text
    assert value_of(refused.text, "field/total") == "1"


# Undo


@pytest.mark.parametrize(
    "typed",
    [
        {"field/total": "13.5", "comment": "a slip", "reason": "wrong_value"},
        {"as": "json", "edited": '{"total": 1, "count": 2, "more": [1]}'},
    ],
    ids=["fields", "json"],
)
def test_an_edit_can_be_taken_back_and_changed_again(
    served: Served, visitor: Visitor, typed: dict[str, str]
) -> None:
    """The item is as it was, this person's, with the edit typed into its form."""
    review_id, other = asked(served), asked(served, {**OUTPUT, "total": 99})
    done = visitor.decide(review_id, "edit", **typed)
    assert done.headers["location"] == f"/reviews/{other}?done={review_id}"
    page = visitor.get(done.headers["location"]).text
    assert f"You have edited {review_id}." in page
    assert 'value="undo"' in page
    assert 'value="undo"' in visitor.get(f"/reviews/{review_id}").text
    back = visitor.post(f"/reviews/{review_id}", act="undo", leaving=other)
    assert back.status_code == 200
    assert f'data-at="/reviews/{review_id}"' in back.text
    assert value_of(back.text, "as") == typed.get("as", "fields")
    for name in {"field/total", "comment"} & set(typed):
        assert value_of(back.text, name) == typed[name]
    assert 'data-was="12"' in back.text or "edited" in typed
    chosen = re.findall(r'name="reason" value="(\w+)"[^>]* checked', back.text)
    assert chosen == ([typed["reason"]] if "reason" in typed else [])
    found = review(served, review_id)
    assert (found["state"], found["claimed_by"], found["verdict"]) == (
        "claimed",
        "a reviewer",
        None,
    )
    assert served.call("GET", f"/v1/reviews/{review_id}", REVIEWER).json()["output"] == OUTPUT
    assert review(served, other)["state"] == "pending"
    form = {
        "digest": value_of(back.text, "digest"),
        "as": "json",
        "edited": '{"total":5,"count":5}',
    }
    assert visitor.post(f"/reviews/{review_id}", act="edit", **form).status_code == 303
    served.clock.advance(timedelta(seconds=11))
    late = visitor.post(f"/reviews/{review_id}", act="undo")
    assert late.status_code == 409


# Switches


def test_a_switch_that_is_on_is_said_and_the_page_says_what_using_does(
    served: Served, visitor: Visitor
) -> None:
    """Inbox and item name it; what the item's page says of approving is what happens then."""
    review_id = asked(served)
    other = Switch(
        workspace="default",
        scope="slice:replies",
        on=True,
        reason="another",
        by="ada",
        changed_at=served.clock.now(),
    )
    switch = Switch(
        workspace="default",
        scope="global",
        on=True,
        reason="a bad batch",
        by="ada",
        changed_at=served.clock.now(),
    )
    assert "switch is on" not in visitor.get("/").text
    for one in (other, switch):
        awaited(served.services.ledger.set_switch(one))
    assert "2 switches are on: <b>global</b>, <b>slice:replies</b>." in visitor.get("/").text
    page = visitor.get(f"/reviews/{review_id}").text
    assert "1 switch is on: <b>global</b>." in page
    assert "what a person approves is handed out" in page
    visitor.decide(review_id, "approve")
    served.clock.advance(timedelta(seconds=11))
    assert served.call("POST", f"/v1/decisions/{review_id}/consume").status_code == 200


def test_the_environment_s_switch_and_that_of_a_batch_are_said(tmp_path: Path) -> None:
    """An item names the switch of its own batch, and no other batch's."""
    with serve(tmp_path, policy=POLICY) as served:
        mine = asked(served, batch_id="b-1")
        other = asked(served, {**OUTPUT, "total": 99}, batch_id="b-2")
        switch = Switch(
            workspace="default",
            scope="batch:b-1",
            on=True,
            reason="odd",
            by="ada",
            changed_at=served.clock.now(),
        )
        awaited(served.services.ledger.set_switch(switch))
        visitor = Visitor(served)
        assert "<b>batch:b-1</b>" in visitor.get(f"/reviews/{mine}").text
        assert "switch is on" not in visitor.get(f"/reviews/{other}").text
        hard = served.services.plugins.hard_switch
        assert isinstance(hard, HeldSwitch)
        hard.on.append(switch)
        assert "switch is on" in visitor.get(f"/reviews/{other}").text


# A session that ended


def test_a_form_without_a_session_records_nothing_and_leads_back(
    served: Served, visitor: Visitor
) -> None:
    """The sign-in page says so; after it the person is on the page that sent the form."""
    review_id = asked(served)
    visitor.client.cookies.clear()
    sender = f"{served.url}/reviews/{review_id}?in=kind%3Dreview"
    sent = visitor.client.post(
        f"/reviews/{review_id}", data={"act": "approve"}, headers={"referer": sender}
    )
    page = visitor.get(sent.headers["location"]).text
    assert "Your session ended; nothing was recorded." in page
    target = value_of(page, "next")
    assert target == f"/reviews/{review_id}?in=kind%3Dreview"
    back = visitor.client.post("/login", data={"key": served.keys[REVIEWER], "next": target})
    assert back.headers["location"] == target
    assert review(served, review_id)["verdict"] is None
    assert "session ended" not in visitor.get("/login").text


@pytest.mark.parametrize(
    ("path", "referer", "back"),
    [
        ("/reviews/some", "http://evil.example/reviews/other", "/reviews/some"),
        ("/reviews/some", "http://[", "/reviews/some"),
        ("/next", None, "/"),
        ("/reviews/some/hold", None, "/"),
    ],
)
def test_the_way_back_is_never_to_another_site(
    served: Served, visitor: Visitor, path: str, referer: str | None, back: str
) -> None:
    """A page of ours, or the inbox."""
    visitor.client.cookies.clear()
    sent = visitor.client.post(path, headers={} if referer is None else {"referer": referer})
    assert sent.headers["location"] == f"/login?ended=1&next={back}"
