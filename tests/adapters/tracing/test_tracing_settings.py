"""Which environment asks for spans, where they go, and what that costs where nobody asks."""

from __future__ import annotations

import http.server
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from sureline.adapters.tracing import exporting
from sureline.application.ports.tracing import UNTRACED
from sureline.bootstrap import Plugins, environment_plugins, open_services
from sureline.config import trace_exporter
from sureline.errors import InvalidInput
from sureline.gate import Gate

POLICY = "version: 1\nslices:\n  replies: {mode: log_only, output: {structured: false}}\n"
COLLECTOR = "http://127.0.0.1:9"


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep this machine's variables out."""
    for name in [one for one in os.environ if one.startswith("OTEL_")]:
        monkeypatch.delenv(name)


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        pytest.param({}, None, id="none-set"),
        pytest.param({"OTEL_EXPORTER_OTLP_ENDPOINT": COLLECTOR}, "otlp", id="endpoint"),
        pytest.param({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": COLLECTOR}, "otlp", id="own-endpoint"),
        pytest.param({"OTEL_TRACES_EXPORTER": "otlp"}, "otlp", id="named"),
        pytest.param({"OTEL_TRACES_EXPORTER": "console"}, "console", id="console"),
        pytest.param(
            {"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": COLLECTOR},
            None,
            id="none-wins",
        ),
        pytest.param(
            {"OTEL_SDK_DISABLED": "True", "OTEL_TRACES_EXPORTER": "otlp"}, None, id="disabled"
        ),
        pytest.param(
            {"OTEL_SDK_DISABLED": "false", "OTEL_TRACES_EXPORTER": "otlp"}, "otlp", id="enabled"
        ),
    ],
)
def test_the_standard_variables_ask_for_spans(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: str | None
) -> None:
    """They mean here what they mean elsewhere."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert trace_exporter() == expected


@pytest.mark.parametrize(
    ("name", "value"),
    [("OTEL_TRACES_EXPORTER", "jaeger"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")],
)
def test_what_is_not_spoken_here_is_said(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    """An exporter or protocol that is none of ours names its variable."""
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "otlp")
    monkeypatch.setenv(name, value)
    with pytest.raises(InvalidInput, match=value):
        trace_exporter()


def test_nobody_asked() -> None:
    """The plug-ins stay as they are."""
    plugins = Plugins()
    assert environment_plugins(plugins) is plugins
    assert plugins.tracer is UNTRACED


def test_the_programs_own_tracer_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever brings one is not given another by a variable."""
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "otlp")
    plugins = Plugins(tracer=type(UNTRACED)())
    assert environment_plugins(plugins).tracer is plugins.tracer


def test_nothing_is_imported_unasked() -> None:
    """A gate that is opened without the variables has not loaded OpenTelemetry."""
    script = (
        "import sys\nfrom sureline.bootstrap import environment_plugins, open_services\n"
        "open_services('sqlite://', plugins=environment_plugins()).close()\n"
        "print('opentelemetry' in sys.modules)"
    )
    inherited = {name: value for name, value in os.environ.items() if name[:5] != "OTEL_"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=inherited, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False"]


@dataclass
class Collector:
    """What a collector received."""

    port: int
    bodies: list[bytes] = field(default_factory=list)


@pytest.fixture
def collector() -> Iterator[Collector]:
    """Run a collector that speaks OTLP over HTTP."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            found.bodies.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found = Collector(port=server.server_address[1])
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield found
    server.shutdown()
    thread.join()
    server.server_close()


def traced_decision() -> None:
    """Decide once with the tracer of the environment, and close it."""
    plugins = environment_plugins()
    with Gate(open_services("sqlite://", plugins=plugins)) as gate:
        gate.run(gate.services.policies.introduce(POLICY))
        assert gate.decide_sync(slice_key="replies", task="t", output="o").id


def test_a_collector_gets_the_spans(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    """They arrive over HTTP under our service's name when the gate is closed."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{collector.port}")
    traced_decision()
    sent = b"".join(collector.bodies)
    for name in (b"sureline", b"decide", b"measure", b"signal verification", b"record"):
        assert name in sent


def test_a_service_may_have_a_name_of_its_own(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the variables call it goes before our name."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{collector.port}")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "gate-of-invoices")
    traced_decision()
    assert b"gate-of-invoices" in b"".join(collector.bodies)


@pytest.mark.filterwarnings("ignore")
def test_a_collector_that_is_away_holds_nothing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The decision is made, and closing does not wait for it."""
    monkeypatch.setattr(exporting, "FLUSH_SECONDS", 0.05)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        port = taken.getsockname()[1]
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{port}")
        traced_decision()
