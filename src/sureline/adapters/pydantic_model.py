"""Check outputs against a pydantic model, in strict mode."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING

from sureline.core.checks.paths import render_path
from sureline.core.checks.result import MAX_FINDINGS, Validator
from sureline.core.values.finding import Finding

if TYPE_CHECKING:
    from pydantic import BaseModel

# What a text may look like to be taken as a number; pydantic's own answer moves with its release
# (12_000 was refused once and is accepted now, case S02).
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,399})(?:\.[0-9]{1,400})?")
_MAX_MESSAGE = 300


def validator_for_model(model: type[BaseModel]) -> Validator:
    """Return a validator that reports every violation of `model` as a fatal finding.

    The output is validated as strict JSON: text becomes no number, a boolean is no number, dates
    come from ISO text. Texts that a Decimal field takes must be plain numbers.
    """
    from pydantic import ValidationError

    def validate(output: object) -> tuple[Finding, ...]:
        try:
            made = model.model_validate_json(json.dumps(output, ensure_ascii=False), strict=True)
        except ValidationError as error:
            errors = error.errors(include_url=False, include_context=False, include_input=False)
            findings = [
                _finding(str(one["type"]), tuple(one["loc"]), str(one["msg"])) for one in errors
            ]
        else:
            dumped = made.model_dump(mode="python", by_alias=True, warnings=False)
            findings = list(_loose_numbers(output, dumped, ()))
        return tuple(findings[:MAX_FINDINGS])

    return validate


def _loose_numbers(given: object, read: object, path: tuple[str | int, ...]) -> Iterator[Finding]:
    """Yield a finding for each text that was read as a number although it is no plain one."""
    if isinstance(given, dict) and isinstance(read, dict):
        for key, item in given.items():
            yield from _loose_numbers(item, read.get(key), (*path, key))
    elif isinstance(given, list) and isinstance(read, (list, tuple)):
        for index, (item, one) in enumerate(zip(given, read, strict=False)):
            yield from _loose_numbers(item, one, (*path, index))
    elif (
        isinstance(given, str)
        and isinstance(read, (Decimal, int, float))
        and not _NUMBER.fullmatch(given)
    ):
        yield _finding("loose_number", path, "The text is not a plain number")


def _finding(kind: str, path: tuple[str | int, ...], message: str) -> Finding:
    text = message if len(message) <= _MAX_MESSAGE else message[:_MAX_MESSAGE] + "..."
    return Finding(code=f"model_{kind}", message=f"{text}.", field=render_path(path), fatal=True)
