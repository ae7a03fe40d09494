"""Take the pictures of reviewing: `python docs/images/take_review_pictures.py`.

Needs Chromium. The server, its keys and its clock are the tests', so they are the same each time.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from playwright.sync_api import sync_playwright  # noqa: E402

from tests.browser.watched import Watched  # noqa: E402
from tests.web.served import MOMENT, REVIEWER, Served, serve  # noqa: E402

POLICY = f"""\
version: 1
slices:
  invoices:
    mode: route
    weights: {{verification: 3, history: 1}}
    output:
      json_schema:
        type: object
        required: [vendor, date, total]
        properties:
          vendor: {{type: string}}
          date: {{type: string, format: date}}
          total: {{type: number}}
          currency: {{enum: [EUR, GBP, USD]}}
    grounding:
      fields: [vendor, date, total]
      types: {{date: date, total: number}}
    hypothesis: {{auto: 0.85, reject: 0.3, allow_uncertified: true, starts: {MOMENT.date()}}}
"""
INVOICE = "INVOICE 4711\nHarbour Paper Ltd\n2026-01-14\n\n8 boxes of paper\nTotal due: GBP 1,240.50"


def _fill(served: Served) -> str:
    made: dict[str, Any] = served.decide(
        id="invoice-4711",
        task="Read vendor, date and total from this invoice.",
        source=[{"ref": "mail-17.txt", "text": INVOICE}],
        output={
            "vendor": "Harbour Paper Ltd",
            "date": "2026-01-14",
            "total": 1420.5,
            "currency": "GBP",
        },
        reasoning="The total stands at the bottom.",
    ).json()
    return str(made["id"])


def main() -> None:
    """Write the item with an edit under way, and the same on a telephone."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        with serve(Path(folder), policy=POLICY) as served:
            review_id = _fill(served)
            for name, width in (("review-item", 1280), ("review-telephone", 390)):
                window = Watched(
                    browser.new_context(viewport={"width": width, "height": 900}), served.url
                )
                window.sign_in(served.keys[REVIEWER])
                page = window.open(f"/reviews/{review_id}")
                page.get_by_label("total", exact=True).fill("1240.5")
                page.screenshot(path=HERE / f"{name}.png", full_page=width > 400)
                window.close()
        browser.close()


if __name__ == "__main__":
    main()
