"""Time that is right soon and never runs backwards: what every clock here keeps to.

A step forward is believed at once: the machine slept, or its clock was behind, and what is due is
due. A step back is not: two moments of one process would change places, a lease would come alive
again. Time then goes on at half its speed until the truth has caught up, so that a clock that was
wrong by five minutes is right again ten minutes later.
"""

from __future__ import annotations

import time


def steady(said: float, elapsed: float, truth: float) -> float:
    """Return the time to tell: `truth`, or half of `elapsed` seconds after what was said last."""
    return max(truth, said + max(elapsed, 0.0) / 2)


def seconds_since_boot() -> float:
    """Return seconds that nobody sets, those in which the machine slept included where it tells."""
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot is None else time.clock_gettime(boot)
