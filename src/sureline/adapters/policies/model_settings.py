"""The keys of a policy that name models: generator, judge, self-evaluation."""

from __future__ import annotations

import re
from itertools import combinations
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from sureline.adapters.policies.faults import shown
from sureline.adapters.policies.setting import RATE, TRUTH, Rate, Settings, Text, setting
from sureline.core.values.model_names import same_model

MODEL = 'the name of a model such as "openai:gpt-5-mini"'
FAMILY = "a text such as gpt"


TEMPERATURE = "a number from 0 to 2"

Temperature = Annotated[float, Field(ge=0, le=2)]


class GeneratorSettings(Settings):
    """The model that makes the outputs."""

    model: Text = setting(..., expected=MODEL, meaning="The model that makes the outputs.")
    family: Text | None = setting(
        None, expected=FAMILY, meaning="Its family, where the name does not show it."
    )


class JudgeSettings(Settings):
    """A second model that tries to refute outputs."""

    model: Text = setting(..., expected=MODEL, meaning="The model that tries to refute.")
    family: Text | None = setting(
        None, expected=FAMILY, meaning="Its family, where the name does not show it."
    )
    high_stakes: Rate = setting(
        1.0, expected=RATE, meaning="The share of high-stakes outputs that are judged."
    )
    borderline: Rate = setting(
        0.05,
        expected=RATE,
        meaning="Outputs within this distance of the threshold are always judged.",
    )
    otherwise: Rate = setting(
        0.08, expected=RATE, meaning="The share of all other outputs that are judged."
    )
    refute_at: Rate = setting(
        0.6,
        expected=RATE,
        meaning="A refutation at this confidence or above always goes to a person.",
    )
    panel: Annotated[list[Text], Field(max_length=8)] = setting(
        [],
        expected="a list of up to 8 names of models",
        meaning="Further models that are asked at the same time. One that refutes firmly is enough "
        "to refute; agreement needs all that answered.",
    )
    quorum: Annotated[int, Field(ge=1, le=9)] | None = setting(
        None,
        expected="a whole number, 1 or more",
        meaning="How many of all judges must answer, by default the majority; with fewer the "
        "judge has failed.",
    )
    guidance: Text | None = setting(
        None,
        expected="a text",
        meaning="What counts as wrong here, in words that the judge is shown.",
    )
    temperature: Temperature | None = setting(
        None, expected=TEMPERATURE, meaning="Its temperature; by default the provider's own."
    )
    must_pass_canaries: bool = setting(
        False,
        expected=TRUTH,
        meaning="Use it only while it has passed its canaries (`sureline canaries`); until then, "
        "and after a failed run, its signal has failed and a person decides.",
    )
    allow_same_model: bool = setting(
        False,
        expected=TRUTH,
        meaning="Admit a judge that is the very model that made the output.",
    )

    @model_validator(mode="after")
    def _several_judges(self) -> JudgeSettings:
        names = [self.model, *self.panel]
        if any(same_model(one, two) for one, two in combinations(names, 2)):
            raise ValueError("panel names a model twice; the same model is no second opinion")
        if self.quorum is not None and self.quorum > len(names):
            raise ValueError(f"quorum is {self.quorum}, but there are {len(names)} judges")
        return self


DEDUCTION_ID = "a short name in small letters such as invented_facts"
POINTS = "a whole number from 1 to 100"
_ID = re.compile(r"[a-z][a-z0-9_]{0,59}\Z")


def _deduction_id(text: str) -> str:
    if not _ID.match(text):
        meant = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
        hint = f"; write {meant}" if _ID.match(meant) else ""
        raise ValueError(f"expected {DEDUCTION_ID}, found {shown(text)}{hint}")
    return text


def _points(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int):
        return value
    if value == 0:
        raise ValueError(f"expected {POINTS}; a failure mode of 0 points would change nothing")
    if -100 <= value < 0:
        raise ValueError(f"expected {POINTS}, without a minus: write {-value}; it is taken off")
    return value


class DeductionSettings(Settings):
    """One failure mode that the self-evaluation looks for."""

    id: Annotated[str, AfterValidator(_deduction_id)] = setting(
        ...,
        expected=DEDUCTION_ID,
        meaning="The failure mode's name, as it appears in decisions.",
    )
    points: Annotated[int, Field(ge=1, le=100), BeforeValidator(_points)] = setting(
        ..., expected=POINTS, meaning="Points taken off 100."
    )
    text: Text = setting(
        ..., expected="a text", meaning="When it applies, in words that the model is shown."
    )
    examples: Annotated[list[Text], Field(max_length=10)] = setting(
        [],
        expected="a list of at most 10 texts",
        meaning="Cases in which it applies, as the model is shown.",
    )


def _file_or_deductions(value: object) -> object:
    if isinstance(value, (str, list)):
        return value
    raise ValueError("expected the name of a deductions file, or the list itself")


class SelfEvaluationSettings(Settings):
    """A smaller model that looks for known failure modes."""

    model: Text = setting(..., expected=MODEL, meaning="The model that looks for failure modes.")
    deductions: Annotated[Any, BeforeValidator(_file_or_deductions)] = setting(
        ...,
        expected="the name of a deductions file, or the list itself",
        meaning="A YAML file, relative to the policy, with the failure modes and their points; "
        "its content is part of the policy.",
    )
    family: Text | None = setting(
        None, expected=FAMILY, meaning="Its family, where the name does not show it."
    )
    temperature: Temperature | None = setting(
        None, expected=TEMPERATURE, meaning="Its temperature; by default the provider's own."
    )
    must_pass_canaries: bool = setting(
        False,
        expected=TRUTH,
        meaning="Use it only while it has passed its canaries (`sureline canaries`); until then, "
        "and after a failed run, its signal has failed and a person decides.",
    )
    allow_same_model: bool = setting(
        False,
        expected=TRUTH,
        meaning="Admit an evaluator that is the very model that made the output.",
    )


class DeductionsFile(Settings):
    """A file of failure modes."""

    deductions: list[DeductionSettings] = setting(
        ...,
        expected="a list of 1 to 100 failure modes",
        meaning="The failure modes that are looked for, each with an id of its own.",
    )


class ConsistencySettings(Settings):
    """Whether several independent generations agree."""

    generations: Annotated[int, Field(ge=2, le=20)] = setting(
        3,
        expected="a whole number from 2 to 20",
        meaning="How many further outputs the generator is asked for.",
    )
    ask: bool = setting(
        False,
        expected=TRUTH,
        meaning="Ask the generator where a proposal brings no `generations`; costs as many calls.",
    )
    similarity: Rate = setting(
        0.8, expected=RATE, meaning="Texts at least this similar count as saying the same."
    )
    temperature: Temperature | None = setting(
        1.0, expected=TEMPERATURE, meaning="The temperature at which the generator is asked."
    )
