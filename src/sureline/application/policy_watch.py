"""Watch a policy's files: a change is checked and proposed, and changes no routing (DESIGN §3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePath

from sureline.application.policies import PolicyBook
from sureline.application.policy_diff import remeasured
from sureline.application.ports.policies import LoadedPolicy
from sureline.core.values.policy import Policy
from sureline.errors import PolicyError, SurelineError

SHOWN = 12
"""Characters of a hash that are told."""

Stamp = Callable[[PurePath], str | None]
"""Tells one content of a file from another; None where it cannot be read."""


class PolicyWatch:
    """Proposes a policy file whenever it, or a file that it names, has other content.

    A content is acted on when two looks in a row found it, so that no half-written file is.
    `tell` gets one line at a time; what was told is not told again until a file changes.
    `check` raises for a policy that nothing here can measure, which is told as a warning.
    """

    def __init__(
        self,
        *,
        book: PolicyBook,
        path: PurePath,
        stamp: Stamp,
        tell: Callable[[str], None],
        check: Callable[[Policy], None],
    ) -> None:
        self._book = book
        self._path = path
        self._stamp = stamp
        self._tell = tell
        self._check = check
        self._files: frozenset[PurePath] = frozenset({path})
        self._seen: Mapping[PurePath, str | None] = {}
        self._handled: Mapping[PurePath, str | None] = {}
        self._told: tuple[str, ...] = ()

    async def look(self) -> None:
        """Look once. A store that cannot be used now is told of, and tried again at the next."""
        stamps = {path: self._stamp(path) for path in sorted(self._files)}
        if stamps != self._seen:
            self._seen = stamps
            return
        if stamps == self._handled:
            return
        try:
            lines = await self._propose()
        except SurelineError as error:
            self._say((f"{self._path}: not proposed: {error.message}",), again=False)
            return
        # A file that the policy newly names is read once more, for it may have changed meanwhile.
        self._say(lines, again=self._handled.keys() == stamps.keys())
        self._handled = stamps

    async def _propose(self) -> tuple[str, ...]:
        active = await self._book.active_hash()
        try:
            loaded = await self._book.propose(self._path)
        except PolicyError as error:
            self._files = frozenset({self._path, *error.files})
            return (*error.message.splitlines(), f"{self._path}: not proposed; {_stays(active)}")
        self._files = frozenset({self._path, *loaded.files})
        if loaded.policy.hash == active:
            same = (f"{self._path}: says what is active, policy {active[:SHOWN]}",)
            # That nothing is to be done at the start needs no saying.
            self._told = self._told if self._handled else same
            return same
        current = None if active is None else await self._book.latest()
        return tuple(self._proposed(loaded, current))

    def _proposed(self, loaded: LoadedPolicy, current: Policy | None) -> Iterator[str]:
        for warning in loaded.warnings:
            yield f"warning: {warning}"
        try:
            self._check(loaded.policy)
        except SurelineError as error:
            yield f"warning: {error.message}"
        short = loaded.policy.hash[:SHOWN]
        ended = remeasured(current, loaded.policy) if current is not None else ()
        if ended:
            yield f"warning: policy {short} would end the certificates of: {', '.join(ended)}"
        yield (
            f"{self._path}: proposed policy {short}; to use it: "
            f"sureline policy activate {short} --by NAME"
        )

    def _say(self, lines: tuple[str, ...], *, again: bool) -> None:
        if again or lines != self._told:
            for line in lines:
                self._tell(line)
        self._told = lines


def _stays(active: str | None) -> str:
    return "no policy is active" if active is None else f"policy {active[:SHOWN]} stays active"
