"""What a later label of a decision may be used for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.core.gate.composition import assess
from sureline.core.gate.routing import route
from sureline.core.gate.strata import FIT_SHARE, stratum_of
from sureline.core.gate.thresholds import Threshold
from sureline.core.values.outcome import OutcomeSource
from sureline.core.values.policy import Mode
from sureline.core.values.stratum import Fold, LabelStratum, Stratum
from tests.builders import around, measured, slice_policy, switch

NONE = Threshold(auto=None, reject=0.4, absent="none")
IDS = [f"decision-{number}" for number in range(2000)]


def strata(
    value: float, policy: dict[str, Any] | None = None, **circumstances: Any
) -> list[Stratum]:
    settings = slice_policy(**{"audit_rate": 0.1, **(policy or {})})
    assessed = assess([measured("verification", value)], settings)
    found = []
    for decision_id in IDS:
        here = around(decision_id=decision_id, **circumstances)
        found.append(stratum_of(route(assessed, settings, here), assessed, settings, here))
    return found


@pytest.mark.parametrize(
    ("value", "policy", "circumstances", "share"),
    [
        pytest.param(0.95, {}, {}, 0.1, id="automated-only-if-audited"),
        pytest.param(0.7, {}, {}, 0.1, id="reviewed-is-thinned-to-the-audit-rate"),
        pytest.param(0.7, {"mode": Mode.LOG_ONLY}, {}, 1.0, id="log-only-keeps-all"),
        pytest.param(0.95, {}, {"threshold": NONE}, 1.0, id="without-a-threshold-all"),
        pytest.param(0.95, {}, {"switches": (switch(),)}, 1.0, id="switched-off-all"),
        pytest.param(0.2, {"reject_audit_rate": 0.02}, {}, 0.0, id="rejected-not"),
    ],
)
def test_labels_of_one_time_have_the_same_chance_whatever_the_score(
    value: float, policy: dict[str, Any], circumstances: dict[str, Any], share: float
) -> None:
    """While a slice automates, labels on both sides of the threshold are sampled alike."""
    found = [one.representative for one in strata(value, policy, **circumstances)]
    assert sum(found) / len(found) == pytest.approx(share, abs=0.025)


def test_the_fold_is_drawn_apart_from_the_audit() -> None:
    """Whether a label fits or certifies has nothing to do with who was audited."""
    found = strata(0.95)
    fits = [one for one in found if one.fold is Fold.FIT]
    assert len(fits) / len(found) == pytest.approx(FIT_SHARE, abs=0.03)
    assert sum(one.representative for one in fits) / len(fits) == pytest.approx(0.1, abs=0.04)


@given(
    st.builds(
        LabelStratum,
        source=st.sampled_from(OutcomeSource),
        anchored=st.booleans(),
        decision=st.builds(
            Stratum,
            attempt=st.integers(1, 99),
            propensity=st.floats(0, 1),
            representative=st.booleans(),
            judged=st.booleans(),
            fold=st.sampled_from(Fold),
        ),
    )
)
def test_strata_come_back_from_their_text(stratum: LabelStratum) -> None:
    """Counts are stored under a stratum's text, which says everything again."""
    assert LabelStratum.parse(str(stratum)) == stratum
