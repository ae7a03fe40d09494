"""How people review: who may see what, on the page and over HTTP (R7, L12)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from sureline.testing import PinnedSampling
from tests.web.browsing import Visitor
from tests.web.holder import Holder, released
from tests.web.served import ADMIN, AGENT, AUDITOR, REVIEWER, Served, awaited, serve

POLICY = """\
version: 1
slices:
  letters:
    mode: log_only
    output: {structured: false}
    weights: {verification: 1}
    prose: [{max_length: 500}]
    review: {honeypots: 0.5, double_review: 0}
  notes:
    mode: log_only
    output: {structured: false}
    weights: {verification: 1}
    prose: [{max_length: 500}]
    review: {honeypots: 0, double_review: 1}
"""
LAZY, CAREFUL = "Lazy <b>Lee</b>", "Careful Kim"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A lead, one who approves everything and one who looks; its tests change nothing in it."""
    folder = tmp_path_factory.mktemp("reviewers")
    with serve(folder, policy=POLICY, change=PinnedSampling().pin) as served:
        fill(served)
        yield served


def fill(served: Served) -> None:
    """Let two people decide, planted errors among it, and some of it twice."""
    agent, past = Holder(served, "agent", AGENT), Holder(served, "Past", REVIEWER)
    lazy, careful = Holder(served, LAZY, REVIEWER), Holder(served, CAREFUL, REVIEWER)
    for number in range(16):
        made = agent.submit("letters", f"Order {number} costs {1000 + number} euros.")
        past.decide(made, "reject" if number % 2 else "approve")
    released(served)
    asked = {
        agent.submit("letters", f"Bill {number}: {70 + number} euros.") for number in range(16)
    }
    released(served)
    listed = past.call("GET", "/v1/reviews?limit=100").json()["reviews"]
    planted = [one["id"] for one in listed if one["id"] not in asked]
    assert len(planted) == 8
    for number, one in enumerate(planted):
        (lazy if number % 2 else careful).decide(one, "approve" if number % 2 else "reject")
    for number in range(6):
        made = agent.submit("notes", f"Note {number}: {40 + number} euros.")
        careful.decide(made, "approve" if number % 3 else "reject")
    released(served)
    while (second := past.next()) is not None:
        past.decide(second, "approve")
    released(served)


def read(served: Served, secret: str, path: str = "/v1/reviewers") -> httpx.Response:
    with served.client(secret=secret) as client:
        return client.get(path)


def test_the_lead_sees_everybody(world: Served) -> None:
    """Time, streaks, planted errors and agreement of each person, per slice, with intervals."""
    found = world.call("GET", "/v1/reviewers", ADMIN).json()
    people = {one["name"]: one for one in found["reviewers"]}
    assert set(people) == {LAZY, CAREFUL, "Past"}
    assert found["flagged"] == [LAZY]
    lazy, careful = people[LAZY], people[CAREFUL]
    assert (lazy["honeypots"]["caught"], lazy["honeypots"]["shown"]) == (0, 4)
    assert (lazy["approved"], lazy["streak"], lazy["items"]) == (4, 4, 4)
    assert careful["honeypots"]["share"] == 1.0
    assert careful["honeypots"]["interval"][0] < 0.5
    assert [one["slice_key"] for one in careful["slices"]] == ["letters", "notes"]
    assert careful["agreement"]["pairs"] == 6
    low, high = careful["agreement"]["interval"]
    assert low <= high
    (pair,) = found["agreement"]["by_pair"]
    assert pair["people"] == [CAREFUL, "Past"]


@pytest.mark.parametrize("name", [LAZY, CAREFUL])
def test_a_reviewer_sees_themselves_only(world: Served, name: str) -> None:
    """Neither the figures nor the names of others are in the answer or on the page."""
    holder = Holder(world, name, REVIEWER)
    found = read(world, holder.secret).json()
    assert [one["name"] for one in found["reviewers"]] == [name]
    assert found["agreement"] == {"by_slice": {}, "by_pair": []}
    page = Visitor(world, secret=holder.secret).get("/reviewers")
    assert page.status_code == 200
    assert "Your reviews" in page.text
    for other in {"Lazy", "Careful", "Past"} - {name.split()[0]}:
        assert other not in page.text
        assert other not in read(world, holder.secret).text
    assert ("too few for somebody who looks" in page.text) is (name == LAZY)


def test_the_page_of_the_lead_says_who_and_why(world: Served) -> None:
    """Each person is a row with what was noticed; a warning says why in plain words."""
    page = Visitor(world, ADMIN).get("/reviewers").text
    assert "Lazy &lt;b&gt;Lee&lt;/b&gt;" in page
    assert "<b>Lee" not in page
    assert "0 of 4 planted errors were noticed: too few for somebody who looks" in page
    assert "certify nothing anywhere meanwhile" in page
    assert page.count('class="interval"') >= 4
    assert "Do two people say the same?" in page


@pytest.mark.parametrize("role", [AGENT, AUDITOR])
def test_nobody_else_sees_any(world: Served, role: str) -> None:
    """An agent's and an auditor's key are refused; an auditor's page has no link to it."""
    assert world.call("GET", "/v1/reviewers", role).status_code == 403  # type: ignore[arg-type]
    if role == AUDITOR:
        visitor = Visitor(world, AUDITOR)
        assert visitor.get("/reviewers").status_code == 403
        assert "/reviewers" not in visitor.get("/").text


def test_the_lead_of_some_slices_sees_these(world: Served) -> None:
    """An admin's key that is bound to slices shows how people worked there."""
    secret = world.make_key(ADMIN, name="Lead", slices=("notes",))
    found = read(world, secret).json()
    assert {one["slice_key"] for each in found["reviewers"] for one in each["slices"]} == {"notes"}
    assert LAZY not in {one["name"] for one in found["reviewers"]}


def test_labels_left_out_are_counted_and_nobody_is_named(world: Served) -> None:
    """Reports and certificates say how many labels do not count, and not whose they were."""
    found = world.call("GET", "/v1/reports/latest", AUDITOR)
    assert found.status_code == 200
    assert "Lazy" not in found.text
    assert {one["slice_key"]: one["precision"]["excluded"] for one in found.json()["slices"]} == {
        "letters": 0,
        "notes": 0,
    }
    made = world.call("POST", "/v1/calibrations", ADMIN).json()
    assert [one["labels_excluded"] for one in made["uncertified"]] == [0, 0]


def test_figures_of_single_people_end_after_ninety_days(tmp_path: Path) -> None:
    """What is older is neither shown nor counted."""
    with serve(tmp_path, policy=POLICY, change=PinnedSampling().pin) as served:
        agent, ann = Holder(served, "agent", AGENT), Holder(served, "Ann", REVIEWER)
        ann.decide(agent.submit("notes"))
        released(served)
        assert len(served.call("GET", "/v1/reviewers", ADMIN).json()["reviewers"]) == 1
        served.clock.advance(timedelta(days=91))
        assert served.call("GET", "/v1/reviewers", ADMIN).json()["reviewers"] == []
        assert awaited(served.services.reviewers.everybody()).reviewers == ()


def test_the_lead_is_told_where_nothing_could_be_planted(tmp_path: Path) -> None:
    """A slice without labels has nothing to make a known error of: page and answer say why."""
    with serve(tmp_path, policy=POLICY, change=PinnedSampling().pin) as served:
        agent = Holder(served, "agent", AGENT)
        released(served)
        for number in range(4):
            agent.submit("letters", f"Order {number} costs {1000 + number} euros.")
        released(served)
        (found,) = served.call("GET", "/v1/reviewers", ADMIN).json()["unplanted"]
        assert (found["slice_key"], found["reason"]) == ("letters", "no_material")
        page = Visitor(served, secret=served.keys[ADMIN]).get("/reviewers")
        assert found["sentence"] in page.text
        reviewer = served.call("GET", "/v1/reviewers", REVIEWER)
        assert reviewer.json()["unplanted"] == []
        own = Visitor(served, secret=served.keys[REVIEWER]).get("/reviewers")
        assert "could be planted" not in own.text
