"""Refuse second models that are not independent of the generator (G2)."""

from __future__ import annotations

from functools import partial

from sureline.adapters.policies.faults import Faults
from sureline.adapters.policies.model_settings import GeneratorSettings
from sureline.adapters.policies.settings import SliceSettings
from sureline.adapters.policies.tree import Node
from sureline.core.values.model_names import related, same_model


def check_independence(node: Node, settings: SliceSettings, faults: Faults) -> None:
    """Refuse a judge or evaluator that is the generator; warn of one of the same family.

    A family that the policy states is that of `judge.model`; those of a panel go by their names.
    """
    generator = settings.generator
    if generator is None:
        return
    judge, evaluator = settings.judge, settings.self_evaluation
    if judge is not None:
        check = partial(_check, node, generator, faults, admitted=judge.allow_same_model)
        check(("judge", "model"), judge.model, judge.family)
        for at, model in enumerate(judge.panel):
            check(("judge", "panel", at), model, None)
    if evaluator is not None:
        check = partial(_check, node, generator, faults, admitted=evaluator.allow_same_model)
        check(("self_evaluation", "model"), evaluator.model, evaluator.family)


def _check(
    node: Node,
    generator: GeneratorSettings,
    faults: Faults,
    path: tuple[str | int, ...],
    model: str,
    family: str | None,
    *,
    admitted: bool,
) -> None:
    where, _ = node.deepest(path)
    if same_model(model, generator.model):
        words = f"is the same model as the generator ({generator.model})"
        if admitted:
            faults.warn(where, f"{model} {words}; it will overlook its own mistakes")
        else:
            faults.add(
                where,
                f"{model} {words} and would overlook its own mistakes; "
                "name another, or write allow_same_model: true",
            )
    elif related(model, family, generator.model, generator.family):
        faults.warn(where, f"{model} is of the generator's family ({generator.model})")
