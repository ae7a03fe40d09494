"""Whatever happens to a mission, in whatever order and by whatever clock: promises are kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from sureline.core.canonical import canonical_json
from sureline.core.mission.acting import (
    Raise,
    changed,
    completed_by,
    extended,
    failed_by,
    resumed,
    suspended,
)
from sureline.core.mission.concluding import conclude, concluded
from sureline.core.mission.evaluation import Evaluation, EvaluationSource
from sureline.core.mission.invoking import begun, ended, renewed
from sureline.core.mission.record import mission_from_record, mission_record
from sureline.core.mission.step import Step
from sureline.core.mission.timing import ticked
from sureline.core.mission.transitions import WAYS
from sureline.core.values.mission import (
    Cause,
    EventKind,
    Lease,
    Mission,
    MissionEvent,
    MissionState,
)
from sureline.core.values.mission_evidence import Evidence, ToolCall
from sureline.core.values.mission_kind import Budget
from sureline.core.values.notification import Notice, NoticeKind
from sureline.errors import Conflict
from sureline.testing import MOMENT
from tests.a_mission import KIND, a_mission

SECRET = "the payload's own words"
EVERY = 2
REMINDERS = (3600.0, 4 * 3600.0)
HOUR = timedelta(hours=1)
OWNERS = st.sampled_from(["w1", "w2"])
FOUND = st.sampled_from(
    [
        Evaluation(source=EvaluationSource.CHECK, achieved=True, confidence=1.0),
        Evaluation(source=EvaluationSource.CHECK, achieved=False, confidence=1.0),
        Evaluation(source=EvaluationSource.CHECK, fault="raised"),
        Evaluation(source=EvaluationSource.JUDGE, achieved=True, confidence=0.9, reasoning=SECRET),
        Evaluation(source=EvaluationSource.JUDGE, achieved=True, confidence=0.9, completeness=0.1),
        Evaluation(source=EvaluationSource.JUDGE, achieved=False, confidence=0.9, progress=SECRET),
        Evaluation(source=EvaluationSource.JUDGE, achieved=False, confidence=0.2),
        Evaluation(source=EvaluationSource.JUDGE, fault="timeout"),
    ]
)
EVIDENCE = st.builds(
    Evidence,
    calls=st.lists(
        st.builds(
            ToolCall,
            name=st.sampled_from(["read", "write"]),
            arguments=st.sampled_from([SECRET, 1]),
            ok=st.sampled_from([True, False, None]),
        ),
        max_size=4,
    ).map(tuple),
    answer=st.sampled_from([None, "", SECRET]),
    tokens=st.sampled_from([None, 0, 40]),
)
MORE = st.sampled_from(
    [Raise(hours=3), Raise(invocations=2), Raise(tokens=100), Raise(hours=3, invocations=2)]
)
OVER = frozenset({MissionState.COMPLETED, MissionState.FAILED})


class MissionMachine(RuleBasedStateMachine):
    """A mission with two workers, people, timers, and a wall clock that somebody sets."""

    def __init__(self) -> None:
        super().__init__()
        self.kind = replace(
            KIND,
            evaluate_every=EVERY,
            reminders=REMINDERS,
            judge=replace(KIND.judge, tries=2),  # type: ignore[type-var]
        )
        self.wall, self.steady = MOMENT, 0.0
        self.until: dict[datetime, float] = {}
        self.mission = a_mission(
            state=MissionState.CREATED,
            cause=Cause.CREATED,
            invocations=0,
            max_invocations=5,
            deadline_at=MOMENT + 3 * HOUR,
            budget=Budget(tokens=200),
        )
        self.events: list[MissionEvent] = []
        self.notices: list[Notice] = []
        self.invocation: tuple[str, int] | None = None
        self.verdict: Mission | None = None
        self.overdue()

    def overdue(self) -> bool:
        """Tell it as the process does: by a clock that never runs backwards."""
        deadline = self.mission.deadline_at
        left = (deadline - self.wall).total_seconds()
        return self.steady >= self.until.setdefault(deadline, self.steady + left)

    def late(self) -> bool:
        return self.overdue() or self.wall >= self.mission.deadline_at

    def take(self, step: Step) -> None:
        """Write a step as the store does, and look at what it promises."""
        before, after = self.mission, step.mission
        if after == before:
            assert step == Step(mission=before)
            return
        assert after.version > before.version
        if (before.state, before.cause) != (after.state, after.cause):
            assert (step.events[-1].state, step.events[-1].cause) == (after.state, after.cause)
        states = [before.state, *(one.state for one in step.events)]
        for one, other in pairwise(states):
            assert one is other or (one, other) in WAYS
        for event in step.events:
            assert SECRET.encode() not in canonical_json(dict(event.facts))
        if before.state is MissionState.FAILED and not after.state.is_over:
            assert before.cause in {Cause.DEADLINE, Cause.CEILING}
            assert [one.kind for one in step.events] == [EventKind.EXTENDED]
        assert before.state is not MissionState.COMPLETED or after.state is before.state
        assert after.deadline_at >= before.deadline_at
        assert after.max_invocations >= before.max_invocations
        self.mission = after
        self.events += step.events
        self.notices += step.notices

    def act(self, act: Any, **more: Any) -> bool:
        """Do what a person says, who is refused where it is no transition."""
        try:
            step = act(self.mission, self.kind, by="Ada", now=self.wall, **more)
        except Conflict:
            return False
        self.take(step)
        return True

    @rule(hours=st.sampled_from([0.1, 0.5, 2.0]))
    def passes(self, hours: float) -> None:
        """Time passes on both clocks."""
        self.wall += hours * HOUR
        self.steady += hours * 3600

    @rule(hours=st.sampled_from([-3.0, -1.0, 1.0]))
    def is_set(self, hours: float) -> None:
        """Somebody sets the wall clock, or the machine sleeps."""
        self.wall += hours * HOUR

    @rule(owner=OWNERS, switched=st.sampled_from([False, False, False, True]))
    def begin(self, owner: str, switched: bool) -> None:
        """A worker asks for an invocation; nothing runs where anything stands against it."""
        before, late = self.mission, self.late()
        held = before.running is not None and before.running.holds(self.wall)
        found = begun(
            before,
            self.kind,
            owner=owner,
            now=self.wall,
            until=self.wall + HOUR / 2,
            overdue=self.overdue(),
            switched=switched,
        )
        self.take(found.step)
        if found.refusal is not None:
            assert EventKind.INVOCATION_BEGUN not in {one.kind for one in found.step.events}
            return
        assert before.state in {MissionState.CREATED, MissionState.ACTIVE}
        assert not any((late, held, switched, before.owed))
        assert before.invocations < before.max_invocations
        assert self.mission.invocations == before.invocations + 1
        self.invocation = (owner, self.mission.invocations)

    @rule(evidence=EVIDENCE)
    def end(self, evidence: Evidence) -> None:
        """The latest invocation ends, if it is still anybody's."""
        if self.invocation is None:
            return
        owner, number = self.invocation
        try:
            step = ended(
                self.mission,
                self.kind,
                owner=owner,
                invocation=number,
                evidence=evidence,
                now=self.wall,
            )
        except Conflict:
            assert self.mission.running is None
            return
        self.take(step)
        self.invocation = None

    @rule(owner=OWNERS)
    def renew(self, owner: str) -> None:
        """A worker says that it goes on; of another's invocation it cannot."""
        lease, number, until = self.mission.running, self.mission.invocations, self.wall + HOUR
        try:
            step = renewed(self.mission, owner=owner, invocation=number, now=self.wall, until=until)
        except Conflict:
            assert lease is None or lease.owner != owner
            return
        self.take(step)

    @rule()
    def start_evaluation(self) -> None:
        """A worker takes the evaluation, as the application does."""
        mission = self.mission
        leases = (mission.running, mission.evaluating)
        if mission.state.is_over or any(one and one.holds(self.wall) for one in leases):
            return
        if mission.owed or mission.invocations > mission.evaluated:
            lease = Lease(owner="w1", since=self.wall, until=self.wall + HOUR / 4)
            self.take(Step(mission=replace(mission, evaluating=lease, version=mission.version + 1)))
            self.verdict = mission

    @rule(found=FOUND, switched=st.sampled_from([False, False, True]), again=st.booleans())
    def end_evaluation(self, found: Evaluation, switched: bool, again: bool) -> None:
        """A verdict arrives, perhaps late, perhaps twice."""
        if self.verdict is None:
            return
        seen = self.verdict
        before = self.mission
        conclusion = conclude(
            before,
            self.kind,
            found,
            sure=found.confidence is not None and found.confidence >= 0.7,
            switched=switched,
            now=self.wall,
            overdue=self.overdue(),
        )
        step = concluded(
            before, self.kind, found, conclusion, seen=seen, decision_id="evl_1", now=self.wall
        )
        self.take(step)
        if before.state is MissionState.SUSPENDED or before.state.is_over:
            assert self.mission.state is before.state
        if before.revision != seen.revision:
            assert (self.mission.state, self.mission.last) == (before.state, before.last)
        if self.mission.state is MissionState.COMPLETED and before.state is not self.mission.state:
            assert found.achieved
            assert not switched
        self.verdict = self.verdict if again else None

    @rule(act=st.sampled_from([suspended, resumed, resumed, failed_by, completed_by]))
    def person(self, act: Any) -> None:
        """A person acts; one who resumes finds a mission that no limit stops at once."""
        if self.act(act) and act is resumed:
            assert self.mission.deadline_at > self.wall
            assert self.mission.invocations < self.mission.max_invocations or self.mission.owed

    @rule(more=MORE)
    def extend(self, more: Raise) -> None:
        """A person raises limits."""
        self.act(extended, more=more)

    @rule(words=st.sampled_from(["Close all seven.", "Close the six open disputes."]))
    def change(self, words: str) -> None:
        """A person changes the objective: what was judged before counts no more."""
        revision = self.mission.revision
        try:
            self.take(changed(self.mission, by="Ada", now=self.wall, objective=words))
        except Conflict:
            return
        if self.mission.revision > revision:
            assert self.mission.last is None
            assert self.mission.owed or self.mission.evidence == Evidence()

    @rule()
    def tick(self) -> None:
        """Timers run: past its deadline a mission is over, or being evaluated."""
        self.take(ticked(self.mission, self.kind, now=self.wall, overdue=self.overdue()))
        if self.late() and not self.mission.state.is_over:
            assert self.mission.evaluating is not None
            assert self.mission.evaluating.holds(self.wall)
        again = ticked(self.mission, self.kind, now=self.wall, overdue=self.overdue())
        assert again == Step(mission=self.mission)

    @invariant()
    def a_person_is_called_once_at_each_edge(self) -> None:
        """As many calls as edges, as many recoveries as ways back, and no notice has two's id."""
        edges = ways_back = 0
        before = MissionState.CREATED
        for event in self.events:
            edges += event.kind is EventKind.SUSPENDED
            left = before is MissionState.SUSPENDED
            ways_back += left and event.state is not MissionState.SUSPENDED
            before = event.state
        told = Counter(one.kind for one in self.notices)
        assert told[NoticeKind.MISSION_SUSPENDED] == edges
        assert told[NoticeKind.MISSION_RECOVERED] == ways_back
        assert len({one.id for one in self.notices}) == len(self.notices)
        assert SECRET not in str(self.notices)
        waits = self.mission.state is MissionState.SUSPENDED
        assert waits is (self.mission.escalation is not None)
        assert edges - ways_back == waits

    @invariant()
    def nothing_runs_after_it_stopped(self) -> None:
        """Between a stop and what a person does about it, no invocation begins."""
        for before, after in pairwise(self.events):
            if after.kind is EventKind.INVOCATION_BEGUN:
                assert before.state is MissionState.ACTIVE

    @invariant()
    def it_never_goes_on_unjudged(self) -> None:
        """No more invocations than agreed are without a verdict, or one is owed."""
        mission = self.mission
        unjudged = mission.invocations - mission.evaluated
        assert unjudged >= 0
        assert mission.owed or mission.running or unjudged < EVERY or mission.state in OVER

    @invariant()
    def it_is_over_or_has_a_timer(self) -> None:
        """The deadline is in the timer until it is over, and what is over says since when."""
        mission = self.mission
        assert (mission.ended_at is not None) is mission.state.is_over
        if not mission.state.is_over:
            assert mission.timer_at is not None
            assert mission.timer_at <= mission.deadline_at

    @invariant()
    def it_reads_as_it_was_written(self) -> None:
        """Every state can be stored and read again, exactly."""
        assert mission_from_record(*mission_record(self.mission)) == self.mission


TestMissionStates = MissionMachine.TestCase
TestMissionStates.settings = settings(
    max_examples=35,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
