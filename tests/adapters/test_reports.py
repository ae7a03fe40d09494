"""The HTML report: one file, nothing from outside, nothing from the data taken for markup."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

import pytest

from sureline.adapters.reports.drawing import curve_floor, percent, places
from sureline.adapters.reports.html import render_html, write_html
from sureline.application.report import (
    Curve,
    Headline,
    ReasonRow,
    ReportData,
    RouteRow,
    SliceRow,
)
from sureline.core.statistics.curves import CurvePoint, Histogram
from sureline.core.statistics.reliability import Bucket, Calibrated

HOSTILE = "<script>alert(1)</script>\" onload='x' & \u202e"
POINT = CurvePoint(threshold=0.9, coverage=0.6, precision=0.97)
DATA = ReportData(
    title="What may act alone",
    subtitle=HOSTILE,
    made_at=datetime(2026, 7, 1, 9, 30, tzinfo=UTC),
    headline=Headline(
        items=400, automated=200, correct=197, precision=0.985, interval=(0.956, 0.997),
        target=0.95, delta=0.05, sentence="Certified: 1 of 2 slices.",
    ),
    quality=(("AUROC of the score", "0.931"),),
    buckets=(
        Bucket(
            low=0.9, high=1.0, n=120, predicted=0.96, actual=0.98, gap=-0.02,
            interval=(0.94, 0.995), verdict=Calibrated.WELL_CALIBRATED,
        ),
    ),
    histogram=Histogram(edges=(0.0, 0.5, 1.0), counts=(3, 997), n=1000, median=0.97),
    curves=(
        Curve(slice_key="a", points=(POINT, replace(POINT, coverage=1.0)), certified=POINT),
        Curve(slice_key=HOSTILE, points=(), certified=None),
    ),
    slices=(
        SliceRow(
            slice_key="a", labels=300, counted=260, accuracy=0.84, decided=200, automated=200,
            correct=197, threshold=0.9, lower_bound=0.951, sentence="At scores of 0.9 or more.",
        ),
        SliceRow(
            slice_key=HOSTILE, labels=9, counted=9, accuracy=0.5, decided=200, automated=0,
            correct=0, threshold=None, lower_bound=None, sentence="50 more labels.",
        ),
    ),
    routes=(RouteRow(route="auto_approve", count=200), RouteRow(route="human_review", count=200)),
    reasons=(ReasonRow(code="no_certificate", count=200, example=HOSTILE),),
)  # fmt: skip
EMPTY = replace(
    DATA,
    headline=replace(DATA.headline, automated=0, correct=0, precision=None, interval=None),
    buckets=(),
    histogram=Histogram(edges=(0.0, 1.0), counts=(0,), n=0, median=None),
    curves=(),
    slices=(),
    routes=(),
    reasons=(),
)


def tree(html: str) -> ElementTree.Element:
    """Parse the report, which is well-formed but for its unclosed meta tags and doctype."""
    text = re.sub(r"<meta [^>]*>", "", html.replace("<!doctype html>", ""))
    return ElementTree.fromstring(text)


@pytest.mark.parametrize("data", [DATA, EMPTY], ids=["full", "empty"])
def test_report_is_well_formed(data: ReportData) -> None:
    """Every tag is closed, whatever there is to show."""
    assert tree(render_html(data)).tag == "html"


def test_nothing_in_the_data_becomes_markup() -> None:
    """Texts are escaped: no script element and no handler comes from them."""
    root = tree(render_html(DATA))
    assert not list(root.iter("script"))
    assert not [e for e in root.iter() if any(name.startswith("on") for name in e.attrib)]


def test_report_needs_nothing_from_outside() -> None:
    """No address, no script, no font, no image is loaded."""
    html = render_html(DATA)
    assert not re.search(r"(?:src|href)=|url\(|@import|//", html.replace("</", ""))


def test_every_figure_has_words() -> None:
    """Each figure has a title, a description and a table; decoration is hidden."""
    root = tree(render_html(DATA))
    figures = list(root.iter("figure"))
    assert len(figures) == 4
    for figure in figures:
        drawing = figure.find("svg")
        assert drawing is not None
        ids = (drawing.get("aria-labelledby") or "").split()
        assert [e.get("id") for e in drawing if e.tag in {"title", "desc"}] == ids
        assert figure.find("details//table") is not None


def test_certified_threshold_is_marked() -> None:
    """The certified curve has its ring and shade; the other one says that nothing is certified."""
    html = render_html(DATA)
    assert html.count('class="mark"') == 1
    assert html.count('class="band"') == 1
    assert "No threshold is certified" in html


def test_nothing_automated_is_said() -> None:
    """Without automation the report shows a dash, not a perfect score."""
    assert "nothing was automated" in render_html(EMPTY)


@pytest.mark.parametrize(
    ("lowest", "floor"), [(0.97, 0.9), (0.85, 0.8), (0.3, 0.0)], ids=["high", "middle", "low"]
)
def test_curve_fits_its_figure(lowest: float, floor: float) -> None:
    """The lower end of the precision axis lies below all points and the target."""
    point = replace(POINT, precision=lowest)
    curve = Curve(slice_key="a", points=(point,), certified=None)
    assert curve_floor((curve,), 0.95) == floor


def test_numbers_that_are_not_there_are_dashes() -> None:
    """No number is made up."""
    assert (percent(None), places(None)) == ("–", "–")
    assert (percent(0.9854), places(0.97)) == ("98.5 %", "0.970")


def test_report_is_written_as_utf8(tmp_path: Path) -> None:
    """The file is what was rendered."""
    write_html(DATA, tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == render_html(DATA)
