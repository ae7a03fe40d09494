"""Deletes the views that look for a subject by name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote_plus

from sqlalchemy import bindparam, select

from sureline.adapters.storage.saved_views import DELETE_VIEW, saved_views
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.transaction import Transaction

_VIEWS = compiled(
    select(saved_views.c.reviewer, saved_views.c.name, saved_views.c.filter).where(
        saved_views.c.workspace == bindparam("workspace")
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetViews:
    """The job of deleting views whose name or filter holds a subject's id as a word."""

    workspace: str
    subject: str

    def __call__(self, transaction: Transaction) -> int:
        """Delete them; return how many there were."""
        word = re.compile(rf"(?<!\w){re.escape(self.subject.casefold())}(?!\w)")
        found = [
            (self.workspace, reviewer, name)
            for reviewer, name, sought in transaction.all(_VIEWS, (self.workspace,))
            if word.search(name.casefold()) or word.search(unquote_plus(sought).casefold())
        ]
        transaction.run_many(DELETE_VIEW, found)
        transaction.scrub = transaction.scrub or bool(found)
        return len(found)
