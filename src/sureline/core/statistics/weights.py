"""Learn the weights of a slice's signals from labels, and say whether to use them (G17).

A logistic regression on clipped logits with weights >= 0 and a ridge towards the policy's own
weights (STATISTICS §6). What is learned is judged in the form in which it would be used: as the
weights of the gate's weighted mean, on labels that it was not fitted on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from sureline.core.statistics.binomial import check_level
from sureline.core.statistics.checked import checked_labels
from sureline.core.statistics.partition import loosest_band
from sureline.core.statistics.platt import clipped_logit, fit_platt
from sureline.core.statistics.tally import Tally, tally_labels
from sureline.errors import InvalidInput

Floats = NDArray[np.float64]

RIDGE = 5.0
"""Strength of the pull towards the policy's weights, as in STATISTICS §6."""
LEAST_OF_EACH = 5
"""Labels of either kind without which nothing is learned."""
DIGITS = 4
"""Weights are rounded to so many digits, because people read and keep them in a policy."""
MODEST = "self_report"
"""What the generator says of itself: a policy never gives it the largest weight (G4)."""
BELOW = 0.99
"""How a weight that may not be the largest stands to the largest other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """How a set of weights does on labels that it was not fitted on.

    `log_loss` is in nats per label, after a logistic map that was fitted without these labels.
    `coverage` is the share in [0, 1] that a certificate at the target automates.
    """

    weights: tuple[float, ...]
    log_loss: float
    coverage: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedWeights:
    """Learned beside fixed weights; both sum to 1, in the order of `names`.

    `learned` is None where nothing could be learned. `use` says whether the learned ones earn
    their place, and `reason` why (not). `digest` names the weights with the labels behind them.
    """

    names: tuple[str, ...]
    fixed: Judged
    learned: Judged | None
    use: bool
    reason: str
    n: int
    target: float
    delta: float
    digest: str


def learn_weights(
    signals: ArrayLike,
    labels: ArrayLike,
    folds: ArrayLike,
    *,
    names: Sequence[str],
    policy_weights: Sequence[float],
    target: float = 0.95,
    delta: float = 0.05,
) -> LearnedWeights:
    """Learn the weights of `names` and compare them with the policy's on held-out labels.

    `signals` has shape (labels, names), in [0, 1], NaN where a signal was not measured. `labels`
    are 0 or 1. `folds` holds a whole number per label: each fold is judged by weights fitted on
    the others; labels with a negative one belong to the map and the threshold and are not looked
    at. The policy's weights hold until the learned ones automate more at the target *and* predict
    better. The same labels give the same weights. `self_report` never gets the largest (G4). Raises
    InvalidInput.
    """
    check_level(target, delta)
    prior = _prior(policy_weights, len(names))
    known = _known(signals, labels, folds, len(names))
    modest = names.index(MODEST) if MODEST in names else None
    fixed = _judged(known, prior, dict.fromkeys(known.parts, prior), (target, delta))
    learned, reason = None, _why_not(known)
    if reason is None:
        weights = fit_weights(known.x, known.y, prior, modest=modest)
        if weights is None:
            reason = "no signal that may lead tells right from wrong, so there is nothing to weigh"
        else:
            by_fold = _by_fold(known, prior, modest)
            learned = _judged(known, weights, by_fold, (target, delta))
    use, why = (False, reason) if learned is None else _verdict(fixed, learned)
    return LearnedWeights(
        names=tuple(names),
        fixed=fixed,
        learned=learned,
        use=use,
        reason=why or "",
        n=len(known.y),
        target=target,
        delta=delta,
        digest=_digest(known, (tuple(names), fixed, learned, target, delta)),
    )


def fit_weights(
    signals: Floats, labels: NDArray[np.bool_], prior: Floats, *, modest: int | None = None
) -> Floats | None:
    """Return weights >= 0 that sum to 1, rounded; None where all of them came out as 0.

    `signals` has shape (labels, names) with NaN for not measured, which adds nothing; `prior`
    sums to 1. The weight at the place `modest` is held just below the largest other.
    """
    x = _logits(signals)
    y = labels.astype(np.float64)

    def loss(beta: Floats) -> tuple[float, Floats]:
        line = beta[0] + x @ beta[1:]
        away = beta[1:] - prior
        value = np.logaddexp(0, line).sum() - (y * line).sum() + 0.5 * RIDGE * (away**2).sum()
        error = scipy.special.expit(line) - y
        return float(value), np.concatenate([[error.sum()], x.T @ error + RIDGE * away])

    found = scipy.optimize.minimize(
        loss,
        np.concatenate([[0.0], prior]),
        jac=True,
        method="L-BFGS-B",
        bounds=[(None, None)] + [(0.0, None)] * len(prior),
        options={"maxiter": 500, "ftol": 1e-12, "gtol": 1e-8},
    )
    weights = np.maximum(np.asarray(found.x[1:], np.float64), 0.0)
    if modest is not None:
        weights[modest] = min(weights[modest], BELOW * np.delete(weights, modest).max(initial=0.0))
    if not weights.sum() > 10.0**-DIGITS:
        return None
    rounded: Floats = np.round(weights / weights.sum(), DIGITS)
    return rounded


def _prior(policy_weights: Sequence[float], count: int) -> Floats:
    prior = np.asarray(policy_weights, np.float64)
    if prior.shape != (count,) or not np.isfinite(prior).all() or (prior < 0).any():
        raise InvalidInput(f"expected {count} numbers >= 0", field="policy_weights")
    if not prior.sum() > 0:
        raise InvalidInput("expected weights that are not all 0", field="policy_weights")
    shares: Floats = prior / prior.sum()
    return shares


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Labels:
    """What may be looked at: signals (labels, names), whether correct, and the fold."""

    x: Floats
    y: NDArray[np.bool_]
    fold: NDArray[np.int64]

    @property
    def parts(self) -> list[int]:
        found: list[int] = np.unique(self.fold).tolist()
        return found


def _known(signals: ArrayLike, labels: ArrayLike, folds: ArrayLike, count: int) -> _Labels:
    """Return the labels whose fold is not negative and of which something was measured."""
    x, y = np.asarray(signals, np.float64), checked_labels(labels)
    fold = np.asarray(folds)
    if x.shape != (len(y), count) or fold.shape != y.shape or fold.dtype.kind not in "iu":
        raise InvalidInput(
            f"expected {count} signals and a whole fold for each of {len(y)} labels",
            field="signals",
        )
    bad = ~(np.isnan(x) | ((x >= 0.0) & (x <= 1.0)))
    if bad.any():
        row = int(np.argmax(bad.any(axis=1)))
        raise InvalidInput(f"row {row + 1}: expected numbers from 0 to 1", field="signals")
    kept = (fold >= 0) & ~np.isnan(x).all(axis=1)
    return _Labels(x=x[kept], y=y[kept], fold=fold[kept].astype(np.int64))


def _why_not(known: _Labels) -> str | None:
    if len(known.parts) < 2:
        return "all labels are in one fold, so none is left to judge by"
    for kind, name in ((known.y, "correct"), (~known.y, "wrong")):
        for part in known.parts:
            if int((kind & (known.fold != part)).sum()) < LEAST_OF_EACH:
                return f"fewer than {LEAST_OF_EACH} {name} labels to learn from"
    return None


def _logits(x: Floats) -> Floats:
    seen = ~np.isnan(x)
    logits: Floats = np.where(seen, clipped_logit(np.where(seen, x, 0.5)), 0.0)
    return logits


def _mean(x: Floats, weights: Floats) -> Floats:
    """Return the gate's composite; .5 where nothing that has a weight was measured."""
    seen = ~np.isnan(x)
    total = seen @ weights
    filled = np.where(seen, x, 0.0) @ weights
    mean: Floats = np.where(total > 0, filled / np.where(total > 0, total, 1.0), 0.5)
    return np.clip(mean, 0.0, 1.0)


def _by_fold(known: _Labels, prior: Floats, modest: int | None) -> dict[int, Floats]:
    """Return for each fold the weights that the other folds teach."""
    found = {}
    for part in known.parts:
        others = known.fold != part
        weights = fit_weights(known.x[others], known.y[others], prior, modest=modest)
        found[part] = prior if weights is None else weights
    return found


def _judged(
    known: _Labels, weights: Floats, by_fold: Mapping[int, Floats], level: tuple[float, float]
) -> Judged:
    """Judge each fold's composites, under weights and a map that do not know this fold."""
    loss, scores = 0.0, np.zeros(len(known.y))
    for part, its_weights in by_fold.items():
        held = known.fold == part
        score, right = _mean(known.x, its_weights), known.y[held]
        chance = _mapped(score[~held], known.y[~held], score[held])
        loss -= float(np.log(np.where(right, chance, 1 - chance)).sum())
        scores[held] = score[held]
    return Judged(
        weights=tuple(float(one) for one in weights),
        log_loss=loss / max(1, len(scores)),
        coverage=_coverage(tally_labels(scores, known.y), level),
    )


def _mapped(known: Floats, right: NDArray[np.bool_], asked: Floats) -> Floats:
    score, place = np.unique(known, return_inverse=True)
    if not len(score):
        return np.full(len(asked), 0.5)
    n = np.bincount(place, minlength=len(score))
    correct = np.bincount(place, right, minlength=len(score)).astype(np.int64)
    return fit_platt(score, correct, n)(asked)


def _coverage(tally: Tally, level: tuple[float, float]) -> float:
    end = loosest_band(tally.labels, tally.correct, *level)
    return 0.0 if end is None else int(tally.labels[end]) / tally.n


def _digest(known: _Labels, found: object) -> str:
    digest = hashlib.sha256(repr(found).encode())
    for array in (known.x, known.y, known.fold):
        digest.update(array.astype("<f8").tobytes())
    return digest.hexdigest()


def _verdict(fixed: Judged, learned: Judged) -> tuple[bool, str]:
    told = (
        f"held-out coverage {fixed.coverage:.3f} -> {learned.coverage:.3f}, "
        f"log loss {fixed.log_loss:.4f} -> {learned.log_loss:.4f}"
    )
    if learned.coverage <= fixed.coverage:
        return False, f"kept back, no more is automated: {told}"
    if learned.log_loss >= fixed.log_loss:
        return False, f"kept back, it predicts no better: {told}"
    return True, f"better on labels it was not fitted on: {told}"
