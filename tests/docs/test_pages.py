"""The documentation is executed: what a page tells a reader to do works, in the page's order.

In every page, from top to bottom, in one folder that starts empty (a how-to starts where
step 2 of the tutorial ends: with what `sureline init` wrote, and a store that has decided it):

* a block `yaml file=NAME` (any language will do) is written to that file;
* a block `python` is run, with the names of earlier blocks of the page;
* in a block `console`, each line after `$ ` is run by the shell; it must exit with 0, or with N
  where it ends in `# exit N`. Lines below it must appear in its output, in that order; `...`
  stands for anything.

A block that is not to be run says so: `python no-run`, `console no-run`. Blocks in other
languages are only shown.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.postgres import Postgres
from tests.postgres import postgres as postgres

ROOT = Path(__file__).parent.parent.parent
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)(?P<target>[^)#\s]+)(?P<anchor>#[^)]*)?\)")
SHOWN = {"console", "css", "html", "http", "json", "make", "math", "python", "sql", "text", "yaml"}


@dataclass(frozen=True)
class Block:
    language: str
    marks: tuple[str, ...]
    body: str
    line: int

    @property
    def file(self) -> str | None:
        return next((mark[5:] for mark in self.marks if mark.startswith("file=")), None)

    @property
    def runs(self) -> bool:
        return self.language in {"python", "console"} and "no-run" not in self.marks


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    found = []
    for match in FENCE.finditer(text):
        language, *marks = match["info"].split() or [""]
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(language, tuple(marks), match["body"], line))
    return found


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_a_page_does_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Every block of a page that is to be run succeeds and prints what the page shows."""
    monkeypatch.chdir(tmp_path)
    if "DATABASE_URL" in page.read_text("utf-8"):
        server: Postgres = request.getfixturevalue("postgres")
        monkeypatch.setenv("DATABASE_URL", server.database())
    monkeypatch.delenv("SURELINE_STORE", raising=False)
    if page.parent.name == "howto":
        _run_command("sureline init .", [], "setup")
        _run_command("sureline decide proposals.jsonl --policy policy.yaml # exit 1", [], "setup")
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks_of(page):
        where = f"{_name(page)}:{block.line}"
        if block.file is not None:
            Path(block.file).write_text(block.body, "utf-8")
        elif block.runs and block.language == "python":
            exec(compile(block.body, where, "exec"), names)
        elif block.runs:
            _run_console(block, where)


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_every_block_says_what_it_is(page: Path) -> None:
    """A block names its language, so that none is left out of the tests by accident."""
    unknown = [block.line for block in blocks_of(page) if block.language not in SHOWN]
    assert unknown == []


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_links_lead_somewhere(page: Path) -> None:
    """A relative link points to a file that is there."""
    text = FENCE.sub("", page.read_text("utf-8"))
    targets = [match["target"] for match in LINK.finditer(text)]
    assert [one for one in targets if not (page.parent / one).exists()] == []


def test_every_page_is_listed_once() -> None:
    """The overview of the documentation leads to each page, and to none twice."""
    overview = ROOT / "docs" / "README.md"
    targets = [match["target"] for match in LINK.finditer(overview.read_text("utf-8"))]
    listed = [overview.parent / target for target in targets if not target.startswith("../")]
    assert sorted(listed) == [
        page for page in PAGES if page.is_relative_to(overview.parent) and page != overview
    ]


def _run_console(block: Block, where: str) -> None:
    commands: list[tuple[str, list[str]]] = []
    for line in block.body.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], []))
        elif commands:
            commands[-1][1].append(line)
    assert commands, f"{where}: a console block has lines that start with `$ `"
    for command, expected in commands:
        _run_command(command, expected, where)


def _run_command(command: str, expected: list[str], where: str) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env={**os.environ, "PATH": path, "COLUMNS": "100"},
    )
    exits = re.search(r"# exit (\d+)\s*$", command)
    said = done.stdout
    assert done.returncode == (int(exits[1]) if exits else 0), f"{where}: {command}\n{said}"
    wanted = [".*".join(map(re.escape, line.split("..."))) for line in expected if line.strip()]
    if wanted:
        assert re.search("(?s:.*)".join(wanted), said), f"{where}: {command}\n{said}"
