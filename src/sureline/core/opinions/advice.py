"""What to do where a model gives no opinion: one sentence for each reason of a provider."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_SENTENCES: Mapping[str, str] = {
    "not_installed": "install sureline[models], or the provider's extra of pydantic-ai-slim",
    "not_configured": "set the provider's key in the environment, and check the model's name",
    "unauthorized": "the provider refuses the key: check it, and what it may do",
    "not_found": "no such model there: check its name in the policy, and the address",
    "rejected": "the provider refuses the request: check the model's name and settings",
    "timeout": "no answer in time: wait, or raise SURELINE_MODEL_SECONDS",
    "deadline": "the time ran out: give a longer deadline, or name a faster model",
    "unreachable": "no connection: check the address, and whether the server runs",
    "rate_limited": "too many calls: wait, or ask the provider for a higher limit",
    "server_error": "a fault of the provider's: wait and try again",
    "busy": "too many calls wait: raise SURELINE_MODEL_CONCURRENCY, or judge a smaller share",
    "resting": "left alone after several faults in a row: wait, and mend what the others say",
    "unreadable_response": "an answer in no known form: check that the address is the provider's",
    "no_judge_configured": "name a model under `judge`, or plug in a judge",
    "canaries_not_run": "run `sureline canaries`",
    "canaries_failed": "name another model, and run `sureline canaries`",
}
_BY_CATEGORY: Mapping[object, str] = {
    "quota": "the provider's account has no money left: add some",
    "context_window": "the text is longer than the model takes: name one that takes more",
}
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{2,59}", re.ASCII)


def advice_on(reason: str, detail: Mapping[str, Any] | None = None) -> str | None:
    """Return what to do about a reason code, None where there is nothing to say.

    `detail` is that of the failed signal: where it names the variable of a missing key, so does
    the sentence. No other text of it is used, because a plug-in may have put anything there.
    """
    found = detail or {}
    variable, category = found.get("variable"), found.get("category")
    if reason == "not_configured" and isinstance(variable, str) and _VARIABLE.fullmatch(variable):
        return f"set {variable} in the environment"
    if reason == "rejected" and isinstance(category, str) and category in _BY_CATEGORY:
        return _BY_CATEGORY[category]
    cause = found.get("cause")
    if reason == "embedding_failed" and isinstance(cause, str) and cause in _SENTENCES:
        return f"{cause}, {_SENTENCES[cause]}"
    return _SENTENCES.get(reason)


def advised(reason: str, detail: Mapping[str, Any] | None = None) -> str:
    """Return a reason code with what to do about it, the code first."""
    sentence = advice_on(reason, detail)
    return reason if sentence is None else f"{reason}: {sentence}"
