"""Which labels say something of a slice's opinions, and for how many outputs each counts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any

import pytest

from sureline.application.opinion_reader import OpinionReader
from sureline.application.ports.ledger import PastDecision
from sureline.core.learning.opinion_facts import MOST_SIGNALS, OpinionFacts, OpinionVerdict
from sureline.core.values.outcome import OutcomeSource
from tests.adapters.storage.samples import MEASUREMENT, NOON, judged_body, stratum
from tests.builders import slice_policy


class Streamed:
    """A ledger that has these decisions, and forgets each once it was read."""

    def __init__(self, past: Sequence[PastDecision]) -> None:
        self._past = past

    async def past_decisions(
        self, workspace: str, slice_key: str, since: datetime | None = None
    ) -> AsyncIterator[PastDecision]:
        for one in self._past:
            yield one


def past(**changes: Any) -> PastDecision:
    values: dict[str, Any] = {
        "id": "d1",
        "slice_key": "invoices",
        "route": "human_review",
        "would_route": None,
        "audit": False,
        "propensity": 1.0,
        "stratum": stratum(),
        "policy_hash": "p",
        "measurement_hash": MEASUREMENT,
        "task_digest": b"t",
        "created_at": NOON,
        "body": judged_body(1.0),
        "correct": True,
        "label_source": OutcomeSource.REVIEW,
    }
    return PastDecision(**{**values, **changes})


async def read(*decisions: PastDecision) -> tuple[OpinionFacts, ...]:
    reader = OpinionReader(ledger=Streamed(decisions), workspace="default")  # type: ignore[arg-type]
    policy = slice_policy(weights={"verification": 0.6, "judge": 0.4})
    return await reader.read(policy, MEASUREMENT, since=NOON)


@pytest.mark.parametrize(
    ("changes", "counts"),
    [
        pytest.param({}, True, id="a review"),
        pytest.param({"propensity": 0.1, "audit": True}, True, id="an audit"),
        pytest.param({"propensity": 0.1}, False, id="a complaint about what acted alone"),
        pytest.param({"propensity": 0.0, "audit": True}, False, id="never to be seen"),
        pytest.param({"stratum": stratum(representative=False)}, True, id="thinned out elsewhere"),
        pytest.param(
            {
                "stratum": stratum(representative=False),
                "label_source": OutcomeSource.IMPORT,
            },
            False,
            id="a row that somebody chose",
        ),
        pytest.param({"label_source": OutcomeSource.IMPORT}, True, id="a log labelled wholly"),
        pytest.param({"correct": None, "label_source": None}, False, id="no label"),
        pytest.param({"measurement_hash": "m"}, False, id="another measurement"),
        pytest.param({"body": judged_body(None, "timeout")}, False, id="a failed opinion"),
        pytest.param({"body": b"{"}, False, id="no JSON"),
    ],
)
async def test_which_labels_count(changes: dict[str, Any], counts: bool) -> None:
    """Only labels that came by the known chance of their decision, of the present measurement."""
    found = await read(past(**changes))
    assert len(found) == counts


async def test_an_audit_counts_for_those_that_nobody_saw() -> None:
    """One audited at one in ten weighs ten reviews; the number of labels stays what it is."""
    audited = past(propensity=0.1, audit=True)
    (facts,) = await read(audited, *(past(correct=False) for _ in range(10)))
    assert facts.every.labels == 11
    assert facts.every.right == pytest.approx(0.5)


async def test_what_misleads_comes_first_with_its_share_of_the_score() -> None:
    """A judge that likes wrong outputs is named, with the weight that it has."""
    wrong = [past(correct=False)] * 40
    right = [past(body=judged_body(0.0, verdict="refuted"))] * 40
    (facts,) = await read(*wrong, *right)
    assert facts.verdict is OpinionVerdict.MISLEADS
    assert "now 0.40 of the score" in str(facts.advice)
    assert facts.models == ("small-2026",)


async def test_no_plug_in_can_fill_the_memory() -> None:
    """Of signals without end only the first are looked at."""
    body = judged_body(1.0)
    named = [past(body=body.replace(b'"judge":{', b'"j%d":{' % n)) for n in range(100)]
    assert len(await read(*named)) == MOST_SIGNALS
