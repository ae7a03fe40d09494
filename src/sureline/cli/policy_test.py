"""`sureline policy test`: expected routes, in CI (L7)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from sureline.application.policy_cases import CaseResult, PolicyCase, read_case, run_case
from sureline.bootstrap import Plugins, open_services
from sureline.cli.options import JsonOption
from sureline.cli.output import print_json, say
from sureline.core.checks.parse import parse_output
from sureline.core.values.switch import Switch
from sureline.errors import InvalidInput


def check_cases(
    cases: Annotated[Path, typer.Argument(help="JSON Lines: proposals with `expect`.")],
    policy: Annotated[Path, typer.Option("--policy", help="The policy file.")] = Path(
        "policy.yaml"
    ),
    as_json: JsonOption = False,
) -> None:
    """Say which cases take another route than expected; nothing is stored.

    Exit code 0: all as expected; 1: some not; 2: the policy or a case is faulty.
    """
    results = asyncio.run(_run(policy, _read(cases)))
    wrong = [result for result in results if result.mismatches]
    if as_json:
        print_json(
            {
                "cases": len(results),
                "wrong": len(wrong),
                "results": [_json(result) for result in results],
            }
        )
    else:
        for result in wrong:
            for mismatch in result.mismatches:
                say(f"{result.name}: {mismatch}")
        say(f"{len(results) - len(wrong)} of {len(results)} cases as expected")
    raise typer.Exit(1 if wrong else 0)


def _read(file: Path) -> list[PolicyCase]:
    """Read all cases; raises InvalidInput naming file, line and what is wrong."""
    try:
        lines = file.read_bytes().splitlines()
    except OSError as error:
        raise InvalidInput(f"{file}: cannot open the file: {error.strerror}") from None
    cases = [
        _case(file, number, line) for number, line in enumerate(lines, start=1) if line.strip()
    ]
    if not cases:
        raise InvalidInput(f"{file}: there are no cases in it")
    return cases


def _case(file: Path, number: int, line: bytes) -> PolicyCase:
    parsed = parse_output(line)
    if not parsed.ok or not isinstance(parsed.value, dict):
        faults = "; ".join(finding.message for finding in parsed.findings)
        raise InvalidInput(f"{file}, line {number}: {faults or 'expected an object'}")
    try:
        return read_case(parsed.value, number)
    except InvalidInput as error:
        raise InvalidInput(f"{file}, line {number}: {error.message}") from None


class _NoSwitch:
    """Leaves the kill switch of this machine out of it."""

    def read(self, workspace: str) -> Sequence[Switch]:  # noqa: ARG002 - a port's signature
        return ()


async def _run(policy: Path, cases: Sequence[PolicyCase]) -> list[CaseResult]:
    async with open_services("sqlite://", plugins=Plugins(hard_switch=_NoSwitch())) as services:
        await services.policies.introduce(policy)
        return [await run_case(case, services.decider) for case in cases]


def _json(result: CaseResult) -> dict[str, Any]:
    return {
        "name": result.name,
        "route": result.decision.route,
        "would_route": result.decision.would_route,
        "confidence": result.decision.confidence,
        "reasons": [reason.code for reason in result.decision.reasons],
        "mismatches": list(result.mismatches),
    }
