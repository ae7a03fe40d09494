"""Missions as pages: what waits stands first, and what others wrote is inert (M7, R13)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from sureline.application.ports.keys import ApiKey, Role
from sureline.core.values.mission import Cause, EventKind, MissionState
from sureline.web.pages.mission_chart import chart_of, ticks_to
from sureline.web.pages.mission_view import acts_of, bars_of
from sureline.web.pages.mission_words import CAUSES, EVENTS, STATES
from tests.web.controlled import signed_in
from tests.web.served import ADMIN, AUDITOR, MOMENT, REVIEWER, Served, serve
from tests.web.staged_missions import all_states, mission, put, told, turns, waiting


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with one mission of each state."""
    with serve(tmp_path_factory.mktemp("store")) as one:
        put(one, *all_states())
        yield one


@pytest.fixture
def reviewer(staged: Served) -> Iterator[httpx.Client]:
    """A browser in which a reviewer has signed in."""
    with signed_in(staged, REVIEWER) as one:
        yield one


def test_those_that_wait_stand_first(reviewer: httpx.Client) -> None:
    """The list begins with what is suspended, with the reason, and the badge counts them."""
    page = reviewer.get("/missions").text
    places = [page.index(name) for name in (">march-disputes", ">april-disputes", ">new<")]
    assert places == sorted(places)
    assert "The judge is not sure enough." in page
    assert ">2<span" in reviewer.get("/logbook").text, "the badge is on every page"


@pytest.mark.parametrize(
    ("query", "seen"),
    [
        ("?state=failed", {"vendor-sweep"}),
        ("?kind=migration", {"migrate-forty"}),
        ("?state=created&kind=reconciliation", {"new"}),
        ("?state=failed&kind=migration", set()),
        ("?state=nonsense&kind=migration", {"migrate-forty"}),
        ("?offset=50", set()),
    ],
)
def test_the_list_is_filtered(reviewer: httpx.Client, query: str, seen: set[str]) -> None:
    """State and kind narrow the list; a state that nobody knows does not."""
    page = reviewer.get(f"/missions{query}").text
    names = {"march-disputes", "vendor-sweep", "migrate-forty", "new"}
    assert {name for name in names if f'href="/missions/{name}"' in page} == seen
    assert ("No mission is like that" in page) is not seen


def test_an_empty_list_says_how_to_begin(tmp_path: Path) -> None:
    """Where there are none the page says what one is and what to write."""
    with serve(tmp_path) as served, signed_in(served, REVIEWER) as client:
        page = client.get("/missions").text
    assert "There are no missions yet" in page
    assert "evaluate_every: 5" in page


def test_a_mission_says_why_it_waits(reviewer: httpx.Client) -> None:
    """State, reason, figures, judge's words, limits, picture and links to each evaluation."""
    page = reviewer.get("/missions/march-disputes").text
    for text in (
        "The judge is not sure enough.",
        "every dispute is closed",
        "only a draft is seen",
        "184,000",
        "1 invocation did not say what they took",
        "the sixth is still open",
        'href="/decisions/march-disputes.1.5"',
        "<svg",
        "The next reminder is due 2026-01-05 09:40 UTC",
    ):
        assert text in page, text
    assert page.count('name="act"') == 5  # resume, complete, fail, extend, change
    assert "What the judge was shown" in page
    assert "Calls of tools <input" not in page, "a limit that there is not is not raised"


def test_nothing_that_others_wrote_is_alive(reviewer: httpx.Client) -> None:
    """Markup is text, what hides is spelled out, and the policy forbids scripts in the page."""
    answer = reviewer.get("/missions/of%20%3Cb%3Eevil%3C%2Fb%3E%2F%E2%80%AE")
    assert answer.status_code == 200
    assert "<script>alert" not in answer.text
    assert "\u202e" not in answer.text
    assert "U+202E" in answer.text
    assert "unsafe-inline" not in answer.headers["content-security-policy"]
    assert "style=" not in answer.text


def test_a_script_gets_the_part_that_moves(reviewer: httpx.Client) -> None:
    """Whoever asks as our script does gets the part without its frame, as in the page."""
    part = reviewer.get("/missions/march-disputes", headers={"hx-request": "true"}).text
    assert "<html" not in part
    assert part.strip() in reviewer.get("/missions/march-disputes").text


@pytest.mark.parametrize(
    ("role", "name", "acts"),
    [
        (REVIEWER, "somebody", {"resume", "complete", "fail", "extend"}),
        (ADMIN, "somebody", {"resume", "complete", "fail", "extend"}),
        (AUDITOR, "somebody", set()),
        (REVIEWER, "a reviewer", set()),
    ],
)
def test_who_may_answer(tmp_path: Path, role: Role, name: str, acts: set[str]) -> None:
    """Reviewers and admins may, auditors look on, and nobody answers for their own mission."""
    with serve(tmp_path) as served:
        put(served, waiting(submitted_by=name))
        with signed_in(served, role) as client:
            page = client.get("/missions/march-disputes").text
    shown = {act for act in ("resume", "complete", "fail", "extend") if f'value="{act}"' in page}
    assert shown == acts


def test_a_reviewer_changes_words_and_raises_limits(tmp_path: Path) -> None:
    """Lines are criteria, what is empty stays; a raised limit alone does not let it go on."""
    with serve(tmp_path) as served:
        put(served, waiting())
        path = "/missions/march-disputes"
        with signed_in(served, REVIEWER) as client:
            page = client.get(path).text
            form = {name: _hidden(page, name) for name in ("csrf", "seen")}
            raised = client.post(path, data={**form, "act": "extend", "hours": "2"}).text
            words = {"criteria": "five are closed\n\nnone is open\n", "objective": " "}
            client.post(path, data={**form, "act": "change", **words})
        found = served.call("GET", "/v1/missions/march-disputes", REVIEWER).json()
    assert "still suspended" in raised
    assert found["criteria"] == ["five are closed", "none is open"]
    assert (found["revision"], found["state"]) == (2, "suspended")


def _hidden(page: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found is not None
    return found[1]


def test_other_slices_are_not_seen(staged: Served) -> None:
    """A key of another slice sees no mission, no kind and no badge."""
    secret = staged.make_key(Role.REVIEWER, slices=("mission.migration",), name="bound")
    with signed_in(staged, secret=secret) as client:
        page = client.get("/missions").text
        assert "migrate-forty" in page
        assert "march-disputes" not in page
        assert "reconciliation" not in page
        assert "wait for a person</span>" not in page
        assert client.get("/missions/march-disputes").status_code == 403
        assert client.get("/missions/none").status_code == 404


def test_the_dashboard_counts_them(reviewer: httpx.Client) -> None:
    """How many wait and how many are at work, with a link to them."""
    page = reviewer.get("/dashboard").text
    assert "2 wait<small>2 at work" in page


def test_every_cause_event_and_state_has_words() -> None:
    """Whatever a mission says of itself, the page can say it."""
    assert set(CAUSES) == set(Cause)
    assert set(EVENTS) == set(EventKind)
    assert set(STATES) == set(MissionState)


def test_the_picture_leaves_out_what_says_nothing() -> None:
    """What has no confidence in [0, 1] is no point, nor what came late of an earlier objective."""
    one = mission("m", revision=2)
    rows = turns(one, 8, {2: 0.8, 6: 0.9})
    for odd in (
        {"achieved": True, "confidence": 0.99, "of_revision": 1, "counts": False},
        {"achieved": True, "confidence": float("nan")},
        {"achieved": True, "confidence": True},
        {"achieved": True, "confidence": 85},
        {"fault": "timeout"},
    ):
        rows.append(told(one, EventKind.EVALUATED, rows[-1].at - one.created_at, facts=odd))
    chart = chart_of(one, rows, threshold=0.7)
    assert [(p.confidence, p.decision_id) for p in chart.points] == [
        (0.8, "m.1.2"),
        (0.9, "m.1.6"),
    ]
    assert [p.x for p in chart.points] == [2 / 8, 6 / 8]


@pytest.mark.parametrize(
    ("last", "ticks"),
    [
        (1, [0, 1]),
        (7, [0, 1, 2, 3, 4, 5, 6, 7]),
        (11, [0, 2, 4, 6, 8, 11]),
        (20, [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20]),
        (100, [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]),
        (103, [0, 20, 40, 60, 80, 103]),
    ],
)
def test_the_axis_names_whole_invocations(last: int, ticks: list[int]) -> None:
    """Round numbers from 0, and the last that was done, none written over another."""
    assert ticks_to(last) == ticks


def test_an_invocation_is_one_row_of_the_timeline(reviewer: httpx.Client) -> None:
    """It says to the second when it ended, and what it took; no row says that it began."""
    page = reviewer.get("/missions/march-disputes").text
    assert "2026-01-05 08:39:00 UTC" in page
    assert ">invocation 11</th>" in page
    assert 'took <span class="mono">4 min</span>' in page
    assert "invocation begun" not in page
    assert "Confidence by invocation" in page


def test_a_bar_is_full_at_its_limit_and_never_beyond() -> None:
    """What is taken beyond a limit fills its bar; what has no limit has none."""
    one = mission("m", invocations=25, max_invocations=20)
    bars = {bar.name: bar for bar in bars_of(one, MOMENT)}
    assert bars["Invocations"].share == 1.0
    assert bars["Invocations"].is_over
    assert bars["Calls of tools"].share is None
    assert bars["Time"].share == 0.25


def test_what_is_over_is_only_reopened_by_a_limit() -> None:
    """Completed is final; failed goes on only where a limit of time or turns is raised."""
    key = ApiKey(
        id="k",
        name="ada",
        role=Role.REVIEWER,
        workspace="default",
        slices=(),
        created_at=MOMENT,
    )
    found = {
        (state, cause): acts_of(key, mission("m", state=state, cause=cause))
        for state, cause in (
            (MissionState.COMPLETED, Cause.ACHIEVED),
            (MissionState.FAILED, Cause.CEILING),
            (MissionState.FAILED, Cause.PERSON),
            (MissionState.ACTIVE, Cause.STARTED),
        )
    }
    assert list(found.values()) == [
        frozenset(),
        frozenset({"extend"}),
        frozenset(),
        frozenset({"suspend", "complete", "fail", "extend", "change"}),
    ]
