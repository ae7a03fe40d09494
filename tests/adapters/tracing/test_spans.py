"""Spans of a decision: how they hang together, what they say, and what they never say."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from sureline.application.ports.models import Asking, Prompt
from sureline.application.ports.signals import SignalSource
from sureline.application.traced_models import TracedModels
from sureline.bootstrap import Plugins, open_services, tracer_on
from sureline.core.values.policy import SlicePolicy
from sureline.core.values.proposal import Proposal
from sureline.core.values.signal import Signal, SignalKind
from sureline.errors import ModelFailed, UnknownSlice
from sureline.gate import Gate
from sureline.testing import FakeJudge, FakeModels, FixedClock

MARK = "Kowalczyk-4711"
POLICY = """\
version: 1
slices:
  replies:
    mode: log_only
    output: {json_schema: {type: object, required: [to]}}
    weights: {verification: 1, history: 1, judge: 1}
    judge: {otherwise: 1.0, borderline: 1.0, model: "openai:gpt-5"}
"""
TRACEPARENT = b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Plugged:
    """A source that measures."""

    name, kind = "plugged", SignalKind.OBJECTIVE

    async def measure(self, proposal: Proposal, policy: SlicePolicy) -> Signal:
        return Signal.measured(self.name, self.kind, 0.75)


class Leaky:
    """A source whose error and reason quote what it was given."""

    name, kind = "leaky", SignalKind.OBJECTIVE

    async def measure(self, proposal: Proposal, policy: SlicePolicy) -> Signal:
        return Signal.failed(self.name, self.kind, f"cannot read {proposal.output}")


class Raising:
    """A source that raises with the payload in its message."""

    name, kind = "raising", SignalKind.OBJECTIVE

    async def measure(self, proposal: Proposal, policy: SlicePolicy) -> Signal:
        raise ValueError(f"cannot read {proposal.output}")


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    """Return where spans end up."""
    return InMemorySpanExporter()


@pytest.fixture
def provider(exporter: InMemorySpanExporter) -> TracerProvider:
    """Return a program's own provider."""
    made = TracerProvider()
    made.add_span_processor(SimpleSpanProcessor(exporter))
    return made


@pytest.fixture
def gate(provider: TracerProvider) -> Iterator[Gate]:
    """Yield a gate that traces on the program's own provider."""
    with traced_gate(provider) as opened:
        yield opened


def traced_gate(provider: TracerProvider, *sources: SignalSource) -> Gate:
    plugins = Plugins(
        signals=sources or [Plugged(), Leaky(), Raising()],
        judge=FakeJudge(),
        clock=FixedClock(),
        tracer=tracer_on(provider),
    )
    gate = Gate(open_services("sqlite://", plugins=plugins))
    gate.run(gate.services.policies.introduce(POLICY))
    return gate


def decide(gate: Gate, **fields: Any) -> Any:
    return gate.decide_sync(
        **{"slice_key": "replies", "task": f"write to {MARK}", "output": {"to": MARK}, **fields}
    )


def by_name(exporter: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {one.name: one for one in exporter.get_finished_spans()}


def parents(exporter: InMemorySpanExporter) -> dict[str, str | None]:
    spans = exporter.get_finished_spans()
    names = {one.context.span_id: one.name for one in spans if one.context}
    return {one.name: names.get(one.parent.span_id) if one.parent else None for one in spans}


def test_a_decision_is_a_tree_of_spans(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    """Below `decide` stand measuring with every signal, the judge and the record."""
    with traced_gate(provider, Plugged()) as gate:
        decide(gate)
    signals = ("verification", "history", "plugged")
    assert parents(exporter) == {
        "decide": None,
        "measure": "decide",
        **{f"signal {one}": "measure" for one in signals},
        "judge": "decide",
        "record": "decide",
    }


def test_a_decision_says_what_it_came_to(gate: Gate, exporter: InMemorySpanExporter) -> None:
    """Id, slice, route and reasons are attributes, and the audit is none."""
    decision = decide(gate, id="letter-1")
    said = dict(by_name(exporter)["decide"].attributes or {})
    assert said["sureline.decision.id"] == "letter-1"
    assert said["sureline.route"] == decision.route.value
    assert said["sureline.reasons"] == tuple(one.code for one in decision.reasons)
    assert not any("audit" in name for name in said)


def test_a_replay_says_that_it_is_one(gate: Gate, exporter: InMemorySpanExporter) -> None:
    """Sent again, nothing is measured, and the span says so."""
    decide(gate, id="letter-1")
    exporter.clear()
    decide(gate, id="letter-1")
    (span,) = exporter.get_finished_spans()
    assert dict(span.attributes or {}) == {
        "sureline.decision.id": "letter-1",
        "sureline.replay": True,
    }


def test_a_failed_signal_is_a_failed_span(gate: Gate, exporter: InMemorySpanExporter) -> None:
    """It carries the code of the failure; a reason that is no code is left out."""
    decide(gate)
    spans = by_name(exporter)
    raised, leaky = spans["signal raising"], spans["signal leaky"]
    assert raised.status.status_code is leaky.status.status_code is StatusCode.ERROR
    assert (raised.attributes or {})["error.type"] == "source_raised"
    assert (leaky.attributes or {})["sureline.signal.reason"] == "other"
    assert (spans["signal plugged"].attributes or {})["sureline.signal.value"] == 0.75


@pytest.mark.parametrize("slice_key", ["replies", MARK])
def test_no_span_quotes(gate: Gate, exporter: InMemorySpanExporter, slice_key: str) -> None:
    """Neither task nor output nor the message of an error is in any span, its events included."""
    try:
        decide(gate, slice_key=slice_key, batch_id=MARK, self_report=0.5)
    except UnknownSlice:
        assert by_name(exporter)["decide"].status.description == "UnknownSlice"
    assert exporter.get_finished_spans()
    assert MARK not in json.dumps(
        [json.loads(one.to_json()) for one in exporter.get_finished_spans()]
    )


async def test_a_question_to_a_model_follows_the_conventions(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    """It is a client span with operation, provider and model, without question and reply."""
    client = TracedModels(FakeModels(lambda prompt, asking: f"I see {MARK}"), tracer_on(provider))
    prompt = Prompt(instructions="judge", content=MARK, digest="0" * 64)
    await client.ask(prompt, Asking(model="google-vertex:gemini-3", temperature=0.0))
    (span,) = exporter.get_finished_spans()
    said = dict(span.attributes or {})
    assert (span.name, span.kind) == ("chat gemini-3", SpanKind.CLIENT)
    assert said["gen_ai.operation.name"] == "chat"
    assert said["gen_ai.provider.name"] == "gcp.vertex_ai"
    assert said["gen_ai.request.model"] == "gemini-3"
    assert said["gen_ai.response.finish_reasons"] == ("stop",)
    assert MARK not in span.to_json()


async def test_a_model_that_fails_is_a_failed_span(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    """The reason is its code; the message, which may quote, is not there."""

    class Out:
        async def ask(self, prompt: Prompt, asking: Asking) -> Any:
            raise ModelFailed("rate_limited", f"slow down, {MARK}")

    client = TracedModels(Out(), tracer_on(provider))
    with pytest.raises(ModelFailed):
        await client.ask(Prompt(instructions="", content="", digest=""), Asking(model="openai:m"))
    (span,) = exporter.get_finished_spans()
    assert (span.attributes or {})["error.type"] == "rate_limited"
    assert MARK not in span.to_json()


@pytest.mark.parametrize(
    "header",
    [
        None,
        b"",
        b"x" * 55,
        TRACEPARENT + b"-more",
        TRACEPARENT.replace(b"00-", b"ff-", 1),
        b"00-" + b"0" * 32 + b"-b7ad6b7169203331-01",
        b"00-0af7651916cd43dd8448eb211c80319c-" + b"0" * 16 + b"-01",
        TRACEPARENT[:-1] + b"\xff",
        b"\r\n" * 27 + b"a",
        TRACEPARENT * 1000,
    ],
)
def test_a_header_that_is_none_is_as_good_as_none(
    provider: TracerProvider, exporter: InMemorySpanExporter, header: bytes | None
) -> None:
    """The request then begins a trace of its own."""
    with tracer_on(provider).request("GET /", header) as span:
        assert span.trace_id != TRACEPARENT[3:35].decode()
    assert exporter.get_finished_spans()[0].parent is None


def test_a_request_stands_below_its_caller(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    """A sound header names the parent, and what is done inside belongs to the same trace."""
    tracer = tracer_on(provider)
    with tracer.request("POST /v1/decisions", TRACEPARENT) as span, tracer.span("decide") as below:
        assert span.trace_id == below.trace_id == "0af7651916cd43dd8448eb211c80319c"
    request = by_name(exporter)["POST /v1/decisions"]
    assert request.kind is SpanKind.SERVER
    assert request.parent is not None
    assert request.parent.is_remote


class Broken(SpanProcessor):
    """A processor that raises at every turn."""

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        raise RuntimeError(MARK)

    def on_end(self, span: ReadableSpan) -> None:
        raise RuntimeError(MARK)


class Refusing(SpanExporter):
    """An exporter that raises."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        raise OSError("away")


@pytest.mark.parametrize("processor", [Broken(), SimpleSpanProcessor(Refusing())])
def test_broken_tracing_touches_no_decision(processor: SpanProcessor) -> None:
    """The decision is the same as without, whatever the provider's processors raise."""
    provider = TracerProvider()
    provider.add_span_processor(processor)
    with traced_gate(provider) as broken, traced_gate(TracerProvider()) as sound:
        found = [replace(decide(one, id="d"), elapsed_ms=0.0) for one in (broken, sound)]
    assert found[0].route is found[1].route
    assert [one.state for one in found[0].signals] == [one.state for one in found[1].signals]


def test_decisions_at_once_have_trees_of_their_own(
    gate: Gate, exporter: InMemorySpanExporter
) -> None:
    """Twenty decisions at the same time give twenty traces of the same shape."""

    async def all_of_them() -> None:
        await asyncio.gather(
            *(gate.decide(slice_key="replies", task="t", output={"to": at}) for at in range(20))
        )

    gate.run(all_of_them())
    traces: dict[int, list[str]] = {}
    for one in exporter.get_finished_spans():
        assert one.context
        traces.setdefault(one.context.trace_id, []).append(one.name)
    assert len(traces) == 20
    assert len({tuple(sorted(names)) for names in traces.values()}) == 1
