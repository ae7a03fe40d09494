"""The reference of missions has every cause, refusal, event, field and fault that there is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sureline.application.mission.evidence_intake import EvidenceFields
from sureline.application.mission.new_mission import MissionFields
from sureline.core.mission.concluding import CHECK_UNDECIDED, NO_JUDGE
from sureline.core.opinions.advice import _SENTENCES
from sureline.core.values.mission import Cause, EventKind, MissionState

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "sureline"
PAGE = (ROOT / "docs" / "reference" / "missions.md").read_text("utf-8")
NOT_OF_MISSIONS = {"no_judge_configured", "canaries_not_run", "canaries_failed"}
NUMBERS = ("not_a_number", "not_finite", "out_of_range")
OF_FAULTS = (
    "application/mission/check.py",
    "application/mission/evaluating.py",
    "application/mission/judge.py",
    "application/opinions/asking.py",
    "core/opinions/fence.py",
    "core/opinions/truth_reply.py",
)
SAYS_FAULT = re.compile(
    r'(?:_failed|ModelFailed|NotRead)\(\s*"(\w+)"|^[A-Z_, ]+ = ("\w+"(?:, "\w+")*)$|or "(no_\w+)"',
    re.MULTILINE,
)


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def faults() -> Iterator[str]:
    """Yield the codes that are written down where evaluations are made."""
    for name in OF_FAULTS:
        for found in SAYS_FAULT.findall((SOURCE / name).read_text("utf-8")):
            yield from re.findall(r"\w+", " ".join(found))
    yield from (CHECK_UNDECIDED, NO_JUDGE)
    yield from _SENTENCES.keys() - NOT_OF_MISSIONS
    for name in ("confidence", "completeness"):
        yield from (f"{name}_{one}" for one in NUMBERS)
    yield from ("achieved_missing", "confidence_missing", "achieved_not_boolean")


def refusals() -> Iterator[str]:
    """Yield the codes with which no invocation begins."""
    for name in ("core/mission/invoking.py", "mission_tracker.py"):
        text = (SOURCE / name).read_text("utf-8")
        for found in re.findall(r'_refused\(\w+, "(\w+)"|code="(\w+)"', text):
            yield from found
    yield from ("suspended", "completed", "failed")


@pytest.mark.parametrize(
    ("title", "codes"),
    [
        pytest.param("`gate.mission`", MissionFields.__annotations__, id="parameters"),
        pytest.param("Evidence", EvidenceFields.__annotations__, id="evidence"),
        pytest.param("States and causes", (*Cause, *MissionState), id="causes"),
        pytest.param("Refusals", {one for one in refusals() if one}, id="refusals"),
        pytest.param("Events", EventKind, id="events"),
        pytest.param("Faults", set(faults()), id="faults"),
    ],
)
def test_the_reference_has_all_of_them(title: str, codes: object) -> None:
    """Each code is named in its section."""
    told = section(title)
    assert [str(one) for one in codes if f"`{one}`" not in told] == []  # type: ignore[attr-defined]
