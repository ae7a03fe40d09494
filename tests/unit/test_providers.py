"""Whether the models that a policy names could be asked here."""

from __future__ import annotations

import pytest

from sureline.adapters.policies import load_policy
from sureline.bootstrap import Plugins, provider_warnings
from sureline.bootstrap import providers as looked_up
from sureline.core.values.policy import Policy
from sureline.testing import FakeModels


def policy(text: str) -> Policy:
    """Return a policy of one slice."""
    return load_policy(f"version: 1\nslices:\n  s: {{{text}}}\n").policy


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("judge: {model: 'openai:gpt-5-mini'}", [], id="known"),
        pytest.param("judge: {model: m}", [], id="no provider: the reader warns"),
        pytest.param("generator: {model: 'opnai:x'}", [], id="a generator that is not asked"),
        pytest.param(
            "judge: {model: 'opnai:gpt-4o-mini'}",
            [
                "s.judge.model (opnai:gpt-4o-mini): the installed library knows no provider "
                "'opnai'; did you mean openai"
            ],
            id="misspelt",
        ),
        pytest.param(
            "judge: {model: 'anthropic:a', panel: ['antropic:b']}",
            ["s.judge.panel (antropic:b): "],
            id="in a panel",
        ),
        pytest.param(
            "generator: {model: 'qqqqqq:x'}, consistency: {ask: true}",
            ["s.generator.model (qqqqqq:x): the installed library knows no provider 'qqqqqq'"],
            id="like no other",
        ),
        pytest.param(
            "history: {embedder: 'opeani:e'}",
            ["s.history.embedder (opeani:e): "],
            id="an embedder",
        ),
    ],
)
def test_an_unknown_provider_is_told_with_close_matches(text: str, expected: list[str]) -> None:
    """A misspelt provider is found before a decision needs it."""
    told = provider_warnings(policy(text))
    assert len(told) == len(expected)
    assert all(one.startswith(start) for one, start in zip(told, expected, strict=True))


def test_a_program_that_asks_models_itself_may_name_them_as_it_likes() -> None:
    """Its names are no business of the library's."""
    plugins = Plugins(model_client=FakeModels({}))
    assert provider_warnings(policy("judge: {model: 'ours:x'}"), plugins) == ()


def test_without_the_library_nothing_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said that nobody looked, and only where there was something to look at."""
    monkeypatch.setattr(looked_up, "find_spec", lambda _: None)
    (told,) = provider_warnings(policy("judge: {model: 'opnai:x'}"))
    assert "not looked at" in told
    assert provider_warnings(policy("judge: {model: m}")) == ()
