"""The architecture is a test: layers, sizes, names, and what the text may not hold."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "sureline"
MAX_FILE, MAX_FUNCTION = 300, 40
VAGUE = re.compile(r"(^|_)(utils?|managers?|helpers?|engines?|misc|common)($|_)")

FILES = sorted(SOURCE.rglob("*.py"))


def _named(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def test_the_import_contracts_hold() -> None:
    """Dependencies point inwards, the core is pure, and there is no cycle."""
    found = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout


@pytest.mark.parametrize("path", FILES, ids=_named)
def test_a_file_is_short_and_named_for_its_concept(path: Path) -> None:
    """No file is longer than 300 lines or named after nothing in particular."""
    assert len(path.read_text("utf-8").splitlines()) <= MAX_FILE
    assert not VAGUE.search(path.stem)


@pytest.mark.parametrize("path", FILES, ids=_named)
def test_functions_are_short(path: Path) -> None:
    """No function's statements span more than 40 lines, its docstring not counted."""
    long = {
        f"{function.name}, line {function.lineno}": lines
        for function in _functions(path)
        if (lines := _statement_lines(function)) > MAX_FUNCTION
    }
    assert not long


@pytest.mark.parametrize("path", FILES, ids=_named)
def test_every_module_says_what_it_is(path: Path) -> None:
    """A module begins with a docstring, and imports by absolute names."""
    tree = ast.parse(path.read_text("utf-8"))
    assert ast.get_docstring(tree)
    relative = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level]
    assert not relative


def _functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    if "migrations" in path.parts:
        return  # a migration is a list of tables that never changes again
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


def _statement_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = function.body[1:] if ast.get_docstring(function) else function.body
    if not body:
        return 0
    return (body[-1].end_lineno or 0) - body[0].lineno + 1


def _requirement_name(requirement: str) -> str:
    return re.split(r"[^A-Za-z0-9_.-]", requirement)[0].lower()


def test_every_dependency_has_its_reason() -> None:
    """Each dependency of pyproject.toml is named in the decision about dependencies."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wanted = [*project["project"]["dependencies"]]
    for extra in project["project"]["optional-dependencies"].values():
        wanted += extra
    for group in project["dependency-groups"].values():
        wanted += [one for one in group if isinstance(one, str)]
    reasons = (ROOT / "docs" / "decisions" / "0002-dependencies.md").read_text("utf-8").lower()
    missing = [one for one in map(_requirement_name, wanted) if f"`{one}`" not in reasons]
    assert not missing


def test_every_page_is_listed() -> None:
    """The map of the docs leads to every page."""
    overview = (ROOT / "docs" / "README.md").read_text("utf-8")
    pages = [
        str(page.relative_to(ROOT / "docs"))
        for page in (ROOT / "docs").rglob("*.md")
        if page.name != "README.md"
    ]
    assert [page for page in pages if f"({page})" not in overview] == []


# Written in parts, so that this file does not hold what it looks for.
REGISTRIES = ("pypi" + ".org", "python" + "hosted", "npm" + "js", "conda" + ".anaconda")
TEXTS = [
    path
    for path in subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.splitlines()
    if Path(path).suffix not in {".png", ".ico", ".woff2", ".parquet"}
]


def test_no_text_names_a_registry_or_somebodys_machine() -> None:
    """Lock files hold names, versions and hashes; nothing points to where they came from."""
    forbidden = re.compile("|".join(map(re.escape, REGISTRIES)) + r"|/(root|home/\w+|work)/")
    found = [
        f"{path}:{number}"
        for path in TEXTS
        if (ROOT / path).is_file()
        for number, line in enumerate((ROOT / path).read_text("utf-8").splitlines(), start=1)
        if forbidden.search(line)
    ]
    assert found == []


def test_lock_files_hold_no_address() -> None:
    """Every locked requirement has a hash, and no line is an address or an option of pip."""
    for path in sorted((ROOT / "requirements").glob("*.txt")):
        lines = [line for line in path.read_text("utf-8").splitlines() if line.strip()]
        named = [line for line in lines if not line.startswith((" ", "#"))]
        assert named
        for line in named:
            assert "==" in line, f"{path.name}: {line}"
            assert "://" not in line, f"{path.name}: {line}"
            assert not line.startswith("-"), f"{path.name}: {line}"
