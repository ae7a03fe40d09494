"""The libraries are imported by one thread at a time, and only what is missing is not installed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sureline.adapters.models.connections import make_model
from sureline.adapters.models.first_imports import missing_module
from sureline.errors import ModelFailed


def test_judge_and_embedder_of_a_new_process_begin_together() -> None:
    """Both are made, though each would import the library from another end."""
    code = """
import threading
from sureline.adapters.models.connections import make_model, open_http
from sureline.adapters.models.embedding_call import make_call
made = []
def judge(): made.append(make_model("openai-chat:a", open_http()))
def embedder(): made.append(make_call("openai:b", None))
threads = [threading.Thread(target=one) for one in (judge, embedder) * 2]
for one in threads: one.start()
for one in threads: one.join()
print(len(made))
"""
    found = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"OPENAI_API_KEY": "k", "PATH": ""},
    )
    assert (found.stdout.strip(), found.stderr) == ("4", "")


def caused(error: ImportError, cause: BaseException) -> ImportError:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "module"),
    [
        pytest.param(ModuleNotFoundError("no", name="groq"), "groq", id="missing"),
        pytest.param(
            caused(ImportError("Please install"), ModuleNotFoundError("no", name="groq")),
            "groq",
            id="said in other words",
        ),
        pytest.param(ImportError("partially initialized", name="pydantic_ai"), None, id="half"),
    ],
)
def test_only_a_missing_module_is_not_installed(error: ImportError, module: str | None) -> None:
    """A module that is there and cannot be loaded is another fault."""
    assert missing_module(error) == module


def test_a_module_that_is_half_loaded_is_no_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error does not ask to install what is there."""

    def half_loaded(*_: object) -> None:
        raise ImportError("cannot import name 'x' from partially initialized module", name="a")

    monkeypatch.setattr("pydantic_ai.models.infer_model", half_loaded)
    with pytest.raises(ModelFailed) as caught:
        make_model("openai:a", None)  # type: ignore[arg-type]
    assert (caught.value.reason, caught.value.detail["error"]) == ("not_configured", "ImportError")
