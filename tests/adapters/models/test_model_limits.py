"""How models are called, as the environment says."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from sureline.application.ports.models import ModelLimits
from sureline.config import MODEL_CONCURRENCY, MODEL_SECONDS, model_limits
from sureline.errors import InvalidInput


@pytest.fixture(autouse=True)
def _unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(MODEL_SECONDS, raising=False)
    monkeypatch.delenv(MODEL_CONCURRENCY, raising=False)


def test_nothing_said_is_the_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty variable says nothing."""
    monkeypatch.setenv(MODEL_SECONDS, "")
    assert model_limits() == ModelLimits()


def test_the_variables_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds may have a fraction."""
    monkeypatch.setenv(MODEL_SECONDS, "2.5")
    monkeypatch.setenv(MODEL_CONCURRENCY, "3")
    assert model_limits() == ModelLimits(seconds=2.5, concurrency=3)


@pytest.mark.parametrize("name", [MODEL_SECONDS, MODEL_CONCURRENCY])
@pytest.mark.parametrize("text", ["0", "-1", "abc", "nan", "inf", "1e9", "0.5"])
def test_what_is_no_limit_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    """The error names the variable."""
    monkeypatch.setenv(name, text)
    with pytest.raises(InvalidInput, match=name):
        model_limits()


def test_half_a_call_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many calls at once is a whole number."""
    monkeypatch.setenv(MODEL_CONCURRENCY, "2.5")
    with pytest.raises(InvalidInput, match="whole number"):
        model_limits()


@pytest.mark.parametrize(
    "wrong",
    [
        {"seconds": 0.0},
        {"concurrency": 0},
        {"failures": 0},
        {"rest_seconds": -1.0},
        {"waiting": -1},
        {"retries": -1},
        {"cache_size": -1},
        {"cache_seconds": float("nan")},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_limits_of_a_program_are_checked_too(wrong: dict[str, Any]) -> None:
    """The error names the field."""
    with pytest.raises(InvalidInput, match=next(iter(wrong))):
        ModelLimits(**wrong)


def test_a_gate_without_a_model_loads_no_model_library() -> None:
    """Opening a gate and deciding imports nothing of the extra, unless the policy names a model."""
    code = """
import sys
from sureline.testing import temporary_gate
policy = "version: 1\\nslices:\\n  a:\\n    weights: {verification: 1.0}\\n"
with temporary_gate(policy) as gate:
    gate.decide_sync(slice_key="a", task="t", output={"b": 1})
print([name for name in ("pydantic_ai", "httpx2", "cachetools", "openai") if name in sys.modules])
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
