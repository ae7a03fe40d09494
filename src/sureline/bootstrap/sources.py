"""Whether everything that a policy counts on is measured here."""

from __future__ import annotations

from importlib.util import find_spec

from sureline.application.mission.weighing import SIGNAL
from sureline.bootstrap.histories import check_embedder
from sureline.bootstrap.plugins import Plugins
from sureline.core.values.mission_kind import MISSION_SLICE
from sureline.core.values.policy import Policy, SlicePolicy
from sureline.errors import MissingExtra, PolicyError

BUILT_IN_SIGNALS = frozenset({"verification", "history", "self_report", "token_probability"})


def check_sources(policy: Policy, plugins: Plugins) -> None:
    """Refuse a policy that counts on a signal which nothing measures.

    Raises PolicyError naming the slice, the signal and what would measure it, and MissingExtra
    where it names models or embedders and what they need is not installed.
    """
    _check_judges(policy, plugins)
    plugged = {source.name for source in plugins.signals}
    for key, slice_policy in policy.slices.items():
        if slice_policy.is_mission:
            _check_mission_judge(key, slice_policy, plugins)
            continue
        asked = _asked_signals(slice_policy)
        measured = BUILT_IN_SIGNALS | plugged | asked | _evaluated(slice_policy)
        for name, weight in slice_policy.weights.items():
            if weight > 0 and name not in measured:
                raise PolicyError(
                    f"slice {key}: the weights count on the signal {name!r}, but nothing measures "
                    f"it here; plug in a source of that name, or give it no weight"
                )
        _check_models(key, slice_policy, asked - plugged, plugins)
        check_embedder(key, slice_policy)
        model = slice_policy.checks.model
        if model is not None and model not in plugins.models:
            raise PolicyError(
                f"slice {key}: output.model names {model!r}, but no such model was registered"
            )


def _evaluated(policy: SlicePolicy) -> set[str]:
    """Return the signal that a mission's evaluation is."""
    return {SIGNAL} if policy.is_mission else set()


def _check_judges(policy: Policy, plugins: Plugins) -> None:
    """Raise MissingExtra where a kind of mission has a judge and nothing can ask it."""
    if plugins.mission_judge or plugins.model_client or find_spec("pydantic_ai"):
        return
    for name, kind in policy.missions.items():
        if kind.judge is not None:
            raise MissingExtra(
                f"missions.{name}: the judge asks a model, which needs the extra `models`; "
                "install sureline[models]"
            )


def _check_mission_judge(key: str, policy: SlicePolicy, plugins: Plugins) -> None:
    """Refuse a kind of mission whose judge cannot be asked: each would end with a person."""
    plugged = plugins.mission_judge is not None or plugins.model_client is not None
    if policy.asked_models and not plugged and find_spec("pydantic_ai") is None:
        kind = key.removeprefix(MISSION_SLICE)
        raise MissingExtra(
            f"missions.{kind}: judge asks a model, which needs the extra `models`; "
            "install sureline[models]"
        )


def _asked_signals(policy: SlicePolicy) -> set[str]:
    """Return the signals for which the slice names a model, or further generations."""
    roles = {
        "judge": policy.judge,
        "self_evaluation": policy.self_evaluation,
        "consistency": policy.consistency,
    }
    return {name for name, role in roles.items() if role is not None}


def _check_models(key: str, policy: SlicePolicy, asked: set[str], plugins: Plugins) -> None:
    if plugins.judge is not None:
        asked = asked - {"judge"}
    if policy.consistency is not None and not policy.consistency.ask:
        asked = asked - {"consistency"}
    if asked and plugins.model_client is None and find_spec("pydantic_ai") is None:
        raise MissingExtra(
            f"slice {key}: {', '.join(sorted(asked))} asks a model, which needs the extra "
            "`models`; install sureline[models]"
        )
