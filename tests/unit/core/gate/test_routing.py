"""The routing table, rule by rule."""

from __future__ import annotations

from typing import Any

import pytest

from sureline.core.gate.composition import assess
from sureline.core.gate.judging import Judging, judge_signal
from sureline.core.gate.routing import Routing, route
from sureline.core.gate.stakes import AtStake
from sureline.core.gate.thresholds import Threshold
from sureline.core.values.decision import Route
from sureline.core.values.policy import JudgePolicy, Mode
from sureline.core.values.proposal import Stakes
from sureline.core.values.signal import Signal, SignalKind
from sureline.core.values.verdict import Verdict
from tests.builders import around, measured, slice_policy, switch

HYPOTHESIS = Threshold(auto=0.85, reject=0.55, absent="none")
NONE = Threshold(auto=None, reject=0.4, absent="none")
ALWAYS_HUMAN = AtStake(stakes=Stakes.IRREVERSIBLE, always_human=True, action_class="payment")


def routed(
    value: float | None,
    policy: dict[str, Any] | None = None,
    unreadable: bool = False,
    **circumstances: Any,
) -> Routing:
    settings = slice_policy(**(policy or {}))
    signals = [] if value is None else [measured("verification", value)]
    assessed = assess(signals, settings, unreadable=unreadable)
    return route(assessed, settings, around(**circumstances))


@pytest.mark.parametrize(
    ("value", "policy", "circumstances", "expected", "code"),
    [
        pytest.param(0.92, {}, {"threshold": HYPOTHESIS}, Route.AUTO_APPROVE,
                     "above_hypothesis", id="hypothesis-.92-approves"),
        pytest.param(0.70, {}, {"threshold": HYPOTHESIS}, Route.HUMAN_REVIEW,
                     "below_threshold", id="hypothesis-.70-reviews"),
        pytest.param(0.40, {}, {"threshold": HYPOTHESIS}, Route.AUTO_REJECT,
                     "below_reject_threshold", id="hypothesis-.40-rejects"),
        pytest.param(0.97, {}, {"switches": (switch(),)}, Route.HUMAN_REQUIRED,
                     "kill_switch", id="switch-.97-person"),
        pytest.param(0.30, {}, {"switches": (switch(),)}, Route.AUTO_REJECT,
                     "below_reject_threshold", id="switch-.30-rejects"),
        pytest.param(0.97, {}, {"force_human": True}, Route.HUMAN_REQUIRED, "forced",
                     id="call-forces-a-person"),
        pytest.param(0.90, {}, {}, Route.AUTO_APPROVE, "above_threshold",
                     id="the-threshold-itself-approves"),
        pytest.param(0.8999, {}, {}, Route.HUMAN_REVIEW, "below_threshold", id="just-below"),
        pytest.param(1.0, {}, {"threshold": NONE}, Route.HUMAN_REVIEW, "no_certificate",
                     id="no-certificate"),
        pytest.param(1.0, {"mode": Mode.LOG_ONLY}, {}, Route.HUMAN_REVIEW, "log_only",
                     id="log-only"),
        pytest.param(1.0, {"mode": Mode.HUMAN_ONLY}, {}, Route.HUMAN_REQUIRED,
                     "slice_human_only", id="human-only"),
        pytest.param(1.0, {"four_eyes": True}, {}, Route.HUMAN_REQUIRED, "four_eyes",
                     id="four-eyes"),
        pytest.param(1.0, {}, {"at_stake": ALWAYS_HUMAN}, Route.HUMAN_REQUIRED,
                     "action_always_human", id="irreversible"),
        pytest.param(1.0, {}, {"switches": (switch("slice:invoices", by="guard"),)},
                     Route.HUMAN_REQUIRED, "slice_tripped", id="tripped-by-the-guard"),
        pytest.param(0.30, {}, {"switches": (switch("slice:invoices", by="guard"),)},
                     Route.HUMAN_REQUIRED, "slice_tripped", id="tripped-even-when-low"),
        pytest.param(0.30, {}, {"attempt": 2}, Route.ABSTAIN, "below_abstain_floor",
                     id="second-failure-abstains"),
        pytest.param(0.50, {}, {"attempt": 2, "threshold": HYPOTHESIS}, Route.HUMAN_REVIEW,
                     "no_attempts_left", id="low-without-attempts"),
        pytest.param(None, {}, {}, Route.HUMAN_REQUIRED, "nothing_measured", id="nothing"),
        pytest.param(0.0, {}, {}, Route.AUTO_REJECT, "fatal_check", id="fatal-retries"),
        pytest.param(0.0, {}, {"attempt": 2}, Route.ABSTAIN, "fatal_check", id="fatal-last"),
        pytest.param(0.0, {}, {"at_stake": ALWAYS_HUMAN}, Route.HUMAN_REQUIRED,
                     "fatal_check", id="fatal-in-a-human-class"),
        pytest.param(0.0, {"mode": Mode.LOG_ONLY}, {}, Route.HUMAN_REVIEW, "fatal_check",
                     id="fatal-in-log-only"),
        pytest.param(0.0, {"reject_audit_rate": 1.0}, {}, Route.HUMAN_REVIEW, "reject_audit",
                     id="audited-rejection"),
    ],
)  # fmt: skip
def test_the_first_rule_that_applies_gives_the_route(
    value: float | None,
    policy: dict[str, Any],
    circumstances: dict[str, Any],
    expected: Route,
    code: str,
) -> None:
    """Each row of the routing table gives its route and its reason."""
    routing = routed(value, policy, **circumstances)
    assert routing.route is expected
    assert code in [reason.code for reason in routing.reasons]


def claiming(value: float, if_trusted: object) -> Signal:
    """Return checks' score with what it would be if the agent's sources were trusted."""
    detail = {"if_trusted": if_trusted}
    return Signal.measured("verification", SignalKind.DETERMINISTIC, value, detail=detail)


@pytest.mark.parametrize(
    ("value", "if_trusted", "circumstances", "expected", "code"),
    [
        pytest.param(0.1, 1.0, {}, Route.HUMAN_REQUIRED, "claimed_source", id="low-for-it-alone"),
        pytest.param(0.0, 1.0, {}, Route.HUMAN_REQUIRED, "claimed_source", id="zero-for-it-alone"),
        pytest.param(0.1, 1.0, {"attempt": 2}, Route.HUMAN_REQUIRED, "claimed_source",
                     id="no-abstention-either"),
        pytest.param(0.1, 1.0, {"switches": (switch(),)}, Route.HUMAN_REQUIRED, "claimed_source",
                     id="switched-off"),
        pytest.param(0.1, 0.39, {}, Route.AUTO_REJECT, "below_reject_threshold",
                     id="low-without-it-too"),
        pytest.param(0.0, 0.0, {}, Route.AUTO_REJECT, "fatal_check", id="fatal-without-it-too"),
        pytest.param(0.7, 1.0, {}, Route.HUMAN_REVIEW, "below_threshold", id="not-too-low"),
        pytest.param(0.1, True, {}, Route.AUTO_REJECT, "below_reject_threshold", id="no-number"),
        pytest.param(0.1, float("nan"), {}, Route.AUTO_REJECT, "below_reject_threshold", id="nan"),
        pytest.param(0.1, 7, {}, Route.AUTO_REJECT, "below_reject_threshold", id="out-of-range"),
    ],
)  # fmt: skip
def test_what_is_low_only_for_want_of_a_trusted_source_goes_to_a_person(
    value: float, if_trusted: object, circumstances: dict[str, Any], expected: Route, code: str
) -> None:
    """Unknown is neither rejected nor believed; what fails anyway is rejected as ever."""
    policy = slice_policy()
    assessed = assess([claiming(value, if_trusted)], policy)
    routing = route(assessed, policy, around(**circumstances))
    assert routing.route is expected
    assert code in [reason.code for reason in routing.reasons]
    assert assessed.composite == assess([measured("verification", value)], policy).composite


def test_a_claimed_source_counts_as_an_attempt_and_for_no_certificate() -> None:
    """Nobody tries for ever by claiming a source, and its labels speak of no automated output."""
    policy = slice_policy()
    routing = route(assess([claiming(0.1, 1.0)], policy), policy, around())
    assert (routing.failed, routing.eligible) == (True, False)


def test_all_reasons_are_listed_in_the_order_of_the_rules() -> None:
    """A decision says everything that speaks for a person, not only the first thing."""
    routing = routed(
        0.5, {"mode": Mode.LOG_ONLY, "four_eyes": True}, threshold=NONE, switches=(switch(),)
    )
    assert [reason.code for reason in routing.reasons] == [
        "four_eyes", "log_only", "kill_switch", "no_certificate",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.97, Route.AUTO_APPROVE), (0.7, Route.HUMAN_REVIEW), (0.1, Route.AUTO_REJECT),
     (0.0, Route.AUTO_REJECT)],
)  # fmt: skip
def test_log_only_records_the_route_it_would_have_taken(value: float, expected: Route) -> None:
    """G28: in log-only mode everything goes to people, and the route is known."""
    routing = routed(value, {"mode": Mode.LOG_ONLY})
    assert (routing.route, routing.would_route) == (Route.HUMAN_REVIEW, expected)


def test_an_unreadable_output_retries_then_abstains() -> None:
    """Rule 1: a parse failure is an immediate rejection while attempts are left."""
    assert routed(None, unreadable=True).route is Route.AUTO_REJECT
    assert routed(None, unreadable=True, attempt=2).route is Route.ABSTAIN


JUDGED = {"judge": JudgePolicy(model="m"), "weights": {"verification": 0.5, "judge": 0.5}}


@pytest.mark.parametrize(
    ("judge", "judging", "expected", "code"),
    [
        pytest.param(Verdict(agrees=True, confidence=0.1), Judging.SAMPLED,
                     Route.AUTO_APPROVE, "above_threshold", id="agrees"),
        pytest.param(Verdict(agrees=False, confidence=0.6), Judging.SAMPLED,
                     Route.HUMAN_REQUIRED, "judge_refuted", id="refutes-at-.6"),
        pytest.param(Verdict(agrees=False, confidence=0.59), Judging.SAMPLED,
                     Route.AUTO_APPROVE, "above_threshold", id="weak-disagreement-drops"),
        pytest.param(Verdict(agrees=False, confidence=0.59), Judging.MANDATORY,
                     Route.HUMAN_REQUIRED, "judge_inconclusive", id="weak-but-mandatory"),
        pytest.param(Verdict(agrees="false", confidence=0.9), Judging.SAMPLED,  # type: ignore
                     Route.HUMAN_REQUIRED, "signal_missing", id="string-false-fails"),
        pytest.param(Verdict(agrees=True, confidence=85), Judging.MANDATORY,
                     Route.HUMAN_REQUIRED, "judge_unavailable", id="85-fails"),
        pytest.param(Verdict(agrees=True, confidence=float("nan")), Judging.SAMPLED,
                     Route.HUMAN_REQUIRED, "signal_missing", id="nan-fails"),
    ],
)  # fmt: skip
def test_what_a_judge_says_decides_only_downwards(
    judge: Verdict, judging: Judging, expected: Route, code: str
) -> None:
    """G11: firm disagreement, or none where one was required, goes to a person."""
    policy = slice_policy(**JUDGED)
    signals = [measured("verification", 0.95), judge_signal(judge, policy)]
    routing = route(assess(signals, policy), policy, around(judging=judging))
    assert routing.route is expected
    assert code in [reason.code for reason in routing.reasons]


def test_what_keeps_a_model_from_answering_is_said_with_what_to_do() -> None:
    """The code of the fault stands first, then the variable that has to be set."""
    policy = slice_policy(**JUDGED)
    detail = {"provider": "openai", "variable": "OPENAI_API_KEY"}
    lost = Signal.failed("judge", SignalKind.JUDGE, "not_configured", detail=detail)
    routing = route(assess([measured("verification", 0.95), lost], policy), policy, around())
    said = {reason.code: reason.message for reason in routing.reasons}
    assert said["signal_missing"] == (
        "The signal judge is missing (not_configured: set OPENAI_API_KEY in the environment)."
    )


def test_a_slice_with_too_few_verdicts_is_not_automated_yet() -> None:
    """The young slice's value is shown, but a person decides until it has verdicts."""
    policy = slice_policy(weights={"verification": 0.7, "history": 0.3})
    too_few = Signal.not_applicable("history", SignalKind.HISTORICAL, "too_few")
    routing = route(assess([measured("verification", 1.0), too_few], policy), policy, around())
    assert routing.route is Route.HUMAN_REVIEW
    assert "too_few_verdicts" in [reason.code for reason in routing.reasons]


def test_an_audit_takes_its_share_of_what_is_automated_and_says_with_what_chance() -> None:
    """The audit sample has the policy's rate, and the propensity is recorded."""
    routings = [
        routed(0.95, {"audit_rate": 0.1}, decision_id=f"decision-{number}")
        for number in range(2000)
    ]
    assert {routing.propensity for routing in routings} == {0.1}
    assert 160 <= sum(routing.audit for routing in routings) <= 240
    assert not routed(0.5, {"audit_rate": 1.0}).audit


@pytest.mark.parametrize(
    ("policy", "circumstances", "eligible"),
    [
        pytest.param({}, {}, True, id="automated"),
        pytest.param({"mode": Mode.LOG_ONLY}, {"threshold": NONE}, True, id="logged"),
        pytest.param({"mode": Mode.HUMAN_ONLY}, {}, True, id="human-only-slice"),
        pytest.param({}, {"switches": (switch(),)}, True, id="switched-off"),
        pytest.param({}, {"at_stake": ALWAYS_HUMAN}, False, id="human-class"),
        pytest.param({}, {"force_human": True}, False, id="forced-by-the-call"),
        pytest.param(
            {"weights": {"verification": 1.0, "history": 1.0}}, {}, False, id="signal-missing"
        ),
    ],
)
def test_only_what_a_threshold_could_automate_counts_for_certificates(
    policy: dict[str, Any], circumstances: dict[str, Any], eligible: bool
) -> None:
    """Labels of outputs that are never automated say nothing about those that are."""
    assert routed(0.95, policy, **circumstances).eligible is eligible
