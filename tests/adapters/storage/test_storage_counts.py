"""Labels and counts follow from the ledger, whatever came in which order."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from sureline.adapters.storage.statement import Statement
from sureline.adapters.storage.store import Store, open_store
from sureline.core.values.outcome import OutcomeSource
from sureline.core.values.stratum import Fold, Stratum
from tests.adapters.storage.samples import MEASUREMENT, NOON, outcome, record

_DERIVED = ("labels", "label_counts", "route_counts", "score_counts")

_decisions = st.lists(
    st.fixed_dictionaries(
        {
            "slice_key": st.sampled_from(["a", "b"]),
            "workspace": st.sampled_from(["w", "v"]),
            "route": st.sampled_from(["human_review", "auto_approve"]),
            "score_bin": st.sampled_from([None, 1, 2]),
            "stratum": st.builds(
                Stratum,
                attempt=st.integers(1, 2),
                propensity=st.sampled_from([1.0, 0.05]),
                representative=st.booleans(),
                judged=st.booleans(),
                fold=st.sampled_from(Fold),
            ),
            "created_at": st.sampled_from([NOON, NOON + timedelta(days=9)]),
        }
    ),
    min_size=1,
    max_size=4,
)
_outcomes = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.sampled_from(list(OutcomeSource)),
        st.sampled_from([True, False, None]),
        st.booleans(),
    ),
    max_size=12,
)

_RANK = {"import": 0, "review": 0, "audit": 1, "incident": 2}


async def _fill(store: Store, decisions: list[dict[str, Any]], outcomes: list[Any]) -> None:
    for number, changes in enumerate(decisions):
        await store.ledger.append(record(number, **changes))
    for number, (place, source, correct, erased) in enumerate(outcomes):
        of = place % len(decisions)
        workspace = decisions[of]["workspace"]
        await store.ledger.record_outcome(
            outcome(f"o{number}", f"d{of}", workspace=workspace, source=source, correct=correct)
        )
        if erased:
            await store.ledger.erase(workspace, f"d{of}", by="kim", reason="asked", at=NOON)


def _tables(store: Store) -> dict[str, list[Any]]:
    return {
        name: sorted(store.database.fetch(Statement(text(f"SELECT * FROM {name}"))), key=repr)
        for name in _DERIVED
    }


def _expected(decisions: list[dict[str, Any]], outcomes: list[Any]) -> dict[Any, int]:
    """Count by the plain reading of the rule: the latest of the strongest source."""
    labels: dict[int, tuple[int, bool]] = {}
    for place, source, correct, _ in outcomes:
        of, rank = place % len(decisions), _RANK[source]
        if correct is not None and rank >= labels.get(of, (0, True))[0]:
            labels[of] = (rank, correct)
    counts: dict[Any, int] = {}
    for of, (_, correct) in labels.items():
        decision = decisions[of]
        place = decision["score_bin"]
        key = (decision["workspace"], decision["slice_key"], place, correct if place else None)
        counts[key] = counts.get(key, 0) + 1
    return counts


@settings(max_examples=40, deadline=None)
@given(_decisions, _outcomes)
def test_counts_are_what_the_ledger_says(
    decisions: list[dict[str, Any]], outcomes: list[Any]
) -> None:
    """Counts kept on the way equal the rule's, and rebuilding them changes nothing."""

    async def check() -> None:
        store = open_store("sqlite://")
        await _fill(store, decisions, outcomes)
        kept = _tables(store)
        counted = Counter[Any]()
        for workspace in ("w", "v"):
            for slice_key in ("a", "b"):
                for row in await store.ledger.label_counts(workspace, slice_key, MEASUREMENT):
                    counted[workspace, slice_key, row.score_bin, row.correct] += row.count
                left_out = await store.ledger.labels_off_scale(workspace, slice_key, MEASUREMENT)
                if left_out:
                    counted[workspace, slice_key, None, None] = left_out
        compared = await store.derived.compare()
        await store.ledger.rebuild_counts()
        rebuilt = _tables(store)
        report = await store.ledger.verify()
        store.close()
        assert counted == _expected(decisions, outcomes)
        assert rebuilt == kept
        assert report.ok
        assert [one for one in compared if not one.ok] == []

    asyncio.run(check())
