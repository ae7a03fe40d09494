"""An evaluation is a decision whose labels are a fair sample of what may be automated (G23)."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select

from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.tables import decisions
from sureline.core.values.mission import LastEvaluation
from tests.missioned import World, missioned, reply

COLUMNS = tuple(decisions.c[name] for name in ("id", "route", "score_bin", "propensity", "stratum"))


def kept(world: World, last: LastEvaluation | None) -> tuple[Any, ...]:
    """Return route, bin, propensity and stratum as they are written down for an evaluation."""
    assert last is not None
    with world.gate.services.store.database.snapshot() as each:
        rows = [tuple(row) for row in each(compiled(select(*COLUMNS)), ())]
    (row,) = (values for name, *values in rows if name == last.decision_id)
    return tuple(row)


@pytest.mark.parametrize(
    ("says", "settings", "route", "counts"),
    [
        pytest.param(reply(True, 0.95), {}, "auto_approve", True, id="completed"),
        pytest.param(reply(True, 0.4), {}, "human_review", True, id="below the threshold"),
        pytest.param(
            reply(True, 0.95), {"auto_complete": False}, "human_required", True, id="to confirm"
        ),
        pytest.param(reply(False, 0.4), {}, "human_review", False, id="unsure that it is not"),
        pytest.param(reply(False, 0.95), {}, "auto_reject", False, id="goes on"),
        pytest.param("no verdict", {}, "human_required", False, id="no verdict"),
    ],
)
async def test_only_what_a_threshold_could_complete_is_counted(
    says: str, settings: dict[str, Any], route: str, counts: bool
) -> None:
    """Eligible is what a judge called achieved, whatever its confidence, and nothing else."""
    with missioned(says, audit_rate=0.3, **settings) as world:
        await world.create()
        await world.turn()
        last = (await world.evaluate()).last
        found, score_bin, propensity, _ = kept(world, last)
        assert (found, score_bin is not None) == (route, counts)
        assert propensity == {"auto_approve": 0.3, "auto_reject": 0.0}.get(route, 1.0)


@pytest.mark.parametrize(
    ("auto_complete", "some_thinned"),
    [pytest.param(True, True, id="completes alone"), pytest.param(False, False, id="confirmed")],
)
async def test_labels_are_thinned_only_where_others_are_not_seen(
    auto_complete: bool, some_thinned: bool
) -> None:
    """Where people confirm every mission each label counts; where not, as many as of an audit."""
    with missioned(reply(True, 0.4), auto_complete=auto_complete, audit_rate=0.3) as world:
        counted = []
        for number in range(12):
            await world.create(f"m{number}")
            await world.turn(f"m{number}")
            last = (await world.evaluate(f"m{number}")).last
            counted.append("/representative/" in str(kept(world, last)[3]))
        assert all(counted) == (not some_thinned)
