"""One thread for linear algebra: beside other load, two take many times as long as one."""

from __future__ import annotations

from functools import cache

from threadpoolctl import ThreadpoolController


@cache
def use_one_blas_thread() -> None:
    """Limit this process's BLAS to one thread, once and for good.

    The limit is the process's, not a thread's, and setting it around every call would race with
    calls in other threads. Measured: a product of 9 ms took 9 to 200 ms with two threads beside
    load.
    """
    ThreadpoolController().limit(limits=1, user_api="blas")
