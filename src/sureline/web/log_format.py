"""Log lines, for people or for programs: never a payload, never two lines for one (L9)."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import PurePath
from types import TracebackType
from typing import Any

TRACE_ID = "sureline.trace_id"
"""Where a request's scope has the id of its trace."""

REQUEST: ContextVar[Mapping[str, Any] | None] = ContextVar("sureline_request", default=None)
"""The ASGI scope of the request that is being answered, for the lines that are written meanwhile.

Of its address only the template is ever written, as it stands in the table of operations.
"""

FIELDS = ("decision_id", "slice", "route", "ms")
"""What a line may carry beside its message; whatever else is attached to a record is left out."""

LONGEST = 4_000
"""Characters of a message that are written."""


class LogFormat(StrEnum):
    """How log lines are written."""

    TEXT = "text"
    JSON = "json"


class LogLevel(StrEnum):
    """From where on our own lines are written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class JsonLines(logging.Formatter):
    """One JSON object a line, in ASCII, so that no sign in it moves a reader's text about."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line = {
            "time": _moment(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _message(record),
            **_carried(record),
        }
        return json.dumps(line, ensure_ascii=True, default=str)


class TextLines(logging.Formatter):
    """One line of text, what cannot be printed escaped."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        parts = [_moment(record), record.levelname, record.name, _message(record)]
        parts += [f"{name}={value}" for name, value in _carried(record).items()]
        return printable(" ".join(parts))


def log_to_stderr(form: LogFormat = LogFormat.TEXT, level: LogLevel = LogLevel.WARNING) -> None:
    """Write what happens to standard error; `level` is that of our own lines.

    Other libraries' lines are written from warnings on: what they tell below, they tell of
    addresses and bodies.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines() if form is LogFormat.JSON else TextLines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger("sureline").setLevel(level.name)


def safe_trace(error: BaseException) -> str:
    """Name an error's class and where it came from; its message may quote a payload."""
    return _trace(type(error), error.__traceback__)


def printable(text: str) -> str:
    """Return text in which nothing is hidden, reversed or on a line of its own."""
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text
    )


def _trace(kind: type[BaseException], found: TracebackType | None) -> str:
    frames = [
        f"{PurePath(frame.filename).name}:{frame.lineno} {frame.name}"
        for frame in traceback.extract_tb(found)
    ]
    return f"{kind.__name__} at " + " < ".join(reversed(frames))


def _moment(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


def _message(record: logging.LogRecord) -> str:
    said = record.getMessage()[:LONGEST]
    if record.exc_info and record.exc_info[0] is not None:
        said = f"{said}: {_trace(record.exc_info[0], record.exc_info[2])}"
    return said


def _carried(record: logging.LogRecord) -> dict[str, Any]:
    found = {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
    request = REQUEST.get()
    if request is not None:
        route = request.get("route")
        if route is not None:
            found["request"] = f"{request['method']} {route.path}"
        if request.get(TRACE_ID) is not None:
            found["trace_id"] = request[TRACE_ID]
    return found
