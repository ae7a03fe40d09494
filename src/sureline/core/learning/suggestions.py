"""What the figures of a slice suggest to a person; nothing is applied by itself (R8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from sureline.core.learning.slice_facts import Band, Share, SliceFacts
from sureline.core.values.counted import counted
from sureline.core.values.threshold_text import threshold_text

UNANIMOUS = 0.98
"""From this share of approvals on, reviews count as near-unanimous."""
ATTENTIVE = 0.8
"""Unanimity counts only where at least this share of planted errors is known to be noticed."""
OFTEN = 0.5
"""Drafts that are changed or rejected more often than this save no work."""
LOW_APPROVAL = 0.3
"""Below this share of correct outputs the generator itself is at fault."""
ONE_FIELD = 0.5
"""A field that is part of more than this share of corrections is flagged."""
NOTICED = 0.8
"""Where the checks had found fault with it in this share of them, another check adds nothing."""
ENOUGH = 30
"""Fewer answers than this suggest nothing."""
ENOUGH_EDITS = 5
MATERIAL = 0.02
"""Automating less than two points more or less is not worth a change."""


class Advice(StrEnum):
    """What a slice needs, most urgent first."""

    TIGHTEN = "tighten"
    """Automate less, or nothing."""
    REPAIR = "repair"
    """Change the prompt, the generator or a check before anything else."""
    LOOSEN = "loosen"
    """Automate more."""
    COLLECT = "collect"
    """More labels are needed before anything can be said."""
    KEEP = "keep"
    """Leave it as it is."""
    CHECK = "check"
    """Beside all that: one field often comes out wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """One thing that a person may want to do, why, and what it rests on.

    `subject` is the field that it is about, None for the slice. `blocked` says what must be known
    first; the figures alone do not justify it then.
    """

    code: str
    advice: Advice
    sentence: str
    numbers: Mapping[str, float]
    subject: str | None = None
    blocked: str | None = None

    @property
    def id(self) -> str:
        """Return what names it among all of a slice's suggestions."""
        return self.code if self.subject is None else f"{self.code}:{self.subject}"


def suggest(facts: SliceFacts) -> tuple[Suggestion, ...]:
    """Return all that the facts suggest, most urgent first; never empty."""
    found = [
        *_guard(facts),
        *_errors_in_band(facts),
        *_thresholds(facts),
        *_generator(facts),
        *_reviews(facts),
        *_fields(facts),
    ]
    if all(one.blocked or one.advice is Advice.CHECK for one in found):
        found.append(_otherwise(facts))
    urgency = list(Advice)
    return tuple(sorted(found, key=lambda one: (bool(one.blocked), urgency.index(one.advice))))


def _guard(facts: SliceFacts) -> Iterator[Suggestion]:
    if facts.tripped is not None:
        yield Suggestion(
            code="guard_tripped",
            advice=Advice.TIGHTEN,
            sentence=f"The guard gives it to people: {facts.tripped.part} of {facts.tripped.whole} "
            f"audited outputs that acted alone were wrong, which shows that precision is below the "
            f"target of {_percent(facts.target)}. Find the cause before you turn its switch off.",
            numbers={"wrong": facts.tripped.part, "audited": facts.tripped.whole},
        )


def _errors_in_band(facts: SliceFacts) -> Iterator[Suggestion]:
    band, share = facts.band, facts.band.value
    if share is None or band.whole < ENOUGH or band.high >= facts.target:
        return
    yield Suggestion(
        code="frequent_override",
        advice=Advice.TIGHTEN,
        sentence=f"People overrule what is above the threshold too often: only {band.part} of "
        f"{band.whole} were right ({_percent(share)}, at most {_percent(band.high)} with 95 % "
        f"confidence), and the target is {_percent(facts.target)}. Raise the threshold or leave "
        f"the slice to people.",
        numbers={"right": band.part, "labels": band.whole, "at_most": band.high},
    )


def _thresholds(facts: SliceFacts) -> Iterator[Suggestion]:
    """Compare what is automated with what the labels prove."""
    held, proposed = facts.held, facts.proposed
    if facts.human_only:
        return
    numbers = {
        **({} if held is None else {"threshold_now": held.threshold, "share_now": held.coverage}),
        **(
            {}
            if proposed is None
            else {"threshold_proven": proposed.threshold, "share_proven": proposed.coverage}
        ),
    }
    if held is None and proposed is not None:
        yield Suggestion(
            code="first_certificate",
            advice=Advice.LOOSEN,
            sentence=f"Nothing acts alone today, but the labels prove the target of "
            f"{_percent(facts.target)} from a score of {threshold_text(proposed.threshold)} on, "
            f"which {_percent(proposed.coverage)} of outputs reach.",
            numbers=numbers,
        )
    elif held is not None and proposed is None:
        yield _unproven(facts, held, numbers)
    elif held is not None and proposed is not None and _differ(held, proposed):
        looser = proposed.coverage > held.coverage
        yield Suggestion(
            code="lower_threshold" if looser else "higher_threshold",
            advice=Advice.LOOSEN if looser else Advice.TIGHTEN,
            sentence="Today's labels prove the target from "
            f"{threshold_text(proposed.threshold)} on instead of "
            f"{threshold_text(held.threshold)}: {_percent(proposed.coverage)} of outputs would "
            f"act alone instead of {_percent(held.coverage)}.",
            numbers=numbers,
        )


def _unproven(facts: SliceFacts, held: Band, numbers: Mapping[str, float]) -> Suggestion:
    """Say that what is automated today is proven at no threshold: not yet, or no longer."""
    begins = threshold_text(held.threshold)
    if facts.labels_missing and facts.hypothesis:
        return Suggestion(
            code="unproven_hypothesis",
            advice=Advice.COLLECT,
            sentence=f"Outputs act alone from {begins} on, on a hypothesis that nothing proves "
            f"yet: {counted(facts.labels_missing, 'more label')} without an error would.",
            numbers={**numbers, "labels_missing": facts.labels_missing},
        )
    return Suggestion(
        code="proof_lost",
        advice=Advice.TIGHTEN,
        sentence=f"Outputs act alone from {begins} on, but today's labels prove the target of "
        f"{_percent(facts.target)} at no threshold.",
        numbers=numbers,
    )


def _differ(held: Band, proposed: Band) -> bool:
    return abs(proposed.coverage - held.coverage) >= MATERIAL


def _generator(facts: SliceFacts) -> Iterator[Suggestion]:
    share = facts.right.value
    if share is None or facts.right.whole < ENOUGH or share >= LOW_APPROVAL:
        return
    yield Suggestion(
        code="low_approval",
        advice=Advice.REPAIR,
        sentence=f"Only {facts.right.part} of {facts.right.whole} labelled outputs were right "
        f"({_percent(share)}). No threshold mends that: try another prompt or generator here.",
        numbers={"right": facts.right.part, "labels": facts.right.whole},
    )


def _reviews(facts: SliceFacts) -> Iterator[Suggestion]:
    """Look at what people answer to drafts."""
    approved, share = facts.approved, facts.approved.value
    if share is None or approved.whole < ENOUGH:
        return
    numbers: dict[str, float] = {"approved": approved.part, "answers": approved.whole}
    if share >= UNANIMOUS:
        seen = facts.honeypots
        yield Suggestion(
            code="near_unanimous",
            advice=Advice.LOOSEN,
            sentence=f"People approved {approved.part} of {approved.whole} drafts "
            f"({_percent(share)}): a looser threshold may do.",
            numbers={**numbers, **({} if seen is None else {"noticed_at_least": seen.low})},
            blocked=None if seen is not None and seen.low >= ATTENTIVE else _unattentive(seen),
        )
    elif 1 - share > OFTEN and (facts.right.value or 0.0) >= LOW_APPROVAL:
        yield Suggestion(
            code="drafts_overridden",
            advice=Advice.REPAIR,
            sentence=f"People changed or rejected {approved.whole - approved.part} of "
            f"{approved.whole} drafts ({_percent(1 - share)}). Such drafts save little: leave the "
            f"slice to people (mode: human_only) or mend the generator.",
            numbers=numbers,
        )


def _unattentive(seen: Share | None) -> str:
    if seen is None:
        return (
            "Unanimity is also what not looking looks like, and whether reviewers notice planted "
            "errors is not known yet."
        )
    return (
        f"Reviewers noticed {seen.part} of {seen.whole} planted errors: too few to trust that "
        f"they look."
    )


def _fields(facts: SliceFacts) -> Iterator[Suggestion]:
    for name, count in sorted(facts.corrections.items(), key=lambda one: (-one[1], one[0])):
        if count < ENOUGH_EDITS or count <= ONE_FIELD * facts.corrected:
            continue
        noticed = facts.noticed.get(name, 0)
        if noticed >= NOTICED * count:
            yield Suggestion(
                code="field_flagged",
                advice=Advice.CHECK,
                sentence=f"The field {name} was changed in {count} of {facts.corrected} "
                f"corrections, and the checks had found fault with it in {noticed} of them: they "
                f"see it already. Say in the prompt how it is filled, or let such outputs go back "
                f"to the agent with what was found.",
                numbers={"changed": count, "corrections": facts.corrected, "noticed": noticed},
                subject=name,
            )
        else:
            yield Suggestion(
                code="field_edited",
                advice=Advice.CHECK,
                sentence=f"The field {name} was changed in {count} of {facts.corrected} "
                f"corrections: add a check for it, or say in the prompt how it is filled.",
                numbers={"changed": count, "corrections": facts.corrected},
                subject=name,
            )


def _otherwise(facts: SliceFacts) -> Suggestion:
    """Say what holds where nothing needs doing: it is certified, or labels are missing."""
    if facts.human_only:
        return Suggestion(
            code="left_to_people",
            advice=Advice.KEEP,
            sentence="The policy leaves this slice to people, whatever its labels say.",
            numbers={"labels": facts.right.whole},
        )
    if facts.held is not None:
        return Suggestion(
            code="as_it_should_be",
            advice=Advice.KEEP,
            sentence=f"{_percent(facts.held.coverage)} of outputs may act alone, from a score of "
            f"{threshold_text(facts.held.threshold)} on, and today's labels ask for no change.",
            numbers={"threshold_now": facts.held.threshold, "share_now": facts.held.coverage},
        )
    if facts.labels_missing is not None:
        return Suggestion(
            code="labels_missing",
            advice=Advice.COLLECT,
            sentence=f"No certificate yet: {counted(facts.labels_missing, 'more label')} "
            f"without an error would give the first.",
            numbers={"labels_missing": facts.labels_missing, "labels": facts.right.whole},
        )
    return Suggestion(
        code="nothing_proven",
        advice=Advice.COLLECT if facts.right.whole < ENOUGH else Advice.REPAIR,
        sentence="No certificate, and no number of further labels is known to give one: either "
        "too few outputs are right, or the score does not tell them apart.",
        numbers={"labels": facts.right.whole},
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
