"""The readable page of a pack: whatever was recorded is text that everybody can read."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sureline.adapters.reports.evidence_html import MOST_ROWS, evidence_html, evidence_readme
from sureline.application.check_evidence import FILES
from sureline.application.evidence import Summary, Verification, Wanted, verification_json
from sureline.core.chain import Head
from sureline.core.chain_verification import ChainReport, Fault, FaultKind
from sureline.core.evidence import Period
from tests.adapters.test_reports import HOSTILE, tree

CHROMIUM = shutil.which("chromium")
PERIOD = Period(
    workspace=HOSTILE,
    since=datetime(2026, 1, 1, tzinfo=UTC),
    until=datetime(2026, 4, 1, tzinfo=UTC),
)
FAULT = Fault(seq=3, kind=FaultKind.CHANGED, message=HOSTILE)
ROW = dict.fromkeys(
    ("by", "note", "reason", "subject", "subject_kind", "scope", "decision_id", "slice_key", "when",
     "closed_by", "kind", "policy_hash", "mission_id", "event", "state", "cause"),
    HOSTILE,
)  # fmt: skip
CALIBRATION = {"id": HOSTILE, "body": json.dumps({"certificates": [{"slice_key": HOSTILE}]})}


def _summary(rows: int = 2, fault: Fault | None = FAULT) -> Summary:
    """Make one whose texts are all hostile."""
    chain = ChainReport(rows=9, head=Head(), ok=fault is None, fault=fault, erased=1, cannot_see=())
    names = [name for name in FILES if name.endswith(".jsonl")]
    lists = {name: [{**ROW, "on": 1}] * rows for name in names}
    return Summary(
        wanted=Wanted(period=PERIOD, seed="s", sample=3),
        store="f" * 32,
        counts={"decisions": 4, "drawn_for_audit": 1, "routes": {HOSTILE: {"auto_approve": 4}}},
        verification=verification_json(Verification(chain=chain)),
        rows={**lists, "calibrations.jsonl": [CALIBRATION, {"id": "c", "body": "{"}]},
    )


@pytest.mark.parametrize("fault", [None, FAULT], ids=["holds", "does not hold"])
@pytest.mark.parametrize("rows", [0, 2, MOST_ROWS + 1])
def test_everything_recorded_is_text(rows: int, fault: Fault | None) -> None:
    """Mark-up in a reason or a name is none of the page's, and nothing is loaded."""
    html = evidence_html(_summary(rows, fault))
    page = tree(html)
    assert [one for one in page.iter() if one.tag in {"script", "img", "link", "iframe"}] == []
    assert "\u202e" not in html
    text = "".join(page.itertext())
    assert ("did not hold" in text) == (fault is not None)
    assert (f"The first {MOST_ROWS} of {MOST_ROWS + 1}" in text) == (rows > MOST_ROWS)


@pytest.mark.parametrize("payloads", [True, False])
def test_the_page_beside_it_names_every_file(payloads: bool) -> None:
    """And says whether the sample has what was said."""
    text = evidence_readme(payloads)
    assert [name for name in FILES - {"README.md", "summary.html"} if f"`{name}`" not in text] == []
    assert ("and what was said" in text) == payloads


def test_everybody_can_read_it(tmp_path: Path) -> None:
    """Nothing sticks out of a telephone, and axe finds nothing."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed, so the page was not looked at")
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    (tmp_path / "s.html").write_text(evidence_html(_summary()), encoding="utf-8")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = opened.new_page(viewport={"width": 390, "height": 800})
        page.goto((tmp_path / "s.html").as_uri())
        found = Axe().run(page)
        assert [one["id"] for one in found.response["violations"]] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        opened.close()
