"""How a policy's keys are declared: type, default, what is expected and what it means."""

from __future__ import annotations

import re
from typing import Annotated, Any, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo

from sureline.adapters.policies import formats


class Settings(BaseModel):
    """A mapping of a policy file: strict types, no unknown keys, no NaN."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, allow_inf_nan=False, protected_namespaces=()
    )


def setting(default: Any, *, expected: str, meaning: str) -> Any:
    """Declare a key; `...` as default makes it required.

    `expected` completes "expected ..." in messages and stands in the reference, as `meaning` does.
    """
    return Field(default, description=meaning, json_schema_extra={"expected": expected})


def expected_of(field: FieldInfo) -> str:
    """Return what a key expects, in words."""
    extra = field.json_schema_extra
    return str(extra["expected"]) if isinstance(extra, dict) else "another value"


def settings_in(annotation: object) -> type[Settings] | None:
    """Return the Settings class inside an annotation such as `list[X]` or `X | None`."""
    if isinstance(annotation, type) and issubclass(annotation, Settings):
        return annotation
    found = (settings_in(part) for part in get_args(annotation))
    return next((one for one in found if one is not None), None)


_NAME = re.compile(r"\w[\w.-]{0,99}\Z")


def is_name(text: str) -> bool:
    """Tell whether a text can name a slice, an action class or a signal."""
    return _NAME.match(text) is not None


def _written(text: str) -> str:
    if not text.strip():
        raise ValueError("expected a text that is not empty")
    return text


def _thousandths(value: float) -> float:
    if abs(value * 1000 - round(value * 1000)) > 1e-6:
        raise ValueError("expected at most three decimals, such as 0.3 or 0.125")
    return value


Rate = Annotated[float, Field(ge=0, le=1)]
Penalty = Annotated[float, Field(ge=0, le=1), AfterValidator(_thousandths)]
Text = Annotated[str, AfterValidator(_written), Field(max_length=1000)]
FieldPath = Annotated[str, AfterValidator(formats.field_path), Field(max_length=200)]
Count = Annotated[int, Field(ge=0, le=1_000_000)]

RATE = "a number from 0 to 1"
TRUTH = "true or false"
COUNT = "a whole number, 0 or more"
FIELD = "a field of the output, dotted, such as vendor.name"
FIELDS = f"a list, each {FIELD}"
