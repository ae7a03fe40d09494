"""The command line: one file per command or group of commands."""

from __future__ import annotations


def main() -> None:
    """Run `sureline` with the arguments of the process."""
    from sureline.cli.app import app

    app()
