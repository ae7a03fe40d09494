"""Spans of the questions to language models, after OpenTelemetry's GenAI conventions."""

from __future__ import annotations

from dataclasses import dataclass

from sureline.application.ports.models import Asking, Ended, ModelClient, Prompt, Reply
from sureline.application.ports.tracing import Figure, Tracer
from sureline.application.traced import as_code
from sureline.errors import ModelFailed

_PROVIDERS = {
    "bedrock": "aws.bedrock",
    "google": "gcp.gemini",
    "google-gla": "gcp.gemini",
    "google-vertex": "gcp.vertex_ai",
    "mistral": "mistral_ai",
    "grok": "x_ai",
    "azure": "azure.ai.openai",
}
"""Providers whose names in the GenAI conventions are others than ours."""
_FINISHED = {Ended.COMPLETE: "stop", Ended.TRUNCATED: "length", Ended.REFUSED: "content_filter"}


@dataclass(frozen=True, slots=True)
class TracedModels:
    """Asks models through another client, each question a span of the GenAI conventions.

    What is asked and what is answered is not in it, whatever the conventions would allow.
    """

    client: ModelClient
    tracer: Tracer

    async def ask(self, prompt: Prompt, asking: Asking) -> Reply:
        """Return the client's reply. Raises what it raises."""
        provider, _, name = asking.model.rpartition(":")
        with self.tracer.span(f"chat {name}", asks=True) as span:
            span.note(_asked(provider, name, asking))
            try:
                reply = await self.client.ask(prompt, asking)
            except ModelFailed as error:
                span.fault(as_code(error.reason))
                raise
            span.note(_replied(reply))
            return reply


def _asked(provider: str, name: str, asking: Asking) -> dict[str, Figure]:
    figures: dict[str, Figure] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": _PROVIDERS.get(provider, provider),
        "gen_ai.request.model": name,
        "gen_ai.request.max_tokens": asking.max_tokens,
    }
    if asking.temperature is not None:
        figures["gen_ai.request.temperature"] = asking.temperature
    return figures


def _replied(reply: Reply) -> dict[str, Figure]:
    usage = reply.usage
    figures: dict[str, Figure] = {
        "gen_ai.response.model": reply.model,
        "gen_ai.response.finish_reasons": [_FINISHED[reply.ended]],
        "sureline.model.cached": usage.cached,
        "sureline.model.retries": usage.retries,
    }
    taken = {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "sureline.model.cost_dollars": usage.cost,
    }
    return figures | {name: value for name, value in taken.items() if value is not None}
