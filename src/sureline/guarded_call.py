"""Run a function only once its call has been approved: `gate.guard`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Protocol, Unpack

from sureline.application.intake import ProposalFields
from sureline.application.review.reviewed import Reviewed
from sureline.core.values.decision import Decision
from sureline.errors import Refused


class Approving(Protocol):
    """A gate, as far as a guarded call needs one."""

    async def decide(self, **proposal: Unpack[ProposalFields]) -> Decision:
        """Decide about one output."""

    async def review(
        self,
        decision_id: str,
        *,
        timeout: float,  # noqa: ASYNC109
    ) -> Reviewed:
        """Wait for a person's answer."""

    async def consume(self, decision_id: str) -> Decision:
        """Use an approval."""

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Drive one of the others to its end."""


def guarded_by(
    gate: Approving, *, slice_key: str, action_class: str | None, wait: float
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the decorator; see `Gate.guard`."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(function)
        name = function.__qualname__

        async def admit(args: Any, kwargs: Any) -> inspect.BoundArguments:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            asked = _arguments(bound.arguments)
            decision = await gate.decide(
                slice_key=slice_key, task=f"call {name}", output=asked, action_class=action_class
            )
            if not decision.approved and not await _is_released(gate, decision, wait):
                raise Refused(f"{name} was not approved ({decision.route}); decision {decision.id}")
            used = await gate.consume(decision.id)
            return _as_approved(bound, asked, used.output)

        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def guarded_async(*args: Any, **kwargs: Any) -> Any:
                bound = await admit(args, kwargs)
                return await function(*bound.args, **bound.kwargs)

            return guarded_async

        @functools.wraps(function)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            bound = gate.run(admit(args, kwargs))
            return function(*bound.args, **bound.kwargs)

        return guarded

    return decorate


async def _is_released(gate: Approving, decision: Decision, wait: float) -> bool:
    """Wait for a person, if one is asked and there is time."""
    if decision.review_id is None or wait <= 0.0:
        return False
    return (await gate.review(decision.id, timeout=wait)).approved


def _as_approved(
    bound: inspect.BoundArguments, asked: Mapping[str, Any], approved: Any
) -> inspect.BoundArguments:
    """Put what was approved in the place of what was asked for; what is equal stays as it is.

    Raises Refused if these are no arguments of the function: it never runs with others than were
    approved.
    """
    if not isinstance(approved, Mapping) or set(approved) != set(asked):
        raise Refused("what was approved is not the arguments of this function; it was not called")
    for name, value in approved.items():
        if value == asked[name] and isinstance(value, bool) is isinstance(asked[name], bool):
            continue
        kind = bound.signature.parameters[name].kind
        bound.arguments[name] = tuple(value) if kind is inspect.Parameter.VAR_POSITIONAL else value
    return bound


def _as_json(value: Any) -> Any:
    """Return an argument as JSON can say it; what JSON cannot say becomes its text."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(name): _as_json(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_json(entry) for entry in value]
    return str(value)


def _arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return {name: _as_json(value) for name, value in arguments.items()}
    except RecursionError:
        raise Refused("the arguments are nested too deeply to be decided on") from None
