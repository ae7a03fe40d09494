"""The cost model as one question: what would the gate save, and which thresholds follow (L8)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sureline.core.learning.cost import (
    Savings,
    Work,
    estimate,
    reject_threshold_from_cost,
    target_from_cost,
)
from sureline.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What else is known, in the currency of the wage: prices of an error and of a retry.

    `retry_correct` is how often a retry is correct, in (0, 1].
    """

    wrong: float | None = None
    retry: float | None = None
    retry_correct: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CostReport:
    """The savings with the review's price and what follows from it.

    `target_precision` is None without the cost of an error, or where a review costs at least
    half of an error (then nothing should be automated). `reject_threshold` is None without the
    price of a retry.
    """

    work: Work
    savings: Savings
    review_price: float | None
    target_precision: float | None
    reject_threshold: float | None
    notes: tuple[str, ...]


def cost_report(work: Work, prices: Prices) -> CostReport:
    """Return what a gate saves and the thresholds that the prices ask for. Raises InvalidInput."""
    review = None if work.wage is None else work.wage * work.seconds / 3600
    notes: list[str] = []
    return CostReport(
        work=work,
        savings=estimate(work),
        review_price=review,
        target_precision=_target(prices, review, notes),
        reject_threshold=_reject(prices, review, notes),
        notes=tuple(notes),
    )


def cost_json(report: CostReport) -> dict[str, Any]:
    """Return the report as JSON values."""
    return {**asdict(report), "worth_it": report.savings.worth_it}


def _target(prices: Prices, review: float | None, notes: list[str]) -> float | None:
    if prices.wrong is None:
        return None
    if review is None:
        raise InvalidInput("the target follows from wage and error cost together", field="wage")
    target = target_from_cost(wrong=prices.wrong, review=review)
    if target > 0.5:
        return target
    notes.append(
        f"A review costs {review:.2f} and an error {prices.wrong:.2f}: where a review costs half "
        "of an error or more, no target precision follows; look at a sample instead of a gate."
    )
    return None


def _reject(prices: Prices, review: float | None, notes: list[str]) -> float | None:
    if prices.retry is None and prices.retry_correct is None:
        return None
    if prices.retry is None or prices.retry_correct is None or review is None:
        raise InvalidInput(
            "a reject threshold needs the wage, the price of a retry and how often one is correct",
            field="retry_price",
        )
    if prices.retry > review:
        notes.append("A retry costs more than a review, so little should be sent back.")
    return reject_threshold_from_cost(
        retry=prices.retry, review=review, retry_correct=prices.retry_correct
    )
