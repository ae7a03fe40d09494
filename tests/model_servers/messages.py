"""Anthropic's messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.model_servers.asked import Asked, text_of
from tests.model_servers.steps import Say

STOP = {"stop": "end_turn", "length": "max_tokens", "filter": "refusal", "refusal": "refusal"}

ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def read(body: Mapping[str, Any], headers: Mapping[str, str]) -> Asked:
    config = body.get("output_config") or {}
    form = config.get("format") or body.get("output_format") or {}
    return Asked(
        wire="messages",
        model=body["model"],
        instructions=text_of(body.get("system", "")),
        turns=tuple((one["role"], text_of(one["content"])) for one in body["messages"]),
        max_tokens=body.get("max_tokens"),
        temperature=body.get("temperature"),
        schema=form.get("schema"),
        headers=headers,
        body=body,
    )


def write(say: Say, model: str) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if say.thinking is not None:
        content.append({"type": "thinking", "thinking": say.thinking, "signature": "c2ln"})
    if say.text:
        content.append({"type": "text", "text": say.text})
    content.extend(
        {"type": "tool_use", "id": f"toolu_{at}", "name": "answer", "input": dict(call)}
        for at, call in enumerate(say.calls)
    )
    answer = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": say.model or model,
        "content": content,
        "stop_reason": "tool_use" if say.calls else STOP[say.ended],
        "stop_sequence": None,
    }
    if say.tokens is not None:
        answer["usage"] = {"input_tokens": say.tokens[0], "output_tokens": say.tokens[1]}
    return answer


def error(status: int, text: str) -> dict[str, Any]:
    kind = ERRORS.get(status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": text}}
