"""Two names of one model are one model, whoever serves it and however it is dated (G2)."""

from __future__ import annotations

import pytest

from sureline.core.values.model_names import same_family, same_model

CLAUDE = "anthropic:claude-sonnet-4-20250514"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("bedrock:us.anthropic.claude-sonnet-4-20250514-v1:0", CLAUDE),
        ("bedrock:anthropic.claude-sonnet-4", CLAUDE),
        ("openrouter:openai/gpt-5:free", "openai:gpt-5"),
        ("openai:ft:gpt-5:acme::x1", "openai:gpt-5"),
        ("openai:gpt-4-0613", "openai:gpt-4"),
        ("ollama:llama3:latest", "llama3"),
        ("openai:gpt-5-2026-01-01", "gpt-5"),
    ],
)
def test_one_model_has_many_names(one: str, other: str) -> None:
    """Provider, path, region, maker, tuning, price and date say nothing about which model it is."""
    assert same_model(one, other)
    assert same_family(one, other)


@pytest.mark.parametrize(
    ("one", "other", "related"),
    [
        ("openai:gpt-5", "openai:gpt-5-mini", True),
        ("gpt-4o", "gpt-4", True),
        ("llama3:8b", "llama3:70b", True),
        ("bedrock:us.anthropic.claude-haiku-4-v1:0", CLAUDE, True),
        ("openai:gpt-5", CLAUDE, False),
    ],
)
def test_other_models_are_others(one: str, other: str, related: bool) -> None:
    """Size and generation make another model; a shared stem or provider makes a relative."""
    assert not same_model(one, other)
    assert same_family(one, other) is related
