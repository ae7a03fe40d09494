"""Every page under hostile content: accessible, inert, within its window."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.browser.hostile import TEXTS, outputs
from tests.browser.watched import Watched
from tests.web.served import REVIEWER, Served, serve

pytest.importorskip("axe_playwright_python", reason="axe is not installed")

VIEWS = {
    "light": {"color_scheme": "light", "viewport": {"width": 1200, "height": 900}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1200, "height": 900}},
    "telephone": {"color_scheme": "light", "viewport": {"width": 390, "height": 800}},
}
ITEMS = 500
ACTIVE = (
    "iframe, object, embed, video, audio, style, base, img, meta[http-equiv], [onload], [onerror]"
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, dict[str, str]]]:
    """A server with 500 items, among them one of each hostile output, by name."""
    with serve(tmp_path_factory.mktemp("store")) as served:
        ids = {}
        for name, output in outputs().items():
            text = output if isinstance(output, str) else ""
            slice_key = "replies" if text else "invoices"
            made = served.decide(
                id=text if 0 < len(text) <= 200 and text.isprintable() else None,
                slice_key=slice_key,
                output=output,
                force_human=True,
                task=TEXTS["leaving the box"] + text[:2000],
                source=[{"ref": text[:60] or "a", "text": text[:30_000] or "total 12"}],
                reasoning=text[:3000] or TEXTS["styles"],
                alternatives=[TEXTS["bidi override (A27)"]],
            )
            assert made.status_code == 201, (name, made.text[:300])
            ids[name] = str(made.json()["review_id"])
        for number in range(ITEMS - len(ids)):
            served.decide(output={"total": number}, force_human=True)
        yield served, ids


@pytest.fixture(scope="module", params=VIEWS)
def window(hostile: Any, browser: Any, request: pytest.FixtureRequest) -> Iterator[Watched]:
    """A window of one size and colour scheme in which a reviewer is signed in."""
    served, _ = hostile
    one = Watched(browser.new_context(**VIEWS[request.param]), served.url)
    one.sign_in(served.keys[REVIEWER])
    yield one
    one.close()
    assert one.complaints == []


def fits(window: Watched) -> bool:
    return bool(
        window.page.evaluate(
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )
    )


@pytest.mark.parametrize(
    "path", ["/", "/?offset=400", "/?over=1", "/?find=none", "/nothing", "/reviewers"]
)
def test_lists_are_accessible_and_fit(window: Watched, path: str) -> None:
    """With 500 items, hostile ids among them, axe finds nothing serious and nothing sticks out."""
    window.open(path)
    assert window.faults() == []
    assert fits(window)


@pytest.mark.parametrize("name", sorted(outputs()))
def test_an_item_is_inert_whatever_an_agent_wrote(hostile: Any, window: Watched, name: str) -> None:
    """No element, style, link, script or image comes from an agent, and the page stays usable."""
    _, ids = hostile
    page = window.open(f"/reviews/{quote(ids[name], safe='')}")
    assert page.locator(ACTIVE).count() == 0
    assert page.locator("form").count() <= 4
    assert page.locator("pre :not(span.hidden-mark, mark)").count() == 0
    assert page.locator("a:not([href^='/'], [href='#main'])").count() == 0
    assert page.get_by_role("button", name="Approve").count() == 1
    text = page.locator("main").inner_text()
    assert not any(mark in text for mark in "\u202e\u200b\u2066\x1b\x00\ufeff\u2028")
    assert fits(window)
    if name in {"2 MB", "deep", "keys", "drawn page (A34), as a field", "stacked marks"}:
        assert window.faults() == []


def test_help_and_the_whole_of_a_long_text_are_accessible(hostile: Any, window: Watched) -> None:
    """The list of keys and the page of a text of 10,000 lines pass too."""
    _, ids = hostile
    page = window.open(f"/reviews/{ids['10,000 lines']}")
    page.get_by_role("link", name="read all of it").last.click()
    page.get_by_role("link", name="Back to the item").wait_for()
    assert window.faults() == []
    window.press("?")
    assert page.get_by_role("dialog").is_visible()
    assert window.faults() == []


def test_the_sign_in_page_is_accessible(hostile: Any, browser: Any) -> None:
    """The first page that anybody sees passes, with its error too."""
    served, _ = hostile
    one = Watched(browser.new_context(color_scheme="dark"), served.url)
    page = one.open("/login")
    assert one.faults() == []
    page.get_by_label("API key").fill("wrong")
    one.press("Enter")
    page.get_by_role("alert").wait_for()
    assert one.faults() == []
    one.close()
    assert one.complaints == []


def test_the_hostile_strings_are_those_of_the_cases() -> None:
    """Every input that the cases have for a page is among the strings."""
    cases = Path(__file__).parents[2].parent / "shared" / "cases" / "cases.jsonl"
    if not cases.exists():
        pytest.skip("the cases are not here")
    rows = {one["id"]: one for one in map(json.loads, cases.read_text("utf-8").splitlines())}
    given = [rows[one]["input"] for one in ("A27", "A31", "A33", "A34")]
    wanted = [one.get("field") or one.get("output") for one in given]
    known = " ".join(TEXTS.values())
    assert [one for one in wanted if one not in known] == []
