"""Local servers that speak the providers' wire formats, for tests over real HTTP.

    with ModelServer(lambda asked: '{"agrees": true}') as server:
        server.use(monkeypatch)                 # the providers' variables now point here
        ... ask "openai-chat:gpt-4o-mini", "openai:gpt-4o-mini" or "anthropic:claude-haiku-4-5"
        server.asked[-1].content                # what the model was shown

`says` maps what a provider is sent to the text of its answer, or to a `Step`. `server.script(...)`
puts steps before it, one for each request to come.
"""

from tests.model_servers.asked import Asked
from tests.model_servers.server import ModelServer
from tests.model_servers.steps import (
    CutOff,
    Endless,
    Fault,
    Never,
    Raw,
    Reset,
    Say,
    Slow,
    Step,
)
from tests.model_servers.wires import WIRES, Wire

__all__ = [
    "WIRES",
    "Asked",
    "CutOff",
    "Endless",
    "Fault",
    "ModelServer",
    "Never",
    "Raw",
    "Reset",
    "Say",
    "Slow",
    "Step",
    "Wire",
]
