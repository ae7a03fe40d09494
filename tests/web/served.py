"""A real server on a real socket and a real store, with keys of every role."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import httpx

from sureline.application.ports.keys import Role
from sureline.application.ports.missions import MissionJudgePort
from sureline.application.ports.models import ModelClient
from sureline.application.ports.signals import Judge, SignalSource
from sureline.application.ports.tracing import UNTRACED, Tracer
from sureline.bootstrap import Plugins, Services, open_services
from sureline.core.values.switch import Switch
from sureline.testing import MOMENT, FixedClock
from sureline.web.app import create_app
from sureline.web.server import HttpServer, listen
from sureline.web.settings import ServerSettings

POLICY = f"""\
version: 1
slices:
  invoices:
    mode: route
    reject_audit_rate: 0
    weights: {{verification: 1}}
    output:
      json_schema:
        type: object
        required: [total]
        properties: {{total: {{type: number}}}}
    hypothesis:
      auto: 0.85
      reject: 0.55
      allow_uncertified: true
      starts: {MOMENT.date()}
  replies:
    mode: log_only
    output: {{structured: false}}
"""

AGENT, REVIEWER, ADMIN, AUDITOR = Role.AGENT, Role.REVIEWER, Role.ADMIN, Role.AUDITOR


Result = TypeVar("Result")


@dataclass
class HeldSwitch:
    """An environment without switches, until a test sets one."""

    on: list[Switch] = field(default_factory=list)

    def read(self, workspace: str) -> Sequence[Switch]:
        return self.on


@dataclass
class Served:
    """A running server with what a test needs to talk to it and to look behind it."""

    services: Services
    clock: FixedClock
    url: str
    keys: dict[Role, str] = field(default_factory=dict)
    clients: dict[Any, httpx.Client] = field(default_factory=dict)

    def client(self, role: Role | None = AGENT, *, secret: str | None = None) -> httpx.Client:
        """Return a client with the key of a role, or with another secret, or without any."""
        secret = secret or (self.keys[role] if role is not None else None)
        headers = {} if secret is None else {"authorization": f"Bearer {secret}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=20)

    def call(
        self, method: str, path: str, role: Role | None = AGENT, **more: Any
    ) -> httpx.Response:
        """Make one request."""
        client = self.clients.get(role)
        if client is None:
            client = self.clients[role] = self.client(role)
        return client.request(method, path, **more)

    def decide(self, role: Role = AGENT, **fields: Any) -> httpx.Response:
        """Submit a proposal that is approved unless `fields` change it."""
        proposal = {"slice_key": "invoices", "task": "read it", "output": {"total": 12}}
        return self.call("POST", "/v1/decisions", role, json={**proposal, **fields})

    def make_key(self, role: Role, **more: Any) -> str:
        """Return the secret of a new key."""
        given = {"name": f"a {role}", "workspace": "default", "slices": (), **more}
        made = self.services.keys.create(role=role, at=self.clock.now(), **given)
        return awaited(made)[1]


def awaited(work: Coroutine[Any, Any, Result]) -> Result:
    """Return what asynchronous work returns, also where a loop is running (a browser's has one)."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


@contextmanager
def serve(
    folder: Path,
    settings: ServerSettings | None = None,
    *,
    signals: Sequence[SignalSource] = (),
    policy: str | None = POLICY,
    model_client: ModelClient | None = None,
    judge: Judge | None = None,
    mission_judge: MissionJudgePort | None = None,
    tracer: Tracer = UNTRACED,
    change: Callable[[Services], Services] = lambda services: services,
) -> Iterator[Served]:
    """Run a server on a new store in `folder`.

    `change` replaces some of the services that the server gets.
    """
    clock = FixedClock()
    plugins = Plugins(
        signals=signals,
        clock=clock,
        hard_switch=HeldSwitch(),
        model_client=model_client,
        judge=judge,
        mission_judge=mission_judge,
        tracer=tracer,
    )
    services = open_services(f"sqlite:///{folder / 'store.db'}", plugins=plugins)
    if policy is not None:
        awaited(services.policies.introduce(policy))
    with running(change(services), settings) as url:
        served = Served(services=services, clock=clock, url=url)
        served.keys.update((role, served.make_key(role)) for role in Role)
        yield served
    for client in served.clients.values():
        client.close()


@contextmanager
def running(services: Services, settings: ServerSettings | None = None) -> Iterator[str]:
    """Serve on a thread and yield the address; the services are closed at the end."""
    listener = listen("127.0.0.1", 0)
    server = HttpServer(create_app(services, settings=settings))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()
        services.close()
