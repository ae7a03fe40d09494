"""The fake servers: what later tests rest on."""

from __future__ import annotations

import json
import urllib.request

import pytest

from tests.model_servers import WIRES, ModelServer, Say, Wire

QUESTIONS = {
    "chat": {"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]},
    "responses": {"instructions": "s", "input": [{"role": "user", "content": "u"}]},
    "messages": {"system": "s", "messages": [{"role": "user", "content": "u"}]},
}


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)
def test_a_server_sees_a_question_and_answers_in_its_format(wire: Wire) -> None:
    """What was asked reads the same in each format, and the answer holds the text."""
    with ModelServer(lambda asked: f"heard {asked.instructions} {asked.content}") as server:
        body = json.dumps({"model": "m", **QUESTIONS[wire.name]}).encode()
        request = urllib.request.Request(server.url + wire.path, data=body)
        with urllib.request.urlopen(request) as response:
            answer = json.load(response)
    assert answer == wire.write(Say("heard s u"), "m")
    assert [one.turns for one in server.asked] == [(("user", "u"),)]
