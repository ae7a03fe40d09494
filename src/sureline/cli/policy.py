"""`sureline policy`: check, show, compare, propose and activate policies."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from sureline.application.canary_standings import warnings_of
from sureline.application.policies import PolicyBook
from sureline.application.policy_diff import (
    PolicyChange,
    embedded_otherwise,
    newly_embedded,
    policy_diff,
    remeasured,
)
from sureline.application.policy_report import SliceReport, policy_report
from sureline.application.ports.policies import LoadedPolicy
from sureline.bootstrap import Services, load_policy, provider_warnings
from sureline.bootstrap.past_cases import past_cases_of
from sureline.cli.options import ByOption, JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import note, print_json, print_table, say
from sureline.cli.policy_accept import accept
from sureline.cli.policy_test import check_cases
from sureline.cli.session import on_store
from sureline.core.gate.acting import acting
from sureline.core.values.policy import Policy

policy_app = typer.Typer(
    help="Check, show, compare and activate policies.",
    no_args_is_help=True,
    add_completion=False,
)

policy_app.command("test")(check_cases)
policy_app.command("accept")(accept)

FileArgument = Annotated[Path, typer.Argument(help="The policy file.")]
NameArgument = Annotated[
    str, typer.Argument(help="A policy file, the start of a proposed policy's hash, or `active`.")
]
NoteOption = Annotated[str, typer.Option("--note", help="Why; it is recorded.")]


@policy_app.command("check")
def check(file: FileArgument, as_json: JsonOption = False) -> None:
    """Say what is wrong with a file, or what it needs before anything is automated; no store."""
    loaded = load_policy(file)
    report = policy_report(loaded.policy)
    hints = [*embedded_otherwise(loaded.policy), *provider_warnings(loaded.policy)]
    if as_json:
        warnings = [*loaded.warnings, *hints]
        slices = [asdict(one) for one in report]
        print_json({**_loaded_json(loaded), "warnings": warnings, "slices": slices})
        return
    _show_loaded(loaded)
    _note_all(hints)
    _show_report(report)


@policy_app.command("show")
def show(
    name: NameArgument = "active",
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Print a policy with all defaults filled in and all files included."""
    (policy,) = _policies([name], store, workspace)
    if as_json:
        print_json({"hash": policy.hash, "policy": policy.raw})
        return
    import yaml

    text = yaml.safe_dump(policy.raw, sort_keys=False, allow_unicode=True)
    for line in (f"# policy {policy.hash}", *text.splitlines()):
        say(line)


@policy_app.command("diff")
def diff(
    before: NameArgument,
    after: NameArgument,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """List the keys in which two policies differ, and the slices whose certificates would end."""
    old, new = _policies([before, after], store, workspace)
    changes, ended = policy_diff(old, new), remeasured(old, new)
    if as_json:
        print_json({"changes": [asdict(one) for one in changes], "remeasured": list(ended)})
        return
    for change in changes:
        say(_sentence(change))
    if not changes:
        say("the two policies say the same")
    if ended:
        say(f"scores would be measured differently, so certificates would end: {', '.join(ended)}")
    for line in newly_embedded(old, new):
        say(line)


@policy_app.command("propose")
def propose(
    file: FileArgument,
    by: ByOption,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Store a policy without making it current; what it newly gives to people goes there now."""
    named = acting(by, field="--by")

    async def work(services: Services) -> LoadedPolicy:
        return await services.policies.propose(file, by=named)

    loaded = on_store(work, store=store, workspace=workspace, create=True, by=named)
    if as_json:
        print_json(_loaded_json(loaded))
        return
    _show_loaded(loaded)
    say(f"proposed; to use it: sureline policy activate {loaded.policy.hash[:12]} --by NAME")


@policy_app.command("activate")
def activate(
    name: NameArgument,
    by: ByOption,
    why: NoteOption = "",
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Make a policy current in every process; a file is proposed first."""
    named = acting(by, field="--by")

    async def work(services: Services) -> tuple[Policy, Sequence[str]]:
        book = services.policies
        before = None if await book.active_hash() is None else await book.latest()
        if _is_file(name):
            loaded = await book.propose(Path(name), by=named)
            _warn(loaded)
            wanted = loaded.policy.hash
        else:
            wanted = await book.find(name)
        after = await book.activate(wanted, by=named, note=why)
        embedded = () if before is None else newly_embedded(before, after)
        unproven = warnings_of(await services.canaries.standings())
        unknown = provider_warnings(after, services.plugins)
        return after, (*embedded, *past_cases_of(services).notes(after), *unknown, *unproven)

    policy, changed = on_store(work, store=store, workspace=workspace, create=True, by=named)
    _note_all(changed)
    if as_json:
        print_json({"active": policy.hash, "by": named, "note": why})
    else:
        say(f"policy {policy.hash[:12]} is active now, by {named}")


@policy_app.command("list")
def list_policies(
    store: StoreOption = None, workspace: WorkspaceOption = "default", as_json: JsonOption = False
) -> None:
    """List the proposed policies, newest first, and which one is active."""

    async def work(services: Services) -> list[dict[str, Any]]:
        return await services.policies.proposed()

    found = on_store(work, store=store, workspace=workspace)
    if as_json:
        print_json({"policies": found})
    elif found:
        rows = [
            (
                str(one["hash"])[:12],
                "active" if one["active"] else "",
                f"{one['proposed_at']:%Y-%m-%d %H:%M:%S}",
            )
            for one in found
        ]
        print_table("Policies", ("hash", "state", "proposed at (UTC)"), rows)
    else:
        say("no policy was proposed yet")


def _policies(names: Sequence[str], store: str | None, workspace: str) -> list[Policy]:
    """Read policies by name; where all are files, no store is opened."""
    if all(map(_is_file, names)):
        return [load_policy(Path(name)).policy for name in names]

    async def work(services: Services) -> list[Policy]:
        return [await _policy(services.policies, name) for name in names]

    return on_store(work, store=store, workspace=workspace)


async def _policy(book: PolicyBook, name: str) -> Policy:
    if _is_file(name):
        return book.check(Path(name)).policy
    return await book.latest() if name == "active" else await book.stored(await book.find(name))


def _is_file(name: str) -> bool:
    return Path(name).suffix in {".yaml", ".yml", ".json"} or Path(name).is_file()


def _sentence(change: PolicyChange) -> str:
    before = "(absent)" if change.added else json.dumps(change.before, ensure_ascii=False)
    after = "(absent)" if change.removed else json.dumps(change.after, ensure_ascii=False)
    return f"{change.key}: {before} -> {after}"


def _loaded_json(loaded: LoadedPolicy) -> dict[str, Any]:
    return {"hash": loaded.policy.hash, "warnings": list(loaded.warnings)}


def _warn(loaded: LoadedPolicy) -> None:
    _note_all(loaded.warnings)


def _note_all(warnings: Sequence[str]) -> None:
    for warning in warnings:
        note(f"warning: {warning}")


def _show_loaded(loaded: LoadedPolicy) -> None:
    _warn(loaded)
    say(f"the policy is sound; its hash is {loaded.policy.hash}")


def _show_report(report: Sequence[SliceReport]) -> None:
    rows = [
        (one.slice_key, one.mode, f"{one.target:g}", *one.labels_by_errors)
        for one in report
        if one.confidence is None
    ]
    if rows:
        print_table(
            "Labels needed above the threshold before anything is automated",
            ("slice", "mode", "target", "no error", "1 error", "2 errors"),
            rows,
        )
    for one in report:
        if one.deductions:
            _show_deductions(one)
    for one in report:
        say(f"{one.slice_key}: {_expected(one)}")


def _expected(one: SliceReport) -> str:
    """Say what a slice will do by itself, and when."""
    if one.confidence is not None and one.may_automate:
        return (
            f"a mission completes by itself where its judge is at least {one.confidence:g} sure, "
            f"until {one.labels_by_errors[0]} labels without an error certify a threshold"
        )
    if not one.may_automate:
        return "people decide everything" if one.confidence is None else "people complete missions"
    told = ", ".join(f"{at.share:.0%} after {at.labels}" for at in one.expectations)
    origin = " (scaled from target 0.95)" if one.expectations[0].scaled else ""
    return f"labels and the share of possible automation{origin}: {told}"


def _show_deductions(report: SliceReport) -> None:
    print_table(
        f"{report.slice_key}: what the self-evaluation looks for, and the best score that is left",
        ("id", "points", "score left", "when it applies"),
        [
            (one.id, one.points, f"{one.highest:.3g}", textwrap.shorten(one.text, 60))
            for one in report.deductions
        ],
    )
