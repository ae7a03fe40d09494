"""A model that must pass its canaries counts only while it does, in every process at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest

from sureline.application.canaries import Examination
from sureline.application.canary_standings import CANARIES
from sureline.application.ports.models import Asking, Prompt, Reply
from sureline.application.ports.registry import Activation
from sureline.bootstrap import Plugins, Services, open_services
from sureline.core.opinions.canary_run import CanaryOutcome, CanaryRun
from sureline.core.values.decision import Decision, Route
from sureline.core.values.signal import Signal, SignalState
from sureline.errors import ModelFailed
from sureline.gate import Gate
from sureline.testing import FakeJudge, FakeModels, FixedClock, temporary_gate
from tests.fake_evaluators import FakeEvaluator, lenient, strict

POLICY = """\
version: 1
slices:
  letters:
    mode: route
    output: {{json_schema: {{type: object}}}}
    weights: {weights}
    audit_rate: 0
    hypothesis: {{auto: 0.95, allow_uncertified: true, starts: 2026-01-05}}
    {role}
"""
JUDGE = "judge: {{model: big:one, otherwise: 1, must_pass_canaries: {must}{more}}}"
EVALUATION = """\
self_evaluation:
      model: small:one
      must_pass_canaries: {must}
      deductions:
        - {{id: invented_facts, points: {points}, text: It invents.}}
"""


def judged(*, must: bool = True, more: str = "") -> str:
    """Return a policy whose outputs are all judged."""
    role = JUDGE.format(must=str(must).lower(), more=more)
    return POLICY.format(weights="{verification: 1}", role=role)


def evaluated(*, must: bool = True, points: int = 40) -> str:
    """Return a policy that counts on the self-evaluation."""
    role = EVALUATION.format(must=str(must).lower(), points=points)
    return POLICY.format(weights="{verification: 1, self_evaluation: 1}", role=role)


@dataclass
class Models:
    """What a fake says now, and which id answers."""

    fake: FakeEvaluator = strict
    model: str = "one-1"
    fails: bool = False
    asked: list[str] = field(default_factory=list)

    def __call__(self, prompt: Prompt, asking: Asking) -> Reply:
        self.asked.append(asking.model)
        if self.fails:
            raise ModelFailed("unreachable")
        return Reply(text=self.fake(prompt.instructions, prompt.content), model=self.model)


@contextmanager
def opened(policy: str, models: Models, clock: FixedClock | None = None) -> Iterator[Gate]:
    with temporary_gate(policy, model_client=FakeModels(models), clock=clock) as gate:
        yield gate


def decide(gate: Gate, n: int = 1) -> Decision:
    """Decide the n-th of several outputs that are right."""
    task = "Answer in JSON with one key, total: what is the total of 1, 2, 3 and 4?"
    return gate.decide_sync(slice_key="letters", task=task, output={"total": n})


def signal(decision: Decision, name: str) -> Signal:
    return next(one for one in decision.signals if one.name == name)


def examine(gate: Gate) -> tuple[CanaryRun, ...]:
    """Run the canaries of everybody whom the current policy names."""

    async def work(services: Services) -> tuple[CanaryRun, ...]:
        named = services.canaries.named(await services.policies.latest())
        return await services.canaries.run(named)

    return gate.run(work(gate.services))


ROLES = pytest.mark.parametrize(
    ("role", "policy"), [("judge", judged), ("self_evaluation", evaluated)]
)


@ROLES
def test_before_any_run_a_model_that_must_pass_is_not_asked(
    role: str, policy: Callable[..., str]
) -> None:
    """Its signal has failed, a person decides, and nothing was paid for."""
    models = Models()
    with opened(policy(), models) as gate:
        decision = decide(gate)
    assert signal(decision, role).reason == "canaries_not_run"
    assert signal(decision, role).state is SignalState.FAILED
    assert (decision.route, models.asked) == (Route.HUMAN_REQUIRED, [])


@ROLES
def test_after_a_run_that_it_passed_it_counts(role: str, policy: Callable[..., str]) -> None:
    """From the next decision on."""
    models = Models()
    with opened(policy(), models) as gate:
        (run,) = examine(gate)
        decision = decide(gate)
    assert run.outcome is CanaryOutcome.PASSED
    assert (run.evaluator.answered, run.answers) == ("one-1", ("one-1",))
    assert signal(decision, role).value == 1
    assert decision.route is Route.AUTO_APPROVE


@ROLES
def test_after_a_run_that_it_failed_it_does_not(role: str, policy: Callable[..., str]) -> None:
    """A failed run ends what a passed one began, and another pass begins it again."""
    models = Models()
    with opened(policy(), models) as gate:
        examine(gate)
        models.fake = lenient
        examine(gate)
        models.asked.clear()
        failed = decide(gate)
        assert models.asked == []
        models.fake = strict
        examine(gate)
        again = decide(gate, 2)
    assert signal(failed, role).reason == "canaries_failed"
    assert failed.route is Route.HUMAN_REQUIRED
    assert again.route is Route.AUTO_APPROVE


@ROLES
def test_without_must_pass_a_failed_run_only_warns(role: str, policy: Callable[..., str]) -> None:
    """Who did not ask for it keeps the signal."""
    models = Models(fake=lenient)
    with opened(policy(must=False), models) as gate:
        examine(gate)
        decision = decide(gate)
    assert signal(decision, role).value == 1


@ROLES
def test_an_incomplete_run_changes_nothing(role: str, policy: Callable[..., str]) -> None:
    """What held before goes on holding: unknown is neither pass nor fail."""
    models = Models(fails=True)
    with opened(policy(), models) as gate:
        (first,) = examine(gate)
        barred = decide(gate)
        models.fails = False
        examine(gate)
        models.fails = True
        (third,) = examine(gate)
        models.fails = False
        passed = decide(gate, 2)
    assert first.outcome is third.outcome is CanaryOutcome.INCOMPLETE
    assert {one.reason for one in first.scores} == {"unreachable"}
    assert signal(barred, role).reason == "canaries_not_run"
    assert signal(passed, role).value == 1


@ROLES
def test_a_model_that_changed_does_not_count_from_its_first_answer_on(
    role: str, policy: Callable[..., str]
) -> None:
    """The answer of an id that was not examined is no signal; the next is not even asked for."""
    models = Models()
    with opened(policy(), models) as gate:
        examine(gate)
        models.model = "one-2"
        models.asked.clear()
        first, second = decide(gate), decide(gate, 2)
        assert len(models.asked) == 1
        examine(gate)
        third = decide(gate, 3)
    for decision in (first, second):
        assert signal(decision, role).reason == "canaries_not_run"
        assert decision.route is Route.HUMAN_REQUIRED
    assert signal(first, role).detail["model"] == "one-2"
    assert signal(third, role).value == 1


CHANGES = {
    "deductions": (evaluated(), evaluated(points=50)),
    "guidance": (judged(), judged(more=", guidance: Names must be right.")),
    "temperature": (judged(), judged(more=", temperature: 0.5")),
    "panel": (judged(), judged(more=", panel: [other:two]")),
}


@pytest.mark.parametrize("what", CHANGES)
def test_other_words_are_another_evaluator(what: str) -> None:
    """A pass speaks for the words with which it was made, not for the next ones."""
    before, after = CHANGES[what]
    models = Models()
    with opened(before, models) as gate:
        examine(gate)
        loaded = gate.run(gate.services.policies.propose(after))
        gate.run(gate.services.policies.activate(loaded.policy.hash, by="ada"))
        models.asked.clear()
        decision = decide(gate)
        due = gate.run(gate.services.canaries.due())
    assert models.asked == []
    assert decision.route is Route.HUMAN_REQUIRED
    assert len(due) == 1


def test_of_a_panel_each_judge_is_examined_and_all_must_pass() -> None:
    """One judge that lets everything pass bars the panel."""
    models = Models()
    policy = judged(more=", panel: [other:two]")
    with opened(policy, models) as gate:
        one, two = gate.services.canaries.named(gate.run(gate.services.policies.latest()))
        assert (one.evaluator.asked, two.evaluator.asked) == ("big:one", "other:two")
        gate.run(gate.services.canaries.run([one]))
        half = decide(gate)
        models.fake = lenient
        gate.run(gate.services.canaries.run([two]))
        failed = decide(gate, 2)
        models.fake = strict
        gate.run(gate.services.canaries.run([two]))
        both = decide(gate, 3)
    assert signal(half, "judge").reason == "canaries_not_run"
    assert signal(failed, "judge").reason == "canaries_failed"
    assert signal(both, "judge").value == 1


def test_a_run_elsewhere_is_known_here_at_once(tmp_path: Path) -> None:
    """Another process that shares the store learns of a failure with its next decision."""
    models, clock = Models(), FixedClock()
    url = f"sqlite:///{tmp_path / 'store.db'}"
    plugins = Plugins(model_client=FakeModels(models), clock=clock)

    with (
        Gate(open_services(url, plugins=plugins)) as here,
        Gate(open_services(url, plugins=plugins)) as there,
    ):
        here.run(here.services.policies.introduce(judged()))
        examine(there)
        before = decide(here)
        models.fake = lenient
        examine(there)
        after = decide(here, 2)
    assert signal(before, "judge").value == 1
    assert signal(after, "judge").reason == "canaries_failed"


def test_a_judge_of_the_program_s_own_is_examined_too() -> None:
    """A plugged-in judge stands under the name that the policy has for it."""
    with temporary_gate(judged(), judge=FakeJudge()) as gate:
        (run,) = examine(gate)
        decision = decide(gate)
    assert len(run.caught_out) == 20
    assert signal(decision, "judge").reason == "canaries_failed"


def test_a_run_is_due_monthly_and_at_every_change() -> None:
    """Never examined, a month old, or another id that answers: then it is due, else not."""
    models, clock = Models(), FixedClock()
    with opened(judged(), models, clock) as gate:

        def due() -> int:
            return len(gate.run(gate.services.canaries.due()))

        assert due() == 1
        examine(gate)
        assert due() == 0
        clock.advance(timedelta(days=29, hours=23))
        assert due() == 0
        clock.advance(timedelta(hours=2))
        assert due() == 1
        examine(gate)
        models.model = "one-2"
        decide(gate)
        assert due() == 1
        examine(gate)
        assert due() == 0
        models.fails = True
        clock.advance(timedelta(days=31))
        examine(gate)
        assert due() == 1  # an incomplete run leaves it due


def test_the_job_runs_what_is_due_and_tries_again_soon_where_nobody_answers() -> None:
    """Its message says what came of it; an outage is a failed job, which has its own retries."""
    models, clock = Models(fails=True), FixedClock()
    with opened(judged(), models, clock) as gate:
        down = gate.run(gate.services.jobs.run("canaries"))
        assert down.failures == 1
        assert down.due_at - clock.now() == timedelta(minutes=1)
        assert "30 of 30 were not measured (unreachable)" in (down.message or "")
        models.fails = False
        up = gate.run(gate.services.jobs.run("canaries"))
        assert up.message == (
            "judge big:one passed: caught 20 of 20 bad ones, let 10 of 10 good ones pass"
        )
        models.asked.clear()
        idle = gate.run(gate.services.jobs.run("canaries"))
    assert (idle.message, models.asked) == ("no second model is due", [])


def test_a_policy_without_models_has_nothing_due() -> None:
    """The job is then done at once."""
    policy = POLICY.format(weights="{verification: 1}", role="")
    with opened(policy, Models()) as gate:
        assert gate.run(gate.services.canaries.due()) == ()


def test_canaries_are_asked_side_by_side_but_not_all_at_once() -> None:
    """At most as many as one model is asked at once, and every answer moves the bar."""
    running = most = 0

    class Slow:
        async def ask(self, prompt: Prompt, asking: Asking) -> Reply:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0)
            running -= 1
            return Reply(text=strict(prompt.instructions, prompt.content), model="one-1")

    steps: list[int] = []
    with temporary_gate(judged(), model_client=Slow()) as gate:
        canaries = replace(gate.services.canaries, concurrency=5)
        asked = canaries.named(gate.run(gate.services.policies.latest()))
        gate.run(canaries.run(asked, Examination(advance=steps.append)))
    assert (most, sum(steps)) == (5, 30)


def test_two_ids_in_one_run_vouch_for_neither() -> None:
    """A provider that changes the model half way through leaves the run incomplete."""
    models = Models()

    def turns(prompt: Prompt, asking: Asking) -> Reply:
        models.model = f"one-{1 + len(models.asked) % 2}"
        return models(prompt, asking)

    with temporary_gate(judged(), model_client=FakeModels(turns)) as gate:
        (run,) = examine(gate)
        decision = decide(gate)
    assert run.outcome is CanaryOutcome.INCOMPLETE
    assert run.answers == ("one-1", "one-2")
    assert signal(decision, "judge").reason == "canaries_not_run"


@pytest.mark.parametrize(
    ("must", "fake", "said"),
    [
        (
            True,
            None,
            "was not put to the canaries as it is now, so its signal has failed in letters",
        ),
        (False, None, None),
        (True, lenient, "its signal has failed in letters"),
        (False, lenient, "failed its canaries on 2026-01-05 (let 20 of 20 bad ones pass"),
        (True, strict, None),
    ],
    ids=["never-run", "not-bound", "failed", "failed-and-used", "passed"],
)
def test_what_somebody_should_know_is_said(
    must: bool, fake: FakeEvaluator | None, said: str | None
) -> None:
    """A failure is always told, a missing run where it has an effect."""
    models = Models(fake=fake or strict)
    with opened(judged(must=must), models) as gate:
        if fake is not None:
            examine(gate)
        (standing,) = gate.run(gate.services.canaries.standings())
    assert (standing.warning is None) is (said is None)
    assert said is None or said in (standing.warning or "")


def test_the_logbook_has_every_pass_and_failure() -> None:
    """A person finds when a model began to fail beside what else changed."""
    models = Models()
    with opened(judged(), models) as gate:
        examine(gate)
        models.fake = lenient
        examine(gate)
        entries = gate.run(gate.services.logbook.entries())
    notes = [one.note for one in entries if one.change == "canaries"]
    assert notes == [f"{word}: judge big:one, answered by one-1" for word in ("passed", "failed")]


def test_a_note_that_cannot_be_read_is_no_pass() -> None:
    """Whoever damages a standing takes automation away, and never gives any."""
    models = Models()
    with opened(judged(), models) as gate:
        (run,) = examine(gate)
        registry, workspace = gate.services.registry, gate.services.workspace
        damaged = Activation(
            workspace=workspace,
            kind=CANARIES,
            subject=run.identity,
            by="?",
            at=gate.services.clock.now(),
            note="passsed",
        )
        gate.run(registry.activate(damaged))
        decision = decide(gate)
    assert signal(decision, "judge").reason == "canaries_failed"
