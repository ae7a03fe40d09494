"""Names of people whom their company has signed in: never those of a key."""

from __future__ import annotations

import unicodedata

from sureline.core.values.person import COMPANY


def company_name(said: str) -> str:
    """Return the name of somebody whom a company's sign-in calls `said`.

    Ways of writing it are one person: with two names somebody would be two of four eyes.
    """
    return COMPANY + unicodedata.normalize("NFKC", said).casefold().strip()
