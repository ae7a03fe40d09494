"""An HTTP operation as data: what is enforced is what is documented."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl

from pydantic import TypeAdapter, ValidationError
from starlette.types import Receive

from sureline.application.fault_words import in_words
from sureline.application.ports.keys import ApiKey, Role
from sureline.core.review.signature import Signed
from sureline.errors import InvalidInput
from sureline.web.context import ServerContext
from sureline.web.reply import Reply

ALL_ROLES = frozenset(Role)
READERS = frozenset({Role.REVIEWER, Role.ADMIN, Role.AUDITOR})
ADMINS = frozenset({Role.ADMIN})
MOST_WORDS = 2_000
"""Characters of a list in the query string."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request that was admitted; `body` and `params` are read, `key` None if none is needed.

    `signed` is what an operation verifies itself, before anything of it is read.
    """

    context: ServerContext
    caller: ApiKey | None
    params: Mapping[str, str]
    body: dict[str, Any]
    query_string: bytes
    receive: Receive
    headers: Mapping[bytes, bytes] = field(default_factory=dict)
    signed: Signed | None = None

    @property
    def key(self) -> ApiKey:
        """Return the caller's key, for operations that need one."""
        assert self.caller is not None
        return self.caller


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryNumber:
    """A number in the query string, in [`least`, `most`]."""

    name: str
    about: str
    default: float
    least: float
    most: float

    @property
    def schema(self) -> dict[str, Any]:
        """Describe it as JSON Schema."""
        return {
            "type": "number",
            "minimum": self.least,
            "maximum": self.most,
            "default": self.default,
        }

    def read(self, call: Call) -> float:
        """Return the number. Raises InvalidInput."""
        given = _given(call, self.name)
        if given is None:
            return self.default
        try:
            number = float(given)
        except ValueError:
            number = float("nan")
        if not self.least <= number <= self.most:
            raise InvalidInput(
                f"expected a number from {self.least:g} to {self.most:g}", field=self.name
            )
        return number


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryWords:
    """Words in the query string with commas between them; those of `choices`, if there are any."""

    name: str
    about: str
    choices: tuple[str, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        """Describe it as JSON Schema."""
        described: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": MOST_WORDS}
        if self.choices:
            word = f"({'|'.join(self.choices)})"
            described["pattern"] = f"^{word}(,{word})*$"
        return described

    def read(self, call: Call) -> frozenset[str] | None:
        """Return the words, None where none are given. Raises InvalidInput."""
        given = _given(call, self.name)
        if given is None:
            return None
        words = frozenset(given.split(","))
        if "" in words or len(given) > MOST_WORDS:
            raise InvalidInput("expected words with commas between them", field=self.name)
        if self.choices and not words <= set(self.choices):
            raise InvalidInput(f"expected any of {', '.join(self.choices)}", field=self.name)
        return words


def _given(call: Call, name: str) -> str | None:
    """Return the last value of a name in the query string."""
    try:
        pairs = parse_qsl(call.query_string.decode("ascii"), keep_blank_values=True)
    except ValueError as error:
        raise InvalidInput("the query string cannot be read") from error
    given = [value for one, value in pairs if one == name]
    return given[-1] if given else None


@dataclass(frozen=True, slots=True)
class Answer:
    """A documented response: what it means and the type of its JSON."""

    about: str
    shape: Any = None
    media_type: str = "application/json"


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One method of one address.

    No `roles` means that no key is needed. `body` is the TypedDict that the body is read as;
    with `reads_itself` the operation reads it further than to a JSON object, and with `signed` it
    gets the bytes as they came with their signature. With `from_memory` it takes keys that were
    good a while ago where the store cannot be asked, so it must show figures only.
    `problems` are the statuses that it adds to those that its needs bring with them. What machines
    ask all day is not `traced`: it would be most of all spans.
    """

    method: str
    path: str
    name: str
    about: str
    run: Callable[[Call], Awaitable[Reply]]
    answers: Mapping[int, Answer]
    roles: frozenset[Role] = frozenset()
    body: Any = None
    reads_itself: bool = False
    signed: bool = False
    may_be_empty: bool = False
    from_memory: bool = False
    traced: bool = True
    query: tuple[QueryNumber | QueryWords, ...] = ()
    problems: frozenset[int] = field(default_factory=frozenset)

    @cached_property
    def adapter(self) -> TypeAdapter[Any]:
        """Return the reader of the body's type."""
        return TypeAdapter(self.body)

    def read(self, raw: dict[str, Any]) -> dict[str, Any]:
        """Return the body's fields. Raises InvalidInput naming every field at fault."""
        if self.reads_itself:
            return raw
        try:
            fields: dict[str, Any] = self.adapter.validate_python(raw)
        except ValidationError as error:
            raise in_words(error, raw, shape=self.body, whole="body") from None
        return fields
