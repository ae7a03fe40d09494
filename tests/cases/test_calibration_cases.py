"""Rows of area 3-calibration about decisions and their labels: what counts, and as what."""

from __future__ import annotations

import json
import math
from datetime import datetime
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from sureline.application.recalibrate import Calibration
from sureline.cli.app import app
from sureline.core.statistics.reliability import Bucket, Calibrated, Reliability
from sureline.core.values.signal import SignalKind
from sureline.gate import Gate
from sureline.testing import MOMENT, FakeJudge, FixedClock, FixedSignal, temporary_gate
from tests.cases.doors import Answer, reasons, served
from tests.cases.told import ToldSignal, ask, label, told, told_policy

Cases = dict[str, dict[str, Any]]

PERSON = ("human_required", "signal_missing")


def recalibrated(gate: Gate) -> tuple[Calibration, Reliability]:
    found = gate.run(gate.recalibrate())
    return found, found.slices[0].reliability


def bucket(table: Reliability, score: float) -> Bucket:
    return next(one for one in reversed(table.buckets) if one.low <= score)


def labelled(gate: Gate, scores: list[float], labels: list[int]) -> None:
    for score, correct in zip(scores, labels, strict=True):
        label(gate, ask(gate, score), correct=bool(correct))


def test_c09_what_nobody_reviewed_is_no_label(cases: Cases) -> None:
    """500 unreviewed approvals add no label; the audit sample alone speaks for them."""
    given = cases["C09"]["input"]
    people = given["human_reviewed"]
    with temporary_gate(told_policy(), signals=[ToldSignal()]) as gate:
        proposals = [told(0.95, id=f"auto-{i}") for i in range(given["auto_approved_unreviewed"])]
        decisions = gate.run(gate.decide_many(proposals))
        labelled(gate, [0.6] * 50, [1] * people["ok"] + [0] * people["bad"])
        found, table = recalibrated(gate)
        assert found.routes["told"]["auto_approve"] == 500
        assert table.n <= 50
        assert bucket(table, 0.95).n == 0
        assert found.slices[0].certificate is None
        audited = [one for one in decisions if one.audit]
        for one in audited:
            gate.run(gate.record_outcome(one.id, action="approve", by="Ada", source="audit"))
        _, table = recalibrated(gate)
        assert 0 < bucket(table, 0.95).n <= len(audited) < 150


def test_c11_the_top_bucket_includes_one(cases: Cases) -> None:
    """Always wrong at confidence 1.0 is a calibration error of 1, and overconfident."""
    samples = cases["C11"]["input"]["samples"]
    with temporary_gate(told_policy(mode="log_only"), signals=[ToldSignal()]) as gate:
        labelled(gate, [score for score, _ in samples], [correct for _, correct in samples])
        _, table = recalibrated(gate)
    assert (table.ece, table.brier) == (1.0, 1.0)
    assert table.buckets[-1].n == table.n > 0
    assert table.buckets[-1].verdict is Calibrated.OVERCONFIDENT


def test_c15_confidence_is_the_chance_of_being_correct(cases: Cases) -> None:
    """One in ten correct at confidence .1 is perfectly calibrated: no gap."""
    given = cases["C15"]["input"]
    with temporary_gate(told_policy(mode="log_only"), signals=[ToldSignal()]) as gate:
        labelled(gate, given["p_correct"], given["correct"])
        _, table = recalibrated(gate)
    found = next(one for one in table.buckets if one.n)
    assert found.actual == 0.1
    assert found.gap is not None
    assert abs(found.gap) < 2e-4  # scores are kept in bins, here .000225 wide
    assert found.verdict is Calibrated.WELL_CALIBRATED


def test_c24_a_late_label_belongs_to_what_was_decided_then(cases: Cases) -> None:
    """A label of day 19 joins the score and threshold of day 0; a correction wins, none is lost.

    The calibration that was made before the correction is still there, to the byte.
    """
    given = cases["C24"]["input"]
    start, changed, told_at = (
        datetime.fromisoformat(f"{given[name]}T09:00:00+00:00")
        for name in ("decided", "threshold_changed", "label_time")
    )
    clock = FixedClock(start)
    first = told_policy(auto=0.8, audit_rate=1.0).replace(f"{MOMENT.date()}", given["decided"])
    second = first.replace('"auto": 0.8', '"auto": 0.9')
    with temporary_gate(first, signals=[ToldSignal()], clock=clock) as gate:
        early = ask(gate, 0.85, id="early")
        clock.advance(changed - start)
        policies = gate.services.policies
        proposed = gate.run(policies.propose(second))
        gate.run(policies.activate(proposed.policy.hash, by="Ada"))
        late = ask(gate, 0.85, id="late")
        clock.advance(told_at - changed)
        label(gate, early, correct=False, source="audit")
        before, table = recalibrated(gate)
        assert (bucket(table, 0.85).n, bucket(table, 0.85).actual) == (1, 0.0)
        stored = gate.run(gate.services.registry.calibration(before.id))
        label(gate, early, correct=True, source="audit")
        after, table = recalibrated(gate)
        assert (bucket(table, 0.85).n, bucket(table, 0.85).actual) == (1, 1.0)
        assert after.id != before.id
        assert gate.run(gate.services.registry.calibration(before.id)) == stored
        again = ask(gate, 0.85, id="early")
    assert (early["route"], late["route"]) == ("auto_approve", "human_review")
    assert again == early
    assert (again["threshold"], late["threshold"]) == (0.8, 0.9)
    assert early["policy"] != late["policy"]


REFUSED = (
    None,  # [.6, .8, .6]: a sum of 2 is divided out
    "slices.told.weights: ",
    "slices.told.weights: weights are 0 or more; a is -0.3",
    "slices.told.weights.a: ",
)


def test_c25_weights_are_normalised_or_refused(cases: Cases, tmp_path: Path) -> None:
    """Zero, negative and NaN weights refuse the policy by name; a sum of 2 is divided out."""
    path = tmp_path / "policy.yaml"
    for given, refused in zip(cases["C25"]["input"], REFUSED, strict=True):
        weights = dict(zip("abc", given["weights"], strict=True))
        policy = told_policy(weights=weights).replace('"NaN"', ".nan")
        path.write_text(policy, encoding="utf-8")
        checked = CliRunner().invoke(app, ["policy", "check", str(path)])
        assert checked.exit_code == (0 if refused is None else 2), checked.stderr
        if refused is not None:
            assert "policy.yaml:1:" in checked.stderr
            assert refused in checked.stderr
            continue
        sources = [FixedSignal(name, SignalKind.OBJECTIVE, 1.0) for name in "abc"]
        with temporary_gate(policy, signals=sources) as gate:
            assert ask(gate, 1.0)["confidence"] == 1.0


def test_c26_what_is_no_confidence_goes_to_a_person(cases: Cases, tmp_path: Path) -> None:
    """NaN, infinities, 1.7 and -1 are failed measurements: never approved, never rejected.

    A table with such a score is refused by line.
    """
    given = [float(entry["confidence"]) for entry in cases["C26"]["input"]]
    assert [str(value) for value in given] == ["nan", "inf", "1.7", "-1.0"]
    with temporary_gate(told_policy(attempts=3), signals=[ToldSignal()]) as gate:
        for value in (*given, -math.inf):
            answer = ask(gate, str(value))
            assert (answer["route"], answer["confidence"]) == ("human_required", None)
            assert set(reasons(answer)) >= {"nothing_measured", "signal_missing"}
            assert answer["signals"]["told"]["state"] == "failed"
            wanted = "out_of_range" if math.isfinite(value) else "not_finite"
            assert answer["signals"]["told"]["reason"] == wanted
    for value in given:
        path = tmp_path / "labels.csv"
        path.write_text(f"score,label\n0.9,1\n{value},1\n", encoding="utf-8")
        arguments = ["certify", str(path), "--score", "score", "--label", "label"]
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 2
        assert "labels.csv, line 3, column 'score'" in done.stderr


def test_c27_a_model_gives_no_labels(cases: Cases, tmp_path: Path) -> None:
    """A label says where it comes from, and a model is no such place: refused, nothing counted."""
    source = cases["C27"]["input"]["labels_source"]
    store = tmp_path / "store.db"
    with served(store, told_policy(weights={"verification": 1.0})) as server:
        server.decide(told(0.9, id="one"))
        body = {"decision_id": "one", "action": "approve", "source": source}
        refused = server.label(body)
        assert (refused.status_code, refused.json()["field"]) == (422, "source")
        taken = server.label({**body, "source": "review"})
        assert taken.json()["source"] == "review"
    arguments = ["outcome", "one", "--action", "approve", "--by", "Ada", "--source", source]
    done = CliRunner().invoke(app, [*arguments, "--store", f"sqlite:///{store}"])
    assert done.exit_code == 2
    assert "--source" in done.stderr
    arguments = ["recalibrate", "--json", "--store", f"sqlite:///{store}"]
    document = json.loads(CliRunner().invoke(app, arguments).stdout)
    assert document["reliability"]["told"]["n"] <= 1


def judged_policy(share: float) -> str:
    """Return the case's weights; `share` of the outputs is judged."""
    return told_policy(
        auto=0.9,
        weights={"judge": 0.3, "verification": 0.4, "told": 0.3},
        judge={"model": "test:judge", "borderline": 0.0, "otherwise": share},
    )


def judged(gate: Gate, historical: float) -> tuple[Answer, dict[str, Any]]:
    """Decide, and return the answer with the signal `judge` as the ledger holds it."""
    answer = ask(gate, historical)
    stored = gate.run(gate.services.ledger.decision("default", answer["id"]))
    assert stored is not None
    return answer, json.loads(stored.body)["signals"]["judge"]


def test_c30_a_failed_judge_is_not_one_that_was_not_asked(cases: Cases) -> None:
    """Failed: a person decides. Not sampled: left out of the mean. Two states, two values."""
    given = cases["C30"]["input"]
    assert given["weights"] == [0.3, 0.4, 0.3]
    sources = [ToldSignal()]
    broken = FakeJudge(says=RuntimeError("no answer"))
    with temporary_gate(judged_policy(1.0), signals=sources, judge=broken) as gate:
        failed, stored = judged(gate, given["historical"])
        assert failed["route"] == "human_required"
        assert "signal_missing" in reasons(failed)
        assert (stored["state"], stored["reason"]) == ("failed", "judge_raised")
    with temporary_gate(judged_policy(0.0), signals=sources, judge=broken) as gate:
        unasked, stored = judged(gate, given["historical"])
        assert (unasked["route"], reasons(unasked)) == ("auto_approve", ["above_hypothesis"])
        assert math.isclose(unasked["confidence"], (0.4 * 1.0 + 0.3 * 0.85) / 0.7)
        assert (stored["state"], stored["value"]) == ("not_sampled", None)
    assert len(broken.asked) == 1
