"""Wire the second opinions: which models are asked, and by whom."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sureline.application.opinions.consistency import ConsistencySource, Embed
from sureline.application.opinions.judge import ModelJudge
from sureline.application.opinions.self_evaluation import SelfEvaluator
from sureline.application.opinions.token_probability import TokenProbability
from sureline.application.ports.models import Asking, ModelClient, Prompt, Reply
from sureline.application.ports.signals import Judge, Opinion
from sureline.bootstrap.histories import chosen_embedder
from sureline.bootstrap.plugins import Plugins
from sureline.core.values.policy import SlicePolicy
from sureline.errors import ModelFailed


class _NoModels:
    """Stands in until a client can be made."""

    async def ask(self, prompt: Prompt, asking: Asking) -> Reply:
        raise ModelFailed("not_installed")


def model_client_of(plugins: Plugins) -> ModelClient:
    """Return what asks models: the program's own client, or the providers' (made at first use)."""
    return plugins.model_client or _NoModels()


def judge_of(plugins: Plugins, client: ModelClient) -> Judge:
    """Return the program's own judge, or the model that the policy names."""
    return plugins.judge or ModelJudge(client=client, new_nonce=new_nonce)


def opinion_sources(plugins: Plugins, client: ModelClient) -> Sequence[Opinion]:
    """Return the signals that models give, without those that a plug-in brings."""
    plugged = {source.name for source in plugins.signals}
    own: tuple[Opinion, ...] = (
        SelfEvaluator(client=client, new_nonce=new_nonce),
        ConsistencySource(client=client, new_nonce=new_nonce, embed=_embed(plugins)),
        TokenProbability(),
    )
    return tuple(one for one in own if one.name not in plugged)


def _embed(plugins: Plugins) -> Embed:
    embedder = chosen_embedder(plugins)

    async def embed(_: SlicePolicy, texts: Sequence[str]) -> NDArray[np.float32]:
        return await embedder.embed(texts)

    return embed


def new_nonce() -> str:
    """Return 64 random bits in hexadecimal: what marks the fences of one call."""
    return secrets.token_hex(8)
