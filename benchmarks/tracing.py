"""What tracing costs a decision: the same gate without, with one trace in a hundred, and with all
spans exported in batches to a collector that takes everything.

64 callers through the library on a store in a file; the three take turns, so that a busy machine
disturbs them alike. A ratio below 1 is what is left of the rate.

Run: python benchmarks/tracing.py [--rounds N]
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from filled_store import policy_text, proposal
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import TraceIdRatioBased

from sureline.application.ports.tracing import UNTRACED, Tracer
from sureline.bootstrap import Plugins, open_services, tracer_on
from sureline.gate import Gate

CALLERS, DECISIONS = 64, 1_000


class Taking(SpanExporter):
    """Takes spans and forgets them."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:  # noqa: ARG002
        return SpanExportResult.SUCCESS


def exporting(share: float) -> Tracer:
    """Return a tracer that exports a share of all traces, in batches."""
    provider = TracerProvider(sampler=TraceIdRatioBased(share))
    provider.add_span_processor(BatchSpanProcessor(Taking(), max_queue_size=100_000))
    return tracer_on(provider)


async def rate(gate: Gate, first: int) -> float:
    """Return decisions per second from 64 callers."""
    numbers = iter(range(first, first + DECISIONS))

    async def call() -> None:
        for number in numbers:
            await gate.decide(**proposal(number))

    start = time.perf_counter()
    await asyncio.gather(*(call() for _ in range(CALLERS)))
    return DECISIONS / (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    tracers = {
        "without tracing": UNTRACED,
        "one trace in a hundred": exporting(0.01),
        "every trace": exporting(1.0),
    }
    with tempfile.TemporaryDirectory() as folder:
        gates: dict[str, Gate] = {}
        for number, (name, tracer) in enumerate(tracers.items()):
            url = f"sqlite:///{Path(folder) / f'{number}.db'}"
            gates[name] = Gate(open_services(url, plugins=Plugins(tracer=tracer)))
            gates[name].run(gates[name].services.policies.introduce(policy_text(0)))
        rates: dict[str, list[float]] = {name: [] for name in gates}
        for turn in range(rounds + 1):
            for name, gate in gates.items():
                found = gate.run(rate(gate, turn * DECISIONS))
                if turn:  # the first warms up
                    rates[name].append(found)
        base = rates["without tracing"]
        print("| | decisions/s | of without |\n|---|---:|---:|")
        for name, found in rates.items():
            ratio = statistics.median(one / other for one, other in zip(found, base, strict=True))
            print(f"| {name} | {statistics.median(found):,.0f} | {ratio:.2f} |")
        for gate in gates.values():
            gate.close()


if __name__ == "__main__":
    main()
