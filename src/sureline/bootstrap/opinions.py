"""Wire the second opinions: which models are asked, and by whom."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from sureline.adapters.models.client import PydanticAIClient
from sureline.application.opinions.consistency import ConsistencySource
from sureline.application.opinions.judge import ModelJudge
from sureline.application.opinions.self_evaluation import SelfEvaluator
from sureline.application.opinions.token_probability import TokenProbability
from sureline.application.ports.models import ModelClient
from sureline.application.ports.signals import Judge, Opinion
from sureline.application.ports.tracing import UNTRACED
from sureline.application.traced_models import TracedModels
from sureline.bootstrap.histories import embedding_models
from sureline.bootstrap.plugins import Plugins


def model_client_of(plugins: Plugins) -> ModelClient:
    """Return what asks models: the program's own client, or the providers' (made at first use)."""
    client = plugins.model_client
    if client is None:
        client = own = PydanticAIClient(plugins.limits, plugins.clock)
        plugins.forgetting.append(own.forget)
        plugins.resting.append(own.resting)
    return client if plugins.tracer is UNTRACED else TracedModels(client, plugins.tracer)


def judge_of(plugins: Plugins, client: ModelClient) -> Judge:
    """Return the program's own judge, or the model that the policy names."""
    return plugins.judge or ModelJudge(client=client, new_nonce=new_nonce)


def opinion_sources(plugins: Plugins, client: ModelClient) -> Sequence[Opinion]:
    """Return the signals that models give, without those that a plug-in brings."""
    plugged = {source.name for source in plugins.signals}
    own: tuple[Opinion, ...] = (
        SelfEvaluator(client=client, new_nonce=new_nonce),
        ConsistencySource(client=client, new_nonce=new_nonce, model_for=embedding_models(plugins)),
        TokenProbability(),
    )
    return tuple(one for one in own if one.name not in plugged)


def new_nonce() -> str:
    """Return 64 random bits in hexadecimal: what marks the fences of one call."""
    return secrets.token_hex(8)
