"""What labels say of second opinions, in the HTML report: in words, figures and drawings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sureline.adapters.reports.calibration_html import calibration_html
from sureline.application.calibration_report import CalibrationReport, report_json
from sureline.core.learning.opinion_facts import OpinionEvidence, OpinionFacts
from sureline.core.values.said import Said
from tests.adapters.test_calibration_html import CHROMIUM, words
from tests.adapters.test_calibration_html import full as full
from tests.adapters.test_reports import HOSTILE, tree


def opinion(signal: str, right: tuple[int, int], wrong: tuple[int, int]) -> OpinionFacts:
    """Return the facts of (agreed, against) right outputs and of wrong ones."""
    evidence = OpinionEvidence(signal)
    for correct, (agreed, against) in ((True, right), (False, wrong)):
        for number in range(agreed + against):
            agrees = number < agreed
            chance = (0.7, 0.85, 0.95)[number % 3]
            said = Said(
                signal=signal,
                chance=chance if agrees else 1 - chance,
                against=not agrees,
                model=f"{signal}-2026-11",
            )
            evidence.add(said, correct=correct, weight=1.0)
    return evidence.facts(0.25)


@pytest.fixture(scope="module")
def judged(full: CalibrationReport) -> CalibrationReport:
    """The report with opinions that tell, mislead, add nothing and are too young."""
    told = (
        opinion("judge", (80, 60), (40, 4)),
        opinion("consistency", (160, 80), (40, 20)),
        opinion("self_evaluation", (150, 10), (10, 40)),
    )
    young = (opinion(HOSTILE, (5, 1), (1, 1)),)
    first, second, *rest = full.slices
    slices = (replace(first, opinions=told), replace(second, opinions=young), *rest)
    return replace(full, slices=slices)


def test_what_misleads_is_named_before_any_figure(judged: CalibrationReport) -> None:
    """The summary has slice, signal, figures and what to do; calmer verdicts are not in it."""
    root = tree(calibration_html(judged))
    summary = next(e for e in root.iter("section") if e.get("aria-labelledby") == "short")
    (block,) = [words(div) for div in summary.iter("div") if "Consistent" in words(div)]
    assert "claims judge is consistent but wrong here: its agreement goes with errors" in block
    assert "Do not lean on judge here: lower its weight (now 0.25 of the score), and" in block
    assert "consistency" not in block


def test_each_opinion_has_a_verdict_its_figures_and_a_drawing(judged: CalibrationReport) -> None:
    """A row of the table and a reliability diagram for each, with the labels they rest on."""
    root = tree(calibration_html(judged))
    section = next(e for e in root.iter("section") if e.get("id") == "slice-0")
    (table,) = [e for e in section.iter("table") if e.get("class") == "opinions"]
    rows = [words(row) for row in table.iter("tr")][1:]
    verdicts = ["consistent but wrong", "adds nothing", "tells right from wrong"]
    assert len(rows) == 3
    assert all(one in row for one, row in zip(verdicts, rows, strict=True))
    assert "66.7 %57 % to 75 %, of 120" in rows[0].replace("\xa0", " ")
    titles = [words(figure[0]) for figure in section.iter("figure")]
    assert sum("is it right as often as it says?" in one for one in titles) == 3


def test_ids_stay_unique_and_names_stay_text(judged: CalibrationReport) -> None:
    """A hostile signal name is no markup, and drawings do not share ids."""
    root = tree(calibration_html(judged))
    ids = Counter(e.get("id") for e in root.iter() if e.get("id"))
    assert max(ids.values()) == 1
    assert not list(root.iter("script"))
    assert not [e for e in root.iter() if any(name.startswith("on") for name in e.attrib)]


def test_slices_without_opinions_have_no_such_section(full: CalibrationReport) -> None:
    """Nothing is said where no model was asked."""
    text = words(tree(calibration_html(full)))
    assert "second opinions" not in text.lower()


def test_json_names_what_misleads(judged: CalibrationReport) -> None:
    """The same verdicts and figures are there for a program."""
    found = report_json(judged)
    assert [(one["slice_key"], one["signal"]) for one in found["consistent_but_wrong"]] == [
        ("claims", "judge")
    ]
    first = found["slices"][0]["opinions"][0]
    assert first["verdict"] == "consistent_but_wrong"
    assert first["agreed"]["labels"] == 120
    assert first["auroc"]["high"] < 0.5


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


@pytest.mark.parametrize("width", [390, 1100])
def test_it_fits_the_window(
    judged: CalibrationReport, browser: Any, tmp_path: Path, width: int
) -> None:
    """The wide table scrolls by itself; the page does not."""
    (tmp_path / "r.html").write_text(calibration_html(judged), "utf-8")
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto((tmp_path / "r.html").as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()
