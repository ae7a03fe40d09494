"""See to it that what was started ends when the process that started it is killed (-9).

Linux can signal a child when its parent dies, but only the child itself: what that has started goes
on. So a shell of a few lines, in a session of its own, reads from a pipe which group is running;
when the pipe closes, for whatever reason, it ends that group. This works on every POSIX system.
"""

from __future__ import annotations

import math
import subprocess
from contextlib import suppress

_SCRIPT = """
group=
while read -r line; do group=$line; done
[ -n "$group" ] || exit 0
kill -s TERM -- "-$group" 2>/dev/null || exit 0
left=$(( $1 * 10 ))
while [ "$left" -gt 0 ] && kill -s 0 -- "-$group" 2>/dev/null; do
  sleep 0.1
  left=$(( left - 1 ))
done
kill -s KILL -- "-$group" 2>/dev/null
"""


class Watchdog:
    """Ends the group that it was told of last when this process is gone."""

    def __init__(self, grace: float) -> None:
        self._shell = subprocess.Popen(  # noqa: S603 - the script is the constant above
            ["/bin/sh", "-c", _SCRIPT, "sureline-watchdog", str(math.ceil(grace))],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def watch(self, group: int | None) -> None:
        """Tell which group is running now, None for none."""
        assert self._shell.stdin is not None
        with suppress(BrokenPipeError):  # somebody killed it: the group is still ended by us
            self._shell.stdin.write(f"{'' if group is None else group}\n".encode())
            self._shell.stdin.flush()

    def close(self) -> None:
        """Let it end; nothing may be running any more."""
        self.watch(None)
        assert self._shell.stdin is not None
        with suppress(BrokenPipeError):
            self._shell.stdin.close()
        self._shell.wait()
