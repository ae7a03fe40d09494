"""Compile regular expressions from policies on an engine that takes linear time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Protocol

from sureline.errors import PolicyError

_MAX_MEMORY = 8 << 20


class Match(Protocol):
    """Where a pattern was found."""

    def start(self) -> int:
        """Return the place of its first character."""

    def end(self) -> int:
        """Return the place behind its last character."""


class Pattern(Protocol):
    """A compiled regular expression."""

    def search(self, text: str) -> object:
        """Return a match anywhere in `text`, or None."""

    def fullmatch(self, text: str) -> object:
        """Return a match of the whole `text`, or None."""

    def finditer(self, text: str) -> Iterator[Match]:
        """Yield the matches, none of which overlap."""


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str, *, where: str = "pattern") -> Pattern:
    """Compile `pattern`. Raises PolicyError, which names `where` it stands, when it is no good."""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MAX_MEMORY
    try:
        compiled: Pattern = re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError, TypeError) as error:
        reason = error.args[0] if error.args else error
        said = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        hint = " (look-around and back-references are not linear and not supported)"
        raise PolicyError(
            f"{where}: {pattern!r}: {said}{hint if '?' in pattern else ''}"
        ) from error
    return compiled
