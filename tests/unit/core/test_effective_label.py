"""Which of a decision's outcomes is its label."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.core.learning.labels import effective
from sureline.core.values.outcome import Action, Outcome, OutcomeSource
from tests.builders import NOW

WORDS = {"+": True, "-": False, "0": None}
SOURCES = {"r": "review", "m": "import", "a": "audit", "i": "incident"}


def said(text: str) -> list[Outcome]:
    """Make outcomes from pairs such as `r+` (a review: correct) and `i-` (an incident: wrong)."""
    return [
        Outcome(
            id=str(place),
            workspace="default",
            decision_id="d1",
            action={True: Action.APPROVE, False: Action.REJECT, None: Action.SKIP}[WORDS[word]],
            correct=WORDS[word],
            source=OutcomeSource(SOURCES[source]),
            by="Ada",
            anchored=True,
            recorded_at=NOW + timedelta(days=place),
        )
        for place, (source, word) in enumerate(text.split())
    ]


@pytest.mark.parametrize(
    ("outcomes", "label"),
    [
        pytest.param("", None, id="unreviewed is no label"),
        pytest.param("r0 a0 i0", None, id="skipping is none either"),
        pytest.param("r+", True, id="approved"),
        pytest.param("r+ r-", False, id="the later of two reviews"),
        pytest.param("r+ i-", False, id="an incident overrides an approval"),
        pytest.param("i- r+", False, id="and stays"),
        pytest.param("i- a+", False, id="an auditor does not override an incident"),
        pytest.param("r- a+", True, id="an auditor overrides a review"),
        pytest.param("a+ r- m-", True, id="and stays"),
        pytest.param("m+ r-", False, id="an import counts like a review"),
        pytest.param("i- i+", True, id="the later of two incidents"),
        pytest.param("a+ i0", True, id="a skip overrides nothing"),
    ],
)
def test_the_latest_of_the_strongest_source_holds(outcomes: str, label: bool | None) -> None:
    """Incident over audit over review; what is no label takes no part."""
    found = effective(said(outcomes))
    assert (None if found is None else found.correct) is label


@given(st.lists(st.sampled_from([a + b for a in "rmai" for b in "+-0"]), max_size=8))
def test_silence_never_changes_a_label(pairs: list[str]) -> None:
    """Adding outcomes that are no labels, anywhere, leaves the effective one as it is."""
    with_silence = effective(said(" ".join(pairs)))
    without = effective(said(" ".join(one for one in pairs if not one.endswith("0"))))
    assert (with_silence and with_silence.correct) == (without and without.correct)
