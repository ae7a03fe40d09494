"""Tell a model that declines from one that cannot be read.

Either way there is no opinion; which of the two it was only changes what is counted (G9).
"""

from __future__ import annotations

import re

MOST_CHARACTERS = 400
"""Refusals are short; a longer text has more to say than no."""

_DECLINES = re.compile(
    r"(?:(?:i'm |i am )?sorry,? (?:but )?|unfortunately,? |apologies,? (?:but )?)?"
    r"i(?:'m| am) (?:not able|unable|not going) to |"
    r"(?:(?:i'm |i am )?sorry,? (?:but )?|unfortunately,? |apologies,? (?:but )?)?"
    r"i (?:can't|cannot|can not|won't|will not|must decline|decline)\b",
    re.IGNORECASE,
)
_RATES = re.compile(r"[\d{}\[\]]")


def declines(text: str) -> bool:
    """Tell whether a reply without an object only says that its writer will not answer.

    Held to be so for a short text that begins in those words and holds no number and no bracket;
    in doubt it is not.
    """
    plain = text.strip().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return (
        len(plain) <= MOST_CHARACTERS
        and _DECLINES.match(plain) is not None
        and _RATES.search(plain) is None
    )
