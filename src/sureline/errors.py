"""Every error that sureline raises on purpose; a class's docstring is its message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import PurePath


class SurelineError(Exception):
    """Something went wrong in sureline."""

    exit_code = 2
    status = 500

    def __init__(self, message: str | None = None) -> None:
        self.message = message or self.title()
        super().__init__(self.message)

    @classmethod
    def title(cls) -> str:
        """Return what every error of this class is, in one sentence."""
        return (cls.__doc__ or "").strip().partition("\n")[0]


class InvalidInput(SurelineError):
    """The input is not what was expected.

    `faults` are sentences by field, where several are wrong.
    """

    status = 422

    def __init__(
        self,
        message: str | None = None,
        *,
        field: str | None = None,
        faults: Mapping[str, str] | None = None,
    ) -> None:
        named = message and field and not message.startswith(f"{field}: ")  # raised on as it is
        super().__init__(f"{field}: {message}" if named else message)
        self.field = field
        self.faults = dict(faults or {})


class UnknownSlice(InvalidInput):
    """The policy names no such slice."""


class PolicyError(SurelineError):
    """The policy cannot be used."""

    status = 422
    files: tuple[PurePath, ...] = ()
    """Those that the policy names, where they are known."""


class MissingExtra(SurelineError):
    """An optional part of sureline is not installed."""


class EmbeddingFailed(SurelineError):
    """The text could not be embedded.

    `reason` is a code where a provider's model failed, as ModelFailed has it, and `too_long` for
    a text that the model never takes.
    """

    def __init__(self, message: str | None = None, *, reason: str | None = None) -> None:
        super().__init__(message or "The text could not be embedded.")
        self.reason = reason


class ModelFailed(SurelineError):
    """A model gave no opinion that can be used.

    `reason` is a code; `detail` holds figures and identifiers, never text of a payload or of a
    reply; what quotes either goes into `findings` (each a Finding),
    which can be erased.
    """

    status = 502

    def __init__(
        self,
        reason: str,
        message: str | None = None,
        *,
        detail: Mapping[str, Any] | None = None,
        findings: Sequence[Any] = (),
    ) -> None:
        super().__init__(message or f"the model gave no usable opinion ({reason})")
        self.reason = reason
        self.detail = dict(detail or {})
        self.findings = tuple(findings)


class NotFound(SurelineError):
    """There is no such thing here."""

    status = 404


class Conflict(SurelineError):
    """It does not fit what is there already.

    Another was first, the content has changed since it was shown, or an id was used before with
    other content; the message says which.
    """

    status = 409


class Unauthorized(SurelineError):
    """A valid API key is needed."""

    status = 401


class NotSigned(Unauthorized):
    """The delivery is not signed by a source that is known here."""


class Forbidden(SurelineError):
    """The API key does not allow this."""

    status = 403


class TooLarge(SurelineError):
    """The body is larger than allowed."""

    status = 413


class RateLimited(SurelineError):
    """Too many requests with this API key."""

    status = 429


class Refused(SurelineError):
    """The gate says no."""

    exit_code = 1
    status = 409


class MissionRefused(Refused):
    """The mission does not go on.

    `until` is the moment at which asking again makes sense, where somebody is at work on it now.
    """

    def __init__(
        self, message: str, *, code: str, mission: object, until: datetime | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.mission = mission
        self.until = until


class NotAllDecided(SurelineError):
    """Some proposals of a batch could not be decided.

    `results` holds a decision or an error for each proposal, in the order given.
    """

    def __init__(self, results: Sequence[object]) -> None:
        errors = [one for one in results if isinstance(one, SurelineError)]
        super().__init__(f"{len(errors)} of {len(results)} were not decided; first: {errors[0]}")
        self.results = tuple(results)


class StoreError(SurelineError):
    """The store cannot be used."""

    exit_code = 3
    status = 503


class StoreUnavailable(StoreError):
    """The store cannot be reached or opened."""


class StoreBusy(StoreError):
    """Another process holds the store and did not let go in time."""


class StoreCorrupt(StoreError):
    """The store's file is damaged or is not a sureline store."""


class StoreReadOnly(StoreError):
    """The store cannot be written."""


class StoreFull(StoreError):
    """The disk or the store is full; what was to be written now is not stored."""


class OtherSchema(StoreError):
    """The store's tables are those of another version; nothing is read or written."""


class StoreTooNew(OtherSchema):
    """The store was written by a newer sureline."""


class StoreTooOld(OtherSchema):
    """The store has the tables of an older sureline; `sureline store upgrade` brings new ones."""


class DeliveryFailed(SurelineError):
    """A notice could not be delivered.

    `code` says why in one word, such as `timeout`, `status_500` or `refused_target`. `gone` is a
    receiver's own word that nothing shall be sent any more, `refused` that it does not take this
    one, however often it is sent. `seconds` is how long it asks to be left alone.
    """

    exit_code = 3

    def __init__(
        self,
        code: str,
        message: str,
        *,
        gone: bool = False,
        refused: bool = False,
        seconds: float = 0.0,
    ) -> None:
        self.code = code
        self.gone = gone
        self.refused = refused
        self.seconds = seconds
        super().__init__(message)
