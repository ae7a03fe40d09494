"""Four signals of the same answers: each alone, and composed by fixed and by learned weights.

The answers are those of models on MMLU-Pro. `self_verbal` is the confidence that a model states,
`self_linguistic` the confidence that its wording shows, `logit_conf` comes from its
log-probabilities, `peer_agree` is the share of the other models that gave the same answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sureline.adapters.tables import open_table
from sureline.core.statistics.calibration import CalibrationMap, fit_tally
from sureline.core.statistics.naive import largest_band
from sureline.core.statistics.partition import loosest_band
from sureline.core.statistics.reliability import reliability
from sureline.core.statistics.tally import Tally, tally_labels
from sureline.core.statistics.weights import learn_weights

DATA = Path(__file__).parents[2] / "shared" / "data" / "mmlupro_calibration.parquet"
SIGNALS = ("self_verbal", "logit_conf", "self_linguistic", "peer_agree")
INDEPENDENT = "peer_agree"
"""The one signal here that does not come from the generator: it plays the judge's part."""
STATED = "self_verbal"
"""The self-report: never the largest weight (G4), so not admitted alone."""
FIXED = {
    "nearly equal": (0.22, 0.26, 0.26, 0.26),
    "judge first": (0.20, 0.20, 0.20, 0.40),
}
"""Set before anything was measured: as equal as G4 lets them be, and the judge's part doubled."""
LEARNED = "learned"
FEWER = f"{INDEPENDENT}, fewer labels"
"""With the learned weights' number of labels for its threshold."""
TARGET, DELTA = 0.90, 0.05
FOLDS = 5

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers with their signals, shape (answers, names), and whether they are correct."""

    title: str
    names: tuple[str, ...]
    item: NDArray[np.int64]
    x: Floats
    y: NDArray[np.bool_]
    left_out: int
    """Answers without one of the signals: a gate would send them to a person."""


@dataclass(frozen=True)
class Labels:
    """How many labels teach the weights, fit the map and set the threshold; the rest is held out.

    Where no weights are learned, their labels go to the threshold.
    """

    weights: int
    map: int
    threshold: int

    def __str__(self) -> str:
        return f"{self.weights} + {self.map} + {self.threshold}"


@dataclass(frozen=True)
class Outcome:
    """What one score does on held-out answers: as it is, after the map, and above its threshold.

    `mapped` counts the mapped scores. `loss` is the mapped Brier score minus that of the judge's
    part alone on the same answers, with its standard error. `ceiling` is the largest coverage with
    the target's precision on these very answers. `precision` is None where nothing is automated.
    """

    auroc: float
    brier: float
    ece: float
    mapped: Tally
    mapped_brier: float
    mapped_ece: float
    loss: float
    loss_error: float
    ceiling: float
    coverage: float
    precision: float | None
    weights: tuple[float, ...]


def read_answers(path: Path = DATA) -> list[Answers]:
    """Read all models; a signal that a model does not have is left out of its names."""
    columns: dict[str, list[object]] = {n: [] for n in ("model", "item", "correct", *SIGNALS)}
    for chunk in open_table(path).chunks([*columns], ()):
        for name, values in columns.items():
            values += chunk.columns[name]
    model = np.array(columns["model"])
    x = np.array([[np.nan if v is None else v for v in columns[s]] for s in SIGNALS], float).T
    item, y = np.array(columns["item"], np.int64), np.array(columns["correct"]) == 1
    return [
        _answers(str(one), item[model == one], x[model == one], y[model == one])
        for one in dict.fromkeys(columns["model"])
    ]


def _answers(title: str, item: Rows, x: Floats, y: NDArray[np.bool_]) -> Answers:
    there = np.isfinite(x).mean(axis=0) > 0.5
    names = tuple(name for name, kept in zip(SIGNALS, there, strict=True) if kept)
    whole = np.isfinite(x[:, there]).all(axis=1)
    left_out = int((~whole).sum())
    return Answers(title, names, item[whole], x[whole][:, there], y[whole], left_out)


def one_each(models: Sequence[Answers], seed: int) -> Answers:
    """Return one answer an item, of a model drawn at random: a slice with several generators.

    All answers to an item would hang together, and labels must be independent.
    """
    full = [one for one in models if one.names == SIGNALS]
    item = np.concatenate([one.item for one in full])
    order = np.random.default_rng(seed).permutation(len(item))
    first = order[np.unique(item[order], return_index=True)[1]]
    return Answers(
        f"{len(full)} models, one answer an item",
        SIGNALS,
        item[first],
        np.concatenate([one.x for one in full])[first],
        np.concatenate([one.y for one in full])[first],
        sum(one.left_out for one in full),
    )


def split_by_item(answers: Answers, sizes: Sequence[int], seed: int) -> list[Rows]:
    """Return the rows of disjoint groups of items of these sizes, and of all other items."""
    items = np.random.default_rng(seed).permutation(np.unique(answers.item))
    parts = np.split(items, np.cumsum(sizes))
    return [np.flatnonzero(np.isin(answers.item, part)) for part in parts]


def study(answers: Answers, labels: Labels, seed: int) -> dict[str, Outcome]:
    """Return what each signal alone, each fixed composition and the learned one come to."""
    taught, mapped, bound, held = split_by_item(
        answers, (labels.weights, labels.map, labels.threshold), seed
    )
    tried = {**compositions(answers.names), LEARNED: learned(answers, taught)}
    tried[FEWER] = tried[INDEPENDENT]
    bounds = dict.fromkeys(tried, np.concatenate([taught, bound]))
    bounds |= {LEARNED: bound, FEWER: bound}
    scores = {name: np.round(answers.x @ weights, 12).clip(0, 1) for name, weights in tried.items()}
    maps = {
        name: fitted(tally_labels(score[mapped], answers.y[mapped]))
        for name, score in scores.items()
    }
    alone = (maps[INDEPENDENT](scores[INDEPENDENT][held]) - answers.y[held]) ** 2
    return {
        name: _outcome(scores[name], answers.y, maps[name], bounds[name], held, alone, weights)
        for name, weights in tried.items()
    }


def compositions(names: Sequence[str]) -> dict[str, Floats]:
    """Return weights by name: each signal alone, then the fixed ones."""
    place = [SIGNALS.index(name) for name in names]
    fixed = {title: np.array(weights)[place] for title, weights in FIXED.items()}
    return {
        **{name: np.eye(len(names))[i] for i, name in enumerate(names)},
        **{title: weights / weights.sum() for title, weights in fixed.items()},
    }


def learned(answers: Answers, taught: Rows) -> Floats:
    """Return the weights that these rows teach, from nearly equal ones; those where none do."""
    start = compositions(answers.names)["nearly equal"]
    found = learn_weights(
        answers.x[taught],
        answers.y[taught],
        np.arange(len(taught)) % FOLDS,
        names=answers.names,
        policy_weights=start.tolist(),
        target=TARGET,
        delta=DELTA,
    )
    if found.learned is None:
        return start
    return admitted(answers.names, np.array(found.learned.weights))


def admitted(names: Sequence[str], weights: Floats) -> Floats:
    """Return weights that a policy may have: what is stated just below the largest other (G4)."""
    own = names.index(STATED)
    others = np.delete(weights, own).max()
    if weights[own] < others or not others:
        return weights
    lowered = weights.copy()
    lowered[own] = 0.99 * others
    return np.asarray(lowered / lowered.sum())


def fitted(tally: Tally) -> CalibrationMap:
    """Return the map of labels, of which there are always enough of either kind here."""
    found = fit_tally(tally)
    assert isinstance(found, CalibrationMap)
    return found


def _outcome(
    score: Floats,
    y: NDArray[np.bool_],
    curve: CalibrationMap,
    bound: Rows,
    held: Rows,
    alone: Floats,
    weights: Floats,
) -> Outcome:
    raw = tally_labels(score[held], y[held])
    chance = curve(score[held])
    mapped = tally_labels(chance, y[held])
    known = tally_labels(score[bound], y[bound])
    end = loosest_band(known.labels, known.correct, TARGET, DELTA)
    inside, right = (0, 0) if end is None else raw.band(float(known.threshold[end]))
    loss = (chance - y[held]) ** 2 - alone
    plain, after = reliability(raw), reliability(mapped)
    return Outcome(
        auroc=auroc(raw),
        brier=plain.brier or 0.0,
        ece=plain.ece or 0.0,
        mapped=mapped,
        mapped_brier=after.brier or 0.0,
        mapped_ece=after.ece or 0.0,
        loss=float(loss.mean()),
        loss_error=float(loss.std() / np.sqrt(len(held))),
        ceiling=largest_band(raw, TARGET).coverage,
        coverage=inside / len(held),
        precision=right / inside if inside else None,
        weights=tuple(weights.tolist()),
    )


def auroc(tally: Tally) -> float:
    """Return the chance that a correct answer scores above a wrong one, ties counting half."""
    labels, correct = tally.counts
    wrong = labels - correct
    below = wrong.sum() - np.cumsum(wrong)
    return float((correct * (below + wrong / 2)).sum() / (correct.sum() * wrong.sum()))
