"""`import sureline` costs next to nothing; the heavy libraries load at first use."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = {
    "alembic", "babel", "fastapi", "jinja2", "jsonschema_rs", "numpy", "prometheus_client",
    "pyarrow", "pydantic", "re2", "rich", "scipy", "sqlalchemy", "typer", "uvicorn", "yaml",
}  # fmt: skip


def _loaded_by(code: str) -> set[str]:
    script = f"import sys, json\n{code}\nprint(json.dumps(sorted(sys.modules)))"
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return {name.split(".")[0] for name in json.loads(found.stdout.splitlines()[-1])}


def test_the_import_is_light() -> None:
    """Importing the package loads none of the heavy libraries."""
    assert _loaded_by("import sureline") & HEAVY == set()


@pytest.mark.parametrize("name", ["Decision", "Route", "Signal", "SurelineError", "Policy"])
def test_values_are_light(name: str) -> None:
    """The frozen values and the errors need no heavy library either."""
    assert _loaded_by(f"import sureline; sureline.{name}") & HEAVY == set()


def test_help_loads_no_command() -> None:
    """`sureline --help` imports the command line's library and none of the commands."""
    loaded = _loaded_by(
        "from sureline.cli.app import app\ntry:\n    app(['--help'])\nexcept SystemExit:\n    pass"
    )
    assert loaded & (HEAVY - {"rich", "typer"}) == set()


def test_all_public_names_resolve() -> None:
    """Every name in `__all__` is sorted, there, and found at its second use too."""
    import sureline

    assert sureline.__all__ == sorted(sureline.__all__)
    for name in sureline.__all__:
        assert getattr(sureline, name) is getattr(sureline, name)
    assert dir(sureline) == sureline.__all__


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A misspelt name says so."""
    import sureline

    with pytest.raises(AttributeError, match="no attribute 'Gait'"):
        sureline.Gait  # noqa: B018
