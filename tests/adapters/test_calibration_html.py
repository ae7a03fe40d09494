"""The calibration report as HTML: one file, well-formed, readable at every width."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from sureline.adapters.reports.calibration_html import calibration_html, write_calibration_html
from sureline.adapters.reports.drawing import thin
from sureline.application.calibration_report import CalibrationReport, report_json
from sureline.application.rejected_clusters import RejectedCluster
from sureline.core.learning.slice_facts import Share
from sureline.core.learning.telling_words import TellingWord
from sureline.errors import InvalidInput
from tests.adapters.test_reports import HOSTILE, tree
from tests.reported import filled_world, open_world, reported

CHROMIUM = shutil.which("chromium")


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> CalibrationReport:
    """A report on half a year of five slices."""

    async def made() -> CalibrationReport:
        async with filled_world("sqlite://", tmp_path_factory.mktemp("world")) as world:
            return await reported(world)

    return asyncio.run(made())


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> CalibrationReport:
    """A report on nothing."""

    async def made() -> CalibrationReport:
        async with open_world("sqlite://", tmp_path_factory.mktemp("world")) as world:
            return await reported(world)

    return asyncio.run(made())


@pytest.fixture(params=["full", "empty"])
def report(request: pytest.FixtureRequest) -> CalibrationReport:
    """Each of the two."""
    found: CalibrationReport = request.getfixturevalue(request.param)
    return found


def words(element: ElementTree.Element) -> str:
    return " ".join("".join(element.itertext()).split())


def test_it_is_well_formed_and_ids_are_unique(report: CalibrationReport) -> None:
    """Every tag is closed, every id is used once, and every reference has its target."""
    root = tree(calibration_html(report))
    ids = Counter(e.get("id") for e in root.iter() if e.get("id"))
    assert max(ids.values()) == 1
    named = [name for e in root.iter() for name in (e.get("aria-labelledby") or "").split()]
    linked = [(e.get("href") or "").removeprefix("#") for e in root.iter("a")]
    assert set(named + linked) <= set(ids)


def test_it_needs_nothing_from_outside(report: CalibrationReport) -> None:
    """No script, no address, no font, no image."""
    html = calibration_html(report)
    assert not list(tree(html).iter("script"))
    assert not re.search(r"src=|url\(|@import|//", html.replace("</", ""))
    assert not re.search(r'href="(?!#)', html)


def test_nothing_in_the_data_becomes_markup(full: CalibrationReport) -> None:
    """A hostile slice name stays text."""
    first = full.slices[0]
    hostile = replace(first, slice_key=HOSTILE, curve=replace(first.curve, slice_key=HOSTILE))
    root = tree(calibration_html(replace(full, slices=(hostile,), workspace=HOSTILE)))
    assert not list(root.iter("script"))
    assert not [e for e in root.iter() if any(name.startswith("on") for name in e.attrib)]


def test_the_summary_says_what_to_do_and_why(full: CalibrationReport) -> None:
    """It groups the slices by what they need, and comes before any figure."""
    root = tree(calibration_html(full))
    summary = next(e for e in root.iter("section") if e.get("aria-labelledby") == "short")
    groups = {words(div[0]).split(" ")[0]: words(div) for div in summary.iter("div")}
    assert list(groups) == ["Tighten", "Repair", "Loosen", "Label"]
    assert "letters The guard gives it to people" in groups["Tighten"]
    assert "contracts Only" in groups["Repair"]
    assert "invoices Today's labels prove the target" in groups["Loosen"]
    assert "refunds Nothing acts alone today, but the labels prove" in groups["Loosen"]
    assert "claims No certificate yet" in groups["Label"]


def test_every_figure_has_words_and_a_table(full: CalibrationReport) -> None:
    """Each drawing has a title and a description, and its figures can be read as numbers."""
    root = tree(calibration_html(full))
    drawings = [svg for figure in root.iter("figure") for svg in figure.findall("svg")]
    assert len(drawings) >= 5 * 4
    for drawing in drawings:
        ids = (drawing.get("aria-labelledby") or "").split()
        assert [e.get("id") for e in drawing if e.tag in {"title", "desc"}] == ids
    for section in (e for e in root.iter("section") if e.get("class") == "slice"):
        figures = list(section.iter("figure"))
        assert all(figure.find(".//table") is not None for figure in figures)


def test_verdicts_are_in_words(full: CalibrationReport) -> None:
    """Where the score promises too much, the caption says so with its figures."""
    text = words(tree(calibration_html(full)))
    assert re.search(r"0\.9–1\.0 is overconfident: it says 0\.9\d, and 0\.7\d of \d+ were", text)


def test_what_is_not_known_is_said(full: CalibrationReport) -> None:
    """Where no error was planted, the report does not pretend to know whether people look."""
    text = words(tree(calibration_html(full)))
    assert "Whether they notice errors is not known yet: none was planted." in text


def test_the_worst_cluster_is_shown(full: CalibrationReport) -> None:
    """Its figures, examples and split are text, whatever is in them; elsewhere it says why not."""
    worst = RejectedCluster(
        right=Share(part=3, whole=20),
        low=0.01,
        high=0.5,
        examples=("d1", "d2", HOSTILE),
        words=(TellingWord(word="rent", inside=1.0, outside=0.0),),
        split=f"Told from the others by: rent {HOSTILE}",
    )
    clusters = replace(full.slices[0].clusters, sentence="Of 20 only 3 were right.", worst=worst)
    found = replace(full, slices=(replace(full.slices[0], clusters=clusters), full.slices[1]))
    root = tree(calibration_html(found))
    text = words(root)
    assert "Of 20 only 3 were right. Wrong ones near its centre: d1, d2, " in text
    assert "Proposed split: Told from the others by: rent" in text
    assert not list(root.iter("script"))
    assert text.count("Not available: no labelled case has a vector") == 1
    assert report_json(found)["slices"][0]["clusters"]["worst"]["words"] == [
        {"word": "rent", "inside": 1.0, "outside": 0.0}
    ]


def test_it_is_written_or_the_reason_is_said(full: CalibrationReport, tmp_path: Path) -> None:
    """A folder that is not there is the caller's mistake."""
    write_calibration_html(full, tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text("utf-8") == calibration_html(full)
    with pytest.raises(InvalidInput, match=r"r\.html"):
        write_calibration_html(full, tmp_path / "no" / "r.html")


def test_long_tables_are_thinned() -> None:
    """The first and the last row stay, whatever is left out between."""
    assert thin([1, 2, 3], 3) == [1, 2, 3]
    assert thin(list(range(100)), 4) == [0, 33, 66, 99]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser, if there is one."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed, so the report was not looked at")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1100])
def test_it_fits_the_window(
    full: CalibrationReport, browser: Any, tmp_path: Path, width: int, scheme: str
) -> None:
    """Nothing sticks out of a telephone or a desktop, with all tables open, and nothing fails."""
    write_calibration_html(full, tmp_path / "r.html")
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto((tmp_path / "r.html").as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert complaints == []
    shade = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (shade == "rgb(255, 255, 255)") == (scheme == "light")
    page.close()
