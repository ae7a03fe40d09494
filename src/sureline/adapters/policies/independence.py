"""Refuse second models that are not independent of the generator (G2)."""

from __future__ import annotations

from sureline.adapters.policies.faults import Faults
from sureline.adapters.policies.settings import SliceSettings
from sureline.adapters.policies.tree import Node
from sureline.core.values.model_names import same_family, same_model


def check_independence(node: Node, settings: SliceSettings, faults: Faults) -> None:
    """Refuse a judge or evaluator that is the generator; warn of one of the same family."""
    generator = settings.generator
    if generator is None:
        return
    for role, second in (
        ("judge", settings.judge),
        ("self_evaluation", settings.self_evaluation),
    ):
        if second is None:
            continue
        where, _ = node.deepest((role, "model"))
        if same_model(second.model, generator.model):
            words = f"is the same model as the generator ({generator.model})"
            if second.allow_same_model:
                faults.warn(where, f"{second.model} {words}; it will overlook its own mistakes")
            else:
                faults.add(
                    where,
                    f"{second.model} {words} and would overlook its own mistakes; "
                    "name another, or write allow_same_model: true",
                )
        elif _related(second.family, second.model, generator.family, generator.model):
            faults.warn(where, f"{second.model} is of the generator's family ({generator.model})")


def _related(one_family: str | None, one: str, other_family: str | None, other: str) -> bool:
    if one_family and other_family:
        return one_family.casefold() == other_family.casefold()
    return same_family(one, other)
