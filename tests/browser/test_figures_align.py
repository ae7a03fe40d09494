"""Columns of figures stand to the right, on every page that has tables."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.test_control_pages import PATHS, address, sign_in
from tests.web.controlled import controlled
from tests.web.served import Served

sync_api = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")

LEFT = r"""
() => {
  const figure = /^[$−-]?\d[\d.,]*(\s?(%|ms|s|min|h|days?))?(\s[\s\S]*)?$/;
  const date = /^\d{4}-\d\d/;
  const found = [];
  for (const table of document.querySelectorAll("table")) {
    const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
    const wide = Math.max(0, ...rows.map((row) => row.cells.length));
    for (let column = 0; column < wide; column++) {
      const all = rows.map((row) => row.cells[column]);
      const cells = all.filter((cell) => cell && cell.tagName === "TD");
      const said = cells.map((cell) => cell.innerText.trim());
      const told = said.filter((text) => text && text !== "–" && !text.startsWith("not known"));
      if (!told.length || !told.every((text) => figure.test(text) && !date.test(text))) continue;
      const left = cells.some((cell) => getComputedStyle(cell).textAlign !== "right");
      if (left) found.push(`${table.getAttribute("aria-label") || table.className}: ${told[0]}`);
    }
  }
  return found;
}
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server on half a year of decisions."""
    with controlled(tmp_path_factory.mktemp("world")) as one:
        yield one


def test_columns_of_figures_stand_to_the_right(world: Served, browser: Any) -> None:
    """Whoever compares two figures compares their digits."""
    page = sign_in(browser, world, viewport={"width": 1280, "height": 900})
    left = {}
    for path in (*PATHS, "/", "/reviewers"):
        page.goto(address(page, world, path))
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        if found := page.evaluate(LEFT):
            left[path] = found
        assert page.evaluate(
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        ), path
    assert left == {}
