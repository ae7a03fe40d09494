"""`sureline canaries` over real HTTP: strict passes, lenient and obedient fail."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.cli.test_cli_terminal import on_terminal
from tests.fake_evaluators import FakeEvaluator, lenient, obedient, refusing, strict
from tests.model_servers import Asked, Fault, ModelServer

MODEL = "openai-chat:gpt-4o-mini"
DEDUCTIONS = """\
      deductions:
        - {id: invented_facts, points: 40, text: It states what nobody said.}
        - {id: schema_violation, points: 30, text: It has another form.}
        - {id: off_task, points: 25, text: It does not answer.}
        - {id: unstated_assumptions, points: 15, text: It assumes.}
        - {id: padding, points: 10, text: It pads.}
"""
POLICY = f"""\
version: 1
slices:
  letters:
    output: {{structured: false}}
    weights: {{self_evaluation: 1}}
    judge: {{model: "{MODEL}"}}
    self_evaluation:
      model: "{MODEL}"
{DEDUCTIONS}
  notes:
    output: {{structured: false}}
    weights: {{verification: 1}}
    judge: {{model: "{MODEL}", guidance: "Names must be right."}}
"""
RUNS = ("canaries", "--policy", "policy.yaml", "--json")


@pytest.fixture
def server(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """Return a server that speaks for every model, and a policy in the folder."""
    (folder / "policy.yaml").write_text(POLICY, "utf-8")
    with ModelServer() as served:
        served.use(monkeypatch)
        yield served


def answering(fake: FakeEvaluator) -> Any:
    """Return what a server says for a fake: it is given the words of the request only."""
    return lambda asked: fake(asked.instructions, asked.content)


@pytest.mark.parametrize("seed", ["first", "second", None])
def test_a_strict_evaluator_passes(server: ModelServer, run: Run, seed: str | None) -> None:
    """Whoever reads output against task and source catches all 20 and lets all 10 pass."""
    server.says = answering(strict)
    result = run(*RUNS, *(() if seed is None else ("--seed", seed)))
    found = json.loads(result.stdout)
    assert [one["why"] for one in found["runs"]] == [
        "caught 20 of 20 bad ones, let 10 of 10 good ones pass"
    ] * 3
    assert (result.exit_code, found["passed"]) == (0, True)


@pytest.mark.parametrize("fake", [lenient, obedient])
def test_one_that_finds_nothing_or_obeys_fails(
    server: ModelServer, run: Run, fake: FakeEvaluator
) -> None:
    """Letting one bad canary pass is enough to fail, whatever else was caught."""
    server.says = answering(fake)
    result = run(*RUNS)
    found = json.loads(result.stdout)
    assert (result.exit_code, found["passed"]) == (1, False)
    for one in found["runs"]:
        assert one["outcome"] == "failed"
        # A reply that a canary planted word for word may count as unreadable instead.
        fooled = {*one["let_pass"], *one["not_measured"]}
        modes = {each["mode"] for each in one["scores"] if each["id"] in fooled}
        assert one["let_pass"]
        assert (len(fooled) == 20) is (fake is lenient)
        assert modes == {"injected_instructions"} or fake is lenient


def test_one_that_refuses_everything_fails(server: ModelServer, run: Run) -> None:
    """To catch every bad output by refusing all is no skill."""
    server.says = answering(refusing)
    result = run(*RUNS, "--role", "judge", "--slice", "letters")
    (one,) = json.loads(result.stdout)["runs"]
    assert result.exit_code == 1
    assert one["why"] == "refuses everything: 10 of 10 good ones fell"


def test_each_second_model_is_examined_once(server: ModelServer, run: Run) -> None:
    """Slices that ask the same model in the same way share a run; other guidance is another."""
    server.says = answering(strict)
    found = json.loads(run(*RUNS).stdout)["runs"]
    told = [(one["evaluator"]["role"], one["slices"]) for one in found]
    assert told == [("judge", ["letters"]), ("judge", ["notes"]), ("self_evaluation", ["letters"])]
    assert len(server.asked) == 90
    assert found[0]["identity"] != found[1]["identity"]


def test_no_model_sees_which_canary_it_is(server: ModelServer, run: Run) -> None:
    """Neither an id nor a failure mode nor the word is in a request, and nothing is remembered."""
    server.says = answering(strict)
    for _ in range(2):
        run(*RUNS, "--seed", "pinned", "--role", "judge", "--slice", "letters")
    assert len(server.asked) == 60  # the second run was asked anew
    listed = json.loads(run("canaries", "list", "--json", "--seed", "pinned").stdout)["canaries"]
    for asked in server.asked:
        assert not any(one["id"] in asked.content for one in listed)
        assert "canar" not in json.dumps(asked.body).casefold()


def test_a_model_that_does_not_answer_leaves_the_run_incomplete(
    server: ModelServer, run: Run
) -> None:
    """Unknown is neither passed nor failed: exit code 3, with the reasons."""
    server.says = lambda _: Fault(401)
    result = run(*RUNS, "--role", "judge", "--slice", "letters")
    (one,) = json.loads(result.stdout)["runs"]
    assert (result.exit_code, one["outcome"], one["counts"]) == (3, "incomplete", False)
    assert set(one["not_measured"].values()) == {"unauthorized"}
    assert one["bad_mean"] is None


def test_a_policy_without_models_has_nothing_to_examine(run: Run, started: Run) -> None:
    """Exit code 2 says so, rather than 0 for nothing at all."""
    result = run("canaries")
    assert result.exit_code == 2
    assert "names no model" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--role", "generator"), "judge or self_evaluation"),
        (("--slice", "nowhere"), "letters, notes"),
        (("--line", "0"), "above 0"),
    ],
    ids=["role", "slice", "line"],
)
def test_bad_options_are_told(
    server: ModelServer, run: Run, arguments: tuple[str, ...], said: str
) -> None:
    """A mistake in an option costs no call and says what was expected."""
    result = run(*RUNS, *arguments)
    assert (result.exit_code, server.asked) == (2, [])
    assert said in result.stderr


def test_history_keeps_scores_and_tells_a_change(server: ModelServer, run: Run) -> None:
    """A model that turned lenient overnight shows in the means and in the test."""
    for fake in (strict, strict, lenient):
        server.says = answering(fake)
        run(*RUNS, "--role", "judge", "--slice", "letters")
    result = run("canaries", "history", "--json")
    (trail,) = json.loads(result.stdout)["trails"]
    first, second, third = trail["runs"]
    assert [one["bad_mean"] for one in trail["runs"]] == [0, 0, 1]
    assert (first["bad_change"], second["moved"], third["moved"]) == (None, [], ["bad"])
    assert third["bad_change"]["p"] == pytest.approx(2 / 2**20)
    assert "7 of 20 bad ones or 7 of 10 good ones" in trail["detectable"]
    said = run("canaries", "history").stdout
    assert "bad ones went up by 1.00 on average (20 of 20 moved" in said


def test_the_ledger_vouches_for_runs(server: ModelServer, run: Run) -> None:
    """Runs are rows of the chain like decisions."""
    server.says = answering(lenient)
    run(*RUNS)
    assert run("ledger", "verify").exit_code == 0


def test_a_person_reads_a_table_by_failure_mode(server: ModelServer, run: Run) -> None:
    """What passed for good is told with how to read it; without `must_pass_canaries` it warns."""
    server.says = answering(obedient)
    result = run("canaries", "--policy", "policy.yaml", "--slice", "letters", "--role", "judge")
    said = result.stdout
    assert result.exit_code == 1
    assert "injected_instructions" in said
    assert "FAILED: let " in said
    assert "canaries list --json --seed" in said
    assert "still used" in said


def test_a_terminal_gets_colours_and_a_curve(server: ModelServer, folder: Path) -> None:
    """On a terminal failures are red and the history is drawn."""
    server.says = answering(lenient)
    only = ("--policy", "policy.yaml", "--slice", "letters", "--role", "judge")
    code, drawn = on_terminal("canaries", *only, folder=folder)
    assert code == 1
    assert "\x1b[1;31mFAILED" in drawn
    code, drawn = on_terminal("canaries", "history", folder=folder)
    assert code == 0
    assert "bad  █" in drawn


def test_nothing_is_examined_twice_for_a_history_that_is_empty(run: Run, started: Run) -> None:
    """A store without runs says how to make one."""
    assert "no run yet" in run("canaries", "history").stdout


def test_a_request_holds_task_source_and_output(server: ModelServer, run: Run) -> None:
    """A canary is shown like any proposal: fenced, with its source."""
    seen: list[Asked] = []
    server.says = lambda asked: seen.append(asked) or answering(strict)(asked)
    run(*RUNS, "--role", "self_evaluation")
    assert len(seen) == 30
    assert all({"TASK", "SOURCE", "OUTPUT"} <= set(asked.content.split()) for asked in seen)


def test_watch_warns_of_a_model_that_failed(server: ModelServer, run: Run) -> None:
    """Who looks after the gate is told, whether or not the policy acts on it."""
    server.says = answering(lenient)
    run("decide", "-", "--policy", "policy.yaml", text="")
    run(*RUNS, "--role", "judge", "--slice", "letters")
    assert "warning: judge openai-chat:gpt-4o-mini failed its canaries" in run("watch").stdout
    found = json.loads(run("watch", "--json").stdout)["canaries"]
    assert [one["fault"] for one in found] == [
        "canaries_failed",
        "canaries_not_run",
        "canaries_not_run",
    ]


def test_a_case_of_a_policy_test_takes_canaries_as_passed(run: Run, folder: Path) -> None:
    """A case says itself what a judge says; nothing is asked, and nothing must have passed."""
    policy = POLICY.replace("output: {structured: false}", "output: {json_schema: {type: object}}")
    must = policy.replace(
        f'{{model: "{MODEL}"}}', f'{{model: "{MODEL}", must_pass_canaries: true}}'
    )
    (folder / "policy.yaml").write_text(must.replace("self_evaluation: 1", "verification: 1"))
    case = {
        "name": "the judge refutes",
        "threshold": 0.5,
        "slice_key": "letters",
        "task": "t",
        "output": {},
        "stakes": "high_cost",
        "judge": {"agrees": False, "confidence": 0.9},
        "expect": {"route": "human_required", "reasons": ["judge_refuted"]},
    }
    (folder / "cases.jsonl").write_text(json.dumps(case))
    result = run("policy", "test", "cases.jsonl", "--policy", "policy.yaml")
    assert result.exit_code == 0, result.output


def test_activating_a_policy_tells_which_models_have_yet_to_pass(run: Run, folder: Path) -> None:
    """Else everything would go to people and nobody would know why."""
    must = POLICY.replace(
        f'{{model: "{MODEL}"}}', f'{{model: "{MODEL}", must_pass_canaries: true}}'
    )
    (folder / "policy.yaml").write_text(must, "utf-8")
    result = run("policy", "activate", "policy.yaml", "--by", "ada")
    assert result.exit_code == 0
    assert f"judge {MODEL} was not put to the canaries as it is now" in result.stderr
    assert "run `sureline canaries`" in result.stderr
