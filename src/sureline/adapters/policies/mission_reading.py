"""Read the kinds of missions in a policy file, and say what contradicts itself (M1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from sureline.adapters.policies.explain import validated
from sureline.adapters.policies.faults import Faults, shown
from sureline.adapters.policies.mission_settings import MissionKindSettings
from sureline.adapters.policies.named_models import warn_without_provider
from sureline.adapters.policies.setting import is_name
from sureline.adapters.policies.tree import Node
from sureline.core.values.mission_kind import MISSION_SLICE
from sureline.core.values.model_names import related, same_model


def read_missions(
    entries: Mapping[str, Node], slices: Iterable[Node], faults: Faults
) -> dict[str, MissionKindSettings | None]:
    """Return the kinds of missions of a policy, None for one with a fault.

    `slices` are the slices as they were written: none may have a name that is a kind's.
    """
    for node in slices:
        if node.path.removeprefix("slices.").startswith(MISSION_SLICE):
            faults.add_key(
                node,
                f'names beginning with "{MISSION_SLICE}" are those of kinds of missions; '
                "name the slice otherwise, or write the kind under missions",
            )
    return {name: _kind(name, node, faults) for name, node in entries.items()}


def _kind(name: str, node: Node, faults: Faults) -> MissionKindSettings | None:
    if is_name(name) and not is_name(MISSION_SLICE + name):
        most = 100 - len(MISSION_SLICE)
        faults.add_key(node, f"expected a name of at most {most} characters, found {len(name)}")
    if node.value is None:
        node = replace(node, value={})
    if not isinstance(node.value, Mapping):
        faults.add(node, f"expected a mapping of settings, found {shown(node.plain())}")
        return None
    settings = validated(MissionKindSettings, node, faults)
    if settings is not None:
        _check_judge(node, settings, faults)
        _warn_of_limits(node, settings, faults)
    return settings


def _check_judge(node: Node, settings: MissionKindSettings, faults: Faults) -> None:
    """Refuse a judge that is the agent (G2); warn where nobody may be able to judge."""
    judge, agent = settings.judge, settings.agent
    if judge is None:
        faults.warn(
            node,
            "no judge is named, so every mission of this kind must be given a success check; "
            "evaluations without one fail, and a person is called",
        )
        return
    where = node.deepest(("judge", "model"))[0]
    warn_without_provider(where, judge.model, faults)
    if agent is None:
        faults.warn(
            node,
            "no agent is named, so nothing shows that the judge is another model; "
            "name it: agent: {model: ...}",
        )
    elif same_model(judge.model, agent.model):
        words = f"is the same model as the agent ({agent.model})"
        if judge.allow_same_model:
            faults.warn(where, f"{judge.model} {words}; it will overlook its own mistakes")
        else:
            faults.add(
                where,
                f"{judge.model} {words} and would overlook its own mistakes; "
                "name another, or write allow_same_model: true",
            )
    elif related(judge.model, judge.family, agent.model, agent.family):
        faults.warn(where, f"{judge.model} is of the agent's family ({agent.model})")


def _warn_of_limits(node: Node, settings: MissionKindSettings, faults: Faults) -> None:
    if settings.evaluate_every > settings.max_invocations:
        where = node.deepest(("evaluate_every",))[0]
        faults.warn(
            where,
            f"evaluate_every is {settings.evaluate_every}, but a mission has at most "
            f"{settings.max_invocations} invocations (max_invocations): it is evaluated once, "
            "at that limit",
        )
    if settings.audit_rate == 0 and settings.auto_complete:
        where = node.deepest(("audit_rate",))[0]
        faults.warn(where, "without an audit a loss of precision is never noticed")
