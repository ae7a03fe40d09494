"""A mission as an agent's loop holds it: before, after, and is it done (M12)."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, Unpack

from sureline.application.mission.bus import Listener
from sureline.application.mission.check import SuccessCheck
from sureline.application.mission.evidence_intake import EvidenceFields, read_evidence
from sureline.application.mission.missions import Missions
from sureline.application.mission.new_mission import Invocation, NewMission
from sureline.core.mission.summary import summary
from sureline.core.values.mission import Mission, MissionState
from sureline.core.values.mission_evidence import Evidence
from sureline.errors import Conflict, InvalidInput, MissionRefused, StoreError, SurelineError

if TYPE_CHECKING:
    from types import TracebackType

Result = TypeVar("Result")
OWED = "evaluation_owed"
BEATS = 3
"""So often in a lease an invocation that is running is heard of."""
LOOK_SECONDS = 1.0
"""How often a mission that somebody else is at work on is looked at by who waits for it."""
PASSES = frozenset({"busy", OWED, "switch"})
"""Refusals that end without a word to this mission."""
_AT_WORK = frozenset({MissionState.CREATED, MissionState.ACTIVE})


class Runs(Protocol):
    """What drives the async methods for code without an event loop."""

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Return what the work returns."""


@dataclass(slots=True)
class _Running:
    """The invocation under way, and the task that says that it goes on."""

    invocation: Invocation
    beating: asyncio.Task[None]


class MissionTracker:
    """Tells an agent's loop whether it may go on; made by `gate.mission`.

    Three calls around each invocation: `before_invocation` (refuses where nothing may run),
    `after_invocation` with what happened (evaluates where one is owed), and `evaluate` at any other
    time. Enter it before the first; leaving it with an error ends the invocation that was running,
    with the error's name as evidence. The `_sync` methods do the same without an event loop.
    """

    def __init__(
        self,
        missions: Missions,
        new: NewMission,
        *,
        loop: Runs,
        success_check: SuccessCheck | None = None,
        listener: Listener | None = None,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._missions = missions
        self._new = new
        self._loop = loop
        self._check = success_check
        self._listener = listener
        self._pause = pause
        self._owner = missions.new_id()
        self._mission: Mission | None = None
        self._running: _Running | None = None
        self._unsubscribe: Callable[[], None] | None = None
        self._home: asyncio.AbstractEventLoop | None = None
        self._is_sync = False

    @property
    def mission(self) -> Mission:
        """Return the mission as it was seen last. Raises MissionRefused before it is entered."""
        if self._mission is None:
            raise MissionRefused("enter the mission first", code="not_entered", mission=None)
        return self._mission

    @property
    def id(self) -> str:
        """Return the mission's id."""
        return self.mission.id

    @property
    def state(self) -> MissionState:
        """Return the state that was seen last."""
        return self.mission.state

    @property
    def goes_on(self) -> bool:
        """Tell whether an invocation might run, as far as was seen; `before_invocation` decides."""
        return self.state in _AT_WORK

    async def before_invocation(self, wait: float = 0.0) -> Invocation:
        """Begin an invocation; an evaluation that is owed is made first.

        Raises MissionRefused, whose `code` says why none may run: `suspended`, `completed`,
        `failed`, `busy`, `evaluation_owed` (somebody else is at it), `switch`, `unknown_kind`. The
        three that pass (`busy`, `evaluation_owed`, `switch`) are waited for up to `wait` seconds.
        """
        self._require_home()
        _check_wait(wait)
        clock = self._missions.clock
        until = clock.monotonic() + wait
        while True:
            try:
                return await self._begun()
            except MissionRefused as refused:
                left = until - clock.monotonic()
                if refused.code not in PASSES or left <= 0:
                    raise
            await self._pause(min(LOOK_SECONDS, left))

    async def _begun(self) -> Invocation:
        if (await self._read()).owed:
            await self.evaluate()
        lease = (await self._missions.kinds.of(self.mission)).lease_seconds
        try:
            begun = await self._missions.begin(self.id, owner=self._owner, seconds=lease)
        except MissionRefused as refused:
            if isinstance(refused.mission, Mission):
                self._mission = refused.mission
            if refused.code != OWED:
                raise
            await self.evaluate()  # the invocation before was lost, and was the last one unjudged
            begun = await self._missions.begin(self.id, owner=self._owner, seconds=lease)
        await self._read()
        beating = asyncio.get_running_loop().create_task(self._beat(begun, lease))
        self._running = _Running(begun, beating)
        return begun

    async def after_invocation(
        self,
        evidence: Evidence | Mapping[str, Any] | None = None,
        **fields: Unpack[EvidenceFields],
    ) -> Mission:
        """Hand in what an invocation did, and return where the mission stands after it.

        Evidence is one value, or the fields of one. Raises InvalidInput naming the field, Conflict
        where no invocation of this tracker is running.
        """
        self._require_home()
        given = evidence if evidence is not None or not fields else fields
        read = read_evidence(given)
        self._mission = await self._end(read)
        return await self.evaluate() if self._mission.owed and self.goes_on else self._mission

    async def evaluate(self) -> Mission:
        """Find out whether the objective is achieved, and act on it; at most one at a time."""
        self._require_home()
        self._mission = await self._missions.evaluate(self.id, owner=self._owner, check=self._check)
        return self._mission

    async def summary(self) -> str:
        """Return what the agent may be told of its mission, for its system prompt (M9)."""
        self._require_home()
        return summary(await self._read(), self._missions.clock.now())

    def _require_home(self) -> None:
        """Raise Conflict in another event loop: what runs here could not be ended there."""
        if self._home is None or asyncio.get_running_loop() is self._home:
            return
        if self._is_sync:
            raise Conflict("this mission was entered with `with`: use the `_sync` methods")
        raise Conflict("this mission was entered in another event loop: use it in that one")

    def _require_sync(self) -> None:
        if self._home is not None and not self._is_sync:
            raise Conflict("this mission was entered with `async with`: use await")

    async def _read(self) -> Mission:
        self._mission = await self._missions.mission(self.id)
        return self._mission

    async def _end(self, evidence: Evidence) -> Mission:
        running = self._running
        if running is None:
            raise Conflict("no invocation is running: call before_invocation first")
        running.beating.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running.beating
        try:
            mission = await self._missions.end(self.id, running.invocation, evidence)
        except StoreError:
            raise  # the evidence may be handed in again, while nobody has taken over
        except BaseException:
            self._running = None
            raise
        self._running = None
        return mission

    async def _beat(self, invocation: Invocation, lease: float) -> None:
        """Say again and again that the invocation goes on, until it is another's or has ended."""
        while True:
            await asyncio.sleep(lease / BEATS)
            try:
                await self._missions.renew(self.id, invocation, seconds=lease)
            except Conflict:
                return  # its end will say so
            except SurelineError:
                continue  # the store may be back before the lease is over

    async def __aenter__(self) -> Self:
        """Make the mission, or find it under its id. Raises InvalidInput, Conflict."""
        self._home, self._is_sync = asyncio.get_running_loop(), False
        if self._listener is not None:
            self._unsubscribe = self._missions.bus.subscribe(self._listener)
        try:
            self._mission = await self._missions.create(self._new)
        except BaseException:
            self._leave()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End what is running, so that nobody waits for it; whatever was raised goes on."""
        try:
            if self._running is not None:
                name = "nothing was handed in" if kind is None else kind.__name__
                evidence = read_evidence(
                    {"calls": [{"name": "invocation", "result": name, "ok": False}]}
                )
                # It is another's by now, or the store is away: then it counts as lost.
                with contextlib.suppress(Conflict, StoreError):
                    self._mission = await asyncio.shield(self._end(evidence))
        finally:
            self._leave()

    def _leave(self) -> None:
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None

    def before_invocation_sync(self, wait: float = 0.0) -> Invocation:
        """Begin an invocation from code without an event loop."""
        self._require_sync()
        return self._loop.run(self.before_invocation(wait))

    def after_invocation_sync(
        self,
        evidence: Evidence | Mapping[str, Any] | None = None,
        **fields: Unpack[EvidenceFields],
    ) -> Mission:
        """Hand in what an invocation did from code without an event loop."""
        self._require_sync()
        return self._loop.run(self.after_invocation(evidence, **fields))

    def evaluate_sync(self) -> Mission:
        """Evaluate from code without an event loop."""
        self._require_sync()
        return self._loop.run(self.evaluate())

    def summary_sync(self) -> str:
        """Return what the agent may be told, from code without an event loop."""
        self._require_sync()
        return self._loop.run(self.summary())

    def __enter__(self) -> Self:
        entered = self._loop.run(self.__aenter__())
        self._is_sync = True
        return entered

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.run(self.__aexit__(kind, error, trace))


def _check_wait(wait: object) -> None:
    is_number = isinstance(wait, int | float) and not isinstance(wait, bool)
    if not is_number or not math.isfinite(wait) or wait < 0:  # type: ignore[operator, arg-type]
        raise InvalidInput("expected a number of seconds, 0 or more", field="wait")
