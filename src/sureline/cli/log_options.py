"""How a command that stays writes its log."""

from __future__ import annotations

from typing import Annotated

import typer

from sureline.web.log_format import LogFormat, LogLevel

LogFormatOption = Annotated[
    LogFormat, typer.Option("--log-format", help="Log lines for people, or JSON for programs.")
]
LogLevelOption = Annotated[
    LogLevel,
    typer.Option("--log-level", help="What is logged; from info on, every decision has a line."),
]
