"""Put a prompt into pydantic_ai's words: messages, settings and the form of the reply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sureline.adapters.models.plain_schema import plain_schema
from sureline.application.ports.models import Asking, Prompt

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

SAID_NOTHING = "(an empty reply)"
"""Stands for an empty reply in an exchange: providers refuse turns without text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What `pydantic_ai.direct.model_request` takes."""

    messages: list[ModelMessage]
    settings: ModelSettings
    parameters: ModelRequestParameters


def question_of(model: Model, prompt: Prompt, asking: Asking, *, seconds: float) -> Question:
    """Return the question; `seconds` is the time limit of one attempt."""
    return Question(
        messages=_messages(prompt),
        settings=_settings(model.profile, asking, seconds),
        parameters=_parameters(model.profile, asking),
    )


def _messages(prompt: Prompt) -> list[ModelMessage]:
    from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart

    def ours(text: str) -> ModelRequest:
        return ModelRequest(parts=[UserPromptPart(text)], instructions=prompt.instructions)

    messages: list[ModelMessage] = [ours(prompt.content)]
    for at, text in enumerate(prompt.exchange):
        replied = at % 2 == 0
        part = TextPart(text or SAID_NOTHING)
        messages.append(ModelResponse(parts=[part]) if replied else ours(text))
    return messages


def _settings(profile: Mapping[str, Any], asking: Asking, seconds: float) -> ModelSettings:
    """Return the settings; the SDK's own retries are off, for ours share one time limit."""
    settings: dict[str, Any] = {
        "max_tokens": asking.max_tokens,
        "timeout": seconds,
        "max_retries": 0,
    }
    if _takes_sampling(profile):
        if asking.temperature is not None:
            settings["temperature"] = asking.temperature
        if asking.logprobs:
            settings["openai_logprobs"] = True
    return settings  # type: ignore[return-value]  # keys of one provider are allowed


def _takes_sampling(profile: Mapping[str, Any]) -> bool:
    """Tell whether a model takes a temperature: those that reason before they answer do not.

    pydantic_ai would leave the setting out as well, with a warning at each call.
    """
    if profile.get("anthropic_disallows_sampling_settings", False):
        return False
    if not profile.get("openai_supports_reasoning", False):
        return True
    efforts = profile.get("openai_reasoning_efforts")
    can_stop = profile.get("openai_supports_reasoning_effort_none", False)
    if efforts is not None:
        can_stop = "none" in efforts
    return can_stop and not profile.get("thinking_enabled_by_default", False)


def _parameters(profile: Mapping[str, Any], asking: Asking) -> ModelRequestParameters:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition

    schema = None if asking.schema is None else plain_schema(asking.schema)
    if schema is None or not profile.get("supports_json_schema_output", False):
        return ModelRequestParameters()
    form = OutputObjectDefinition(json_schema=schema, name="answer")
    return ModelRequestParameters(output_mode="native", output_object=form)
