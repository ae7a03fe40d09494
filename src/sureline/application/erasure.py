"""Erase everything about one subject, page by page (L12)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sureline.application.identify import subject_key
from sureline.application.ports.clock import Clock
from sureline.application.ports.erasures import Erasures
from sureline.errors import InvalidInput

PAGE = 25
"""Decisions that are erased in one transaction: whoever decides meanwhile waits milliseconds."""
LATE = "said of it after it was erased"
"""The reason that the ledger gives for such words."""
LONGEST = 200
"""Characters of a subject's id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectErased:
    """What one run did: `erased` decisions, `views` that looked for the subject; `left` to do.

    `late` are decisions, about whomever, that had been erased before and of which an earlier
    version kept what was said since.
    """

    erased: int
    left: int
    views: int
    late: int = 0

    @property
    def done(self) -> bool:
        """Tell whether nothing about the subject is left."""
        return self.left == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectEraser:
    """Erases what a workspace keeps about a subject; `forget_replies` empties what is in memory."""

    store: Erasures
    clock: Clock
    secret: bytes
    workspace: str
    forget_replies: Callable[[], None] = lambda: None

    async def count(self, subject: str) -> int:
        """Return how many decisions about the subject are not erased. Raises InvalidInput."""
        return await self.store.about(self.workspace, self._key(subject))

    async def erase(
        self,
        subject: str,
        *,
        by: str,
        reason: str,
        most: int | None = None,
        progress: Callable[[int], None] = lambda _: None,
    ) -> SubjectErased:
        """Erase until nothing is left, or about `most` decisions; safe to stop and to repeat.

        `by` and `reason` stay in the ledger. Raises InvalidInput, also where one of them holds the
        subject's id, which would then stay.
        """
        key = self._key(subject)
        reason = reason.strip()
        _check_kept({"by": by, "reason": reason}, subject)
        erased = 0
        while most is None or erased < most:
            page = await self.store.erase_subject(
                self.workspace,
                key,
                limit=PAGE,
                by=by,
                reason=reason,
                at=self.clock.now(),
            )
            if not page:
                break
            erased += page
            progress(page)
        late = await self._erase_late(by)
        views = await self.store.forget_views(self.workspace, subject.strip())
        self.forget_replies()
        left = await self.store.about(self.workspace, key)
        return SubjectErased(erased=erased, left=left, views=views, late=late)

    async def _erase_late(self, by: str) -> int:
        """Erase what was said of erased decisions: whom they were about is known no more."""
        late = 0
        while found := await self.store.erase_late(
            self.workspace, limit=PAGE, by=by, reason=LATE, at=self.clock.now()
        ):
            late += found
        return late

    def _key(self, subject: str) -> bytes:
        if not subject.strip() or len(subject) > LONGEST:
            raise InvalidInput(f"expected an id of 1 to {LONGEST} characters", field="subject")
        return subject_key(self.secret, self.workspace, subject)


def _check_kept(kept: dict[str, str], subject: str) -> None:
    """Raise InvalidInput where what stays for ever says nothing, or names whom it is about."""
    for field, text in kept.items():
        if not text:
            raise InvalidInput("must not be empty", field=field)
        if subject.strip().casefold() in text.casefold():
            raise InvalidInput(
                "it stays in the ledger, so it must not hold the subject's id", field=field
            )
