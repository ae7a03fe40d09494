"""The gate as a program holds it: open it once, ask it for every output."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

from sureline.application.intake import ProposalFields, read_proposal
from sureline.application.label import GivenAnswer, choice, paths
from sureline.application.mission.bus import Listener
from sureline.application.mission.check import SuccessCheck, require_callable
from sureline.application.mission.new_mission import MissionFields, new_mission
from sureline.application.review.reviewed import Reviewed
from sureline.bootstrap import Plugins, Services, open_services
from sureline.core.gate.acting import acting
from sureline.core.review.opening import content_digest
from sureline.core.values.decision import Decision
from sureline.core.values.outcome import Action, Outcome, OutcomeSource
from sureline.errors import NotAllDecided, SurelineError
from sureline.guarded_call import guarded_by
from sureline.loop_thread import LoopThread
from sureline.mission_tracker import MissionTracker

if TYPE_CHECKING:
    from types import TracebackType

    from sureline.application.recalibrate import Calibration

Result = TypeVar("Result")


NOT_SAID: Any = object()
"""Stands for an argument that was left out, where None is a value."""


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

    async def consume(self, decision_id: str, *, output: Any = NOT_SAID) -> Decision:
        """Use an approval: once, soon, and only while no switch is on.

        The decision's `output` is what was approved, as an editor left it. `output` is what the
        caller means to use, if they say so; where that is other content, the approval is void.
        Raises Refused if it may not be used (any more), and NotFound.
        """
        digest = None if output is NOT_SAID else content_digest(output)
        used = await self.services.consumer.consume(self.workspace, decision_id, digest=digest)
        return used.decision

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
            by=acting(by),
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
    ) -> Reviewed:
        """Wait up to `timeout` seconds for a person's answer.

        `approved` is false where none came. `output` is what they released; `consume` hands it
        out for its one use. Raises NotFound.
        """
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
        self, *, slice_key: str, action_class: str | None = None, wait: float = 0.0
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Run the decorated function only once its call has been approved.

        The function's arguments are the output that is decided on. A call that goes to a person
        waits up to `wait` seconds for them, and runs with the arguments as they left them. A call
        that is not approved raises Refused, and the function does not run; the message names the
        decision to review.
        """
        return guarded_by(self, slice_key=slice_key, action_class=action_class, wait=wait)

    def mission(
        self,
        kind: str,
        *,
        success_check: SuccessCheck | None = None,
        listener: Listener | None = None,
        **asked: Unpack[MissionFields],
    ) -> MissionTracker:
        """Return a mission of a kind that the policy has; enter it to make or to find it.

        `objective` is required; `criteria`, `id` (to go on with it after a restart), `subject`,
        `hours` and `max_invocations` (tighter than the kind's) may be given. `success_check` says,
        sync or async, whether it is achieved: True, False, or None to leave that to the judge.
        `listener` is called with each event of any mission while this one is entered. All of it is
        in docs/reference/missions.md. Raises InvalidInput naming the field.
        """
        require_callable(success_check)
        return MissionTracker(
            self.services.missions,
            new_mission(kind, asked, has_check=success_check is not None),
            loop=self,
            success_check=success_check,
            listener=listener,
        )

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
