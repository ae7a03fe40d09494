"""What can be wrong with a request before anyone looks at what it says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sureline.errors import Conflict, InvalidInput, Refused, SurelineError


class UnreadableBody(InvalidInput):
    """The body is not the JSON that is expected."""

    status = 400

    def __init__(self, message: str, *, code: str, field: str | None = None) -> None:
        super().__init__(message, field=field)
        self.code = code


class WrongMediaType(SurelineError):
    """The body must be sent as application/json, without a content encoding."""

    status = 415


class TooSlow(SurelineError):
    """The body did not arrive in time."""

    status = 408


class MethodNotAllowed(SurelineError):
    """This address does not take that method."""

    status = 405

    def __init__(self, allowed: str) -> None:
        super().__init__(f"this address takes {allowed}")
        self.allowed = allowed


class Overloaded(SurelineError):
    """The server has all that it can work on; try again shortly."""

    status = 503


class NotReady(SurelineError):
    """The server cannot decide anything yet."""

    status = 503


class AtWork(Refused):
    """Somebody is at work on the mission; `told` goes into the problem, `seconds` is how long."""

    code = "busy"

    def __init__(self, message: str, *, code: str, told: Mapping[str, Any], seconds: int) -> None:
        super().__init__(message)
        self.code = code
        self.told = told
        self.seconds = seconds


class EndedAlready(Conflict):
    """The invocation has ended, and what it did was taken in then."""


class ClientGone(Exception):
    """The client hung up before its request was complete."""
