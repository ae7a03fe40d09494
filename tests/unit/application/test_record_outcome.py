"""What a program says of an outcome is read strictly."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sureline.errors import InvalidInput
from sureline.gate import Gate

POLICY = "version: 1\nslices:\n  notes:\n    weights: {verification: 1}\n"


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    """Open a gate in memory that has decided about `a`."""
    (tmp_path / "policy.yaml").write_text(POLICY)
    with Gate.open(tmp_path / "policy.yaml", store="sqlite://") as opened:
        opened.decide_sync(id="a", slice_key="notes", task="write", output={"text": "Good."})
        yield opened


@pytest.mark.parametrize(
    ("given", "field", "said"),
    [
        pytest.param({"action": "bless"}, "action", "approve, reject, edit", id="action"),
        pytest.param({"action": None}, "action", "approve, reject, edit", id="no action"),
        pytest.param({"source": "gossip"}, "source", "review, audit, incident", id="source"),
        pytest.param(
            {"action": "edit", "edited_fields": "text"}, "edited_fields", "a list", id="one text"
        ),
        pytest.param({"by": " "}, "by", "must not be empty", id="nobody"),
    ],
)
def test_a_wrong_answer_names_the_field_and_what_is_allowed(
    gate: Gate, given: dict[str, Any], field: str, said: str
) -> None:
    """The error is InvalidInput, and nothing is recorded."""
    answer: dict[str, Any] = {"action": "approve", "by": "Ada", **given}
    with pytest.raises(InvalidInput, match=said) as raised:
        gate.run(gate.record_outcome("a", **answer))
    assert raised.value.field == field
    assert not gate.run(gate.services.ledger.outcomes("default", "a"))
