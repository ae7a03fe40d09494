"""Ways into the product: a served store, the command line, and a gate; each answers with JSON."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
from typer.testing import CliRunner

from sureline.adapters.clock import SystemClock
from sureline.application.encode import encode_answer, encode_body, splice
from sureline.application.ports.keys import Role
from sureline.bootstrap import Plugins, open_services
from sureline.cli.app import app
from sureline.core.values.decision import Decision
from sureline.gate import Gate
from sureline.testing import FixedClock
from tests.cases.schema_policy import schema_policy
from tests.web.served import running

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Server:
    """A running server with the secret of an admin, whose sources are believed.

    `reviewer` is the secret of somebody else: nobody decides about their own proposal.
    """

    url: str
    secret: str
    reviewer: str = ""

    def call(self, method: str, path: str, **more: Any) -> httpx.Response:
        return self._call(self.secret, method, path, **more)

    def label(self, outcome: Mapping[str, Any]) -> httpx.Response:
        """Record as a reviewer what became of an output."""
        return self._call(self.reviewer, "POST", "/v1/outcomes", json=outcome)

    def _call(self, secret: str, method: str, path: str, **more: Any) -> httpx.Response:
        headers = {"authorization": f"Bearer {secret}"}
        return httpx.request(method, self.url + path, headers=headers, timeout=30, **more)

    def decide(self, proposal: Mapping[str, Any]) -> Answer:
        """Submit a proposal that is new; whatever it holds, the server answers with a decision."""
        response = self.call("POST", "/v1/decisions", json=proposal)
        assert response.status_code == 201, response.text
        answer: Answer = response.json()
        return answer


@contextmanager
def served(
    store: Path, policy: str, *, workspace: str = "default", plugins: Plugins | None = None
) -> Iterator[Server]:
    """Run a server of one workspace on the store in a file."""
    services = open_services(
        f"sqlite:///{store}", workspace=workspace, plugins=plugins or Plugins(clock=FixedClock())
    )
    asyncio.run(services.policies.introduce(policy))
    secrets = [
        asyncio.run(
            services.keys.create(
                name=name, role=role, workspace=workspace, slices=(), at=services.clock.now()
            )
        )[1]
        for name, role in (("root", Role.ADMIN), ("Ada", Role.REVIEWER))
    ]
    with running(services) as url:
        yield Server(url, *secrets)


def as_answer(decision: Decision) -> Answer:
    """Return a gate's decision as the other doors give it."""
    answer: Answer = json.loads(splice(encode_body(decision), encode_answer(decision)))
    return answer


def ask(gate: Gate, proposal: Mapping[str, Any]) -> Answer:
    """Decide by a gate."""
    return as_answer(gate.run(gate.decide(**proposal)))


def sureline(
    folder: Path, *arguments: str, text: str = "", environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command line as a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "sureline", *arguments],
        cwd=folder,
        env={**os.environ, **(environment or {})},
        input=text,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def decide_by_process(folder: Path, proposals: Iterable[Mapping[str, Any]]) -> list[Answer]:
    """Decide by a process `sureline decide` in a locale whose decimal sign is the point."""
    american = {"LC_ALL": "en_US.UTF-8", "LANG": "en_US.UTF-8"}
    arguments = _prepared(folder)
    done = sureline(folder, *arguments, text=_lines(proposals), environment=american)
    assert "Traceback" not in done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def decide_by_command(folder: Path, proposals: Iterable[Mapping[str, Any]]) -> list[Answer]:
    """Decide by `sureline decide` in this process."""
    arguments = [*_prepared(folder), "--store", f"sqlite:///{folder / 'store.db'}"]
    done = CliRunner().invoke(app, arguments, input=_lines(proposals))
    assert isinstance(done.exception, SystemExit | None), done.exception
    return [json.loads(line) for line in done.stdout.splitlines()]


def _prepared(folder: Path) -> list[str]:
    """Write the policy with thresholds that hold today, because commands go by the real clock."""
    yesterday = (SystemClock().now() - timedelta(days=1)).date()
    (folder / "policy.yaml").write_text(schema_policy(yesterday), encoding="utf-8")
    return ["decide", "-", "--policy", str(folder / "policy.yaml")]


def _lines(proposals: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(proposal) + "\n" for proposal in proposals)


def reasons(answer: Answer) -> list[str]:
    return [reason["code"] for reason in answer["reasons"]]


def found(answer: Answer) -> list[str]:
    return sorted({finding["code"] for finding in answer["feedback"]})
