"""What labels say of an opinion that says nothing: how often is it called something else?

Judges that agree with a fixed chance, whatever the output, with a stated confidence or without;
then judges that do tell right from wrong, and some that mislead.

Run: python benchmarks/opinion_verdicts.py [--quick]
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table

from sureline.core.learning.opinion_facts import OpinionEvidence, OpinionVerdict, Said


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """Agrees with right outputs with chance `right`, with wrong ones with chance `wrong`.

    Where `sure`, it states a confidence that says nothing more. Outputs are right with chance
    `base`; those that it agreed with get a label with chance `audit`, the others all do.
    """

    name: str
    right: float
    wrong: float
    base: float = 0.8
    sure: bool = False
    audit: float = 1.0


NULLS = (
    Opinion(name="agrees with 90 %", right=0.9, wrong=0.9),
    Opinion(name="agrees with 50 %", right=0.5, wrong=0.5),
    Opinion(name="agrees with 90 %, and is sure", right=0.9, wrong=0.9, sure=True),
    Opinion(name="agrees with 80 %, half are right", right=0.8, wrong=0.8, base=0.5),
    Opinion(name="agrees with 80 %, 95 % are right", right=0.8, wrong=0.8, base=0.95),
    Opinion(name="agrees with 80 %, audited at 10 %", right=0.8, wrong=0.8, audit=0.1),
)
OTHERS = (
    Opinion(name="tells: 90 % against 60 %", right=0.9, wrong=0.6),
    Opinion(name="tells: 95 % against 30 %", right=0.95, wrong=0.3),
    Opinion(name="misleads: 70 % against 90 %", right=0.7, wrong=0.9),
)


def verdict(opinion: Opinion, outputs: int, chance: np.random.Generator) -> OpinionVerdict:
    """Draw outputs with labels and return what is said of the opinion."""
    evidence = OpinionEvidence("judge")
    for _ in range(outputs):
        correct = bool(chance.random() < opinion.base)
        agrees = bool(chance.random() < (opinion.right if correct else opinion.wrong))
        labelled = not agrees or chance.random() < opinion.audit
        if not labelled:
            continue
        confidence = float(chance.uniform(0.6, 1.0)) if opinion.sure else 1.0
        stands_for = confidence if agrees else 1 - confidence
        said = Said(signal="judge", chance=stands_for, against=not agrees, model=None)
        evidence.add(said, correct=correct, weight=1 / opinion.audit if agrees else 1.0)
    return evidence.facts(0.25).verdict


def main() -> None:
    """Print the share of each verdict."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="Fewer runs.")
    runs = 200 if parser.parse_args().quick else 2_000
    chance = np.random.default_rng(20261130)
    table = Table("opinion", "outputs", *(one.replace("_", " ") for one in OpinionVerdict))
    for opinion in (*NULLS, *OTHERS):
        for outputs in (60, 200, 600):
            found = Counter(verdict(opinion, outputs, chance) for _ in range(runs))
            shares = (f"{found[one] / runs:.3f}" for one in OpinionVerdict)
            table.add_row(opinion.name, str(outputs), *shares)
    Console().print(table)


if __name__ == "__main__":
    main()
