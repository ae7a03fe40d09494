"""How a command that stays writes its log."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Annotated

import typer

from sureline.cli.output import note
from sureline.web.log_format import JsonLines, LogFormat, LogLevel

LogFormatOption = Annotated[
    LogFormat, typer.Option("--log-format", help="Log lines for people, or JSON for programs.")
]
LogLevelOption = Annotated[
    LogLevel,
    typer.Option("--log-level", help="What is logged; from info on, every decision has a line."),
]


def notes(form: LogFormat) -> Callable[[str], None]:
    """Return what writes a line for people to standard error, in the form of the log's lines."""
    return note if form is LogFormat.TEXT else _json_note


def _json_note(text: str) -> None:
    record = logging.LogRecord("sureline", logging.INFO, "", 0, text, None, None)
    sys.stderr.write(JsonLines().format(record) + "\n")
