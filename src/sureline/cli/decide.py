"""`sureline decide`: proposals in as JSON Lines, decisions out as JSON Lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from sureline.application.answer import Answer
from sureline.application.intake import read_proposal
from sureline.bootstrap import Services
from sureline.cli.options import JsonOption, PolicyOption, StoreOption, WorkspaceOption
from sureline.cli.output import error_json, note, say, visible
from sureline.cli.session import session
from sureline.core.checks.json_value import MAX_BYTES
from sureline.core.checks.parse import parse_output
from sureline.core.values.decision import Decision
from sureline.errors import InvalidInput, StoreError, SurelineError


def decide(
    file: Annotated[
        Path, typer.Argument(help="JSON Lines, one proposal a line; - is standard input.")
    ] = Path("-"),
    policy: PolicyOption = None,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Decide about proposals, one answer a line, each on disk before it is written.

    Lines are decided in their order, so this can stay open and answer another program line by
    line. A bad line is answered with its error, and the rest goes on. Exit code 0: all approved;
    1: some not; 2: a line was bad.
    """
    as_json = as_json or not sys.stdout.isatty()

    worst = 0
    with _opened(file) as lines, session(store, workspace) as opened:
        opened.run(opened.services.prepare(policy))
        for number, line in lines:
            answered = _answer(opened.services, number, line, as_json=as_json)
            worst = max(worst, opened.run(answered))
    raise typer.Exit(worst)


async def _answer(services: Services, number: int, line: bytes, *, as_json: bool) -> int:
    """Decide about one line and write the answer; return the line's exit code."""
    try:
        proposal = read_proposal(_read_line(line), workspace=services.workspace)
        answer = await services.decider.decide(proposal)
    except StoreError:
        raise
    except SurelineError as error:
        _write_error(number, error, as_json=as_json)
        return error.exit_code
    decision = answer.decision
    if as_json:
        _write(answer)
    else:
        _show(decision)
    return 0 if decision.approved else 1


def _read_line(line: bytes) -> dict[str, object]:
    """Read one line as strictly as an output: no duplicate keys, no NaN, no deep nesting."""
    if len(line) > MAX_BYTES:
        raise InvalidInput(f"longer than {MAX_BYTES} bytes")
    parsed = parse_output(line)
    if not parsed.ok or not isinstance(parsed.value, dict):
        raise InvalidInput("; ".join(finding.message for finding in parsed.findings))
    return parsed.value


@contextmanager
def _opened(file: Path) -> Iterator[Iterator[tuple[int, bytes]]]:
    """Yield the numbered lines that are not blank, each read only up to the limit."""
    if str(file) == "-":
        yield _lines(sys.stdin.buffer)
        return
    try:
        stream = file.open("rb")
    except OSError as error:
        raise InvalidInput(f"{file}: cannot open the file: {error.strerror}") from None
    with stream:
        yield _lines(stream)


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    number = 0
    while line := stream.readline(MAX_BYTES + 2):
        number += 1
        rest = line
        while rest and not rest.endswith(b"\n"):  # an overlong line: skip what is left of it
            rest = stream.readline(MAX_BYTES)
        body = line.rstrip(b"\r\n")
        if body.strip():
            yield number, body


def _write(answer: Answer) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(answer.response + b"\n")
    sys.stdout.buffer.flush()


def _write_error(number: int, error: SurelineError, *, as_json: bool) -> None:
    """Answer a bad line: on both streams where a program reads, so that answers pair with lines."""
    if as_json:
        line = {"line": number, "approved": False, "error": error_json(error)}
        sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")
        sys.stdout.flush()
    note(f"line {number}: {error.message}")


def _show(decision: Decision) -> None:
    """Say a decision in one line for a person."""
    value = "none" if decision.confidence is None else f"{decision.confidence:.3f}"
    why = ", ".join(reason.code for reason in decision.reasons)
    say(f"{decision.route:<14}  {value}  {visible(decision.id)}  {why}")
