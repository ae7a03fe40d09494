"""Verdicts that judges once gave are replayed, and the report says which slices they mislead."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sureline.application.mapped_signals import CONFIDENCE
from tests.cli.conftest import Run

SHARED = Path(__file__).parents[3] / "shared" / "data"
MISLEADS, TELLS, NOTHING = "consistent_but_wrong", "tells_right_from_wrong", "adds_nothing"
JUDGED = "{mode: log_only, output: {structured: false}, weights: {judge: 1}, judge: {model: 'a:b'}}"


def policy(slices: Sequence[str]) -> str:
    """Write a policy whose slices count on a judge alone."""
    return "version: 1\nslices:\n" + "".join(f"  {one}: {JUDGED}\n" for one in slices)


def replayed(run: Run, file: Path, slices: Sequence[str], *maps: str) -> dict[str, Any]:
    """Import a table of verdicts with labels by people, and return the report."""
    Path("policy.yaml").write_text(policy(slices), "utf-8")
    arguments = [one for name in maps for one in ("--map", name)]
    result = run(
        "import", str(file), *arguments, "--label-source", "human", "--labelled", "all",
        "--policy", "policy.yaml", "--rejects", "rejects.jsonl",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(run("report", "--json").stdout)
    return found


def public(name: str) -> Path:
    """Return a public table, or skip the test where it is absent."""
    if not (SHARED / name).exists():
        pytest.skip(f"{name} is not in ../shared/data beside the project")
    return SHARED / name


def verdicts(report: dict[str, Any], signal: str = "judge") -> dict[str, tuple[str, float]]:
    """Return each slice's verdict and AUROC of a signal."""
    return {
        one["slice_key"]: (found["verdict"], round(found["auroc"]["auroc"], 3))
        for one in report["slices"]
        for found in one["opinions"]
        if found["signal"] == signal
    }


def test_the_judge_that_agrees_with_itself_on_wrong_answers_is_named(run: Run) -> None:
    """LLMBar: one model's own votes mislead, another's tell; the report has both in words."""
    judges = ("ChatGPT", "ChatGPT-0301", "Falcon", "GPT-4", "LLaMA2", "PaLM2")
    file = public("llmbar_judges.parquet")
    maps = ("slice=judge", "signal.judge=strategy_vote_share", "label=correct", "id=id")
    report = replayed(run, file, judges, *maps)
    found = verdicts(report)
    assert found["ChatGPT"] == (MISLEADS, 0.435)
    assert found["GPT-4"] == (TELLS, 0.863)
    assert [one for one, (verdict, _) in found.items() if verdict == MISLEADS] == ["ChatGPT"]
    assert [one["slice_key"] for one in report["consistent_but_wrong"]] == ["ChatGPT"]
    said = run("report", "--html", "r.html").stdout
    assert "consistent but wrong: ChatGPT. judge is consistent but wrong here" in said
    assert "Do not lean on judge here: lower its weight (now 1.00 of the score)" in said
    assert "judge is consistent but wrong here" in Path("r.html").read_text("utf-8")


def test_adversarial_pairs_are_told_from_natural_ones(run: Run) -> None:
    """LLMBar by subset: agreement of a judge with itself misleads on neighbours, not in nature."""
    subsets = ("Natural", "Adv-Neighbor", "Adv-GPTInst", "Adv-GPTOut", "Adv-Manual")
    file = public("llmbar_judges.parquet")
    maps = (
        "slice=slice", "signal.judge=strategy_vote_share", "signal.consistency=swap_consistent",
        "label=correct", "id=id",
    )  # fmt: skip
    report = replayed(run, file, subsets, *maps)
    for signal in ("judge", "consistency"):
        found = verdicts(report, signal)
        assert found["Adv-Neighbor"][0] == MISLEADS
        assert found["Natural"][0] == TELLS
        assert found["Adv-Manual"][0] == NOTHING


def test_agreement_of_two_judges_tells_something(run: Run) -> None:
    """PandaLM: where the other judge agrees, people agree more often."""
    file = public("pandalm_judges.parquet")
    maps = ("slice=judge", "signal.judge=other_judge_agrees", "label=correct", "id=id")
    found = verdicts(replayed(run, file, ("gpt-3.5-turbo", "pandalm-7b"), *maps))
    assert found == {"gpt-3.5-turbo": (TELLS, 0.658), "pandalm-7b": (TELLS, 0.715)}


VERDICTS = """\
agrees,sure,ok
yes,0.9,1
no,0.9,0
no,0.3,1
true,0.55,1
,,0
"""


def test_verdicts_come_with_their_confidence(run: Run) -> None:
    """A firm no is a refutation, a weak one inconclusive, and an empty cell was not asked."""
    Path("log.csv").write_text(VERDICTS, "utf-8")
    maps = ("signal.judge=agrees", f"{CONFIDENCE}=sure", "label=ok")
    Path("policy.yaml").write_text(policy(["mail"]), "utf-8")
    arguments = [one for name in maps for one in ("--map", name)]
    result = run(
        "import", "log.csv", *arguments, "--slice", "mail", "--label-source", "human",
        "--labelled", "all", "--policy", "policy.yaml",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    (health,) = json.loads(run("opinions", "--json").stdout)["opinions"]
    assert (health["asked"], health["refuted"], health["not_sampled"]) == (4, 1, 1)
    assert health["disagreements"]["part"] == 2
    (one,) = json.loads(run("report", "--json").stdout)["slices"]
    (judge,) = one["opinions"]
    assert (judge["verdict"], judge["every"]["labels"]) == ("too_few_labels", 4)
    drawn = {(round(b["predicted"], 2), b["n"]) for b in judge["buckets"] if b["n"]}
    assert drawn == {(0.9, 1), (0.1, 1), (0.7, 1), (0.55, 1)}


@pytest.mark.parametrize(
    ("cells", "said"),
    [("maybe,0.9", "expected one of"), ("yes,", "from 0 to 1"), ("yes,9", "from 0 to 1")],
)
def test_a_verdict_that_is_none_is_rejected(run: Run, cells: str, said: str) -> None:
    """Agreement is a true word, and a confidence without a scale is no number to guess at."""
    Path("log.csv").write_text(f"agrees,sure,ok\n{cells},1\n", "utf-8")
    Path("policy.yaml").write_text(policy(["mail"]), "utf-8")
    result = run(
        "import", "log.csv", "--map", "signal.judge=agrees", "--map", f"{CONFIDENCE}=sure",
        "--map", "label=ok", "--slice", "mail", "--label-source", "human", "--policy",
        "policy.yaml", "--json",
    )  # fmt: skip
    assert result.exit_code == 2
    (rejected,) = json.loads(result.stdout)["first_rejected"]
    assert said in rejected["error"]["message"]


def test_a_confidence_needs_a_verdict(run: Run) -> None:
    """How sure a judge was says nothing without what it said."""
    Path("log.csv").write_text("sure,ok\n0.9,1\n", "utf-8")
    result = run(
        "import", "log.csv", "--map", f"{CONFIDENCE}=sure", "--map", "signal.x=sure", "--slice",
        "mail",
    )  # fmt: skip
    assert result.exit_code == 2
    assert "needs signal.judge" in result.stderr
