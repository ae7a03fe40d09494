"""OpenAI's chat completions, spoken by many providers and local servers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.model_servers.asked import Asked, text_of
from tests.model_servers.steps import Say

FINISH = {"stop": "stop", "length": "length", "filter": "content_filter", "refusal": "stop"}


def read(body: Mapping[str, Any], headers: Mapping[str, str]) -> Asked:
    turns = [(one["role"], text_of(one["content"])) for one in body["messages"]]
    ours = ("system", "developer")
    form = body.get("response_format") or {}
    return Asked(
        wire="chat",
        model=body["model"],
        instructions="\n".join(text for role, text in turns if role in ours),
        turns=tuple((role, text) for role, text in turns if role not in ours),
        max_tokens=body.get("max_completion_tokens", body.get("max_tokens")),
        temperature=body.get("temperature"),
        schema=form.get("json_schema", {}).get("schema"),
        headers=headers,
        body=body,
    )


def write(say: Say, model: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": say.text, "refusal": None}
    if say.ended == "refusal":
        message |= {"content": None, "refusal": say.text}
    if say.thinking is not None:
        message["reasoning_content"] = say.thinking
    if say.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{at}",
                "type": "function",
                "function": {"name": "answer", "arguments": json.dumps(call)},
            }
            for at, call in enumerate(say.calls)
        ]
    choice: dict[str, Any] = {
        "index": 0,
        "message": message,
        "finish_reason": "tool_calls" if say.calls else FINISH[say.ended],
        "logprobs": {"content": logprobs(say)} if say.logprobs else None,
    }
    answer = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": say.model or model,
        "choices": [choice],
    }
    if say.tokens is not None:
        asked, said = say.tokens
        answer["usage"] = {
            "prompt_tokens": asked,
            "completion_tokens": said,
            "total_tokens": asked + said,
        }
    return answer


def logprobs(say: Say) -> list[dict[str, Any]]:
    return [
        {"token": "x", "bytes": [120], "logprob": one, "top_logprobs": []} for one in say.logprobs
    ]


def error(status: int, text: str) -> dict[str, Any]:
    return {"error": {"message": text, "type": "error", "param": None, "code": None}}
