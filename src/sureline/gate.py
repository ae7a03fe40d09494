"""The gate as a program holds it: open it once, ask it for every output."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

from sureline.application.intake import ProposalFields, read_proposal
from sureline.application.label import GivenAnswer, choice, paths
from sureline.bootstrap import Plugins, Services, open_services
from sureline.core.values.decision import Decision
from sureline.core.values.outcome import Action, Outcome, OutcomeSource
from sureline.errors import NotAllDecided, Refused, SurelineError
from sureline.loop_thread import LoopThread

if TYPE_CHECKING:
    from types import TracebackType

    from sureline.application.recalibrate import Calibration

Result = TypeVar("Result")


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


class Gate:
    """Decides which outputs may act on their own.

    Made by `Gate.open`. The async methods are the implementation; `decide_sync` and the other
    `_sync` methods drive them from code without an event loop. Close it when done, or use it as
    a context manager.
    """

    def __init__(self, services: Services) -> None:
        self.services = services
        self.workspace = services.workspace
        self._loop = LoopThread()

    @classmethod
    def open(
        cls,
        policy: str | Path | None = None,
        *,
        store: str | None = None,
        workspace: str = "default",
        plugins: Plugins | None = None,
    ) -> Gate:
        """Open the store and bring the policy file before it.

        The first policy that a store ever sees becomes current. A file that differs from the
        current policy is checked and proposed, and changes nothing until someone activates it.
        Without `policy`, the store's current one is used. Raises PolicyError and StoreError.
        """
        gate = cls(open_services(store, workspace=workspace, plugins=plugins))
        try:
            gate.run(gate.services.prepare(None if policy is None else Path(policy)))
        except BaseException:
            gate.close()
            raise
        return gate

    async def decide(self, **proposal: Unpack[ProposalFields]) -> Decision:
        """Decide about one output; the decision is on disk when this returns.

        `task`, `output` and `slice_key` are required; all fields are listed in
        docs/reference/proposal.md. Raises InvalidInput, UnknownSlice, Conflict and StoreError.
        """
        read = read_proposal(proposal, workspace=self.workspace)
        return (await self.services.decider.decide(read)).decision

    def decide_sync(self, **proposal: Unpack[ProposalFields]) -> Decision:
        """Decide from code without an event loop."""
        return self.run(self.decide(**proposal))

    async def decide_many(self, proposals: Iterable[Mapping[str, Any]]) -> list[Decision]:
        """Decide about several proposals at once, in the order given.

        Raises NotAllDecided when something is wrong with one of them (an unknown slice, a
        conflict, a full store); it carries the other answers, so that nothing is lost.
        """
        found = await asyncio.gather(*(self._decide_or_error(raw) for raw in proposals))
        decided = [one for one in found if isinstance(one, Decision)]
        if len(decided) < len(found):
            raise NotAllDecided(found)
        return decided

    async def _decide_or_error(self, raw: Mapping[str, Any]) -> Decision | SurelineError:
        try:
            read = read_proposal(raw, workspace=self.workspace)
            return (await self.services.decider.decide(read)).decision
        except SurelineError as error:
            return error

    async def consume(self, decision_id: str) -> Decision:
        """Use an approval: once, soon, and only while no switch is on.

        Raises Refused if it may not be used (any more), and NotFound.
        """
        return (await self.services.consumer.consume(self.workspace, decision_id)).decision

    async def record_outcome(
        self,
        decision_id: str,
        *,
        action: Action | str,
        by: str,
        source: OutcomeSource | str = OutcomeSource.REVIEW,
        edited_fields: Sequence[str] = (),
        anchored: bool = True,
        comment: str | None = None,
    ) -> Outcome:
        """Record what a person did with an output, or what became of it later.

        Raises InvalidInput for an action or a source that is none, NotFound and Conflict.
        """
        answer = GivenAnswer(
            decision_id=decision_id,
            action=choice(Action, action, "action"),
            by=by,
            source=choice(OutcomeSource, source, "source"),
            edited_fields=paths(edited_fields),
            anchored=anchored,
            comment=comment,
        )
        return await self.services.labeller.record(self.workspace, answer)

    async def review(  # the caller's limit is part of the answer, so it is no asyncio.timeout
        self,
        decision_id: str,
        *,
        timeout: float = 3600.0,  # noqa: ASYNC109
    ) -> Outcome | None:
        """Wait up to `timeout` seconds for a person's answer; None if none came."""
        return await self.services.waiter.wait(self.workspace, decision_id, timeout)

    async def recalibrate(self) -> Calibration:
        """Compute certificates and reliability from the labels, as a proposal."""
        return await self.services.recalibrator.recalibrate()

    async def activate(
        self, calibration_id: str, *, by: str, note: str = "", share: float = 1.0
    ) -> None:
        """Make a calibration's certificates current; an act of a person, kept in the ledger.

        With a `share` in (0, 1) they hold for that share of the decisions, drawn by content. The
        others keep the calibration that was active before; without one, people decide.
        Raises InvalidInput, NotFound.
        """
        await self.services.recalibrator.activate(calibration_id, by=by, note=note, share=share)

    def guard(
        self, *, slice_key: str, action_class: str | None = None
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Run the decorated function only once its call has been approved.

        The function's arguments are the output that is decided on. A call that is not approved
        raises Refused, and the function does not run; the message names the decision to review.
        """

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            signature = inspect.signature(function)

            async def admit(*args: Any, **kwargs: Any) -> None:
                bound = signature.bind(*args, **kwargs)
                bound.apply_defaults()
                decision = await self.decide(
                    slice_key=slice_key,
                    task=f"call {function.__qualname__}",
                    output=_arguments(bound.arguments),
                    action_class=action_class,
                )
                if not decision.approved:
                    raise Refused(
                        f"{function.__qualname__} was not approved ({decision.route}); "
                        f"decision {decision.id}"
                    )
                await self.consume(decision.id)

            if inspect.iscoroutinefunction(function):

                @functools.wraps(function)
                async def guarded_async(*args: Any, **kwargs: Any) -> Any:
                    await admit(*args, **kwargs)
                    return await function(*args, **kwargs)

                return guarded_async

            @functools.wraps(function)
            def guarded(*args: Any, **kwargs: Any) -> Any:
                self.run(admit(*args, **kwargs))
                return function(*args, **kwargs)

            return guarded

        return decorate

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Drive one of the async methods to its end from code without an event loop."""
        return self._loop.run(work)

    def close(self) -> None:
        """Write what is pending and let go of the store."""
        self._loop.close()
        self.services.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
