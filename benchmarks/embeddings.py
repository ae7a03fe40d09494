"""How well and how fast the embedders tell texts apart: local against hashing.

Agreement with graded pairs of our own making (benchmarks/similarity_pairs.tsv), whether the ten
nearest past cases tell right from wrong on public receipts, and processor time. Needs the extras
`local` and `parquet`, and `../shared/data`.

Run: python benchmarks/embeddings.py [--quick] [--seed 1] [--write]
"""

from __future__ import annotations

import asyncio
import csv
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from page import Section, options, show, write
from scipy.stats import rankdata, spearmanr

from sureline.adapters.embedders.hashing import HashingEmbedder
from sureline.adapters.embedders.sentence import SentenceEmbedder
from sureline.application.case_vectors import CaseText, case_vectors
from sureline.application.fixed_model import FixedModel
from sureline.application.ports.embedder import Embedder

HERE = Path(__file__).parent
PAIRS = HERE / "similarity_pairs.tsv"
RECEIPTS = HERE.parent.parent / "shared" / "data" / "sroie_extraction.parquet"
K = 10
NAMES = ("hashing", "local")

Floats = NDArray[np.float64]
Models = dict[str, Embedder]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two texts with their graded similarity: 5 means the same, 0 has nothing to do with it."""

    grade: int
    kind: str
    one: str
    other: str


def pairs() -> list[Pair]:
    with PAIRS.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [
            Pair(grade=int(grade), kind=kind, one=one, other=other)
            for grade, kind, one, other in rows
        ]


async def cosines(embedder: Embedder, graded: Sequence[Pair]) -> Floats:
    ones = await embedder.embed([pair.one for pair in graded])
    others = await embedder.embed([pair.other for pair in graded])
    found: Floats = (ones * others).sum(axis=1).astype(np.float64)
    return found


def interval(values: Floats) -> str:
    low, high = np.quantile(values, [0.025, 0.975])
    return f"{low:.2f} to {high:.2f}"


def agreement(
    graded: Sequence[Pair], found: dict[str, Floats], *, resamples: int, seed: int
) -> Section:
    """Spearman's correlation of each embedder, and of their difference, with intervals."""
    grades = np.array([pair.grade for pair in graded], dtype=np.float64)
    random = np.random.default_rng(seed)
    drawn = [random.integers(0, len(graded), len(graded)) for _ in range(resamples)]
    resampled = {
        name: np.array([spearmanr(grades[rows], one[rows]).statistic for rows in drawn])
        for name, one in found.items()
    }
    rows = [
        (name, f"{spearmanr(grades, one).statistic:.2f}", interval(resampled[name]))
        for name, one in found.items()
    ]
    gained = resampled["local"] - resampled["hashing"]
    rows.append(("local less hashing", f"{gained.mean():.2f}", interval(gained)))
    return Section(
        title="Agreement with graded pairs",
        note=f"{len(graded)} pairs of our own making (benchmarks/similarity_pairs.tsv), graded "
        f"from 0 to 5, hard on purpose: a quarter differ in a number, a name, a role or a "
        f"negation only. Spearman's rank correlation of grade and cosine; 95 % bootstrap interval.",
        heading=("embedder", "correlation", "interval"),
        rows=tuple(rows),
    )


def by_kind(graded: Sequence[Pair], found: dict[str, Floats]) -> Section:
    rows = []
    for kind in dict.fromkeys(pair.kind for pair in graded):
        at = [row for row, pair in enumerate(graded) if pair.kind == kind]
        means = (f"{found[name][at].mean():.2f}" for name in NAMES)
        rows.append((kind, str(graded[at[0]].grade), str(len(at)), *means))
    return Section(
        title="Mean cosine by kind of pair",
        note="What differs between the two texts, and the grade that such a pair has.",
        heading=("kind", "grade", "pairs", *NAMES),
        rows=tuple(rows),
    )


def auroc(values: Floats, correct: NDArray[np.bool_]) -> float:
    """Return the chance that a right case has the higher value; ties count half."""
    ranks = rankdata(values)
    right = int(correct.sum())
    wrong = correct.size - right
    return float((ranks[correct].sum() - right * (right + 1) / 2) / (right * wrong))


def rates(vectors: NDArray[np.float32], correct: NDArray[np.bool_]) -> Floats:
    """Return each case's share of right ones among its 10 nearest, itself left out."""
    similar = vectors @ vectors.T
    np.fill_diagonal(similar, -2.0)
    nearest = np.argpartition(-similar, K, axis=1)[:, :K]
    share: Floats = correct[nearest].mean(axis=1)
    return share


async def receipts(models: Models) -> Section:
    """Whether the past tells right from wrong, by field of the receipt and by what is embedded."""
    import pyarrow.parquet as pq

    table = pq.read_table(RECEIPTS).to_pylist()
    documents = {row["doc"]: row["source_text"] for row in table if row["source_text"]}
    kinds: dict[str, Callable[[dict[str, Any]], CaseText]] = {
        "the field": lambda row: CaseText(task="", content=row["output"] or ""),
        "the document": lambda row: CaseText(task="", content=documents.get(row["doc"], "")),
    }
    rows = []
    for key in sorted({row["slice"] for row in table}):
        cases = [row for row in table if row["slice"] == key]
        for what, text in kinds.items():
            told = []
            for name in NAMES:
                model = FixedModel(name, models[name])
                found = await case_vectors(model, [text(row) for row in cases])
                seen = found.rows.any(axis=1)
                correct = np.array([bool(row["correct"]) for row in cases])[seen]
                told.append(f"{auroc(rates(found.rows[seen], correct), correct):.3f}")
            rows.append((key, what, str(correct.size), f"{correct.mean():.2f}", *told))
    return Section(
        title="Do the nearest past cases tell right from wrong?",
        note=f"Fields of 626 public receipts (SROIE) by a script of ours. AUROC of the share of "
        f"right ones among the {K} nearest others; .5 is chance.",
        heading=("field", "embedded", "cases", "right", *NAMES),
        rows=tuple(rows),
    )


async def _took(embedder: Embedder, requests: Sequence[Sequence[str]], repeat: int) -> float:
    """Return milliseconds of processor time a text."""
    texts = sum(map(len, requests))
    runs = []
    for _ in range(repeat):
        start = process_time()
        for request in requests:
            await embedder.embed(request)
        runs.append((process_time() - start) * 1e3 / texts)
    return median(runs)


async def speed(models: Models, *, repeat: int, seed: int) -> Section:
    random = np.random.default_rng(seed)
    words = [word for pair in pairs() for word in f"{pair.one} {pair.other}".split()]
    rows = []
    for characters, count in ((100, 64), (1_000, 64), (10_000, 8)):
        texts = [" ".join(random.choice(words, characters // 4))[:characters] for _ in range(count)]
        for name in NAMES:
            await models[name].embed(texts[:1])
            alone = await _took(models[name], [[text] for text in texts], repeat)
            together = await _took(models[name], [texts], repeat)
            rows.append((f"{characters:,}", name, f"{alone:.2f}", f"{together:.2f}"))
    return Section(
        title="Milliseconds a text",
        note="Processor time, which other load on the machine touches less than the clock; one "
        f"thread. Median of {repeat} runs.",
        heading=("characters", "embedder", "one at a time", "64 (or 8) at once"),
        rows=tuple(rows),
    )


def cold_start(repeat: int) -> Section:
    rows = []
    for module, name, called in (
        ("hashing", "HashingEmbedder", "hashing"),
        ("sentence", "SentenceEmbedder", "local"),
    ):
        program = (
            "import asyncio, time\nfrom pathlib import Path\n"
            f"from sureline.adapters.embedders.{module} import {name}\n"
            "ready = time.process_time()\n"
            f"asyncio.run({name}().embed(['Pay the invoice']))\n"
            "status = Path('/proc/self/status').read_text().split('VmHWM:')[1]\n"
            "print(time.process_time() - ready, int(status.split()[0]) / 1024)"
        )
        command = [sys.executable, "-c", program]
        runs = [
            subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
            for _ in range(repeat)
        ]
        seconds, memory = np.median(np.array(runs, dtype=float), axis=0)
        rows.append((called, f"{seconds:.2f} s", f"{memory:.0f} MB"))
    return Section(
        title="The first text of a process",
        note="Processor time until its vector is there, with checking and loading the model's "
        "files; the whole process's memory at its peak.",
        heading=("embedder", "time", "memory"),
        rows=tuple(rows),
    )


async def sections(*, quick: bool, seed: int) -> list[Section]:
    models: Models = {"hashing": HashingEmbedder(), "local": SentenceEmbedder()}
    graded = pairs()
    found = {name: await cosines(models[name], graded) for name in NAMES}
    repeat = 1 if quick else 5
    return [
        agreement(graded, found, resamples=200 if quick else 2000, seed=seed),
        by_kind(graded, found),
        await receipts(models),
        await speed(models, repeat=repeat, seed=seed),
        cold_start(repeat),
    ]


ABOUT = (
    "Written by `python benchmarks/embeddings.py --write`; which embedder to choose is in "
    "[choose-an-embedder.md](../howto/choose-an-embedder.md). Neither embedder sees that a number "
    "changed or that a *not* was added: such pairs are as similar to them as paraphrases, or more. "
    "History says whether *similar* work was right; amounts and facts are for the checks."
)


def main() -> None:
    """Run everything and print the tables; `--write` also writes the page."""
    chosen = options(__doc__)
    start = perf_counter()
    found = asyncio.run(sections(quick=chosen.quick, seed=chosen.seed))
    show(found, perf_counter() - start)
    if chosen.write:
        write("embeddings-benchmark.md", "Embedders, measured", ABOUT, found)


if __name__ == "__main__":
    main()
