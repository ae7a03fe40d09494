"""OpenAI's responses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.model_servers.asked import Asked, text_of
from tests.model_servers.chat import logprobs
from tests.model_servers.steps import Say

CUT = {"length": "max_output_tokens", "filter": "content_filter"}


def read(body: Mapping[str, Any], headers: Mapping[str, str]) -> Asked:
    given = body["input"]
    entries = [{"role": "user", "content": given}] if isinstance(given, str) else given
    turns = [(one["role"], text_of(one["content"])) for one in entries]
    ours = ("system", "developer")
    said = [text for role, text in turns if role in ours]
    form = (body.get("text") or {}).get("format") or {}
    return Asked(
        wire="responses",
        model=body["model"],
        instructions="\n".join([*filter(None, [body.get("instructions")]), *said]),
        turns=tuple((role, text) for role, text in turns if role not in ours),
        max_tokens=body.get("max_output_tokens"),
        temperature=body.get("temperature"),
        schema=form.get("schema"),
        headers=headers,
        body=body,
    )


def write(say: Say, model: str) -> dict[str, Any]:
    cut = CUT.get(say.ended)
    answer: dict[str, Any] = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_790_000_000,
        "model": say.model or model,
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": cut} if cut else None,
        "error": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "output": _output(say),
    }
    if say.tokens is not None:
        asked, said = say.tokens
        answer["usage"] = {
            "input_tokens": asked,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": said,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": asked + said,
        }
    return answer


def _output(say: Say) -> list[dict[str, Any]]:
    output: list[dict[str, Any]] = []
    if say.thinking is not None:
        summary = [{"type": "summary_text", "text": say.thinking}]
        output.append({"type": "reasoning", "id": "rs_1", "summary": summary})
    if say.text:
        output.append(
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "status": "completed",
                "content": [_part(say)],
            }
        )
    output.extend(
        {
            "type": "function_call",
            "id": f"fc_{at}",
            "call_id": f"call_{at}",
            "name": "answer",
            "arguments": json.dumps(call),
            "status": "completed",
        }
        for at, call in enumerate(say.calls)
    )
    return output


def _part(say: Say) -> dict[str, Any]:
    if say.ended == "refusal":
        return {"type": "refusal", "refusal": say.text}
    part = {"type": "output_text", "text": say.text, "annotations": []}
    return part | ({"logprobs": logprobs(say)} if say.logprobs else {})
