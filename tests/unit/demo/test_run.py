"""The main job from end to end, through the public gate."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from sureline.core.values.certificate import Certificate
from sureline.core.values.decision import Route
from sureline.demo.documents import Columns, read_documents
from sureline.demo.items import bundled
from sureline.demo.result import DemoResult
from sureline.demo.run import run_demo
from sureline.demo.show import show_demo
from sureline.demo.study import study_seeds
from sureline.errors import InvalidInput

SROIE = Path(__file__).parents[4] / "shared" / "data" / "sroie_extraction.parquet"
MEMORY = Path("/dev/shm")
ROOM = 2**28


@pytest.fixture
def unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put temporary folders into memory, where there is some: a study waits for the disk most."""
    if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM:
        monkeypatch.setattr(tempfile, "tempdir", str(MEMORY))


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> DemoResult:
    """The standard run."""
    return run_demo(bundled(), folder=tmp_path_factory.mktemp("demo"))


def test_score_tells_right_from_wrong_but_not_too_well(result: DemoResult) -> None:
    """The composite's AUROC lies between .70 and .95."""
    assert result.auroc is not None
    assert 0.70 < result.auroc < 0.95


def test_log_only_automates_nothing(result: DemoResult) -> None:
    """Before there are certificates, every output goes to people."""
    assert len(result.logged) == 600
    assert not [item for item in result.logged if item.route is Route.AUTO_APPROVE]


def test_only_certified_slices_act_alone(result: DemoResult) -> None:
    """What acted alone scored at or above its slice's certified threshold, and met the target."""
    certified = {k: v for k, v in result.verdicts.items() if isinstance(v, Certificate)}
    assert certified
    assert result.automated
    for item in result.automated:
        assert item.score is not None
        assert item.score >= certified[item.slice_key].threshold
    assert not result.missed


def test_every_item_for_a_person_has_a_reason(result: DemoResult) -> None:
    """Nothing goes to people without saying why."""
    assert all(item.reasons for item in result.routed)


def test_same_seed_gives_the_same_result(tmp_path: Path, result: DemoResult) -> None:
    """Another store, with another secret, comes to the same decisions."""
    again = run_demo(bundled(), folder=tmp_path)
    assert replace(again, seconds=0, verdicts={}) == replace(result, seconds=0, verdicts={})


@pytest.mark.parametrize("share", [0.0, 1.0, 0.0001])
def test_split_without_two_sides_is_refused(share: float, tmp_path: Path) -> None:
    """Both phases need items."""
    with pytest.raises(InvalidInput, match="both sides of the split"):
        run_demo(bundled(size=10), folder=tmp_path, logged_share=share)


def test_progress_is_told_by_stage(tmp_path: Path) -> None:
    """Each stage counts up to its end."""
    told: list[tuple[str, int, int]] = []
    run_demo(bundled(size=50), folder=tmp_path, progress=lambda *step: told.append(step))
    assert told[-1][1:] == (20, 20)
    assert len({stage for stage, _, _ in told}) == 2


def test_json_and_report_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`as_json` writes one JSON object, and the report lands where it was asked for."""
    report = tmp_path / "r.html"
    data = tmp_path / "d.csv"
    rows = "".join(f"{n},{n % 2}\n" for n in range(40))
    data.write_text("output,correct\n" + rows, encoding="utf-8")
    show_demo(data=data, report=report, as_json=True)
    assert '"automated": 0' in capsys.readouterr().out
    assert "No certificate" in report.read_text(encoding="utf-8")


def test_report_needs_a_folder(tmp_path: Path) -> None:
    """A report that cannot be written is said before the work is done."""
    with pytest.raises(InvalidInput, match="the folder does not exist"):
        show_demo(report=tmp_path / "nowhere" / "r.html")


@pytest.mark.slow
def test_real_documents_are_reported_honestly(tmp_path: Path) -> None:
    """On scanned receipts the figures are those of the truth, certificate or not."""
    if not SROIE.exists():
        pytest.skip("../shared/data/sroie_extraction.parquet is not here")
    found = run_demo(read_documents(SROIE, Columns()), folder=tmp_path)
    assert len(found.logged) + len(found.routed) == 2504
    assert set(found.verdicts) == {"address", "company", "date", "total"}
    certified = {k for k, v in found.verdicts.items() if isinstance(v, Certificate)}
    assert {item.slice_key for item in found.automated} <= certified


@pytest.mark.slow
@pytest.mark.usefixtures("unsynced")
def test_target_is_missed_in_at_most_delta_of_runs() -> None:
    """Over 20 seeds at most one run is below its target."""
    study = study_seeds(range(1, 21))
    assert study.misses <= 1
    assert study.idle <= 4
    assert all(run.auroc is not None and 0.70 < run.auroc < 0.955 for run in study.runs)
