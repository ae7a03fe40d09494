"""Log lines: what is in them, that each is one line, and that no payload ever is."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from sureline.application.ports.keys import Role
from sureline.bootstrap import tracer_on
from sureline.core.values.policy import SlicePolicy
from sureline.core.values.proposal import Proposal
from sureline.core.values.signal import Signal, SignalKind
from sureline.web.log_format import (
    REQUEST,
    JsonLines,
    LogFormat,
    LogLevel,
    TextLines,
    log_to_stderr,
    printable,
    safe_trace,
)
from tests.web.served import Served, serve

MARK = "Kowalczyk-4711"
FORMATTERS = [pytest.param(JsonLines(), id="json"), pytest.param(TextLines(), id="text")]


@contextmanager
def logged(formatter: logging.Formatter | None = None) -> Iterator[io.StringIO]:
    """Yield what is written of all loggers from debug on, as a server would write it."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter or JsonLines())
    root, before = logging.getLogger(), logging.getLogger().level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield stream
    finally:
        root.removeHandler(handler)
        root.setLevel(before)


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(one) for one in stream.getvalue().splitlines()]


class Raising:
    """A source that raises with the payload in its message."""

    name, kind = "raising", SignalKind.OBJECTIVE

    async def measure(self, proposal: Proposal, policy: SlicePolicy) -> Signal:
        logging.getLogger("plugin").debug("I say what I like")
        raise ValueError(f"cannot read {proposal.output}")


def test_a_decision_has_one_line(served: Served) -> None:
    """It has id, slice, route and the request as it stands in the table."""
    with logged() as stream:
        made = served.decide(id="letter-1").json()
    (line,) = [one for one in lines(stream) if one["logger"] == "sureline.decisions"]
    assert line["message"] == "decided"
    assert (line["decision_id"], line["slice"]) == ("letter-1", "invoices")
    assert line["route"] == made["route"]
    assert line["request"] == "POST /v1/decisions"
    assert "trace_id" not in line


def test_a_replay_has_none(served: Served) -> None:
    """Nothing was decided."""
    served.decide(id="letter-1")
    with logged() as stream:
        served.decide(id="letter-1")
    assert not [one for one in lines(stream) if one["logger"] == "sureline.decisions"]


def test_decisions_are_off_at_the_usual_level(served: Served) -> None:
    """A server logs warnings and errors; every decision only where it is asked for."""
    with logged() as stream:
        logging.getLogger("sureline").setLevel(logging.WARNING)
        try:
            served.decide()
        finally:
            logging.getLogger("sureline").setLevel(logging.NOTSET)
    assert "sureline.decisions" not in stream.getvalue()


@pytest.mark.parametrize("formatter", FORMATTERS)
def test_no_line_quotes(tmp_path: Path, formatter: logging.Formatter) -> None:
    """A payload in every field, sound and unsound, is in no line of any level."""
    fields = {
        "task": f"write to {MARK}",
        "output": {"total": MARK},
        "source": [{"ref": MARK, "text": MARK}],
        "self_report": MARK,
        "generator": {"model": MARK},
        "batch_id": MARK,
        "submitted_by": MARK,
        "context": MARK,
    }
    with serve(tmp_path, signals=[Raising()]) as served, logged(formatter) as stream:
        for name, value in fields.items():
            served.decide(**{name: value})
        served.decide(**{one: fields[one] for one in ("task", "output", "source", "batch_id")})
        served.decide(slice_key=MARK)
        served.call("GET", f"/v1/decisions/{MARK}", Role.ADMIN)
        served.call("GET", f"/{MARK}?q={MARK}", Role.ADMIN)
        served.call("POST", "/v1/decisions", content=MARK.encode())
        served.call("POST", "/v1/outcomes", Role.ADMIN, json={"decision_id": MARK, "by": MARK})
        ours = [one for one in stream.getvalue().splitlines() if "httpx" not in one]
    assert any("sureline.decisions" in one for one in ours)
    assert not [one for one in ours if MARK in one and "httpcore" not in one]


def test_the_line_leads_to_the_trace(tmp_path: Path) -> None:
    """Its trace id is that of the spans, which is the caller's own where it sent one."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    caller = "0af7651916cd43dd8448eb211c80319c"
    header = {"traceparent": f"00-{caller}-b7ad6b7169203331-01"}
    with (
        serve(tmp_path, tracer=tracer_on(provider)) as served,
        logged() as stream,
    ):
        body = {"slice_key": "invoices", "task": "t", "output": {"total": 1}, "id": "letter-1"}
        answer = served.call("POST", "/v1/decisions", json=body, headers=header)
        refused = served.call("POST", "/v1/decisions", None, json=body, headers=header)
        served.call("GET", "/metrics", Role.ADMIN)
    assert (answer.status_code, refused.status_code) == (201, 401)
    (line,) = [one for one in lines(stream) if one["logger"] == "sureline.decisions"]
    assert line["trace_id"] == caller
    spans = exporter.get_finished_spans()
    assert {format(one.context.trace_id, "032x") for one in spans if one.context} == {caller}
    assert len([one for one in spans if one.name == "POST /v1/decisions"]) == 1
    assert any((one.attributes or {}).get("sureline.decision.id") == "letter-1" for one in spans)


HOSTILE = [
    pytest.param("one\ntwo", id="newline"),
    pytest.param("one\r\n2026-01-01 ERROR forged", id="carriage-return"),
    pytest.param("one\u2028two\u2029three\x85four", id="unicode-separators"),
    pytest.param("abc\u202edcb\u2066x\u2069", id="bidi"),
    pytest.param("\x1b[31mred\x1b[0m\x00\x08", id="terminal"),
    pytest.param("\ud800", id="lone-surrogate"),
    pytest.param('{"level":"error"}', id="json"),
]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("formatter", FORMATTERS)
def test_nothing_can_be_forged(formatter: logging.Formatter, text: str) -> None:
    """Whatever stands in a message or an id, a record is one line of what can be printed."""
    record = logging.LogRecord("sureline", logging.INFO, "", 1, "said %s", (text,), None)
    record.decision_id = text
    line = formatter.format(record)
    assert len(line.splitlines()) == 1
    assert line.isprintable()
    line.encode("utf-8")


def test_json_keeps_what_was_said() -> None:
    """A program reads the very text back."""
    record = logging.LogRecord("sureline", logging.INFO, "", 1, "a\nb\u202e", None, None)
    assert json.loads(JsonLines().format(record))["message"] == "a\nb\u202e"


@pytest.mark.parametrize("formatter", FORMATTERS)
def test_an_error_is_named_and_not_quoted(formatter: logging.Formatter) -> None:
    """A traceback gives classes and places; the message stays out, also for other libraries."""
    try:
        int(MARK)
    except ValueError as error:
        shown = safe_trace(error)
        record = logging.LogRecord("other", logging.ERROR, "", 1, "failed", None, sys.exc_info())
    line = formatter.format(record)
    assert "ValueError at test_log_lines.py" in line
    assert "ValueError at test_log_lines.py" in shown
    assert MARK not in line + shown


def test_what_others_attach_is_left_out() -> None:
    """Only the fields of the list are written: who knows what a library attaches."""
    record = logging.LogRecord("other", logging.ERROR, "", 1, "failed", None, None)
    record.body = MARK
    assert MARK not in JsonLines().format(record)


def test_a_request_that_leads_nowhere_has_no_template() -> None:
    """An unknown address is the caller's text, so it is not written."""
    noted = REQUEST.set({"type": "http", "method": "GET", "path": f"/{MARK}"})
    try:
        record = logging.LogRecord("sureline", logging.ERROR, "", 1, "failed", None, None)
        assert "request" not in json.loads(JsonLines().format(record))
    finally:
        REQUEST.reset(noted)


@pytest.mark.parametrize("form", LogFormat)
def test_a_process_writes_to_standard_error(
    form: LogFormat, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Our own lines from the level that was asked for, those of others from warnings on."""
    ours, root = logging.getLogger("sureline"), logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    before = ours.level, root.level
    try:
        log_to_stderr(form, LogLevel.INFO)
        logging.getLogger("sureline.decisions").info("decided", extra={"decision_id": "d1"})
        logging.getLogger("sureline.decisions").debug("nothing")
        logging.getLogger("other").info("to https://example.com/%s", MARK)
        logging.getLogger("other").warning("slow")
    finally:
        ours.setLevel(before[0])
        root.setLevel(before[1])
    written = capsys.readouterr()
    first, second = written.err.splitlines()
    assert written.out == ""
    assert "d1" in first
    assert "slow" in second


def test_plain_text_stays_as_it_is() -> None:
    """Letters of any language can be read."""
    assert printable("Łódź 東京 naïve") == "Łódź 東京 naïve"
