"""All checks of a slice, compiled once, so that a decision compiles nothing."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sureline.core.checks.grounding import GroundingCheck, compile_grounding
from sureline.core.checks.prose import ProseCheck, compile_prose
from sureline.core.checks.rules import RuleCheck, compile_rule
from sureline.core.checks.schema import SchemaCheck, compile_schema
from sureline.core.checks.values import compile_formats
from sureline.core.values.checks import ChecksPolicy
from sureline.errors import PolicyError

SCORES = ("penalties", "fraction")

_CACHE_SIZE = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledChecks:
    """A policy's checks, ready to run."""

    policy: ChecksPolicy
    schema: SchemaCheck | None
    rules: tuple[RuleCheck, ...]
    prose: tuple[ProseCheck, ...]
    grounding: GroundingCheck | None


# Keyed by identity, because a policy holds mappings; the value keeps the policy alive, so that
# its identity cannot be given to another one while the entry is there.
_compiled: OrderedDict[int, CompiledChecks] = OrderedDict()


def compile_checks(policy: ChecksPolicy) -> CompiledChecks:
    """Compile a policy's checks; the same policy object is compiled once.

    Raises PolicyError that says which part is wrong and why.
    """
    known = _compiled.get(id(policy))
    if known is not None:
        return known
    compiled = _compile(policy)
    _compiled[id(policy)] = compiled
    while len(_compiled) > _CACHE_SIZE:
        _compiled.popitem(last=False)
    return compiled


def check_policy_patterns(policy: ChecksPolicy) -> tuple[str, ...]:
    """Return everything that is wrong with a policy's checks, for the policy loader.

    Each message names the part (`json_schema`, `rule for amount`, `grounding`, ...) and says why:
    a bad schema, a pattern that the linear-time engine does not take, an unknown locale or zone,
    a rule without a condition. An empty result means that `compile_checks` succeeds.
    """
    faults: list[str] = []
    parts: tuple[Callable[[], object], ...] = (
        partial(_score, policy),
        partial(_zone, policy),
        partial(compile_formats, policy.reading),
    )
    for part in parts:
        faults.extend(_fault(part))
    if not faults:
        for compilation in _parts(policy):
            faults.extend(_fault(compilation))
    return tuple(faults)


def _fault(part: Callable[[], object]) -> tuple[str, ...]:
    try:
        part()
    except PolicyError as error:
        return (error.message,)
    return ()


def _parts(policy: ChecksPolicy) -> list[Callable[[], object]]:
    """List the compilations of a policy whose reading is sound."""
    formats, zone = compile_formats(policy.reading), _zone(policy)
    parts: list[Callable[[], object]] = []
    if policy.json_schema is not None:
        parts.append(partial(compile_schema, policy.json_schema))
    parts.extend(partial(compile_rule, rule, formats, zone) for rule in policy.rules)
    parts.extend(partial(compile_prose, rules) for rules in policy.prose)
    if policy.grounding is not None:
        parts.append(partial(compile_grounding, policy.grounding, formats))
    return parts


def _compile(policy: ChecksPolicy) -> CompiledChecks:
    _score(policy)
    formats, zone = compile_formats(policy.reading), _zone(policy)
    return CompiledChecks(
        policy=policy,
        schema=None if policy.json_schema is None else compile_schema(policy.json_schema),
        rules=tuple(compile_rule(rule, formats, zone) for rule in policy.rules),
        prose=tuple(map(compile_prose, policy.prose)),
        grounding=(
            None if policy.grounding is None else compile_grounding(policy.grounding, formats)
        ),
    )


def _score(policy: ChecksPolicy) -> None:
    if policy.score not in SCORES:
        raise PolicyError(f"score: expected one of {', '.join(SCORES)}, got {policy.score!r}")


def _zone(policy: ChecksPolicy) -> ZoneInfo:
    name = policy.reading.timezone
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise PolicyError(f"reading.timezone: no such IANA zone {name!r}") from error
