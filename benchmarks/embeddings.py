"""How well and how fast the embedders of this machine tell texts apart: local against hashing.

Three tables: agreement with graded pairs of our own making (Spearman's rank correlation, with a
bootstrap interval), whether the ten nearest past cases tell right from wrong on public receipts
(AUROC), and time a text. Needs the extra `local`.

Run: python benchmarks/embeddings.py [--resamples 2000] [--receipts ../shared/data/...parquet]
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata, spearmanr

from sureline.adapters.embedders.hashing import HashingEmbedder
from sureline.adapters.embedders.sentence import SentenceEmbedder
from sureline.application.case_vectors import CaseText, case_vectors
from sureline.application.fixed_model import FixedModel
from sureline.application.ports.embedder import Embedder

HERE = Path(__file__).parent
PAIRS = HERE / "similarity_pairs.tsv"
RECEIPTS = HERE.parent.parent / "shared" / "data" / "sroie_extraction.parquet"
SEED = 8
K = 10
Rows = NDArray[np.float32]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two texts with their graded similarity: 5 means the same, 0 has nothing to do with it."""

    score: int
    kind: str
    one: str
    other: str


def pairs() -> list[Pair]:
    with PAIRS.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [
            Pair(score=int(score), kind=kind, one=one, other=other)
            for score, kind, one, other in rows
        ]


def embedders() -> dict[str, Embedder]:
    return {"hashing": HashingEmbedder(), "local": SentenceEmbedder()}


async def cosines(embedder: Embedder, graded: Sequence[Pair]) -> Floats:
    ones = await embedder.embed([pair.one for pair in graded])
    others = await embedder.embed([pair.other for pair in graded])
    found: Floats = (ones * others).sum(axis=1).astype(np.float64)
    return found


def interval(values: Floats) -> str:
    low, high = np.quantile(values, [0.025, 0.975])
    return f"{low:.2f} to {high:.2f}"


def agreement(graded: Sequence[Pair], found: dict[str, Floats], resamples: int) -> None:
    """Print Spearman's correlation of each embedder, and of their difference, with intervals."""
    scores = np.array([pair.score for pair in graded], dtype=np.float64)
    random = np.random.default_rng(SEED)
    drawn = [random.integers(0, len(graded), len(graded)) for _ in range(resamples)]
    resampled = {
        name: np.array([spearmanr(scores[rows], one[rows]).statistic for rows in drawn])
        for name, one in found.items()
    }
    print(f"\n{len(graded)} graded pairs: Spearman's correlation (95 % bootstrap interval)")
    for name, one in found.items():
        print(f"  {name:8} {spearmanr(scores, one).statistic:.2f} ({interval(resampled[name])})")
    print(f"  local - hashing: {interval(resampled['local'] - resampled['hashing'])}")
    print("\nMean cosine by kind of pair (grade)")
    for kind in dict.fromkeys(pair.kind for pair in graded):
        rows = [at for at, pair in enumerate(graded) if pair.kind == kind]
        means = "  ".join(f"{name} {one[rows].mean():.2f}" for name, one in found.items())
        print(f"  {kind:11} {scores[rows].mean():.0f}  n={len(rows):2}  {means}")


def auroc(values: Floats, correct: NDArray[np.bool_]) -> float:
    """Return the chance that a right case has the higher value; ties count half."""
    ranks = rankdata(values)
    right = int(correct.sum())
    wrong = correct.size - right
    return float((ranks[correct].sum() - right * (right + 1) / 2) / (right * wrong))


def rates(vectors: Rows, correct: NDArray[np.bool_]) -> Floats:
    """Return each case's share of right ones among its 10 nearest, itself left out."""
    similar = vectors @ vectors.T
    np.fill_diagonal(similar, -2.0)
    nearest = np.argpartition(-similar, K, axis=1)[:, :K]
    return correct[nearest].mean(axis=1)


async def receipts(path: Path, models: dict[str, Embedder]) -> None:
    """Print how well the past tells right from wrong, by field of the receipt and text embedded."""
    import pyarrow.parquet as pq

    table = pq.read_table(path).to_pylist()
    documents = {row["doc"]: row["source_text"] for row in table if row["source_text"]}
    texts = {
        "output": lambda row: CaseText(task="", content=row["output"] or ""),
        "document": lambda row: CaseText(task="", content=documents.get(row["doc"], "")),
        "field and document": lambda row: CaseText(
            task=row["output"] or "", content=documents.get(row["doc"], "")
        ),
    }
    print(f"\n{len(table)} fields of public receipts: AUROC of the rate among the {K} nearest")
    for key in sorted({row["slice"] for row in table}):
        rows = [row for row in table if row["slice"] == key]
        for what, text in texts.items():
            told = []
            for name, embedder in models.items():
                found = await case_vectors(FixedModel(name, embedder), [text(row) for row in rows])
                seen = found.rows.any(axis=1)
                correct = np.array([bool(row["correct"]) for row in rows])[seen]
                value = auroc(rates(found.rows[seen], correct), correct)
                told.append(f"{name} {value:.3f}")
            print(f"  {key:8} {correct.mean():.2f} right  {what:19} {'  '.join(told)}")


async def speed(models: dict[str, Embedder]) -> None:
    """Print milliseconds of processor time a text, which other load touches less than the clock."""
    random = np.random.default_rng(SEED)
    words = [word for pair in pairs() for word in f"{pair.one} {pair.other}".split()]
    print("\nMilliseconds of processor time a text (median of 5)")
    for characters in (100, 1_000, 10_000):
        texts = []
        for _ in range(64):
            text = " ".join(random.choice(words, characters // 4))
            texts.append(text[:characters])
        for name, embedder in models.items():
            await embedder.embed(texts[:1])
            alone, together = [], []
            few = texts[: 64 if characters < 10_000 else 8]
            for _ in range(5):
                start = process_time()
                for text in few:
                    await embedder.embed([text])
                alone.append((process_time() - start) / len(few))
                start = process_time()
                await embedder.embed(few)
                together.append((process_time() - start) / len(few))
            told = f"alone {median(alone) * 1e3:8.3f}  in a batch {median(together) * 1e3:8.3f}"
            print(f"  {name:8} {characters:6} characters  {told}")


def cold_start() -> None:
    """Print what the first text takes in a new process: processor time, and memory at its peak."""
    print("\nFirst text in a new process (median of 3)")
    for module, name in (("hashing", "HashingEmbedder"), ("sentence", "SentenceEmbedder")):
        program = (
            "import asyncio, time\nfrom pathlib import Path\n"
            f"from sureline.adapters.embedders.{module} import {name}\n"
            f"asyncio.run({name}().embed(['Pay the invoice']))\n"
            "status = Path('/proc/self/status').read_text().split('VmHWM:')[1]\n"
            "print(time.process_time(), int(status.split()[0]) / 1024)"
        )
        runs = []
        for _ in range(3):
            told = subprocess.run(
                [sys.executable, "-c", program], capture_output=True, text=True, check=True
            )
            runs.append([float(figure) for figure in told.stdout.split()])
        seconds, memory = np.median(runs, axis=0)
        print(f"  {module:8} {seconds:.2f} s, {memory:.0f} MB")


async def run(resamples: int, path: Path | None) -> None:
    models = embedders()
    graded = pairs()
    found = {name: await cosines(one, graded) for name, one in models.items()}
    agreement(graded, found, resamples)
    if path is not None:
        await receipts(path, models)
    await speed(models)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--resamples", type=int, default=2000)
    parser.add_argument("--receipts", type=Path, default=RECEIPTS)
    given = parser.parse_args()
    path = given.receipts if given.receipts.exists() else None
    if path is None:
        print(f"{given.receipts} is not there; the table of receipts is left out")
    asyncio.run(run(given.resamples, path))
    cold_start()


if __name__ == "__main__":
    main()
