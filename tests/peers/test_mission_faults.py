"""Faults that were found in other packages' missions: ours does what is right.

The same inputs are run against both by `benchmarks/peers_missions.py`.
"""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.benchmarked import benchmark

ours = benchmark("sureline_missions")


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


async def test_low_confidence_suspends_and_nothing_runs_on() -> None:
    """Not achieved, confidence 0.2: no further turn begins, and none is unjudged."""
    found = await ours.unsure()
    assert found.said == "suspended (unsure); 0 more turns ran"
    assert found.right


async def test_achieved_with_a_hundredth_does_not_complete() -> None:
    """Whatever a judge says, a confidence of 0.01 calls a person."""
    found = await ours.judged("hundredth")
    assert found.said == "suspended (unsure): 0.01"
    assert found.right


@pytest.mark.parametrize(
    ("key", "fault"),
    [
        ("string", "achieved_not_boolean"),
        ("nan", "non_finite"),
        ("percent", "confidence_out_of_range"),
        ("missing", "confidence_missing"),
    ],
)
async def test_what_is_no_judgement_is_none(key: str, fault: str) -> None:
    """A text for a truth, NaN, 85 and no confidence at all are failures, not something near."""
    found = await ours.judged(key)
    assert found.said == f"suspended (judge_unavailable): {fault}"
    assert found.right


async def test_a_judge_that_hangs_is_given_up() -> None:
    """After its own time it is a failed judge, and a person is called."""
    found = await ours.hung()
    assert "suspended (judge_unavailable)" in found.said
    assert found.right


async def test_a_judge_that_fails_has_judged_nothing() -> None:
    """There is a fault in place of a verdict: no `achieved`, no confidence."""
    found = await ours.failing()
    assert found.said == "suspended (judge_unavailable): unreachable"
    assert found.right


async def test_a_check_that_raises_does_not_fall_through() -> None:
    """The judge, which would have said yes, is not asked; a person is called."""
    found = await ours.checked("raising", ours.raises)
    assert found.said == "suspended (check_failed); the judge was asked 0 times"
    assert found.right


async def test_an_async_check_is_awaited() -> None:
    """Its no is a no, and the judge is not asked."""
    found = await ours.checked("awaited", ours.says_no)
    assert found.said == "active (started); the judge was asked 0 times"
    assert found.right


async def test_a_webhook_is_retried_signed_and_heeded() -> None:
    """503 is tried again under one id, each try is signed, 404 is kept as dead and counted."""
    retried, signed, heeded = await ours.told()
    assert retried.said == "2 requests, under one id"
    assert heeded.said == "kept as dead: status_404"
    assert [retried.right, signed.right, heeded.right] == [True] * 3


async def test_changed_criteria_void_verdicts() -> None:
    """What was judged before counts no more, and it is judged anew."""
    found = await ours.changed()
    assert found.said == "the verdict is gone, and 1 new one was made"
    assert found.right


async def test_downtime_counts(tmp_path: Path) -> None:
    """Nine hours with nothing running are over eight: no turn begins."""
    found = await ours.downtime(tmp_path)
    assert found.said == "failed (deadline)"
    assert found.right


def test_a_tracker_loads_no_library_for_models() -> None:
    """Opening a gate with missions and running a turn imports none of what asks models.

    The peer's import takes a second of CPU and 235 MB of installed packages; sizes and times stand
    in `docs/reference/missions-benchmark.md`, `tests/test_import_time.py` guards the import.
    """
    loaded = loaded_by(RUN)
    assert loaded & {"anthropic", "httpx2", "openai", "pydantic_ai"} == set()


RUN = """
import json
from sureline import Gate
from sureline.bootstrap import open_services
with Gate(open_services("sqlite://")) as gate:
    kinds = {"books": {"judge": {"model": "two:sceptic-1"}}}
    gate.run(gate.services.policies.introduce(json.dumps({"version": 1, "missions": kinds})))
    mission = gate.mission("books", objective="Close it", success_check=lambda _: None)
    with mission:
        mission.before_invocation_sync()
        mission.after_invocation_sync(answer="Closed.")
"""


def loaded_by(code: str) -> set[str]:
    """Return the modules that a program imports, by the first part of their names."""
    script = f"{code}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())
