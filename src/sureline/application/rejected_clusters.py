"""The worst cluster of rejected tasks inside a slice, with a proposed split (L1).

What is read of the payloads is shown to whoever reads the report and is stored nowhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sureline.application.case_vectors import stored_case_text
from sureline.application.ports.cases import PastCase
from sureline.application.ports.latest_cases import LatestCases
from sureline.application.ports.ledger import Ledger
from sureline.core.gate.vectors import vector_fault
from sureline.core.learning.clusters import FEWEST, Cluster, Clustering, Vectors, worst_cluster
from sureline.core.learning.slice_facts import Share
from sureline.core.learning.telling_words import TellingWord, telling_words, words_of
from sureline.core.values.policy import SlicePolicy

MOST = 2_000
"""Latest labelled cases that are compared."""
EXAMPLES = 3
READ = 40
"""Texts that are read in the cluster, and as many outside, for the words of the split."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedCluster:
    """A group of similar tasks that is significantly worse than its slice.

    `low` and `high` bound its correctness with 95 % confidence over all groups. `examples` are
    wrong decisions near its centre. `words` are taken from payloads, `split` is a proposal.
    """

    right: Share
    low: float
    high: float
    examples: tuple[str, ...]
    words: tuple[TellingWord, ...]
    split: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedClusters:
    """What looking for such a group came to, in `sentence`.

    `right` counts the cases that were compared, `groups` how many groups of them (0: nothing could
    be compared). `worst` is None where no group is significantly worse.
    """

    sentence: str
    right: Share
    groups: int
    worst: RejectedCluster | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterReader:
    """Looks for clusters in one workspace's slices."""

    ledger: Ledger
    cases: LatestCases
    workspace: str

    async def read(self, slice_key: str, policy: SlicePolicy) -> RejectedClusters:
        """Compare the slice's latest 2,000 labelled cases; the work is done off the loop."""
        cases, vectors = _usable(await self.cases.latest(self.workspace, slice_key, MOST))
        if not cases:
            return RejectedClusters(
                sentence="Not available: no labelled case has a vector. Vectors are kept of what "
                "was decided while the slice gave the signal history a weight.",
                right=Share(),
                groups=0,
            )
        correct = np.asarray([bool(case.approved) for case in cases], np.bool_)
        found = await asyncio.to_thread(worst_cluster, vectors, correct)
        worst = None
        if found.worst is not None:
            worst = await self._described(found.worst, cases, policy)
        return RejectedClusters(
            sentence=_sentence(found), right=found.right, groups=found.groups, worst=worst
        )

    async def _described(
        self, found: Cluster, cases: Sequence[PastCase], policy: SlicePolicy
    ) -> RejectedCluster:
        inside = [cases[row] for row in found.rows]
        members = {case.decision_id for case in inside}
        outside = [case for case in cases if case.decision_id not in members]
        spread = outside[:: max(1, len(outside) // READ)]
        texts = await self._texts(inside[:READ], policy)
        words = telling_words(texts, await self._texts(spread[:READ], policy))
        return RejectedCluster(
            right=found.right,
            low=found.low,
            high=found.high,
            examples=_examples(inside),
            words=words,
            split=_split(words, bool(texts)),
        )

    async def _texts(self, cases: Iterable[PastCase], policy: SlicePolicy) -> list[frozenset[str]]:
        """Return the words of each case's text, the one that was embedded; erased ones are out."""
        found = []
        for case in cases:
            stored = await self.ledger.decision(self.workspace, case.decision_id)
            if stored is not None and stored.request is not None:
                found.append(_words(stored.request, policy))
        return found


def _usable(cases: Sequence[PastCase]) -> tuple[list[PastCase], Vectors]:
    """Return the cases whose vector can be compared with that of the latest, and a row for each."""
    kept: list[PastCase] = []
    rows: list[Vectors] = []
    for case in cases:
        vector = np.frombuffer(case.vector[: len(case.vector) // 4 * 4], "<f4").astype(np.float32)
        if not vector_fault(vector, rows[0].size if rows else vector.size):
            kept.append(case)
            rows.append(vector)
    return kept, np.stack(rows) if rows else np.empty((0, 0), np.float32)


def _words(request: bytes, policy: SlicePolicy) -> frozenset[str]:
    text = stored_case_text(request, policy)
    return words_of(text.task) | words_of(text.content)


def _examples(inside: Sequence[PastCase]) -> tuple[str, ...]:
    """Return the wrong ones nearest to the centre; copies of one text only where there is no other.

    That is what vectors tell: those of copies are the same.
    """
    wrong = [case for case in inside if not case.approved]
    first: dict[bytes, PastCase] = {}
    for case in wrong:
        first.setdefault(case.vector, case)
    distinct = list(first.values())
    copies = [case for case in wrong if first[case.vector] is not case]
    return tuple(case.decision_id for case in [*distinct, *copies][:EXAMPLES])


def _sentence(found: Clustering) -> str:
    right, worst = found.right, found.worst
    if not found.groups:
        return (
            f"Not available: {right.whole} labelled cases have a vector, and they do not make two "
            f"groups of similar tasks with {FEWEST} or more cases each."
        )
    if worst is None:
        return (
            f"None: of {found.groups} groups of similar tasks among the latest {right.whole} "
            f"labelled cases, {_percent(right)} of them right, none is significantly worse."
        )
    return (
        f"Of {worst.right.whole} similar tasks only {worst.right.part} were right "
        f"({_percent(worst.right)}; {100 * worst.low:.1f} to {100 * worst.high:.1f} % with 95 % "
        f"confidence over {found.groups} groups), against {_percent(right)} of the latest "
        f"{right.whole} labelled cases."
    )


def _split(words: Sequence[TellingWord], has_texts: bool) -> str:
    if not has_texts:
        return "No split can be proposed: the texts of these tasks have been erased."
    if not words:
        return "No word tells these tasks from the others; compare the examples."
    named = ", ".join(f"“{one.word}”" for one in words)
    return (
        f"Give tasks like these a slice of their own, and leave it to people until it is mended. "
        f"They are told from the others by: {named}."
    )


def _percent(share: Share) -> str:
    return "none" if share.value is None else f"{100 * share.value:.1f} %"
