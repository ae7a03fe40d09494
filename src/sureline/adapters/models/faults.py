"""Say what a provider's error is: a reason, and whether to try again."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from sureline.adapters.models.bounded_http import BodyRefused
from sureline.errors import ModelFailed

OUTAGES = frozenset({"timeout", "unreachable", "rate_limited", "server_error"})
"""Faults of the transport: the same question may succeed later."""

_DEPTH = 12
"""How far a chain of causes is followed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A call that gave no reply. `wait` is how many seconds the provider asks to wait.

    `detail` holds our codes and the HTTP status, never a word of the provider: what it says about
    a request may quote the request.
    """

    reason: str
    again: bool = False
    wait: float | None = None
    detail: dict[str, Any] = field(default_factory=dict)

    def as_error(self, retries: int) -> ModelFailed:
        """Return the error to raise."""
        tried = {"retries": retries} if retries else {}
        return ModelFailed(self.reason, detail=self.detail | tried)


def fault_of(error: Exception) -> Fault:
    """Return what an exception of pydantic_ai or of a provider's library means.

    What is none of theirs came from reading a response of a form nobody expected.
    """
    from pydantic_ai import exceptions

    if _caused_by_refused_body(error):
        return Fault(reason="unreadable_response", detail={"category": "body_refused"})
    if isinstance(error, exceptions.ModelConnectionError):
        return _transport_fault(error)
    if isinstance(error, exceptions.ModelAPIError):
        return _api_fault(error)
    if isinstance(error, exceptions.UserError):
        return Fault(reason="rejected", detail={"category": "unsupported"})
    return Fault(reason="unreadable_response", detail={"error": type(error).__name__})


def _transport_fault(error: Any) -> Fault:
    from pydantic_ai.exceptions import ModelTimeoutError

    late = isinstance(error, ModelTimeoutError) and error.phase not in {"connect", "pool"}
    detail = {} if error.phase is None else {"phase": error.phase}
    return Fault(reason="timeout" if late else "unreachable", again=True, detail=detail)


def _api_fault(error: Any) -> Fault:
    status = getattr(error, "status_code", None)
    reason, category = _kind_of(error, status)
    detail = {"status": status, "category": category}
    hint = getattr(error, "provider_retry_hint", None)
    return Fault(
        reason=reason,
        again=reason in OUTAGES and hint is not False,
        wait=_seconds(error.retry_after),
        detail={name: value for name, value in detail.items() if value is not None},
    )


def _kind_of(error: Any, status: int | None) -> tuple[str, str | None]:
    """Return the reason, and a category where the reason alone does not tell what to do."""
    from pydantic_ai import exceptions as of

    kinds: tuple[tuple[type[Exception], str, str | None], ...] = (
        (of.ModelQuotaExceededError, "rejected", "quota"),
        (of.ModelRateLimitError, "rate_limited", None),
        (of.ModelOverloadedError, "server_error", "overloaded"),
        (of.ModelUnavailableError, "server_error", None),
        (of.ModelServerError, "server_error", None),
        (of.ModelAuthenticationError, "unauthorized", None),
        (of.ModelNotFoundError, "not_found", None),
        (of.ModelContextWindowExceededError, "rejected", "context_window"),
        (of.ModelRequestRejectedError, "rejected", None),
        (of.ModelRequestTimeout, "timeout", None),
    )
    for kind, reason, category in kinds:
        if isinstance(error, kind):
            return reason, category
    if status in {408, 409, 425}:
        return "server_error", None
    return ("unreadable_response" if status is None else "rejected"), None


def _seconds(wait: object) -> float | None:
    """Return a wait that a provider asks for, if it is one."""
    if isinstance(wait, (int, float)) and math.isfinite(wait) and wait >= 0:
        return float(wait)
    return None


def _caused_by_refused_body(error: BaseException) -> bool:
    cause: BaseException | None = error
    for _ in range(_DEPTH):
        if cause is None or isinstance(cause, BodyRefused):
            break
        cause = cause.__cause__ or cause.__context__
    return isinstance(cause, BodyRefused)
