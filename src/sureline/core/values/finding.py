"""One thing that a check found, said so that a person or a retrying agent can act on it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A check's remark about an output.

    `penalty` is in points of a thousand (300 = 0.3), so that sums are exact. `fatal` makes the
    verification 0. `field` is a dotted path into the output. `message` may quote the payload.
    A finding with neither `fatal` nor `penalty` is a note.
    """

    code: str
    message: str
    field: str | None = None
    fatal: bool = False
    penalty: int = 0
