"""Redact a proposal: what the policy names is replaced before anything is kept or shown (L12)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from sureline.core.canonical import canonical_json
from sureline.core.checks.parse import parse_output
from sureline.core.checks.paths import Path, Step, parse_path
from sureline.core.redacted_text import mark, redacted_text
from sureline.core.values.proposal import Proposal, SourceText
from sureline.core.values.redaction import RedactionPolicy
from sureline.errors import InvalidInput

FIELD = "field"
UNREADABLE = "unreadable"
NOTHING = RedactionPolicy()
KEPT = frozenset(
    {
        "slice_key", "id", "workspace", "action_class", "stakes", "generator", "retry_of",
        "force_human", "batch_id", "variant", "deadline", "trusted", "submitted_by", "subject",
    }
)  # fmt: skip
"""Fields of a proposal that stay as they are: ids, names, and settings of a fixed form."""
MOST_UNLIKELY = -1_000.0
"""Logarithms of probabilities down to this one are figures whatever their digits; what is beyond
them is looked at like any number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """A proposal as it is kept and shown; `counts` says what was replaced how often, by form."""

    proposal: Proposal
    counts: Mapping[str, int]


def redacted(proposal: Proposal, rules: RedactionPolicy, *, structured: bool) -> Redacted:
    """Return a proposal without what the rules name; ids and names stay as they are.

    Of an output that cannot be read as the slice expects it nothing is kept: where in it something
    stands cannot be told. Takes time linear in the size of the proposal.
    """
    if not rules.any:
        return Redacted(proposal=proposal, counts={})
    counts: Counter[str] = Counter()
    one = _Redaction(rules=rules, structured=structured, counts=counts)
    return Redacted(proposal=one.proposal(proposal), counts=dict(sorted(counts.items())))


@dataclass(frozen=True, slots=True)
class _Redaction:
    rules: RedactionPolicy
    structured: bool
    counts: Counter[str]

    def proposal(self, given: Proposal) -> Proposal:
        reasoning, report = given.reasoning, given.self_report
        return replace(
            given,
            task=self.text(given.task),
            output=self.output(given.output),
            source=tuple(
                SourceText(ref=self.text(one.ref), text=self.text(one.text), trusted=one.trusted)
                for one in given.source
            ),
            self_report=report if _is_figure(report, 0.0, 1.0) else self.value(report),
            reasoning=None if reasoning is None else self.text(reasoning),
            evidence=tuple(self.value(one) for one in given.evidence),
            alternatives=tuple(self.output(one, maybe=True) for one in given.alternatives),
            generations=tuple(self.output(one) for one in given.generations),
            logprobs=tuple(
                one if _is_figure(one, MOST_UNLIKELY, 0.0) else self.value(one)
                for one in given.logprobs
            ),
            metadata=self.mapping(given.metadata),
        )

    def text(self, given: str) -> str:
        return redacted_text(given, self.rules, self.counts)

    def output(self, given: Any, *, maybe: bool = False) -> Any:
        """Return an output; with `maybe` it need not be one."""
        parsed = parse_output(given, structured=self.structured)
        if not parsed.ok:
            return self.value(given) if maybe and not isinstance(given, str) else self._gone()
        value = parsed.value
        for path in self.rules.fields:
            value = without(value, parse_path(path), self.counts)
        return self.value(value)

    def value(self, given: Any) -> Any:
        """Return a JSON value without forms, keys included; what is none is replaced as a whole."""
        try:
            canonical_json(given)
            return self._value(given)
        except (InvalidInput, RecursionError):
            return self._gone()

    def mapping(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        found = self.value(dict(given))
        return found if isinstance(found, dict) else {UNREADABLE: found}

    def _value(self, given: Any) -> Any:
        if isinstance(given, str):
            return self.text(given)
        if isinstance(given, dict):
            return self._object(given)
        if isinstance(given, (list, tuple)):
            return [self._value(one) for one in given]
        if isinstance(given, bool) or given is None:
            return given
        written = repr(given)
        if "e" in written:
            written = format(Decimal(written), "f")
        shown = self.text(written)
        return given if shown == written else shown

    def _object(self, given: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, one in given.items():
            name = shown = self.text(key)
            number = 1
            while name in found:
                number += 1
                name = f"{shown} {number}"
            found[name] = self._value(one)
        return found

    def _gone(self) -> str:
        self.counts[UNREADABLE] += 1
        return mark(UNREADABLE)


def _is_figure(value: object, low: float, high: float) -> bool:
    """Tell whether a value is what it should be, or no number at all: then it says nothing."""
    return isinstance(value, float) and (not math.isfinite(value) or low <= value <= high)


def without(value: Any, path: Path, counts: Counter[str] | None = None) -> Any:
    """Return a JSON value with a mark in place of everything that a path leads to."""
    if not path:
        if counts is not None:
            counts[FIELD] += 1
        return mark(FIELD)
    step, rest = path[0], path[1:]
    if isinstance(value, dict) and step in value:
        return {**value, step: without(value[step], rest, counts)}
    if isinstance(value, list) and isinstance(step, Step):
        return [without(one, rest, counts) for one in value]
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        changed = list(value)
        changed[step] = without(value[step], rest, counts)
        return changed
    return value


def hidden(proposal: Proposal, rules: RedactionPolicy) -> Proposal:
    """Return a proposal as models are shown it: without the fields that are kept from them."""
    if not rules.hide_from_models:
        return proposal

    def shown(output: Any) -> Any:
        parsed = parse_output(output, structured=True)
        value = parsed.value if parsed.ok else mark(UNREADABLE)
        for path in rules.hide_from_models:
            value = without(value, parse_path(path))
        return value

    return replace(
        proposal,
        output=shown(proposal.output),
        generations=tuple(map(shown, proposal.generations)),
        alternatives=(),
        evidence=(),
        metadata={},
    )
