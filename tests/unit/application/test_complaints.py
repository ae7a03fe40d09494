"""The same trouble is said once, then every minute with how often it came."""

from __future__ import annotations

import logging

import pytest

from sureline.application.complaints import Complaints

TOLD = [
    pytest.param([(0, "a")], ["queue: a"], id="once"),
    pytest.param([(n, "a") for n in range(60)], ["queue: a"], id="a-minute-of-outage"),
    pytest.param(
        [(n, "a") for n in range(121)],
        [
            "queue: a",
            "queue: a (60 times since this was last written)",
            "queue: a (60 times since this was last written)",
        ],
        id="two-minutes",
    ),
    pytest.param([(0, "a"), (1, "b"), (2, "a"), (3, "b")], ["queue: a", "queue: b"], id="kinds"),
    pytest.param([(0, "a"), (900, "a")], ["queue: a", "queue: a"], id="now-and-then"),
    pytest.param(
        [(0, "a"), (1, "a"), (2, None), (3, None), (4, "a")],
        ["queue: a", "queue: works again", "queue: a"],
        id="over-and-new",
    ),
    pytest.param([(0, None), (1, None)], [], id="nothing-wrong"),
]


@pytest.mark.parametrize(("came", "told"), TOLD)
def test_what_is_told(
    came: list[tuple[float, str | None]], told: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Of trouble (None: it worked) at these seconds these are the warnings; the rest is debug."""
    seconds = [at for at, said in came if said is not None]
    complaints = Complaints(logging.getLogger("trouble"), "queue", iter(seconds).__next__)
    with caplog.at_level(logging.DEBUG, "trouble"):
        for _, said in came:
            if said is None:
                complaints.over()
            else:
                complaints.tell(said, said)
    assert [one.message for one in caplog.records if one.levelno == logging.WARNING] == told
    quiet = [one for one in caplog.records if one.levelno == logging.DEBUG]
    again = sum(said is not None for _, said in came) - sum("again" not in one for one in told)
    assert len(quiet) == again
