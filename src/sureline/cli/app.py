"""The root command: it loads a sub-command only when that one is called.

Errors meet their exit code here and nowhere else: 0 ok, 1 the gate says no, 2 bad input or usage,
3 a service (the store) is unavailable, 130 interrupted, 141 the reader of a pipe went away.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from sureline.cli.output import JSON_FLAG, report_error
from sureline.errors import InvalidInput, StoreError, SurelineError

PIPE_CLOSED = 141


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a sub-command is found (`module:attribute`) and what it does in one line."""

    target: str
    help: str


COMMANDS = {
    "init": Entry("sureline.cli.init:init", "Write a starter policy and example proposals."),
    "decide": Entry(
        "sureline.cli.decide:decide", "Decide about proposals (JSON Lines in and out)."
    ),
    "import": Entry("sureline.cli.import_:import_", "Take in a log of past outputs and labels."),
    "outcome": Entry("sureline.cli.outcome:outcome", "Record what a person did with an output."),
    "review": Entry("sureline.cli.review:review_app", "Work through what the gate sent to people."),
    "reviewers": Entry(
        "sureline.cli.reviewers:reviewers", "See whether people look at what they approve."
    ),
    "golden": Entry(
        "sureline.cli.golden:golden_app", "Take what editors corrected as cases to try."
    ),
    "audit": Entry(
        "sureline.cli.audit:audit_app", "Answer the random sample of what was automated."
    ),
    "incidents": Entry(
        "sureline.cli.incidents:incidents_app",
        "See and close what was released and turned out wrong.",
    ),
    "recall": Entry("sureline.cli.recall:recall", "List and call back what acted alone."),
    "mission": Entry(
        "sureline.cli.mission:mission_app",
        "See agents at work on an objective, answer for them, and run one.",
    ),
    "recalibrate": Entry(
        "sureline.cli.recalibrate:recalibrate", "Compute certificates from labels."
    ),
    "report": Entry("sureline.cli.report:report", "Say what to loosen, what to tighten, and why."),
    "calibration": Entry(
        "sureline.cli.calibration:calibration_app", "Activate calibrations, and take them back."
    ),
    "watch": Entry("sureline.cli.watch:watch", "Test precision and scores of every slice now."),
    "canaries": Entry(
        "sureline.cli.canaries:canaries_app", "Examine judges and evaluators with bad outputs."
    ),
    "opinions": Entry(
        "sureline.cli.opinions:opinions", "Show how judges and evaluators do, model by model."
    ),
    "logbook": Entry("sureline.cli.logbook:logbook", "List what changed, when and by whom."),
    "certify": Entry("sureline.cli.certify:certify", "Certify a threshold from a file; no store."),
    "cost": Entry("sureline.cli.cost:cost", "Estimate what a gate would save."),
    "simulate": Entry(
        "sureline.cli.simulate:simulate", "Replay decisions under other rules; nothing changes."
    ),
    "compare": Entry("sureline.cli.compare:compare", "Compare two variants on a slice."),
    "weights": Entry("sureline.cli.weights:weights", "Learn a slice's weights, as a suggestion."),
    "switch": Entry(
        "sureline.cli.switch:switch_app", "Send everything to people, or stop doing so."
    ),
    "policy": Entry(
        "sureline.cli.policy:policy_app", "Check, show, compare and activate policies."
    ),
    "reembed": Entry(
        "sureline.cli.reembed:reembed", "Embed past decisions anew after a change of embedder."
    ),
    "cases": Entry(
        "sureline.cli.cases:cases_app", "See how similar past cases are searched; build indexes."
    ),
    "ledger": Entry(
        "sureline.cli.ledger:ledger_app", "Verify, export and erase what was recorded."
    ),
    "store": Entry("sureline.cli.store:store_app", "Back up, restore, copy and upgrade a store."),
    "keys": Entry("sureline.cli.keys:keys_app", "Make and revoke the server's API keys."),
    "serve": Entry("sureline.cli.serve:serve", "Answer over HTTP."),
    "worker": Entry(
        "sureline.cli.worker:worker", "Run jobs, deadlines and deliveries without a server."
    ),
    "outbox": Entry("sureline.cli.outbox:outbox_app", "Show what was told, and tell it again."),
    "jobs": Entry("sureline.cli.jobs:jobs_app", "Show and run what is done periodically."),
    "demo": Entry("sureline.cli.demo:demo", "See the whole path on bundled receipts."),
}


class LazyGroup(TyperGroup):
    """A group whose members are imported when called, so that `--help` is quick."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - the signature is typer's
        """Return the names in the order in which a newcomer meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """Return a stand-in that knows the help line only; enough for `--help`."""
        entry = COMMANDS.get(cmd_name)
        return None if entry is None else TyperCommand(cmd_name, help=entry.help)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the real command."""
        self.commands = {name: self.get_command(ctx, name) for name in COMMANDS}  # for suggestions
        name, stand_in, rest = super().resolve_command(ctx, args)
        if name is None or stand_in is None:
            return name, stand_in, rest
        return name, load_command(name), rest

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Note whether errors are to be JSON; sub-commands declare `--json` themselves."""
        ctx.meta[JSON_FLAG] = "--json" in args
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the sub-command and turn every expected error into a message and an exit code."""
        as_json = ctx.meta[JSON_FLAG]
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except SurelineError as error:
            report_error(error, as_json=as_json)
            raise typer.Exit(error.exit_code) from None
        except typer.TyperException as error:
            if not as_json:
                raise
            report_error(InvalidInput(error.format_message()), as_json=True)
            raise typer.Exit(error.exit_code) from None
        except BrokenPipeError:
            _drop_output()
            raise typer.Exit(PIPE_CLOSED) from None
        except OSError as error:
            _drop_output()
            report_error(StoreError(f"cannot read or write: {error.strerror}"), as_json=as_json)
            raise typer.Exit(StoreError.exit_code) from None
        else:
            return result


def _drop_output() -> None:
    """Send what is left nowhere: Python would complain once more when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def load_command(name: str) -> Any:
    """Import a sub-command; a plain function becomes a command of that name."""
    module_name, attribute = COMMANDS[name].target.split(":")
    found = getattr(importlib.import_module(module_name), attribute)
    if not isinstance(found, typer.Typer):
        wrapper = typer.Typer(add_completion=False)
        wrapper.command(name)(found)
        found = wrapper
    command = typer.main.get_command(found)
    command.name = name
    _unwrap_help(command)
    return command


def _unwrap_help(command: Any) -> None:
    """Join the lines of each paragraph: a terminal of another width wraps them once, not twice."""
    if command.help:
        command.help = re.sub(r"(?<=\S)\n(?=[^\s*-])", " ", command.help)
    for one in getattr(command, "commands", {}).values():
        _unwrap_help(one)


app = typer.Typer(
    cls=LazyGroup,
    name="sureline",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        sys.stdout.write(f"sureline {version('sureline')}\n")
        raise typer.Exit


@app.callback()
def sureline(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print it.")
    ] = False,
) -> None:
    """Draw the sure line: what agents may decide, and what people must see."""
