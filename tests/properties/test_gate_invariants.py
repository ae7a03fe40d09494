"""The gate's invariants, for any signals, any policy and any circumstances."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from sureline.core.gate.composition import assess
from sureline.core.gate.judging import Judging, judge_signal, should_judge
from sureline.core.gate.routing import Circumstances, Routing, route
from sureline.core.gate.stakes import AtStake, settle_stakes
from sureline.core.gate.thresholds import Threshold, threshold_now
from sureline.core.values.checks import ChecksPolicy
from sureline.core.values.decision import Route
from sureline.core.values.policy import ActionClass, Hypothesis, JudgePolicy, Mode, SlicePolicy
from sureline.core.values.proposal import Proposal, Stakes
from sureline.core.values.signal import Signal, SignalKind
from sureline.core.values.verdict import Verdict
from tests.builders import KINDS, NOW, SECRET, certificate, slice_policy, switch

units = st.one_of(st.sampled_from([0.0, 1e-16, 0.2, 0.4, 0.9, 0.95, 1.0]), st.floats(0, 1))
names = st.sampled_from(["self_report", "self_evaluation", "verification", "history"])
reasons = st.sampled_from(["novel", "too_few", "deadline", "embedding_failed", "uninformative"])


@st.composite
def one_signal(draw: st.DrawFn, name: str) -> Signal:
    kind = KINDS[name]
    shape = draw(st.sampled_from(["measured", "measured", "measured", "failed", "not_applicable"]))
    if shape == "measured":
        return Signal.measured(name, kind, draw(units))
    reason = draw(reasons)
    if shape == "failed":
        return Signal.failed(name, kind, reason)
    return Signal.not_applicable(name, kind, reason)


@st.composite
def signal_sets(draw: st.DrawFn) -> tuple[Signal, ...]:
    chosen = draw(st.lists(names, unique=True, min_size=1))
    return tuple(draw(one_signal(name)) for name in chosen)


verdicts = st.builds(
    Verdict,
    agrees=st.sampled_from([True, True, False, "false", 1, None]),
    confidence=st.one_of(units, st.sampled_from([float("nan"), float("inf"), 85.0, True, "0.9"])),
)


@st.composite
def policies(draw: st.DrawFn) -> SlicePolicy:
    weighted = draw(st.lists(st.sampled_from([*KINDS]), unique=True, min_size=1))
    return slice_policy(
        mode=draw(st.sampled_from([Mode.ROUTE, Mode.ROUTE, Mode.LOG_ONLY, Mode.HUMAN_ONLY])),
        weights={name: draw(st.floats(0.01, 5)) for name in weighted},
        checks=ChecksPolicy(structured=draw(st.booleans())),
        judge=JudgePolicy(model="m") if "judge" in weighted or draw(st.booleans()) else None,
        abstain_floor=draw(st.sampled_from([0.0, 0.4, 0.6])),
        audit_rate=draw(st.sampled_from([0.0, 0.05, 1.0])),
        hypothesis=draw(st.sampled_from([None, Hypothesis(auto=0.8)])),
    )


@st.composite
def surroundings(draw: st.DrawFn) -> Circumstances:
    auto = draw(st.sampled_from([None, 0.0, 0.5, 0.9, 1.0]))
    stakes = draw(st.sampled_from(list(Stakes)))
    return Circumstances(
        threshold=Threshold(
            auto=auto,
            reject=draw(st.sampled_from([0.0, 0.4, 0.55])),
            certificate=draw(st.sampled_from([None, "cert_1"])) if auto is not None else None,
            absent=None if auto is not None else "none",
        ),
        at_stake=AtStake(
            stakes=stakes, always_human=stakes is Stakes.IRREVERSIBLE, action_class=None
        ),
        judging=draw(st.sampled_from(list(Judging))),
        switches=draw(st.sampled_from([(), (), (switch(),), (switch("slice:s", by="guard"),)])),
        force_human=draw(st.sampled_from([False, False, True])),
        attempt=draw(st.integers(1, 4)),
        secret=SECRET,
        decision_id=draw(st.sampled_from(["a", "b", "c"])),
    )


def decided(
    signals: tuple[Signal, ...],
    verdict: Verdict | None,
    policy: SlicePolicy,
    around: Circumstances,
) -> Routing:
    """Assess and route as the use case does, with the judge's answer as given."""
    if policy.judge is not None:
        judge = (
            Signal.not_sampled("judge", SignalKind.JUDGE)
            if verdict is None or around.judging is Judging.NONE
            else judge_signal(verdict, policy)
        )
        signals = (*signals, judge)
    return route(assess(signals, policy), policy, around)


def automated(routing: Routing) -> bool:
    return routing.route is Route.AUTO_APPROVE


@given(signal_sets(), st.none() | verdicts, policies(), surroundings())
def test_only_the_comparison_with_a_threshold_automates(
    signals: tuple[Signal, ...],
    verdict: Verdict | None,
    policy: SlicePolicy,
    around: Circumstances,
) -> None:
    """Invariant 1: what is automated reached a threshold, and nothing spoke for a person."""
    routing = decided(signals, verdict, policy, around)
    if automated(routing):
        assert {r.code for r in routing.reasons} <= {"above_threshold", "above_hypothesis"}
        assert around.threshold.auto is not None
        assert policy.mode is Mode.ROUTE
        assert not around.switches
        assert not around.force_human
    assert routing.reasons


@given(signal_sets(), st.none() | verdicts, policies(), surroundings())
def test_turning_a_switch_on_never_adds_automation(
    signals: tuple[Signal, ...],
    verdict: Verdict | None,
    policy: SlicePolicy,
    around: Circumstances,
) -> None:
    """Invariant 2: with a switch on, nothing is automated; only rejection still happens."""
    before = decided(signals, verdict, policy, around)
    after = decided(
        signals, verdict, policy, replace(around, switches=(*around.switches, switch()))
    )
    assert not automated(after)
    assert after.route is not Route.AUTO_REJECT or before.route is Route.AUTO_REJECT


@given(signal_sets(), st.none() | verdicts, policies(), surroundings(), st.data())
def test_losing_a_signal_never_adds_automation(
    signals: tuple[Signal, ...],
    verdict: Verdict | None,
    policy: SlicePolicy,
    around: Circumstances,
    data: st.DataObject,
) -> None:
    """Invariant 3: a signal that is omitted, fails or does not apply never helps an output."""
    before = decided(signals, verdict, policy, around)
    which = data.draw(st.integers(0, len(signals) - 1))
    lost = signals[which]
    instead: tuple[Signal, ...] = data.draw(
        st.sampled_from(
            [
                (),
                (Signal.failed(lost.name, lost.kind, "x"),),
                *(
                    (Signal.not_applicable(lost.name, lost.kind, why),)
                    for why in ("novel", "too_few", "uninformative", "inconclusive")
                ),
            ]
        )
    )
    after = decided((*signals[:which], *instead, *signals[which + 1 :]), verdict, policy, around)
    assert automated(before) or not automated(after)


@given(signal_sets(), verdicts, policies(), surroundings())
def test_a_judge_that_breaks_never_adds_automation(
    signals: tuple[Signal, ...], verdict: Verdict, policy: SlicePolicy, around: Circumstances
) -> None:
    """Invariant 3 for the judge: failing or vanishing never beats what it would have said."""
    if policy.judge is None:
        return
    before = decided(signals, verdict, policy, around)
    failed = Signal.failed("judge", SignalKind.JUDGE, "deadline")
    for instead in ((failed,), ()):
        after = route(assess((*signals, *instead), policy), policy, around)
        assert automated(before) or not automated(after)


@given(signal_sets(), policies(), surroundings(), units)
def test_what_a_claimed_source_would_be_worth_never_automates(
    signals: tuple[Signal, ...], policy: SlicePolicy, around: Circumstances, if_trusted: float
) -> None:
    """Invariant 6 for sources: it turns a rejection into a person at most, and raises no score."""
    claimed = tuple(replace(one, detail={"if_trusted": if_trusted}) for one in signals)
    before, after = decided(signals, None, policy, around), decided(claimed, None, policy, around)
    assert assess(claimed, policy).value == assess(signals, policy).value
    assert automated(after) == automated(before)
    assert after.route in {before.route, Route.HUMAN_REQUIRED}
    assert after.failed == before.failed


@given(
    st.one_of(
        st.floats(),
        st.integers(),
        st.booleans(),
        st.text(max_size=5),
        st.none(),
        st.sampled_from([float("nan"), float("inf"), -0.0, 1.0000001]),
    )
)
def test_only_numbers_in_the_unit_interval_enter_a_score(value: object) -> None:
    """Invariant 4: anything else becomes a failed signal without a value."""
    signal = Signal.measured("history", SignalKind.HISTORICAL, value)
    if signal.value is None:
        assert signal.reason in {"not_a_number", "not_finite", "out_of_range"}
    else:
        assert not isinstance(value, bool)
        assert 0.0 <= signal.value <= 1.0
    composite = assess([signal], slice_policy(weights={"history": 1.0})).composite
    assert composite is None or 0.0 <= composite <= 1.0


@given(signal_sets(), policies())
def test_the_composite_does_not_depend_on_order(
    signals: tuple[Signal, ...], policy: SlicePolicy
) -> None:
    """Invariant 5, in small: order of signals and of weights changes no bit."""
    turned = replace(policy, weights=dict(reversed(list(policy.weights.items()))))
    assert assess(signals, policy).composite == assess(signals[::-1], turned).composite


CLASSES = {
    "payment": ActionClass(name="payment", stakes=Stakes.IRREVERSIBLE, human=True),
    "note": ActionClass(name="note", stakes=Stakes.REVERSIBLE, human=False),
}


@given(
    signal_sets(),
    policies(),
    surroundings(),
    st.sampled_from([None, "payment", "note", "made-up"]),
    st.sampled_from([None, *Stakes]),
    st.booleans(),
)
def test_what_the_agent_says_can_only_lower_automation(
    signals: tuple[Signal, ...],
    policy: SlicePolicy,
    around: Circumstances,
    action_class: str | None,
    stakes: Stakes | None,
    force_human: bool,
) -> None:
    """Invariant 6: action class, stakes and force_human never automate what was not."""

    def outcome(proposal: Proposal) -> Routing:
        at_stake = settle_stakes(proposal, policy, CLASSES)
        threshold = threshold_now(
            replace(policy, hypothesis=Hypothesis(auto=0.5, allow_uncertified=True,
                                                  starts=NOW.date())),
            None, measurement_hash="m", stakes=at_stake.stakes, now=NOW,
        )  # fmt: skip
        return decided(
            signals, None, policy,
            replace(around, at_stake=at_stake, threshold=threshold, judging=Judging.NONE,
                    force_human=proposal.force_human),
        )  # fmt: skip

    plain = Proposal(slice_key="invoices", task="t", output={})
    claimed = replace(plain, action_class=action_class, stakes=stakes, force_human=force_human)
    assert automated(outcome(plain)) or not automated(outcome(claimed))


@given(signal_sets(), policies(), st.sampled_from([None, 0.5, 0.9]), st.sampled_from(list(Stakes)))
def test_whether_an_output_is_judged_is_settled_by_policy_and_secret(
    signals: tuple[Signal, ...],
    policy: SlicePolicy,
    threshold: float | None,
    stakes: Stakes,
) -> None:
    """High stakes and borderline values are always judged, and nothing is without a judge."""
    assessed = assess(signals, policy)
    found = should_judge(
        assessed,
        policy,
        stakes=stakes,
        threshold=Threshold(auto=threshold, reject=0.4),
        secret=SECRET,
        sample_key="a",
    )
    if policy.judge is None or assessed.fatal or assessed.value is None:
        assert found is Judging.NONE
    elif stakes.is_high or abs(assessed.value - (threshold or 0.95)) <= 0.05:
        assert found is Judging.MANDATORY


@given(st.integers(0, 400), st.floats(0.9, 0.99), st.floats(0.01, 0.2))
def test_a_certificate_never_holds_for_more_than_it_promises(
    age_days: int, target: float, delta: float
) -> None:
    """A certificate that is too old or promises less than the policy asks for is void."""
    held = certificate(issued_at=NOW - timedelta(days=age_days))
    policy = slice_policy(target_precision=target, delta=delta)
    found = threshold_now(
        policy, held, measurement_hash="measurement", stakes=Stakes.REVERSIBLE, now=NOW
    )
    holds = age_days <= 90 and target <= 0.95 and delta >= 0.05
    assert (found.auto is not None) == holds
