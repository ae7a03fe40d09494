"""The main job from end to end, through the public gate.

Log-only decisions, answers of a simulated reviewer, certificates, activation, and then routing
of what comes next. The gate and its checks never see a label that no reviewer gave.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sureline.adapters.clock import SystemClock
from sureline.application.ports.clock import Clock
from sureline.bootstrap import Plugins
from sureline.core.values.decision import Decision, Route
from sureline.core.values.outcome import Action, OutcomeSource
from sureline.demo.arithmetic import ArithmeticSource
from sureline.demo.items import Item, Material
from sureline.demo.result import DemoResult, Progress, Routed, Verdicts
from sureline.errors import InvalidInput
from sureline.gate import Gate

REVIEWER = "simulated reviewer"
LOGGED_SHARE = 0.6
_BATCH = 20
_LOG_ONLY = re.compile(r'(mode"?: "?)log_only')


@dataclass(frozen=True, slots=True)
class FixedClock:
    """A clock whose day stands still, so that rules about "today" say the same for ever."""

    day: datetime

    def now(self) -> datetime:
        """Return the fixed moment."""
        return self.day

    def monotonic(self) -> float:
        """Return real seconds, which only measure how long things take."""
        return SystemClock().monotonic()


def run_demo(
    material: Material,
    *,
    folder: Path,
    logged_share: float = LOGGED_SHARE,
    progress: Progress | None = None,
) -> DemoResult:
    """Run the main job on `material` and compare it with the truth.

    `folder` takes the store and the policy files and must not hold a store yet. `logged_share`
    of the items, strictly between 0 and 1, are decided in log-only mode and labelled; the rest
    are routed. Raises InvalidInput, PolicyError and StoreError.
    """
    split = round(logged_share * len(material.items))
    if not 0 < split < len(material.items):
        raise InvalidInput(
            f"expected a share that leaves items on both sides of the split, got {logged_share} "
            f"of {len(material.items)} items",
            field="logged_share",
        )
    policy = folder / "policy.yaml"
    policy.write_text(material.policy, encoding="utf-8")
    clock = FixedClock(material.day) if material.day else SystemClock()
    started = clock.monotonic()
    with _open(material, policy, clock) as gate:
        run = _Run(gate=gate, progress=progress or _silent)
        logged = run.decide_all("Log-only, with answers", material.items[:split])
        verdicts = run.certify()
        policy.write_text(_LOG_ONLY.sub(r"\1route", material.policy), encoding="utf-8")
        run.activate(policy)
        routed = run.decide_all("Routing the rest", material.items[split:])
        terms = run.terms()
    return DemoResult(
        about=material.about,
        target=terms[0],
        delta=terms[1],
        logged=logged,
        routed=routed,
        verdicts=verdicts,
        seconds=clock.monotonic() - started,
    )


def _open(material: Material, policy: Path, clock: Clock) -> Gate:
    """Open a gate on a new store beside the policy file."""
    signals = (ArithmeticSource(),) if material.arithmetic else ()
    return Gate.open(
        policy,
        store=f"sqlite:///{policy.parent / 'demo.db'}",
        plugins=Plugins(signals=signals, clock=clock),
    )


def _silent(stage: str, done: int, total: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """The steps of the main job on one gate."""

    gate: Gate
    progress: Progress

    def decide_all(self, stage: str, items: Sequence[Item]) -> tuple[Routed, ...]:
        """Decide in small batches; people answer each batch before the next one comes.

        What acted alone gets no label unless the audit picked it (G23). Audits are answered at
        the end: which items they pick depends on the store's secret, and answered earlier they
        would make the history, and so the result, differ from run to run.
        """
        done: list[Routed] = []
        audits: list[tuple[Item, Decision]] = []
        for first in range(0, len(items), _BATCH):
            batch = items[first : first + _BATCH]
            decisions = self.gate.run(self.gate.decide_many([_proposal(item) for item in batch]))
            for item, decision in zip(batch, decisions, strict=True):
                if decision.audit:
                    audits.append((item, decision))
                elif decision.route not in {Route.AUTO_APPROVE, Route.AUTO_REJECT}:
                    self._answer(item, decision, OutcomeSource.REVIEW)
                done.append(_routed(item, decision))
            self.progress(stage, len(done), len(items))
        for item, decision in audits:
            self._answer(item, decision, OutcomeSource.AUDIT)
        return tuple(done)

    def _answer(self, item: Item, decision: Decision, source: OutcomeSource) -> None:
        """Record what the simulated reviewer says, who is always right."""
        action = Action.APPROVE if item.correct else Action.EDIT if item.wrong else Action.REJECT
        self.gate.run(
            self.gate.record_outcome(
                decision.id,
                action=action,
                by=REVIEWER,
                source=source,
                edited_fields=item.wrong,
                anchored=False,
            )
        )

    def certify(self) -> Verdicts:
        """Compute certificates from the answers and make them current, as a person would."""
        calibration = self.gate.run(self.gate.recalibrate())
        self.gate.run(self.gate.activate(calibration.id, by=REVIEWER, note="demonstration"))
        return {one.slice_key: one.verdict for one in calibration.slices}

    def activate(self, policy: Path) -> None:
        """Propose the policy that routes, and make it current."""
        policies = self.gate.services.policies
        loaded = self.gate.run(policies.propose(policy, by=REVIEWER))
        self.gate.run(policies.activate(loaded.policy.hash, by=REVIEWER, note="demonstration"))

    def terms(self) -> tuple[float, float]:
        """Return the target and the failure probability; the demonstration's slices share them."""
        policy = self.gate.run(self.gate.services.policies.latest())
        first = next(iter(policy.slices.values()))
        return first.target_precision, first.delta


def _proposal(item: Item) -> dict[str, object]:
    """Write an item as an agent would; the label stays behind."""
    proposal: dict[str, object] = {
        "id": item.id,
        "slice_key": item.slice_key,
        "task": item.task,
        "output": item.output,
        "source": item.source,
    }
    if item.self_report is not None:
        proposal["self_report"] = item.self_report
    return proposal


def _routed(item: Item, decision: Decision) -> Routed:
    """Put the decision beside the truth."""
    return Routed(
        id=item.id,
        slice_key=item.slice_key,
        route=decision.route,
        score=decision.composite,
        reasons=decision.reasons,
        correct=item.correct,
        wrong=item.wrong,
    )
