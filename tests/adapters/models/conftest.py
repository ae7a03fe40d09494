"""Clients that do not wait, against servers that do what they are told."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field

import pytest

from sureline.adapters.models.attempts import Backoff
from sureline.adapters.models.client import PydanticAIClient
from sureline.application.ports.models import Asking, ModelLimits, Prompt
from sureline.testing import FixedClock
from tests.model_servers import WIRES, ModelServer, Wire

SCHEMA = {
    "type": "object",
    "properties": {"agrees": {"type": "boolean"}},
    "required": ["agrees"],
    "additionalProperties": False,
}


@dataclass
class Pauses:
    """Sleeps that take no time; jitter that takes nothing off."""

    slept: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    @property
    def backoff(self) -> Backoff:
        return Backoff(sleep=self.sleep, jitter=lambda: 0.0)


def prompt(content: str = "Is it right?", *exchange: str) -> Prompt:
    return Prompt(
        instructions="Refute it.", content=content, digest=f"of {content}", exchange=exchange
    )


@pytest.fixture(params=WIRES, ids=lambda wire: wire.name)
def wire(request: pytest.FixtureRequest) -> Wire:
    found: Wire = request.param
    return found


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with ModelServer() as server:
        server.use(monkeypatch)
        yield server


@pytest.fixture
def pauses() -> Pauses:
    return Pauses()


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def client_with(pauses: Pauses, clock: FixedClock) -> Callable[..., PydanticAIClient]:
    """Make a client with limits of its own; its connections close with the test's loop."""

    def make(**limits: float) -> PydanticAIClient:
        given = ModelLimits(**{"seconds": 5.0, **limits})  # type: ignore[arg-type]
        return PydanticAIClient(given, clock, backoff=pauses.backoff)

    return make


@pytest.fixture
async def client(client_with: Callable[..., PydanticAIClient]) -> AsyncIterator[PydanticAIClient]:
    client = client_with()
    yield client
    await client.aclose()


@pytest.fixture
def asking(wire: Wire) -> Asking:
    return Asking(model=wire.model, max_tokens=300, temperature=0.0, schema=SCHEMA)
