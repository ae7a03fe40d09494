"""Says the same trouble once, and then at most every minute how often it came again."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

AGAIN_SECONDS = 60.0


@dataclass(slots=True)
class _Kind:
    """When trouble of one kind was last told, when it last came, and how often it came between."""

    told_at: float
    came_at: float
    untold: int = 0


class Complaints:
    """Writes warnings about `what`, in whose way an outage comes again and again.

    `now` gives monotonic seconds. Not safe to share between threads.
    """

    def __init__(
        self,
        logger: logging.Logger,
        what: str,
        now: Callable[[], float],
        *,
        level: int = logging.WARNING,
        again: float = AGAIN_SECONDS,
    ) -> None:
        self._logger, self._what, self._now = logger, what, now
        self._level, self._again = level, again
        self._kinds: dict[str, _Kind] = {}

    def tell(self, kind: str, said: str) -> None:
        """Tell what is wrong; what was told of its `kind` a moment ago is only counted.

        Kinds are few, such as the classes of errors. What is left out is written at `debug`.
        Trouble that stayed away for as long as it would be kept quiet is told as new.
        """
        now = self._now()
        known = self._kinds.get(kind)
        if known is None or now - known.came_at >= self._again:
            self._kinds[kind] = _Kind(told_at=now, came_at=now)
            self._logger.log(self._level, "%s: %s", self._what, said)
            return
        known.came_at = now
        known.untold += 1
        if now - known.told_at < self._again:
            self._logger.debug("%s: %s", self._what, said)
            return
        text = "%s: %s (%d times since this was last written)"
        self._logger.log(self._level, text, self._what, said, known.untold)
        known.told_at, known.untold = now, 0

    def over(self) -> None:
        """Tell that it works, where it did not before."""
        if self._kinds:
            self._kinds.clear()
            self._logger.log(self._level, "%s: works again", self._what)
