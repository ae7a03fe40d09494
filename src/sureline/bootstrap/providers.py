"""Whether the models that a policy names could be asked here."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

from sureline.bootstrap.histories import HASHING, LOCAL, embeds
from sureline.bootstrap.plugins import Plugins
from sureline.core.values.listed import listed
from sureline.core.values.policy import Policy, SlicePolicy

NOT_INSTALLED = (
    "models are named, and whether their providers are known was not looked at: the extra "
    "`models` is not installed (pip install 'sureline[models]')"
)


def provider_warnings(policy: Policy, plugins: Plugins | None = None) -> tuple[str, ...]:
    """Return what to know of the providers that a policy's models name, each once.

    Names without a provider are the reader's to warn of. The library is only imported where there
    is a provider to look up.
    """
    plugged = plugins or Plugins()
    named: dict[str, list[str]] = {}
    for key, one in sorted(policy.slices.items()):
        for where, model in _asked(one, plugged):
            provider, colon, _ = model.partition(":")
            if colon:
                named.setdefault(provider, []).append(f"{key}.{where} ({model})")
    if not named:
        return ()
    if find_spec("pydantic_ai") is None:
        return (NOT_INSTALLED,)
    from sureline.adapters.models.providers import provider_fault

    told = ((where, provider_fault(provider)) for provider, where in named.items())
    return tuple(f"{listed(where)}: {fault}" for where, fault in told if fault is not None)


def _asked(policy: SlicePolicy, plugins: Plugins) -> Iterator[tuple[str, str]]:
    """Yield the models that would be asked through the library, with the keys that name them."""
    if plugins.model_client is None:
        if plugins.mission_judge is None:
            yield from (("judge.model", model) for model in policy.asked_models)
        plugged = {source.name for source in plugins.signals}
        if policy.judge is not None and plugins.judge is None:
            yield "judge.model", policy.judge.model
            for model in policy.judge.panel:
                yield "judge.panel", model
        if policy.self_evaluation is not None and "self_evaluation" not in plugged:
            yield "self_evaluation.model", policy.self_evaluation.model
        if policy.generator is not None and policy.consistency and policy.consistency.ask:
            yield "generator.model", policy.generator.model
    if policy.history.embedder not in {HASHING, LOCAL} and embeds(policy):
        yield "history.embedder", policy.history.embedder
