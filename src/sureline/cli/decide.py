"""`sureline decide`: proposals in as JSON Lines, decisions out as JSON Lines."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO, cast

import typer

from sureline.application.answer import Answer
from sureline.application.decide import Decider
from sureline.application.intake import read_proposal
from sureline.application.side_by_side import side_by_side
from sureline.bootstrap import environment_plugins
from sureline.cli.line_source import Line, LineSource, Stream, is_regular, line_count
from sureline.cli.options import JsonOption, PolicyOption, StoreOption, WorkspaceOption
from sureline.cli.output import as_printed, error_json, json_text, note, progress, say, visible
from sureline.cli.session import Session, session
from sureline.core.checks.json_value import MAX_BYTES
from sureline.core.checks.parse import parse_output
from sureline.core.values.counted import counted
from sureline.core.values.decision import Decision
from sureline.core.values.proposal import Proposal
from sureline.errors import InvalidInput, StoreError, SurelineError

AT_ONCE = 64
"""Lines that are decided at the same time where they are there already: they share one flush."""

Found = Proposal | SurelineError
Result = Answer | SurelineError


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

    Answers come in the order of the lines, and a line that stands alone is answered at once, so
    this can stay open and answer another program line by line. A bad line is answered with its
    error, and the rest goes on. Exit code 0: all approved; 1: some not; 2: a line was bad.
    """
    as_json = as_json or not sys.stdout.isatty()

    plugins = environment_plugins()
    with _opened(file) as stream, session(store, workspace, plugins=plugins) as opened:
        opened.run(opened.services.prepare(policy))
        worst = _decide_all(opened, stream, as_json=as_json)
    raise typer.Exit(worst)


def _decide_all(opened: Session, stream: BinaryIO, *, as_json: bool) -> int:
    """Decide about every line; return the worst exit code. Raises StoreError, OSError.

    Where the store or the output fails, it is said what is stored by then.
    """
    services = opened.services
    source = LineSource(cast("Stream", stream), longest=MAX_BYTES)
    worst = stored = 0
    try:
        with _progress(stream) as advance:
            for lines in source.batches(AT_ONCE):
                found = [_read_line(line, services.workspace) for _, line in lines]
                results = opened.run(_decide(services.decider, found))
                stored += sum(isinstance(one, Answer) for one in results)
                worst = max(worst, _write(lines, results, as_json=as_json))
                advance(len(lines))
    except StoreError as error:
        raise type(error)(f"{error.message}; {_so_far(stored)}") from error
    except BrokenPipeError:  # the reader had enough: that is no failure to explain
        raise
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror}; {_so_far(stored)}") from error
    return worst


def _so_far(stored: int) -> str:
    """Say what a failure leaves in the store, and how to go on."""
    if not stored:
        return "no line was decided before it"
    return (
        f"{counted(stored, 'line')} {'was' if stored == 1 else 'were'} decided and stored before "
        "it; give the same input again to go on where it stopped: lines with an id are then "
        "answered as they are stored, lines without one are decided anew"
    )


async def _decide(decider: Decider, found: Sequence[Found]) -> list[Result]:
    """Decide about the proposals; what became of each line, in order.

    A store that fails ends it there: it is the last result.
    """
    proposals = [one for one in found if isinstance(one, Proposal)]
    answers: list[Result] = []
    for run in side_by_side(proposals):
        answers += await asyncio.gather(*(_answer(decider, proposal) for proposal in run))
        if any(isinstance(answer, StoreError) for answer in answers):
            break
    given = iter(answers)
    results: list[Result] = []
    for one in found:
        result = one if isinstance(one, SurelineError) else next(given)
        results.append(result)
        if isinstance(result, StoreError):
            break
    return results


async def _answer(decider: Decider, proposal: Proposal) -> Result:
    try:
        return await decider.decide(proposal)
    except SurelineError as error:
        return error


def _read_line(line: bytes, workspace: str) -> Found:
    """Read one line as strictly as an output: no duplicate keys, no NaN, no deep nesting."""
    try:
        if len(line) > MAX_BYTES:
            raise InvalidInput(f"longer than {MAX_BYTES} bytes")
        parsed = parse_output(line)
        if not parsed.ok or not isinstance(parsed.value, dict):
            raise InvalidInput("; ".join(finding.message for finding in parsed.findings))
        return read_proposal(parsed.value, workspace=workspace)
    except SurelineError as error:
        return error


@contextmanager
def _opened(file: Path) -> Iterator[BinaryIO]:
    if str(file) == "-":
        yield sys.stdin.buffer
        return
    try:
        stream = file.open("rb")
    except OSError as error:
        raise InvalidInput(f"{file}: cannot open the file: {error.strerror}") from None
    with stream:
        yield stream


@contextmanager
def _progress(stream: BinaryIO) -> Iterator[Callable[[int], None]]:
    """Show a bar for a file whose answers go elsewhere than to the terminal."""
    if sys.stdout.isatty() or not sys.stderr.isatty() or not is_regular(stream):
        yield lambda _: None
        return
    with progress("deciding", line_count(stream)) as advance:
        yield advance


def _write(lines: Sequence[Line], results: Sequence[Result], *, as_json: bool) -> int:
    """Write the results in the order of their lines; return the worst line's exit code.

    Raises StoreError where that is what a line came to.
    """
    worst = 0
    for (number, _), result in zip(lines, results, strict=False):
        if isinstance(result, StoreError):
            sys.stdout.flush()
            raise result
        if isinstance(result, SurelineError):
            _write_error(number, result, as_json=as_json)
            worst = max(worst, result.exit_code)
            continue
        if as_json:
            sys.stdout.buffer.write(as_printed(result.response) + b"\n")
        else:
            _show(result.decision)
        worst = max(worst, 0 if result.decision.approved else 1)
    sys.stdout.flush()
    return worst


def _write_error(number: int, error: SurelineError, *, as_json: bool) -> None:
    """Answer a bad line: on both streams where a program reads, so that answers pair with lines."""
    if as_json:
        line = {"line": number, "approved": False, "error": error_json(error)}
        text = json_text(line).encode("utf-8", "backslashreplace")
        sys.stdout.buffer.write(text + b"\n")
    note(f"line {number}: {error.message}")


def _show(decision: Decision) -> None:
    """Say a decision in one line for a person."""
    value = "none" if decision.confidence is None else f"{decision.confidence:.3f}"
    why = ", ".join(reason.code for reason in decision.reasons)
    say(f"{decision.route:<14}  {value}  {visible(decision.id)}  {why}")
