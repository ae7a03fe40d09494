"""What the HTTP interface does with a kind of mission where slices are meant."""

from __future__ import annotations

from pathlib import Path

from sureline.application.report_words import reviewed_sentence
from sureline.core.statistics.attention import Detection
from sureline.core.statistics.noisy_labels import corrected_precision
from tests.web.served import ADMIN, POLICY, serve

KEY = "mission.recon"
MORE = """\
missions:
  recon: {judge: {model: "openai:gpt-5-mini"}, agent: {model: "anthropic:a"}}
"""


def test_a_proposal_for_a_kind_of_mission_is_refused_and_its_slice_shown(tmp_path: Path) -> None:
    """Nobody proposes an evaluation; what it completes at is shown like any slice's threshold."""
    with serve(tmp_path, policy=POLICY + MORE) as served:
        refused = served.decide(slice_key=KEY)
        assert refused.status_code == 422, refused.text
        assert "is a kind of mission" in refused.text
        slices = served.call("GET", "/v1/slices", ADMIN).json()["slices"]
        (one,) = [one for one in slices if one["slice_key"] == KEY]
        assert (one["mode"], one["threshold"], one["uncertified"]) == ("route", 0.7, True)
        report = served.call("GET", "/v1/reports/latest", ADMIN)
        assert report.status_code == 200, report.text
        assert KEY in [one["slice_key"] for one in report.json()["slices"]]


def test_nobody_is_told_to_plant_errors_among_missions() -> None:
    """Where nothing can be planted the report does not say that nothing was yet."""
    found = corrected_precision(9, 10, Detection(caught=0, shown=0))
    assert "none was planted" in reviewed_sentence(found)
    assert "nothing is planted in missions" in reviewed_sentence(found, plants=False)
