"""What a problem looks like (RFC 9457)."""

from __future__ import annotations

from typing import Required

from typing_extensions import TypedDict

from sureline.web.api.shapes import Moment


class ProblemShape(TypedDict, total=False):
    """Problem details (RFC 9457); `code` is stable, `field` a dotted path into the body.

    Where somebody is at work on a mission: `until` when, on invocation `number`, and whether it is
    `yours`, of the key that asks.
    """

    type: Required[str]
    title: Required[str]
    status: Required[int]
    detail: Required[str]
    code: Required[str]
    field: str
    until: Moment
    number: int
    yours: bool
