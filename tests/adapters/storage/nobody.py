"""Acting as a user without rights: root may write everywhere."""

from __future__ import annotations

import concurrent.futures.thread  # noqa: F401 - nobody may not read where it lies
import os
from collections.abc import Callable


def as_nobody(act: Callable[[], str]) -> str:
    """Act in a child process without rights; return what is said, or the error and its message."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgid(65534)
        os.setuid(65534)
        try:
            os.write(write, act().encode())
        except BaseException as error:  # noqa: BLE001 - the parent is told of any
            os.write(write, f"{type(error).__name__} {error}".encode())
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read) as pipe:
        return pipe.read()
