"""Warn of names of models that nobody could be asked by (G1, G12)."""

from __future__ import annotations

from collections.abc import Iterator

from sureline.adapters.policies.faults import Faults
from sureline.adapters.policies.settings import SliceSettings
from sureline.adapters.policies.tree import Node


def check_named_models(node: Node, settings: SliceSettings, faults: Faults) -> None:
    """Warn where a model that is to be asked has no provider in its name.

    No fault: a program that plugs in what asks models may call them as it likes.
    """
    for path, name in _asked(settings):
        warn_without_provider(node.deepest(path)[0], name, faults)


def warn_without_provider(where: Node, name: str, faults: Faults) -> None:
    """Warn if a model's name has no provider in it."""
    if ":" not in name:
        faults.warn(
            where,
            f'"{name}" names no provider, so nobody can be asked unless a program plugs in '
            f'its own models; expected provider:name, such as "openai:{name}"',
        )


def _asked(settings: SliceSettings) -> Iterator[tuple[tuple[str | int, ...], str]]:
    judge, evaluation = settings.judge, settings.self_evaluation
    if judge is not None:
        yield ("judge", "model"), judge.model
        for at, model in enumerate(judge.panel):
            yield ("judge", "panel", at), model
    if evaluation is not None:
        yield ("self_evaluation", "model"), evaluation.model
    if settings.generator is not None and settings.consistency and settings.consistency.ask:
        yield ("generator", "model"), settings.generator.model
