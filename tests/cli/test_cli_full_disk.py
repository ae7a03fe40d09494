"""A store that fails half-way: what is stored is said, and the rest can be made up for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sureline.adapters.storage.ledger import SqlLedger
from sureline.application.ports.ledger import DecisionRecord, StoredDecision
from sureline.errors import StoreBusy, StoreError, StoreFull
from tests.cli.conftest import Run, proposal

LINES = "\n".join(
    proposal(id=f"d{number}", task=f"Read number {number}", source="x" * 20_000)
    for number in range(120)
)


def test_a_full_disk_says_what_is_stored(started: Run, tiny_disk: Path) -> None:
    """The number is right, nothing else is claimed, and repeating the input goes on from there."""
    ballast = tiny_disk / "ballast"
    ballast.write_bytes(bytes(300_000))
    at = ("--store", f"sqlite:///{tiny_disk / 'store.db'}")
    result = started("decide", "--policy", "policy.yaml", *at, text=LINES)
    assert result.exit_code == 3
    written = len(result.stdout.splitlines())
    assert 0 < written < 120
    assert f"{written} lines were decided and stored before it" in result.stderr
    assert "nothing was written" not in result.stderr
    ballast.unlink()
    again = started("decide", *at, text="\n".join(LINES.splitlines()[: written + 2]))
    assert again.exit_code == 1
    assert again.stdout.startswith(result.stdout)
    assert len(again.stdout.splitlines()) == written + 2


@pytest.mark.parametrize("error", [StoreFull, StoreBusy])
@pytest.mark.parametrize(
    ("stored", "said"),
    [
        (0, "no line was decided before it"),
        (1, "1 line was decided and stored before it"),
        (70, "70 lines were decided and stored before it"),
    ],
)
def test_a_store_that_fails_says_how_far_it_got(
    stored: int, said: str, error: type[StoreError], started: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever way it fails, and however many lines are decided at once."""
    usual, known = SqlLedger.append, 0

    async def append(self: SqlLedger, record: DecisionRecord) -> StoredDecision:
        nonlocal known
        if known == stored:
            raise error
        known += 1
        return await usual(self, record)

    monkeypatch.setattr(SqlLedger, "append", append)
    lines = (proposal(id=str(number), task=f"Read {number}") for number in range(80))
    result = started("decide", "--json", text="\n".join(lines))
    assert result.exit_code == 3
    assert len(result.stdout.splitlines()) == stored
    told = json.loads(result.stderr)["error"]
    assert told["code"] == error.__name__
    assert said in told["message"]
