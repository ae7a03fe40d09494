"""An item's page: what a second model objects, what happened to its like, what approving does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from sureline.core.values.verdict import Verdict
from sureline.testing import MOMENT, FakeJudge
from tests.web.browsing import Visitor
from tests.web.served import ADMIN, REVIEWER, Served, awaited, serve

POLICY = f"""\
version: 1
action_classes:
  transfer: {{stakes: irreversible, approvals: 3}}
slices:
  letters:
    mode: route
    weights: {{verification: 0.5, history: 0.25, judge: 0.25}}
    output: {{structured: false}}
    prose: [{{max_length: 500}}]
    history: {{neighbours: 2}}
    judge: {{model: "test:judge", otherwise: 1.0}}
    review: {{honeypots: 0, double_review: 0}}
    hypothesis: {{auto: 0.95, allow_uncertified: true, starts: {MOMENT.date()}}}
"""
OBJECTION = "It promises <b>a refund</b>\u202e, which the mail does not."


@pytest.fixture
def judge() -> FakeJudge:
    says = Verdict(agrees=False, confidence=0.9, failure_mode="invented", reason=OBJECTION)
    return FakeJudge(says)


@pytest.fixture
def served(tmp_path: Path, judge: FakeJudge) -> Iterator[Served]:
    with serve(tmp_path, policy=POLICY, judge=judge) as one:
        yield one


ABOUT = {"Bo": "a parcel that came late, twice in one week", "Di": "a broken chair"}
"""Where nothing differs, history says nothing."""


def submit(served: Served, name: str = "Ada", **more: Any) -> str:
    about = ABOUT.get(name, "a parcel that came late")
    given = {
        "slice_key": "letters",
        "task": f"Answer the complaint of {name} about {about}",
        "output": f"Dear {name}, we are sorry about the parcel and send another one.",
        "force_human": True,
    }
    made = served.decide(ADMIN, **{**given, **more})  # whose task is believed
    return str(made.json()["id"])


def decide(served: Served, review_id: str, action: str) -> None:
    path = f"/v1/reviews/{review_id}"
    digest = served.call("GET", path, REVIEWER).json()["review"]["digest"]
    body = {"action": action, "digest": digest}
    assert served.call("POST", f"{path}/decide", REVIEWER, json=body).status_code == 200
    served.clock.advance(timedelta(seconds=11))
    awaited(served.services.desk.settle())


def block(page: str, heading: str) -> str:
    """Return what stands under a heading, up to the next one of its rank or above."""
    found = re.search(rf"<h[23][^>]*>{re.escape(heading)}</h[23]>(.*?)<h[23]", page, re.DOTALL)
    assert found is not None, heading
    return found.group(1)


def test_a_judges_objection_is_said_in_its_words(served: Served) -> None:
    """Its words stand under a heading of their own, escaped, with what hides spelled out."""
    page = Visitor(served).get(f"/reviews/{submit(served, force_human=False)}").text
    said = block(page, "What the judge objects")
    assert "It promises &lt;b&gt;a refund&lt;/b&gt;" in said
    assert '<span class="hidden-mark">U+202E</span>' in said
    assert "\u202e" not in page


def test_without_an_objection_there_is_no_such_heading(served: Served, judge: FakeJudge) -> None:
    """A judge that agrees objects to nothing, and no empty heading says that it did."""
    judge.says = Verdict(agrees=True, confidence=0.9)
    made = submit(served, force_human=False, action_class="transfer")
    assert judge.asked
    assert "What the judge objects" not in Visitor(served).get(f"/reviews/{made}").text


def test_similar_cases_come_with_what_was_said_of_them(served: Served) -> None:
    """Each names how alike it is, its task and output, and whether it was right."""
    for name, action in (("Bo", "approve"), ("Cy", "reject"), ("Di", "approve")):
        decide(served, submit(served, name), action)
    found = block(Visitor(served).get(f"/reviews/{submit(served)}").text, "Similar past cases")
    rows = {
        name: row
        for row in re.findall(r"<li>(.*?)</li>", found, re.DOTALL)
        for name in ("Bo", "Cy")
        if f"Dear {name}," in row
    }
    assert '<span class="state good">right</span>' in rows["Bo"]
    assert '<span class="state bad">wrong</span>' in rows["Cy"]
    for name, row in rows.items():
        assert re.search(r"0\.\d\d alike", row)
        assert f"complaint of {name}" in row


def test_an_erased_case_keeps_its_verdict_only(served: Served) -> None:
    """What was erased is no longer quoted on other items' pages."""
    past, other = submit(served, "Bo"), submit(served, "Di")
    for one in (past, other):
        decide(served, one, "reject")
    later = submit(served)
    erased = {"by": "dpo", "reason": "asked", "at": served.clock.now()}
    awaited(served.services.ledger.erase("default", past, **erased))
    page = Visitor(served).get(f"/reviews/{later}").text
    assert "its content was erased" in block(page, "Similar past cases")
    assert "complaint of Bo" not in page


def test_alternatives_and_claims_stand_apart_from_findings(served: Served) -> None:
    """What else the agent thought of, and what would make it so, is shown as its claim."""
    made = submit(
        served, alternatives=[{"output": "A refund", "if": "the parcel is lost"}], reasoning="Kind."
    )
    page = Visitor(served).get(f"/reviews/{made}").text
    claims = page[page.index('<div class="claims">') :]
    claims = claims[: claims.index("</div>")]
    assert "Nothing here was checked." in claims
    assert "the parcel is lost" in unescape(claims)
    assert "<dt>alternatives</dt>" in claims
    assert "the parcel is lost" not in page.replace(claims, "")


def test_values_are_marked_where_they_stand(served: Served) -> None:
    """Of two sources the one that has the value marks it, at its place and with its field."""
    source = [
        {"ref": "order", "text": "Order 4711 for <Ada> costs 12.50 EUR."},
        {"ref": "mail", "text": "Nothing of it."},
    ]
    made = submit(served, output={"order": "4711", "total": 12.5}, source=source)
    page = Visitor(served).get(f"/reviews/{made}").text
    assert 'Order <mark title="order">4711</mark> for &lt;Ada&gt;' in page
    assert '<mark title="total">12.50</mark>' in page
    assert "Nothing of it." in page
    assert page.count("<mark") == 2


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "Approving hands it to the agent, which may act on it. Rejecting stops it"),
        (
            {"action_class": "transfer"},
            "Approving is not enough for the agent to do transfer with it: 2 more must approve.",
        ),
    ],
    ids=["one approves", "three must"],
)
def test_the_page_says_what_a_verdict_does(served: Served, given: Any, said: str) -> None:
    """Both buttons are described by it, and how long it can be taken back is in it."""
    page = Visitor(served).get(f"/reviews/{submit(served, **given)}").text
    effect = re.search(r'<p id="effect">(.*?)</p>', page)
    assert effect is not None
    assert said in effect[1]
    assert "Undo: 10\N{NO-BREAK SPACE}s" in effect[1]
    assert page.count('aria-describedby="effect"') == 2


def test_what_approving_does_follows_the_approvals_that_are_left(served: Served) -> None:
    """With one approval of three it needs two, of which one more after this; then none."""
    made = submit(served, action_class="transfer")
    texts = []
    for number in range(3):
        visitor = Visitor(served, secret=served.make_key(ADMIN, name=f"person {number}"))
        page = visitor.get(f"/reviews/{made}").text
        texts.append(re.sub(r".*<p id=.effect.>(.*?)\..*", r"\1", page, flags=re.DOTALL))
        assert visitor.decide(made, "approve").status_code == 303
    assert texts == [
        "Approving is not enough for the agent to do transfer with it: 2 more must approve",
        "Approving is not enough for the agent to do transfer with it: one more must approve",
        "Approving hands it to the agent, which may do transfer with it",
    ]
