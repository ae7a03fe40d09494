"""Composites by fixed and by learned weights, beside each signal alone, on public data.

Writes docs/reference/composing-benchmark.md. Weights, map and threshold are fitted on disjoint
labels, split by item, and all figures are of answers that none of the three has seen.

Run: python benchmarks/composing.py [--quick] [--seed 1] [--write]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter

import numpy as np
from composing_study import (
    DATA,
    FEWER,
    FIXED,
    INDEPENDENT,
    LEARNED,
    SIGNALS,
    STATED,
    TARGET,
    Answers,
    Labels,
    Outcome,
    one_each,
    read_answers,
    study,
)
from page import Section, options, show, write
from threadpoolctl import threadpool_limits

from sureline.core.statistics.brier_interval import brier_score

BUDGETS = (Labels(300, 300, 600), Labels(1000, 1000, 2000))
SPLITS = 10
QUICK = ("gpt-4o-2024-08-06", "o4-mini-2025-04-16")
COMPOSED = (*FIXED, LEARNED)

ABOUT = """What composing gains, on 192,512 answers of 16 models to the 12,032 questions of
MMLU-Pro (public data, not part of the project): four signals of each answer, alone and together,
and what a certificate at .90 then lets act. Written by `python benchmarks/composing.py --write`
in a minute.

**The signals.** `self_verbal` is the confidence that the model states, `self_linguistic` the one
that its wording shows, `logit_conf` comes from its log-probabilities (three models give none),
`peer_agree` is the share of the other models that gave the same answer. Only the last does not
come from the generator; it plays the judge's part, as an expensive one that asks up to 15 models.
It is the best single signal, and the best that a policy admits alone: `self_verbal`, as a
self-report, may never have the largest weight.

**The scores.** *Nearly equal* weighs the four .22/.26/.26/.26, as equal as that rule lets them
be; *judge first* weighs `peer_agree` .40 and the others .20. Both were set before anything was
measured, and nothing was changed afterwards. *Learned* are the weights of `sureline weights`,
with the self-report's lowered to just below the largest where it came out larger.

**The protocol.** The questions are split at random into disjoint groups: labels that teach the
weights, labels that fit the map, labels that set the threshold (in that order in the titles), and
all others, on which everything is measured. Where no weights are learned, their labels go to the
threshold, so that learning pays for its labels; *peer_agree, fewer labels* goes without them.
Since an item repeats across models, the slice with several generators has one answer an item, of
a model drawn at random. Answers that lack a signal are left out; a gate sends them to a person.

**What it shows.**

* Every composition automates more under the certificate than the best admitted signal alone. As a
  mean over the models: .606 to .616 of the answers against .577 with 1,000 + 1,000 + 2,000
  labels, .450 to .541 against .392 with 300 + 300 + 600. `peer_agree` has 16 values at most and
  can be cut only between them; the others grade within a tie. Not for every model: for gemma-2-9b
  `peer_agree` alone certifies most, and for two more the learned weights are behind it, by less
  than .01.
* The composites rank better (AUROC .888 to .894 against .880). As probabilities the fixed ones
  are worse than `peer_agree` *before* the map, because the other signals are overconfident. After
  it, *judge first* is level (Brier +.0001) and *nearly equal* still behind (+.0032). More than
  half of that comes from answers with which fewer than half of the other models agree: there the
  generator's own confidence blurs what its peers rule out. A threshold never looks there, which
  is why it certifies most all the same.
* Learned weights are the best probability with either number of labels (Brier -.0018 to -.0031),
  rank as well as any, and certify less than the fixed ones: the labels that they take are missing
  at the threshold. So fixed weights stay until learned ones automate more on held-out labels, as
  `sureline weights` demands.
* The thresholds hold. Model by model, 24 of 480 certified composites fall below .90 on the
  held-out answers, and 17 of 445 with fewer labels; .05 are allowed, and the held-out answers
  have noise of their own.

**The columns.** *Brier* and *ECE* (ten buckets) are of the score as it is, *mapped* after
calibration. *most at 0.90* is the largest share with that precision on the held-out answers
themselves, which nobody knows beforehand. *certified* is the share above the certified threshold,
0 where there is none; *precision* is what it has there, and *below* says in how many of the
certified splits that is under .90."""

HEADING = (
    "score",
    "AUROC",
    "Brier",
    "ECE",
    "Brier, mapped",
    "ECE, mapped",
    f"Brier less {INDEPENDENT}'s",
    f"most at {TARGET:.2f}",
    "certified",
    "precision",
    "below",
)

Runs = Sequence[Mapping[str, Outcome]]


def mean(outcomes: Sequence[Outcome], name: str) -> float:
    """Return the mean of one figure."""
    return float(np.mean([getattr(one, name) for one in outcomes]))


def precision(outcomes: Sequence[Outcome]) -> str:
    """Return the mean precision above the thresholds, where there are any."""
    known = [one.precision for one in outcomes if one.precision is not None]
    return f"{np.mean(known):.3f}" if known else "–"


def below(outcomes: Sequence[Outcome]) -> str:
    """Return how many of the certified splits have less than the target on held-out answers."""
    known = [one.precision for one in outcomes if one.precision is not None]
    return f"{sum(one < TARGET for one in known)} of {len(known)}"


def method_rows(runs: Runs) -> tuple[tuple[str, ...], ...]:
    """Return a row for each score, means over the runs."""
    rows = []
    for name in (*SIGNALS, FEWER, *COMPOSED):
        said = [run[name] for run in runs if name in run]
        rows.append(
            (
                name,
                *(f"{mean(said, one):.3f}" for one in ("auroc", "brier", "ece")),
                f"{mean(said, 'mapped_brier'):.4f}",
                f"{mean(said, 'mapped_ece'):.3f}",
                f"{mean(said, 'loss'):+.4f}",
                *(f"{mean(said, one):.3f}" for one in ("ceiling", "coverage")),
                precision(said),
                below(said),
            )
        )
    return tuple(rows)


def wins(runs: Runs) -> str:
    """Say how often a composition certified at least as much as the judge's part alone."""
    told = []
    for name in COMPOSED:
        won = sum(run[name].coverage >= run[INDEPENDENT].coverage for run in runs)
        told.append(f"{name} in {won} of {len(runs)}")
    return f"At least as much certified as {INDEPENDENT} alone: {', '.join(told)}."


def pooled(models: Sequence[Answers], labels: Labels, splits: int, seed: int) -> Section:
    """Return the table of the slice with several generators."""
    runs = []
    for i in range(splits):
        answers = one_each(models, seed + i)
        runs.append(study(answers, labels, seed + i))
    first = runs[0]
    told = []
    for name in (INDEPENDENT, *COMPOSED):
        found = brier_score(first[name].mapped)
        assert found is not None
        low, high = found.interval
        one = first[name]
        told.append(
            f"{name} {found.value:.4f} [{low:.4f}, {high:.4f}], "
            f"{one.loss:+.4f} ± {1.96 * one.loss_error:.4f}"
        )
    return Section(
        f"{answers.title}, {labels} labels",
        f"Means over {splits} draws and splits, each judged by {first[LEARNED].mapped.n} held-out "
        "answers. Mapped Brier scores of the first one with 95 % intervals, and their paired "
        f"difference from {INDEPENDENT}'s: {'; '.join(told)}. {wins(runs)}",
        HEADING,
        method_rows(runs),
    )


def per_model(runs: Mapping[str, Runs], labels: Labels) -> Section:
    """Return the means over all models and splits."""
    everything = [run for several in runs.values() for run in several]
    splits = len(next(iter(runs.values())))
    return Section(
        f"Each of {len(runs)} models as a slice of its own, {labels} labels",
        f"Means over {len(runs)} models and {splits} splits each; logit_conf over the models that "
        f"give log-probabilities. {wins(everything)}",
        HEADING,
        method_rows(everything),
    )


def by_model(models: Sequence[Answers], runs: Mapping[str, Runs], labels: Labels) -> Section:
    """Return certified coverage model by model."""
    rows = []
    for one in models:
        said = {name: [run[name] for run in runs[one.title]] for name in runs[one.title][0]}
        weights = np.mean([run.weights for run in said[LEARNED]], axis=0)
        shown = dict(zip(one.names, weights, strict=True))
        rows.append(
            (
                one.title,
                f"{one.y.mean():.3f}",
                f"{mean(said[INDEPENDENT], 'auroc'):.3f}",
                f"{mean(said[LEARNED], 'auroc'):.3f}",
                *(f"{mean(said[name], 'coverage'):.3f}" for name in (STATED, INDEPENDENT)),
                *(f"{mean(said[name], 'coverage'):.3f}" for name in COMPOSED),
                " ".join(f"{shown[name]:.2f}" if name in shown else "–" for name in SIGNALS),
            )
        )
    heading = (
        "model",
        "accuracy",
        f"AUROC {INDEPENDENT}",
        "AUROC learned",
        *(f"certified: {name}" for name in (STATED, INDEPENDENT, *COMPOSED)),
        "learned weights",
    )
    return Section(
        f"Certified coverage at {TARGET:.2f}, model by model, {labels} labels",
        f"The learned weights stand in the order {', '.join(SIGNALS)}.",
        heading,
        tuple(rows),
    )


def main() -> None:
    """Print the tables, and write the page if asked to."""
    asked = options(__doc__)
    if not DATA.exists():
        print(f"{DATA.name} is not here, nothing to measure")
        return
    started = perf_counter()
    splits = 2 if asked.quick else SPLITS
    models = read_answers()
    alone = [one for one in models if not asked.quick or one.title in QUICK]
    sections = []
    with threadpool_limits(1):
        for labels in BUDGETS[-1:] if asked.quick else BUDGETS:
            runs = {
                one.title: [study(one, labels, asked.seed + i) for i in range(splits)]
                for one in alone
            }
            sections.append(pooled(models, labels, splits, asked.seed))
            sections.append(per_model(runs, labels))
        sections.append(by_model(alone, runs, labels))
    show(sections, perf_counter() - started)
    if asked.write:
        write("composing-benchmark.md", "Composing signals, measured", ABOUT, sections)


if __name__ == "__main__":
    main()
