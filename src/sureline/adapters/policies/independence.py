"""Whether two model names mean the same model or the same family (G2)."""

from __future__ import annotations

import re

from sureline.adapters.policies.faults import Faults
from sureline.adapters.policies.settings import SliceSettings
from sureline.adapters.policies.tree import Node

_VERSION = re.compile(r"(?:[-@:](?:latest|\d{8}|\d{4}-\d{2}-\d{2}))+\Z")


def same_model(one: str, other: str) -> bool:
    """Tell whether two names mean one model, provider, path and date of issue aside."""
    return _bare(one) == _bare(other)


def same_family(one: str, other: str) -> bool:
    """Tell whether two names share provider or the word their model names start with."""
    providers = {_provider(one), _provider(other)}
    return _stem(one) == _stem(other) or (len(providers) == 1 and None not in providers)


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


def _bare(name: str) -> str:
    return _VERSION.sub("", _last(name))


def _last(name: str) -> str:
    return _parted(name)[1].rpartition("/")[2]


def _provider(name: str) -> str | None:
    return _parted(name)[0]


def _parted(name: str) -> tuple[str | None, str]:
    plain = name.strip().casefold()
    provider, colon, model = plain.partition(":")
    # In "llama3:8b" and "llama3:latest" the colon starts a tag, not the model.
    if not colon or model[:1].isdigit() or model in {"", "latest"}:
        return None, plain
    return provider, model


def _stem(name: str) -> str:
    return re.split(r"[^a-z]", _last(name), maxsplit=1)[0] or _last(name)
