"""Rows of area 3-calibration about maps and drift: what a calibration says, and for how long."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np

from sureline.application.watch import SliceWatch, WatchSettings, watch_json
from sureline.core.statistics.bins import bins_of
from sureline.core.statistics.calibration import CalibrationMap
from sureline.core.statistics.drift import Vigilance, score_drift, score_window
from sureline.core.statistics.drift_index import population_stability
from sureline.core.statistics.map_json import map_from_json
from sureline.gate import Gate
from sureline.testing import FixedClock, temporary_gate
from tests.cases.told import ToldSignal, ask, label, told, told_policy

Cases = dict[str, dict[str, Any]]


def recalibrated(gate: Gate, *, activate: bool) -> dict[str, Any]:
    """Recalibrate; return the slice's maps as the calibration stores them."""
    found = gate.run(gate.recalibrate())
    if activate:
        gate.run(gate.services.recalibrator.activate(found.id, by="Ada"))
    stored = gate.run(gate.services.registry.calibration(found.id))
    assert stored is not None
    maps: dict[str, Any] = json.loads(stored)["maps"]["told"]
    return maps


def test_c16_outside_the_fitted_range_the_end_holds(cases: Cases) -> None:
    """Beyond the labelled scores a decision gets the end's probability; NaN gets none."""
    given = cases["C16"]["input"]
    with temporary_gate(told_policy(mode="log_only"), signals=[ToldSignal()]) as gate:
        for score, correct in given["fit"] * 20:
            label(gate, ask(gate, score), correct=bool(correct))
        fitted = map_from_json(recalibrated(gate, activate=True)["strata"]["unjudged"])
        beyond, end = ask(gate, given["predict"]), ask(gate, 0.7)
        below, start = ask(gate, 0.01), ask(gate, 0.3)
        nothing = ask(gate, "NaN")
    assert beyond["calibrated"] == end["calibrated"]
    assert below["calibrated"] == start["calibrated"]
    assert 0 < below["calibrated"] < beyond["calibrated"] < 1
    assert (nothing["calibrated"], nothing["route"]) == (None, "human_required")
    assert isinstance(fitted, CalibrationMap)
    assert [one["extrapolated"] for one in (beyond, below, end, start, nothing)] == [
        *(True, True, False, False, False)
    ]


def test_c17_labels_of_one_kind_fit_no_map(cases: Cases) -> None:
    """With correct labels only there is no new map, the reason is told, and the old one stays."""
    labels = cases["C17"]["input"]["labels"]
    clock = FixedClock()
    with temporary_gate(told_policy(mode="log_only"), signals=[ToldSignal()], clock=clock) as gate:
        for score, correct in [(0.3, False), (0.6, True), (0.6, False), (0.9, True)] * 10:
            label(gate, ask(gate, score), correct=correct)
        old = recalibrated(gate, activate=True)["strata"]["unjudged"]
        assert old["kind"] == "blend"
        before = ask(gate, 0.9)["calibrated"]
        clock.advance(timedelta(days=120))
        for i, correct in enumerate(labels):
            label(gate, ask(gate, 0.5 + i / 100), correct=bool(correct))
        maps = recalibrated(gate, activate=True)
        after = ask(gate, 0.9)["calibrated"]
    refused = {"kind": "unfitted", "reason": "fewer than 2 wrong labels", "n": len(labels)}
    assert maps["refused"] == {"unjudged": refused}
    assert maps["strata"] == {"unjudged": old}
    assert 0 < before == after < 1


def weeks(gate: Gate, clock: FixedClock, *scores: Iterable[Any]) -> list[SliceWatch]:
    """Decide about the first scores in two weeks, the reference, and from the fifth week on about
    each next week's; watch after each of these.
    """
    reference, *later = scores
    given = list(reference)
    for gap in (1, 3):
        gate.run(gate.decide_many([told(score) for score in given]))
        clock.advance(timedelta(weeks=gap))
    found = []
    for week in later:
        gate.run(gate.decide_many([told(score) for score in week]))
        clock.advance(timedelta(weeks=1))
        watcher = replace(gate.services.watcher, settings=WatchSettings(drift_alpha=0.99))
        report = gate.run(watcher.watch())
        json.dumps(watch_json(report), allow_nan=False)
        found.append(report.slices[0])
    return found


def test_c21_an_alarm_needs_an_effect(cases: Cases) -> None:
    """A shift that is significant but small is no alarm, whatever the number of decisions.

    By the gate: a twentieth of the scores on the other side would alarm, .045 does not, a fifth
    does. On counts of a million scores: .01 standard deviations are significant, and no alarm.
    """
    given = cases["C21"]["input"]
    assert given == {"shift": "0.01 sd", "n": 1_000_000}
    spread = np.linspace(0.1, 0.7, 1000)
    step = float(spread[1] - spread[0])
    clock = FixedClock()
    with temporary_gate(told_policy(mode="log_only"), signals=[ToldSignal()], clock=clock) as gate:
        small, large = weeks(
            gate,
            clock,
            spread.tolist(),
            (spread + 45 * step).tolist(),
            (spread[::5] + 200 * step).tolist(),
        )
    assert small.drift is not None
    assert large.drift is not None
    assert (small.drift.scores.significant, small.drift.alarm) == (True, False)
    assert (large.drift.scores.significant, large.drift.alarm) == (True, True)
    random = np.random.default_rng(1)
    before, now = random.normal(0.6, 0.1, given["n"]), random.normal(0.601, 0.1, given["n"])
    windows = [
        score_window(bins_of(np.clip(one, 0, 1)), np.ones(given["n"], np.int64))
        for one in (before, now)
    ]
    found = score_drift(*windows, Vigilance(week=1))
    assert (found.significant, found.alarm) == (True, False)
    assert found.effect is not None
    assert found.effect < 0.01


def test_c22_an_empty_group_gives_a_finite_index(cases: Cases) -> None:
    """Scores where there were none before: the index is a number, and reports are plain JSON."""
    given = cases["C22"]["input"]
    index = population_stability(given["expected"], given["actual"])
    assert index is not None
    assert 0 < index < 1
    scores = (0.2, 0.5, 0.9)
    clock = FixedClock()
    with temporary_gate(told_policy(mode="log_only"), signals=[ToldSignal()], clock=clock) as gate:
        (found,) = weeks(
            gate,
            clock,
            np.repeat(scores, given["expected"]).tolist(),
            np.repeat(scores, given["actual"]).tolist(),
        )
    assert found.drift is not None
    assert found.drift.stability is not None
    assert 0 <= found.drift.stability < 1


def test_c23_what_is_missing_is_watched_by_itself(cases: Cases) -> None:
    """90 % of outputs lose a signal, the others score as before: the missing rate alarms.

    The comparison of scores says how many it could compare.
    """
    given = cases["C23"]["input"]
    n, absent = 200, "absent"
    rates = [given[when]["judge_missing"] for when in ("before", "after")]
    assert rates == [0.01, 0.9]
    spread = [
        [absent if i * 37 % n < round(rate * n) else 0.2 + 0.6 * i / n for i in range(n)]
        for rate in rates
    ]
    clock = FixedClock()
    with temporary_gate(told_policy(mode="log_only"), signals=[ToldSignal()], clock=clock) as gate:
        (found,) = weeks(gate, clock, *spread)
        missing = ask(gate, absent)
    assert found.drift is not None
    assert found.drift.alarm
    assert found.drift.unscored.alarm
    assert (found.drift.unscored.before, found.drift.unscored.now) == (0.01, 0.9)
    assert not found.drift.scores.alarm
    assert found.drift.scores.coverage_now == 0.1
    assert "signal_missing" in [reason["code"] for reason in missing["reasons"]]
