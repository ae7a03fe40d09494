"""How choices are settled: by a secret, the same everywhere, and not to be foreseen (R7)."""

from __future__ import annotations

from collections.abc import Callable

Pick = Callable[[str, int], int]
"""Returns a whole number from 0 on below the second argument; the first says what it is for."""
