"""What a provider calls its model is kept for ever only where it looks like a model's name."""

from __future__ import annotations

import pytest

from sureline.core.values.model_names import kept_id


@pytest.mark.parametrize(
    "answered",
    [
        "gpt-4o-mini-2024-07-18",
        "claude-3-5-sonnet-20241022",
        "us.anthropic.claude-3-5-sonnet-20241022-v2:0",
        "accounts/fireworks/models/llama-v3p1-405b-instruct",
        "mistralai/Mixtral-8x7B-Instruct-v0.1",
        "a" * 64,
    ],
)
def test_names_of_models_are_kept(answered: str) -> None:
    """So that a person can see which model it was."""
    assert kept_id(answered, "openai:judge") == answered


def test_the_name_that_was_asked_for_is_kept_whatever_it_is() -> None:
    """It stands in the policy anyway."""
    assert kept_id("通义 1234567890", "house:通义 1234567890") == "通义 1234567890"


def test_other_ids_are_digests_and_stay_apart() -> None:
    """What may quote the payload is not kept, and two models never become one."""
    ids = [
        "Wilhelmine.Obermoser-DE02120300000000202051",
        "the customer is right",
        "通义千问",
        "豆包大模",
        "a" * 128 + "b",
        "a" * 128 + "c",
        "half \ud800",
    ]
    kept = [kept_id(one, "openai:judge") for one in ids]
    assert len(set(kept)) == len(ids)
    assert all(one.startswith("other-") and len(one) == 22 for one in kept)
