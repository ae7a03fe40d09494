"""What a person can do about a suggestion: one key of the policy, a calibration, or work (R8)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import ceil
from typing import Any

from sureline.core.canonical import canonical_json
from sureline.core.learning.key_change import KeyChange
from sureline.core.learning.levers import STEP, Lever
from sureline.core.learning.suggestions import Advice, Suggestion
from sureline.core.statistics.curves import CurvePoint

HONEYPOTS = 0.05
"""The share of planted errors to begin with, where there are none."""
MOST_AUDITS = 1.0
HALF = 0.5
"""Whoever audits more than that hardly automates: no such rate is offered."""
LONG = 4.0
"""Weeks: whoever would wait longer for the guard to notice is offered more audits."""
_FLOOR = "abstain floor"
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}(\.[A-Za-z_][A-Za-z0-9_]{0,63}){0,7}")
"""Fields that may be written into a policy: their names come from what an agent made."""
_BY_CALIBRATION = frozenset({"first_certificate", "lower_threshold", "higher_threshold"})

HOW: Mapping[str, str] = {
    "guard_tripped": "Look at what was wrong, mend it, and then turn the switch off.",
    "frequent_override": "Give the slice to people, or recalibrate and activate what is proven.",
    "first_certificate": "Activate the calibration; in the mode route it then acts alone.",
    "proof_lost": "Let it only be logged until the labels prove a threshold again.",
    "unproven_hypothesis": "Have more of what acts alone checked, so that labels come sooner.",
    "lower_threshold": "Activate the calibration that has this threshold.",
    "higher_threshold": "Activate the calibration that has this threshold.",
    "low_approval": "Change the prompt or the model of the generator, then compare: labels of the "
    "old one do not count for the new.",
    "near_unanimous": "A certified threshold follows the labels, so decide more items and "
    "recalibrate; only a hypothesis is set by hand.",
    "drafts_overridden": "Give the slice to people, or mend the generator.",
    "field_edited": "To require it is the least; write a stricter rule, or grounding, by hand.",
    "field_flagged": "Mend the prompt or the generator. A reject_threshold gives such outputs back "
    "to the agent with the findings; where the check is always right, let it weigh more.",
    "left_to_people": "Nothing needs doing.",
    "as_it_should_be": "Nothing needs doing.",
    "labels_missing": "Decide what waits: every verdict on a fair sample is a label.",
    "nothing_proven": "Look at what scored high and was wrong: a check or a deduction must tell "
    "it apart.",
    "raise_abstain_floor": "Raise it by a tenth.",
    "lower_abstain_floor": "Lower it by a tenth.",
    "raise_audit_rate": "Have more of what acts alone checked by a person, blind.",
}
"""By suggestion: what a person does about it, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferFacts:
    """What offers rest on besides the suggestions.

    `settings` is the slice's part of the policy's content, empty for a kind of mission: there no
    key is offered, since a kind has others than a slice. `curve` is that of the labels that
    certify, `coverage` what acts alone of them, None for nothing. `calibration` is the id of the
    one that the report is on, None where it is in force. A fall of precision by ten points would
    go unnoticed for `weeks`, and for two at the audit rate `two_week_rate`; None is not known.
    """

    policy: str
    slice_key: str
    target: float
    settings: Mapping[str, Any]
    curve: Sequence[CurvePoint]
    coverage: float | None
    calibration: str | None
    weeks: float | None = None
    two_week_rate: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What can be done about one suggestion.

    `suggestion` is its id; `mark` names what was read: the sentence, the change and the policy.
    `change` is the key that would be changed, None where no policy says it; `calibration` is the
    one to activate. `how` says what else a person does.
    """

    suggestion: str
    sentence: str
    mark: str
    how: str
    change: KeyChange | None
    calibration: str | None


def offers(
    suggestions: Sequence[Suggestion], levers: Sequence[Lever], facts: OfferFacts
) -> tuple[Offer, ...]:
    """Return what can be done about each suggestion in order, then about floor and audits."""
    found = [
        _offer(one.id, one.code, one.sentence, _change(one, facts), facts) for one in suggestions
    ]
    for lever in levers:
        if lever.name == _FLOOR and lever.towards is not None:
            code = "raise_abstain_floor" if lever.towards == "up" else "lower_abstain_floor"
            sentence = lever.up if lever.towards == "up" else lever.down
            found.append(_offer(code, code, sentence, _floor(lever, facts), facts))
    tightened = any(one.advice is Advice.TIGHTEN and not one.blocked for one in suggestions)
    return (*found, *(() if tightened else _audits(facts)))


def _audits(facts: OfferFacts) -> Iterator[Offer]:
    """Offer more audits where something acts alone and a fall would go unnoticed for long."""
    weeks, now = facts.weeks, facts.settings.get("audit_rate")
    if facts.coverage is None or facts.two_week_rate is None or weeks is None or now is None:
        return
    rate = ceil(1000 * facts.two_week_rate) / 1000
    if weeks > LONG and now < rate <= HALF:
        sentence = (
            f"A fall of precision by ten points would go unnoticed for {weeks:.1f} weeks; an audit "
            f"rate of {100 * rate:.1f} % would make it two."
        )
        change = KeyChange(path=("audit_rate",), before=now, after=rate)
        yield _offer("raise_audit_rate", "raise_audit_rate", sentence, change, facts)


def _offer(
    name: str, code: str, sentence: str, change: KeyChange | None, facts: OfferFacts
) -> Offer:
    said = [ascii(name), ascii(sentence)]  # a field's name may hold what JSON cannot
    read = [facts.policy, facts.slice_key, *said, None if change is None else asdict(change)]
    return Offer(
        suggestion=name,
        sentence=sentence,
        mark=hashlib.sha256(canonical_json(read)).hexdigest()[:16],
        how=HOW[code],
        change=change,
        calibration=facts.calibration if code in _BY_CALIBRATION else None,
    )


def _change(one: Suggestion, facts: OfferFacts) -> KeyChange | None:
    """Return the key that does what is suggested, None where no single key does."""
    if not facts.settings:
        return None
    if one.blocked:
        return _plant(facts) if one.code == "near_unanimous" else None
    if one.code == "field_edited":
        return _require(one.subject, facts)
    draft = _DRAFTS.get(one.code)
    change = None if draft is None else draft(facts)
    return None if change is None or change.before == change.after else change


def _mode(wanted: str) -> Callable[[OfferFacts], KeyChange | None]:
    def draft(facts: OfferFacts) -> KeyChange | None:
        return KeyChange(path=("mode",), before=facts.settings.get("mode"), after=wanted)

    return draft


def _plant(facts: OfferFacts) -> KeyChange | None:
    """Begin to plant errors where none are: only they tell unanimity from not looking."""
    now = facts.settings.get("review", {}).get("honeypots")
    if now:
        return None
    return KeyChange(path=("review", "honeypots"), before=now, after=HONEYPOTS)


def _lower_hypothesis(facts: OfferFacts) -> KeyChange | None:
    """Lower a hypothesis to where the labels show the target for a tenth more of the outputs."""
    stated = facts.settings.get("hypothesis")
    if not stated or facts.coverage is None or not facts.curve:
        return None
    wanted = facts.coverage + STEP
    point = min(facts.curve, key=lambda at: abs(at.coverage - wanted))
    if point.precision < facts.target or not point.threshold < stated["auto"]:
        return None
    return KeyChange(path=("hypothesis", "auto"), before=stated["auto"], after=point.threshold)


def _audit_hypothesis(facts: OfferFacts) -> KeyChange | None:
    stated = facts.settings.get("hypothesis")
    if not stated:
        return None
    rate = stated["audit_rate"]
    after = min(MOST_AUDITS, 2 * rate)
    return KeyChange(path=("hypothesis", "audit_rate"), before=rate, after=after)


def _require(field: str | None, facts: OfferFacts) -> KeyChange | None:
    """Require the field, where no rule is about it and its name is one that a policy can hold."""
    rules = facts.settings.get("rules", [])
    if field is None or not _PLAIN.fullmatch(field):
        return None
    if any(rule.get("field") == field for rule in rules):
        return None
    return KeyChange(
        path=("rules",), before=rules, after=[*rules, {"field": field, "required": True}]
    )


def _floor(lever: Lever, facts: OfferFacts) -> KeyChange | None:
    now = facts.settings.get("abstain_floor")
    if not isinstance(now, int | float):
        return None
    after = min(1.0, max(0.0, now + (STEP if lever.towards == "up" else -STEP)))
    return KeyChange(path=("abstain_floor",), before=now, after=round(after, 6))


_DRAFTS: Mapping[str, Callable[[OfferFacts], KeyChange | None]] = {
    "frequent_override": _mode("human_only"),
    "drafts_overridden": _mode("human_only"),
    "proof_lost": _mode("log_only"),
    "first_certificate": _mode("route"),
    "near_unanimous": _lower_hypothesis,
    "unproven_hypothesis": _audit_hypothesis,
}
"""By suggestion: the one key that does it."""
