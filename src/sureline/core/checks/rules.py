"""Check fields against the rules of a policy: ranges, choices, dates, patterns, presence (G5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from decimal import Decimal

from sureline.core.checks.dates import read_date
from sureline.core.checks.numbers import read_json_number
from sureline.core.checks.paths import ABSENT, Path, parse_path, walk
from sureline.core.checks.patterns import compile_pattern
from sureline.core.checks.reading import Read, quote
from sureline.core.checks.result import CheckResult, cut
from sureline.core.checks.values import Formats, read_value
from sureline.core.values.checks import FieldRule, FieldType
from sureline.core.values.finding import Finding
from sureline.errors import PolicyError

Condition = Callable[[object, date], str | None]
"""Takes a read value and today's date; says what is wrong, or None."""

_CONDITIONS = ("between", "one_of", "not_before", "not_after", "pattern")


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCheck:
    """A compiled rule; `kind` is None where any JSON value will do."""

    rule: FieldRule
    path: Path
    kind: FieldType | None
    code: str
    condition: Condition
    formats: Formats
    zone: tzinfo

    def check(self, output: object, now: datetime) -> CheckResult:
        """Check every value that the rule's field leads to.

        A missing field, null, an empty text where one is required, a value of another type and one
        that cannot be read all cost what a violation costs.
        """
        today = now.astimezone(self.zone).date()
        failures: list[Finding] = []
        notes: list[Finding] = []
        for field, value in walk(output, self.path):
            self._check_value(field, value, today, failures, notes)
        return CheckResult(findings=(*cut(failures), *cut(notes)), passed=not failures)

    def _check_value(
        self,
        field: str | None,
        value: object,
        today: date,
        failures: list[Finding],
        notes: list[Finding],
    ) -> None:
        if value is ABSENT or value is None:
            failures.append(self._failure("missing_field", "The field is missing.", field))
            return
        if self.kind is not None:
            read = read_value(value, self.kind, self.formats)
            if not isinstance(read, Read):
                failures.append(self._failure(read.code, read.message, field))
                return
            notes.extend(
                Finding(
                    code=note, message=f"{quote(str(value))} was read as {read.value}.", field=field
                )
                for note in read.notes
            )
            value = read.value
        fault = self.condition(value, today)
        if fault is not None:
            failures.append(self._failure(self.code, fault, field))

    def _failure(self, code: str, message: str, field: str | None) -> Finding:
        return Finding(
            code=code,
            message=message,
            field=field,
            fatal=self.rule.fatal,
            penalty=self.rule.penalty,
        )


def compile_rule(rule: FieldRule, formats: Formats, zone: tzinfo) -> RuleCheck:
    """Compile a rule. Raises PolicyError that names its field when it makes no sense."""
    path = parse_path(rule.field)
    stated = [name for name in _CONDITIONS if getattr(rule, name) is not None]
    if len(stated) + rule.required != 1:
        expected = ", ".join((*_CONDITIONS, "required"))
        raise PolicyError(f"rule for {rule.field}: expected exactly one of {expected}")
    if rule.penalty < 0:
        raise PolicyError(f"rule for {rule.field}: a penalty is 0 or more, got {rule.penalty}")
    name = stated[0] if stated else "required"
    kind, condition = _COMPILERS[name](rule, formats)
    return RuleCheck(
        rule=rule, path=path, kind=kind, code=name, condition=condition, formats=formats, zone=zone
    )


def _compile_between(rule: FieldRule, _formats: Formats) -> tuple[FieldType, Condition]:
    assert rule.between is not None
    kind = _kind(rule, FieldType.NUMBER, FieldType.NUMBER, FieldType.MONEY)
    low, high = (_bound(rule, bound) for bound in rule.between)
    if low is not None and high is not None and low > high:
        raise PolicyError(f"rule for {rule.field}: between {low} and {high} admits nothing")

    def between(value: object, _today: date) -> str | None:
        assert isinstance(value, Decimal)
        if low is not None and value < low:
            return f"{_shown(value)} is less than {low}."
        if high is not None and value > high:
            return f"{_shown(value)} is more than {high}."
        return None

    return kind, between


def _compile_one_of(rule: FieldRule, formats: Formats) -> tuple[FieldType | None, Condition]:
    assert rule.one_of is not None
    choices = []
    for choice in rule.one_of:
        read = choice if rule.type is None else read_value(choice, rule.type, formats)
        if rule.type is not None:
            if not isinstance(read, Read):
                message = getattr(read, "message", "")
                raise PolicyError(f"rule for {rule.field}: one_of: {message}")
            read = read.value
        choices.append(_key(read))
    shown = ", ".join(quote(str(choice), 40) for choice in rule.one_of[:10])

    def one_of(value: object, _today: date) -> str | None:
        return None if _key(value) in choices else f"{_shown(value)} is not one of {shown}."

    return rule.type, one_of


def _compile_not_before(rule: FieldRule, formats: Formats) -> tuple[FieldType, Condition]:
    limit = _limit(rule, rule.not_before, formats)

    def not_before(value: object, today: date) -> str | None:
        assert isinstance(value, date)
        first = limit or today
        return f"{value} is before {first}." if value < first else None

    return _kind(rule, FieldType.DATE, FieldType.DATE), not_before


def _compile_not_after(rule: FieldRule, formats: Formats) -> tuple[FieldType, Condition]:
    limit = _limit(rule, rule.not_after, formats)

    def not_after(value: object, today: date) -> str | None:
        assert isinstance(value, date)
        last = limit or today
        return f"{value} is after {last}." if value > last else None

    return _kind(rule, FieldType.DATE, FieldType.DATE), not_after


def _compile_pattern(rule: FieldRule, _formats: Formats) -> tuple[FieldType, Condition]:
    assert rule.pattern is not None
    compiled = compile_pattern(rule.pattern, where=f"rule for {rule.field}: pattern")

    def pattern(value: object, _today: date) -> str | None:
        assert isinstance(value, str)
        matches = compiled.fullmatch(value)
        return None if matches else f"{quote(value)} does not match {rule.pattern}."

    return _kind(rule, FieldType.TEXT, FieldType.TEXT), pattern


def _compile_required(rule: FieldRule, _formats: Formats) -> tuple[FieldType | None, Condition]:
    def required(value: object, _today: date) -> str | None:
        empty = value in ("", [], {}) or (isinstance(value, str) and not value.strip())
        return "The field is empty." if empty else None

    return rule.type, required


_COMPILERS: dict[str, Callable[[FieldRule, Formats], tuple[FieldType | None, Condition]]] = {
    "between": _compile_between,
    "one_of": _compile_one_of,
    "not_before": _compile_not_before,
    "not_after": _compile_not_after,
    "pattern": _compile_pattern,
    "required": _compile_required,
}


def _kind(rule: FieldRule, default: FieldType, *allowed: FieldType) -> FieldType:
    kind = rule.type or default
    if kind not in allowed:
        raise PolicyError(f"rule for {rule.field}: type {kind} does not go with this condition")
    return kind


def _bound(rule: FieldRule, bound: float | None) -> Decimal | None:
    if bound is None:
        return None
    number = read_json_number(bound)
    if number is None:
        raise PolicyError(f"rule for {rule.field}: between: {bound!r} is no finite number")
    return number


def _limit(rule: FieldRule, text: str | None, formats: Formats) -> date | None:
    """Read a limit; None stands for today."""
    if text == "today":
        return None
    read = read_date(str(text), formats.date)
    if not isinstance(read, Read):
        raise PolicyError(f"rule for {rule.field}: expected an ISO date or `today`, got {text!r}")
    return read.value


def _key(value: object) -> tuple[str, object]:
    """Make values comparable as JSON compares them: true is not 1, and 1 is 1.0."""
    number = value if isinstance(value, Decimal) else read_json_number(value)
    if number is not None:
        return "number", number
    return type(value).__name__, value


def _shown(value: object) -> str:
    return quote(value) if isinstance(value, str) else str(value)[:80]
