"""What holds for every reply that a model may give."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sureline import Route, SignalState
from sureline.application.ports.models import Ended, Reply
from sureline.core.mission.achieved_reply import SaidAchieved, read_achieved
from sureline.core.opinions.json_reply import read_object
from sureline.core.opinions.panel import conclude
from sureline.core.opinions.spans import Passages
from sureline.core.opinions.verdict_reply import FAILURE_MODES, Said, read_verdict
from sureline.core.values.verdict import Verdict, Vote
from sureline.gate import Gate
from sureline.testing import MOMENT, FakeModels, temporary_gate

NOTHING = Passages(())

ANY_TEXT = st.text(st.characters(), max_size=80)
PIECES = st.sampled_from(
    ['{', '}', '[', ']', '"', '\\', ':', ',', '\n', ' ', '<think>', '</think>', '<thinking>',
     '[THINK]', '```json\n', '```', '"agrees"', '"confidence"', '"failure_mode"', 'true', 'false',
     'null', 'NaN', '-Infinity', '0.9', '85', '1e999', '08', '85%', '9/30', '٣', '\u200b', '\ud83d',
     '\\ud83d', '\\u0061grees', '// fine', 'I cannot help.', '{"agrees": true, "confidence": 1}',
     '{"agrees": false, "confidence": 0.7}']
)  # fmt: skip
"""What goes wrong in replies, in any order."""
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["true", "false", "0.9", "85", "invented", "none", ""])
    | ANY_TEXT
)
VALUES = SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(ANY_TEXT, SCALARS, max_size=2)
KEYS = st.sampled_from(["agrees", "confidence", "failure_mode", "reason", "score", "Agrees"])
OBJECTS = st.dictionaries(KEYS | ANY_TEXT, VALUES, max_size=5).map(json.dumps)
GOOD = st.fixed_dictionaries(
    {
        "agrees": st.booleans(),
        "confidence": st.floats(0, 1),
        "failure_mode": st.none() | st.sampled_from(list(FAILURE_MODES)),
    }
).map(json.dumps)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """Return a good verdict with a few characters taken out, put in, or given twice."""
    text = draw(GOOD)
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        end = draw(st.integers(at, min(len(text), at + 12)))
        text = text[:at] + draw(ANY_TEXT | PIECES | st.just(text[at:end] * 2)) + text[end:]
    return text


REPLIES = (
    ANY_TEXT
    | st.lists(PIECES, max_size=25).map("".join)
    | OBJECTS
    | mutated()
    | st.lists(OBJECTS | GOOD | ANY_TEXT | PIECES, max_size=4).map(" ".join)
)


@given(REPLIES)
@settings(max_examples=400)
@example('{"agrees": true, "confidence": true}')
@example('{"agrees": true, "confidence": 1' + "0" * 400 + "}")
@example('{"agrees": true, "confidence": -0.0}')
def test_a_verdict_is_in_range_or_there_is_none(text: str) -> None:
    """Whatever the reply: a true boolean with a number in [0, 1] and a code, or a fault."""
    said = read_verdict(text, NOTHING)
    if not isinstance(said, Said):
        assert said.fault
        return
    assert isinstance(said.agrees, bool)
    assert type(said.confidence) is float
    assert math.isfinite(said.confidence)
    assert 0.0 <= said.confidence <= 1.0
    assert said.failure_mode is None or said.failure_mode in FAILURE_MODES
    assert not (said.agrees and said.failure_mode)


@given(REPLIES)
@settings(max_examples=300)
def test_a_verdict_says_what_stands_in_the_reply(text: str) -> None:
    """Nothing is made up: an object of the reply, read by the library, has these very values."""
    said = read_verdict(text, NOTHING)
    if isinstance(said, Said):
        assert any(
            one.get("agrees") is said.agrees and one.get("confidence") == said.confidence
            for one in objects_in(text)
        )


@given(REPLIES.map(lambda text: text.replace("agrees", "achieved")))
@settings(max_examples=300)
def test_an_objective_is_achieved_only_as_it_is_said(text: str) -> None:
    """Whatever the reply: what is read stands in an object of it, in range, or there is a fault."""
    said = read_achieved(text, NOTHING)
    if not isinstance(said, SaidAchieved):
        assert said.fault
        return
    assert type(said.confidence) is float
    assert 0.0 <= said.confidence <= 1.0
    assert any(
        one.get("achieved") is said.achieved and one.get("confidence") == said.confidence
        for one in objects_in(text)
    )


def objects_in(text: str) -> Iterator[dict[str, Any]]:
    """Yield every JSON object that starts anywhere in a text."""
    decoder = json.JSONDecoder()
    for at, character in enumerate(text):
        if character == "{":
            try:
                value, _ = decoder.raw_decode(text, at)
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict):
                yield value


@given(REPLIES, st.sampled_from([None, "agrees", "deductions"]))
@settings(max_examples=300)
def test_reading_an_object_never_raises(text: str, key: str | None) -> None:
    """There is an object with its span, or a fault with a hint, never both."""
    found = read_object(text, key)
    assert (found.fields is None) == (found.fault is not None)
    assert found.fields is None or found.span in text
    assert found.fault is None or found.hint


@given(REPLIES, st.floats(0, 1))
@settings(max_examples=200)
def test_a_contradiction_is_never_agreement(text: str, confidence: float) -> None:
    """A reply that also holds a well-formed refutation can refute or fail, but not agree."""
    refutation = json.dumps({"agrees": False, "confidence": confidence})
    for reply in (f"{text} {refutation}", f"{refutation} {text}"):
        said = read_verdict(reply, NOTHING)
        if isinstance(said, Said) and said.agrees:
            assert any(tag in text.lower() for tag in ("think", "thought", "reasoning", "scratch"))


VOTES = st.one_of(
    st.just(Vote(asked="m", fault="timeout")),
    st.builds(
        lambda name, agrees, confidence: Vote(
            asked=name, verdict=Verdict(agrees=agrees, confidence=confidence)
        ),
        st.sampled_from("mnopqr"),
        st.booleans(),
        st.floats(0, 1),
    ),
)


@given(st.lists(VOTES, min_size=1, max_size=9), st.floats(0, 1), st.integers(1, 9))
def test_a_panel_agrees_only_if_a_quorum_does_and_nobody_objects(
    votes: list[Vote], refute_at: float, quorum: int
) -> None:
    """A judge that did not answer is never counted as agreeing, no model is counted twice, and no
    objection is outvoted.
    """
    verdict = conclude(votes, refute_at=refute_at, quorum=quorum)
    said = [one.verdict for one in votes if one.verdict is not None]
    models = {one.asked for one in votes if one.verdict is not None}
    firm = any(not one.agrees and one.confidence >= refute_at for one in said)
    if verdict is None:
        assert len(models) < quorum
        assert not firm
        return
    assert 0.0 <= verdict.confidence <= 1.0
    assert verdict.agrees == (len(models) >= quorum and all(one.agrees for one in said))
    assert firm == (not verdict.agrees and verdict.confidence >= refute_at)


@given(st.lists(VOTES, min_size=1, max_size=5), VOTES, st.integers(1, 5))
def test_losing_a_judge_of_a_panel_never_makes_it_agree(
    votes: list[Vote], lost: Vote, quorum: int
) -> None:
    """G15: what refuted, doubted or failed does not turn into agreement by an outage."""
    whole = conclude([*votes, lost], refute_at=0.6, quorum=quorum)
    rest = conclude([*votes, Vote(asked="m", fault="timeout")], refute_at=0.6, quorum=quorum)
    objected = lost.verdict is not None and not lost.verdict.agrees
    if rest is not None and rest.agrees and not objected:
        assert whole is not None
        assert whole.agrees


POLICY = json.dumps(
    {
        "version": 1,
        "slices": {
            name: {
                "mode": "route",
                "weights": {"verification": 1.0},
                "output": {"json_schema": {"type": "object"}},
                "attempts": 1,
                "hypothesis": {
                    "auto": 0.8,
                    "reject": 0.0,
                    "allow_uncertified": True,
                    "starts": str(MOMENT.date()),
                },
                **more,
            }
            for name, more in {
                "judged": {"judge": {"model": "one:alpha-9", "borderline": 1.0}},
                "panel": {
                    "judge": {"model": "one:alpha-9", "panel": ["two:beta-9"], "borderline": 1.0}
                },
            }.items()
        },
    }
)


@pytest.fixture(scope="module")
def judged() -> Iterator[tuple[Gate, FakeModels]]:
    """A gate whose outputs pass all checks, and the models that judge them."""
    models = FakeModels(lambda _prompt, _asking: "")
    with temporary_gate(POLICY, model_client=models) as gate:
        yield gate, models


NUMBERS = count()
"""A task of its own for each output: a refuted one would leave the next fewer attempts."""


@given(REPLIES, st.sampled_from(list(Ended)), st.sampled_from(["judged", "panel"]))
@settings(max_examples=120, deadline=None)
def test_only_a_verdict_that_agrees_leaves_an_output_to_be_automated(
    judged: tuple[Gate, FakeModels], text: str, ended: Ended, slice_key: str
) -> None:
    """Whatever a judge says, the output is automated at most as it would be without a judge."""
    gate, models = judged
    models.asked.clear()
    models.says = lambda _prompt, asking: Reply(text=text, model=asking.model, ended=ended)
    number = next(NUMBERS)
    decision = gate.decide_sync(slice_key=slice_key, task=f"t {number}", output={"id": number})
    signal = {one.name: one for one in decision.signals}["judge"]
    said = read_verdict(text, NOTHING)
    agreed = ended is Ended.COMPLETE and isinstance(said, Said) and said.agrees
    assert (decision.route is Route.AUTO_APPROVE) == agreed
    assert signal.value == (1.0 if agreed else 0.0 if signal.is_measured else None)
    if signal.state is SignalState.FAILED:
        assert signal.reason
