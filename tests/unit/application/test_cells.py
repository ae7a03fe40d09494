"""Cells of somebody's log: what they say is taken as said, or refused."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from sureline.application.cells import read_label, read_moment, read_share
from sureline.core.values.outcome import Action
from sureline.errors import InvalidInput

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(" Yes ", Action.APPROVE), (True, Action.APPROVE), (1.0, Action.APPROVE),
     (0, Action.REJECT), ("wrong", Action.REJECT), ("", None), ("  ", None), (None, None)],
)  # fmt: skip
def test_labels(value: Any, expected: Action | None) -> None:
    """Known words are labels, nothing is no label."""
    assert read_label(value, "c") is expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [("0.25", 0.25), (" 1e-1 ", 0.1), (1, 1.0), (Decimal("0.5"), 0.5), (".5", 0.5), ("", None),
     (None, None)],
)  # fmt: skip
def test_shares(value: Any, expected: float | None) -> None:
    """Numbers from 0 to 1, in whatever type, are read as they are."""
    assert read_share(value, "c") == expected


@pytest.mark.parametrize(
    "value", [True, "nan", "inf", float("nan"), -0.1, 1.0001, "90%", "0,5", "1_0", [0.5]], ids=repr
)
def test_what_is_no_share_is_refused(value: Any) -> None:
    """Nothing is clipped, scaled or guessed."""
    with pytest.raises(InvalidInput, match="from 0 to 1"):
        read_share(value, "c")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-01-31", datetime(2026, 1, 31, tzinfo=UTC)),
        ("2026-01-31T23:30:00", datetime(2026, 1, 31, 23, 30, tzinfo=UTC)),
        ("2026-01-31T23:30:00-02:00", datetime(2026, 2, 1, 1, 30, tzinfo=UTC)),
        ("2026-01-31T23:30:00Z", datetime(2026, 1, 31, 23, 30, tzinfo=UTC)),
        (date(2026, 1, 31), datetime(2026, 1, 31, tzinfo=UTC)),
        (datetime(2026, 1, 31, tzinfo=timezone(timedelta(hours=1))),
         datetime(2026, 1, 30, 23, tzinfo=UTC)),
    ],
    ids=str,
)  # fmt: skip
def test_moments_are_in_utc(value: Any, expected: datetime) -> None:
    """A zone is respected; without one it is UTC."""
    found = read_moment(value, "c", NOW)
    assert found == expected
    assert found.tzinfo is UTC


@pytest.mark.parametrize(
    "value",
    [None, "", "31.01.2026", "yesterday", 1_700_000_000, "2026-06-02", "0001-01-01T00:00:00+14:00"],
    ids=repr,
)
def test_what_is_no_past_moment_is_refused(value: Any) -> None:
    """The future, numbers and other notations are no moments."""
    with pytest.raises(InvalidInput, match="moment"):
        read_moment(value, "c", NOW)
