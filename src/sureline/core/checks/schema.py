"""Check an output against a JSON Schema (draft 2020-12 unless it says otherwise).

Patterns run on a linear-time engine, formats are asserted, booleans are no numbers, and nothing
is ever fetched: a reference leads to a place inside the schema or the schema is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from sureline.core.checks.paths import render_path
from sureline.core.checks.result import MAX_FINDINGS, CheckResult
from sureline.core.values.finding import Finding
from sureline.errors import PolicyError

if TYPE_CHECKING:
    import jsonschema_rs

_MAX_MESSAGE = 300
_MANY_VALUES = 5000
_CAPITAL = re.compile(r"(?=[A-Z])")


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaCheck:
    """A compiled schema."""

    validator: jsonschema_rs.Validator

    def check(self, value: object) -> CheckResult:
        """Return one fatal finding per violation, each with the path and what was expected."""
        if self.validator.is_valid(value):
            return CheckResult()
        findings = [_finding(error) for error in self._errors(value)]
        if not findings:
            message = "The schema does not admit this output."
            findings = [Finding(code="schema_invalid", message=message, fatal=True)]
        if len(findings) > MAX_FINDINGS:
            findings[-1] = Finding(
                code="more", message="There are more schema violations than these.", fatal=True
            )
        return CheckResult(findings=tuple(findings), passed=False)

    def _errors(self, value: object) -> list[jsonschema_rs.ValidationError]:
        """Return up to MAX_FINDINGS + 1 errors; of a very large output only the first.

        The validator makes all errors before it hands out one, at some 20 microseconds each.
        """
        import jsonschema_rs

        if _is_small(value):
            return list(islice(self.validator.iter_errors(value), MAX_FINDINGS + 1))
        try:
            self.validator.validate(value)
        except jsonschema_rs.ValidationError as error:
            return [error]
        return []


def compile_schema(schema: Mapping[str, Any]) -> SchemaCheck:
    """Compile a schema. Raises PolicyError with what is wrong with it."""
    import jsonschema_rs

    try:
        validator = jsonschema_rs.validator_for(
            _plain(schema),
            validate_formats=True,
            ignore_unknown_formats=False,
            pattern_options=jsonschema_rs.RegexOptions(),
            retriever=_refuse_retrieval,
        )
    except jsonschema_rs.ValidationError as error:
        where = render_path(error.instance_path) or "the schema"
        raise PolicyError(f"json_schema: {where}: {_short(error.message)}") from error
    except (jsonschema_rs.ReferencingError, ValueError, TypeError) as error:
        raise PolicyError(f"json_schema: {_short(str(error))}") from error
    return SchemaCheck(validator=validator)


def _is_small(value: object) -> bool:
    """Tell whether a value has at most _MANY_VALUES parts."""
    waiting, seen = [value], 0
    while waiting and seen <= _MANY_VALUES:
        one = waiting.pop()
        parts = one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
        seen += len(parts)
        waiting.extend(parts)
    return seen <= _MANY_VALUES


def _refuse_retrieval(uri: str) -> Any:
    raise PolicyError(f"{uri} is outside the schema; references are never fetched")


def _plain(value: Any) -> Any:
    """Copy read-only mappings and tuples into the plain types that the validator takes."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _finding(error: jsonschema_rs.ValidationError) -> Finding:
    keyword = error.kind.name
    path = list(error.instance_path)
    if keyword == "required":
        path.append(error.kind.as_dict()["property"])
    elif keyword == "additionalProperties":
        path.append(error.kind.as_dict()["unexpected"][0])
    return Finding(
        code=f"schema_{_CAPITAL.sub('_', keyword).lower()}",
        message=f"{_short(error.message)}.",
        field=render_path(path),
        fatal=True,
    )


def _short(message: str) -> str:
    line = message.strip().partition("\n")[0]
    return line if len(line) <= _MAX_MESSAGE else line[:_MAX_MESSAGE] + "..."
