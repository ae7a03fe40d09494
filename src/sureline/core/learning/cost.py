"""What a gate saves and costs: minutes, money, and thresholds from costs (L8, G22, G24).

Derivations and their assumptions: docs/howto/estimate-the-cost.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from sureline.errors import InvalidInput

SMALL_VOLUME = 50
"""Items a day below which a gate is not worth it, whatever else holds (L8)."""
UPKEEP_MINUTES = 15.0
"""What looking after a gate takes a day by default: its weekly report, its policy, its labels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The work as it is. Raises InvalidInput for numbers that cannot be.

    `items` a day, `seconds` per review, `to_people` the share in [0, 1] that people still see with
    a gate (audits included), `judge_price` per call in the currency of `wage` per hour,
    `judge_share` of the items that are judged. `wage` None leaves money out. `verifiable` says
    that checks or tests can tell right from wrong; `irreversible` that actions cannot be undone.
    """

    items: float
    seconds: float
    to_people: float
    judge_price: float = 0.0
    judge_share: float = 0.08
    wage: float | None = None
    upkeep_minutes: float = UPKEEP_MINUTES
    verifiable: bool = True
    irreversible: bool = False

    def __post_init__(self) -> None:
        for name in ("items", "seconds"):
            _check(name, getattr(self, name), above=0.0)
        for name in ("to_people", "judge_share"):
            _check(name, getattr(self, name), most=1.0)
        for name in ("judge_price", "upkeep_minutes"):
            _check(name, getattr(self, name))
        if self.wage is not None:
            _check("wage", self.wage, above=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Savings:
    """What the gate changes a day, in minutes and, where a wage is known, in its currency.

    `saved_minutes` = before - after - upkeep, and may be negative. `saved_money` takes the judge's
    price off. `break_even_items` is the volume a day at which nothing is gained or lost; None
    where no volume is enough, or where the judge's price cannot be compared without a wage.
    `objections` say plainly why the gate is not worth it; none of them: it is.
    """

    minutes_before: float
    minutes_after: float
    upkeep_minutes: float
    saved_minutes: float
    judge_money: float
    saved_money: float | None
    break_even_items: float | None
    objections: tuple[str, ...]

    @property
    def worth_it(self) -> bool:
        """Tell whether nothing speaks against the gate."""
        return not self.objections


def estimate(work: Work) -> Savings:
    """Return what the gate saves of this work a day."""
    to_people = 1.0 if work.irreversible else work.to_people
    before = work.items * work.seconds / 60
    after = before * to_people
    judge = work.items * work.judge_share * work.judge_price
    minutes = before - after - work.upkeep_minutes
    money = None if work.wage is None else minutes / 60 * work.wage - judge
    even = _break_even(work, to_people)
    return Savings(
        minutes_before=before,
        minutes_after=after,
        upkeep_minutes=work.upkeep_minutes,
        saved_minutes=minutes,
        judge_money=judge,
        saved_money=money,
        break_even_items=even,
        objections=_objections(work, minutes if money is None else money, even),
    )


def _break_even(work: Work, to_people: float) -> float | None:
    """Return the items a day at which the saving per item has paid for the upkeep."""
    judge_minutes = work.judge_share * work.judge_price
    if judge_minutes and work.wage is None:
        return None
    if work.wage is not None:
        judge_minutes *= 60 / work.wage
    per_item = work.seconds / 60 * (1 - to_people) - judge_minutes
    return work.upkeep_minutes / per_item if per_item > 0 else None


def _objections(work: Work, saved: float, even: float | None) -> tuple[str, ...]:
    found = []
    if work.irreversible:
        found.append(
            "Irreversible actions are never automated: a person decides each of them, and "
            "confidence only puts them in order."
        )
    if work.items < SMALL_VOLUME:
        found.append(
            f"{work.items:g} items a day are few: under {SMALL_VOLUME}, reviewing everything is "
            "simpler, and enough labels for a certificate take months."
        )
    if not work.verifiable:
        found.append(
            "Without a check that can tell right from wrong, confidence rests on opinions of "
            "models; expect little automation, and audit 1 in 10 of what is automated."
        )
    if saved <= 0 and not work.irreversible:
        least = "at no volume" if even is None else f"from {even:.0f} items a day on"
        found.append(f"It costs more than it saves; it would pay {least}.")
    return tuple(found)


def target_from_cost(*, wrong: float, review: float) -> float:
    """Return the precision at which acting costs no more than reviewing (G24).

    Acting on an output that is right with probability p costs (1 - p) * `wrong` on average, and a
    review costs `review`; acting is the cheaper one where p >= 1 - review / wrong. Both costs are
    above 0, in one unit; the result is <= 0 where a review costs more than an error.
    """
    _check("wrong", wrong, above=0.0)
    _check("review", review, above=0.0)
    return round(1.0 - review / wrong, 6)


def reject_threshold_from_cost(*, retry: float, review: float, retry_correct: float) -> float:
    """Return the confidence below which a retry is cheaper than a review, in [0, 1] (G22).

    `retry` is the cost of one more attempt and `review` that of one review, in one unit;
    `retry_correct` is the probability q in (0, 1] that an attempt is correct. Reviewing an output
    that is right with probability p costs v, and with probability 1 - p another attempt and its
    review after all: v + (1 - p)(r + V), with V = v + (1 - q)(r + V) for a fresh attempt. Sending
    it back costs r + V at once. The second is cheaper below p = v / (r + V) = q v / (v + r).
    """
    _check("retry", retry)
    _check("review", review, above=0.0)
    _check("retry_correct", retry_correct, above=0.0, most=1.0)
    return round(retry_correct * review / (review + retry), 6)


def _check(
    name: str, value: float, *, above: float | None = None, most: float | None = None
) -> None:
    low = value > above if above is not None else value >= 0.0
    if isfinite(value) and low and (most is None or value <= most):
        return
    least = "a number of 0 or more" if above is None else f"a number above {above:g}"
    limit = "" if most is None else f", at most {most:g}"
    raise InvalidInput(f"expected {least}{limit}, got {value:g}", field=name)
