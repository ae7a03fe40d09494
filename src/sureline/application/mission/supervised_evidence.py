"""What a program that was invoked leaves behind, as evidence (M2).

It may write evidence of its own. Where it does not, the ends of what it wrote and its exit code
are the evidence. How it ended is our own observation, so it is added wherever it was not well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sureline.application.mission.evidence_intake import read_evidence
from sureline.application.ports.processes import NotStarted, Ran, storable
from sureline.core.values.mission_evidence import Evidence, ToolCall, Turn
from sureline.core.values.strict_json import strict_json
from sureline.errors import InvalidInput

CALL = "supervised_command"
"""Under this name stands how a command ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Invoked:
    """An invocation that is over; `ended_for` says why it was ended before it ended itself."""

    number: int
    trigger: str
    command: Sequence[str]
    outcome: Ran | NotStarted
    ended_for: str | None = None

    @property
    def ok(self) -> bool:
        """Tell whether the command ended by itself, and well."""
        outcome = self.outcome
        return isinstance(outcome, Ran) and outcome.exit_code == 0 and self.ended_for is None


def evidence_of(invoked: Invoked, written: bytes | None) -> Evidence:
    """Return the evidence of an invocation. Raises InvalidInput for evidence nobody can read."""
    if written is None:
        return observed(invoked)
    try:
        given = strict_json(written)
    except ValueError as error:
        raise InvalidInput(f"the evidence is not JSON: {error}") from None
    if not isinstance(given, dict):
        raise InvalidInput("the evidence is no JSON object")
    evidence = read_evidence(given)
    if evidence.trigger is None:
        evidence = replace(evidence, trigger=invoked.trigger)
    # Where all is well nothing is added: a call beside those of the agent would hide that they
    # repeat themselves.
    return evidence if invoked.ok else _with_end(evidence, invoked)


def observed(invoked: Invoked) -> Evidence:
    """Return as evidence what was seen from outside."""
    outcome = invoked.outcome
    if isinstance(outcome, NotStarted):
        why = storable(f"The command could not be started: {outcome.why}.")
        call = _call(invoked, {"not_started": why})
        said = Turn(role="supervisor", text=why)
        return Evidence(conversation=(said,), calls=(call,), trigger=invoked.trigger)
    return _with_end(Evidence(trigger=invoked.trigger, answer=_answer(invoked, outcome)), invoked)


def _answer(invoked: Invoked, outcome: Ran) -> str | None:
    """Return what was written last; a program that does its work in silence says nothing empty."""
    return outcome.stdout if outcome.stdout.strip() or not invoked.ok else None


def _with_end(evidence: Evidence, invoked: Invoked) -> Evidence:
    outcome = invoked.outcome
    assert isinstance(outcome, Ran)
    result = {
        "exit_code": outcome.exit_code,
        "stdout_end": outcome.stdout,
        "stderr_end": outcome.stderr,
        "bytes_before": outcome.cut,
        **({} if invoked.ended_for is None else {"ended_for": invoked.ended_for}),
    }
    call = _call(invoked, result)
    cut = replace(evidence.cut, characters=evidence.cut.characters + outcome.cut)
    return replace(evidence, calls=(*evidence.calls, call), cut=cut)


def _call(invoked: Invoked, result: dict[str, Any]) -> ToolCall:
    # The number tells this call from the same command's last one, which is no repeated call.
    command = [storable(one) for one in invoked.command]
    arguments = {"command": command, "invocation": invoked.number}
    return ToolCall(name=CALL, arguments=arguments, result=result, ok=invoked.ok)
