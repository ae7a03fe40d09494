"""Run all deterministic checks on one output: the signal `verification` (G5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sureline.core.checks.compiled import CompiledChecks, compile_checks
from sureline.core.checks.grounding import CLAIMED
from sureline.core.checks.parse import Parsed, parse_output
from sureline.core.checks.result import CheckResult, Validator
from sureline.core.values.checks import ChecksPolicy
from sureline.core.values.finding import Finding
from sureline.core.values.proposal import SourceText
from sureline.core.values.signal import Signal, SignalKind
from sureline.errors import PolicyError

NAME = "verification"
IF_TRUSTED = "if_trusted"
"""In the signal's detail: the score there would be if every source were a trusted one."""
FULL_SCORE = 1000
"""Points of an output without a finding; penalties are whole points, so that sums are exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What the checks say of an output.

    `output` is the parsed value; where parsing failed it is the text, or None if the output
    cannot be stored. `fatal` says that a fatal check failed (the score is then 0), `parse_failed`
    that it was the parsing.
    """

    output: object
    signal: Signal
    findings: tuple[Finding, ...]
    fatal: bool
    parse_failed: bool


def verify(
    output: object,
    *,
    policy: ChecksPolicy,
    task: str,
    source: Sequence[SourceText],
    now: datetime,
    validator: Validator | None = None,
) -> Verification:
    """Check `output` as `policy` says and return the score with everything that was found.

    `now` has a zone. The score is `max(0, 1000 - penalties) / 1000` or the share of the checks
    that passed; a fatal finding makes it 0. Grounding counts against an output, never for it. A
    policy without checks gives `not_applicable(no_checks)`; one that cannot be compiled, a model
    without its `validator` and a validator that breaks give `failed`. Where values stand only in a
    source that the agent claims, the detail says what the score would be if it were trusted; that
    is no score, and raises none. Never raises.
    """
    parsed = parse_output(output, structured=policy.structured)
    if not parsed.ok:
        return _measured(parsed, [CheckResult(findings=parsed.findings, passed=False)], policy)
    if not policy.any:
        signal = Signal.not_applicable(NAME, SignalKind.DETERMINISTIC, "no_checks")
        return _ended(parsed, signal)
    try:
        checks = compile_checks(policy)
    except PolicyError as error:
        return _failed(parsed, "checks_broken", error.message)
    results = [CheckResult(findings=parsed.findings)] if policy.structured else []
    results.extend(_run(checks, parsed.value, task, source, now))
    if policy.model is not None:
        named = _run_validator(parsed, policy.model, validator)
        if isinstance(named, Verification):
            # A fatal finding stays fatal, whatever became of the validator.
            fatal = any(found.fatal for result in results for found in result.findings)
            return _measured(parsed, results, policy) if fatal else named
        results.append(named)
    believed = _believed(checks, parsed.value, source, results)
    return _measured(parsed, results, policy, believed=believed)


def _run(
    checks: CompiledChecks, value: object, task: str, source: Sequence[SourceText], now: datetime
) -> Iterator[CheckResult]:
    if checks.schema is not None:
        yield checks.schema.check(value)
    for rule in checks.rules:
        yield rule.check(value, now)
    for prose in checks.prose:
        yield from prose.check(value, task)
    if checks.grounding is not None:
        yield from checks.grounding.check(value, source)


def _believed(
    checks: CompiledChecks,
    value: object,
    source: Sequence[SourceText],
    results: Sequence[CheckResult],
) -> Sequence[CheckResult]:
    """Return the results as they would be if every source were trusted; none if that is no matter.

    Only grounding asks where a source comes from.
    """
    claimed = any(found.code == CLAIMED for result in results for found in result.findings)
    if checks.grounding is None or not claimed:
        return ()
    trusted = [replace(one, trusted=True) for one in source]
    others = (result for result in results if not result.presence)
    return (*others, *checks.grounding.check(value, trusted))


def _run_validator(
    parsed: Parsed, model: str, validator: Validator | None
) -> CheckResult | Verification:
    if validator is None:
        return _failed(parsed, "validator_missing", f"No model named {model} is registered.")
    try:
        findings = validator(parsed.value)
    except Exception as error:  # noqa: BLE001 - the program's own code: its failure is a failed check
        kind = type(error).__name__
        return _failed(parsed, "validator_failed", f"The model {model} broke with {kind}.")
    return CheckResult(findings=findings, passed=not findings)


def _measured(
    parsed: Parsed,
    results: Sequence[CheckResult],
    policy: ChecksPolicy,
    *,
    believed: Sequence[CheckResult] = (),
) -> Verification:
    findings = tuple(found for result in results for found in result.findings)
    detail: dict[str, Any] = {
        "checks": len(results),
        "failed": sum(not result.passed for result in results),
        "codes": dict(sorted(Counter(found.code for found in findings).items())),
    }
    if any(result.presence for result in results):
        detail["presence"] = sum(result.present for result in results)
    if believed:
        detail[IF_TRUSTED] = _score(believed, policy)
    value = _score(results, policy)
    signal = Signal.measured(
        NAME, SignalKind.DETERMINISTIC, value, detail=detail, findings=findings
    )
    return _ended(parsed, signal, fatal=any(found.fatal for found in findings))


def _score(results: Sequence[CheckResult], policy: ChecksPolicy) -> float:
    findings = [found for result in results for found in result.findings]
    if any(found.fatal for found in findings):
        return 0.0
    if policy.score == "fraction":
        counted = [result for result in results if not (result.presence and result.passed)]
        passed = sum(result.passed for result in counted)
        return passed / len(counted) if counted else 1.0
    lost = sum(found.penalty for found in findings)
    return max(0, FULL_SCORE - lost) / FULL_SCORE


def _failed(parsed: Parsed, reason: str, message: str) -> Verification:
    findings = (*parsed.findings, Finding(code=reason, message=message))
    signal = Signal.failed(NAME, SignalKind.DETERMINISTIC, reason, findings=findings)
    return _ended(parsed, signal)


def _ended(parsed: Parsed, signal: Signal, *, fatal: bool = False) -> Verification:
    return Verification(
        output=parsed.value,
        signal=signal,
        findings=signal.findings,
        fatal=fatal,
        parse_failed=not parsed.ok,
    )
