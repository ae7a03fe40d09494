"""Take the pictures of the report and the pages: `python docs/images/take_pictures.py`.

Needs Chromium. What they show is the tests' invented slices, so it is the same each time.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from playwright.sync_api import sync_playwright  # noqa: E402

from sureline.adapters.reports.calibration_html import write_calibration_html  # noqa: E402
from tests.reported import filled_world, reported  # noqa: E402
from tests.web.controlled import controlled  # noqa: E402
from tests.web.served import ADMIN, Served  # noqa: E402


async def _write(folder: Path) -> Path:
    async with filled_world("sqlite://", folder) as world:
        write_calibration_html(await reported(world), folder / "report.html")
    return folder / "report.html"


def _open(browser: Any, file: Path, width: int) -> Any:
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme="light")
    page.goto(file.as_uri())
    return page


def main() -> None:
    """Write the report (summary, one slice, telephone), the dashboard and a slice's suggestions."""
    with tempfile.TemporaryDirectory() as folder:
        file = asyncio.run(_write(Path(folder)))
        _take(file)
    with tempfile.TemporaryDirectory() as folder, controlled(Path(folder)) as served:
        _take_pages(served)


def _launch(playwright: Any) -> Any:
    return playwright.chromium.launch(
        executable_path=shutil.which("chromium"), args=["--no-sandbox"]
    )


def _take_pages(served: Served) -> None:
    with sync_playwright() as playwright:
        browser = _launch(playwright)
        page = browser.new_page(viewport={"width": 1100, "height": 900}, color_scheme="light")
        page.goto(f"{served.url}/login")
        page.fill("#key", served.keys[ADMIN])
        page.click("button.main")
        page.goto(f"{served.url}/slices/invoices")
        _wait(page)
        page.locator("ul.suggested").screenshot(path=HERE / "slice-suggestions.png")
        page.goto(f"{served.url}/dashboard")
        _wait(page)
        end = page.locator("section[aria-labelledby=scores]").bounding_box()["y"]
        clip = {"x": 0, "y": 0, "width": 1100, "height": end}
        page.screenshot(path=HERE / "dashboard.png", full_page=True, clip=clip)
        browser.close()


def _wait(page: Any) -> None:
    """Wait for the figures; each request waits for them a while."""
    while page.get_by_text("being drawn up").count():
        page.reload()


def _take(file: Path) -> None:
    with sync_playwright() as playwright:
        browser = _launch(playwright)
        page = _open(browser, file, 1000)
        top = page.locator("section[aria-labelledby=routes]").bounding_box()["y"]
        clip = {"x": 0, "y": 0, "width": 1000, "height": top}
        page.screenshot(path=HERE / "report-summary.png", full_page=True, clip=clip)
        page.locator("#slice-3").screenshot(path=HERE / "report-slice.png")
        page = _open(browser, file, 390)
        clip = {"x": 0, "y": 0, "width": 390, "height": 1400}
        page.screenshot(path=HERE / "report-telephone.png", full_page=True, clip=clip)
        browser.close()


if __name__ == "__main__":
    main()
