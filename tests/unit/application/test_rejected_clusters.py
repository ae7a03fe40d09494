"""The worst cluster of rejected tasks, described from what is stored of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sureline.application.ports.cases import PastCase
from sureline.application.rejected_clusters import ClusterReader, RejectedClusters
from sureline.core.values.policy import SlicePolicy
from tests.builders import slice_policy

RENT = 40
"""The first so many of the cases are about rent, the others about fuel."""


@dataclass
class Stored:
    """What is left of a decision."""

    request: bytes | None


@dataclass
class Cases:
    """Labelled cases as the store has them, and their requests; both are counted."""

    cases: Sequence[PastCase]
    requests: dict[str, bytes | None] = field(default_factory=dict)
    read: list[str] = field(default_factory=list)

    async def latest(self, workspace: str, slice_key: str, limit: int) -> Sequence[PastCase]:
        return self.cases[:limit]

    async def decision(self, workspace: str, decision_id: str) -> Stored | None:
        self.read.append(decision_id)
        return Stored(self.requests[decision_id]) if decision_id in self.requests else None


def made(count: int = 240, *, rent: float = 0.2, fuel: float = 0.95) -> Cases:
    """Make cases on two topics with chances of being right."""
    draw = np.random.default_rng(20261130)
    found = Cases([])
    cases = []
    for number in range(count):
        about_rent = number < RENT
        axis = np.eye(8)[0 if about_rent else 1] + draw.normal(size=8) * 0.15
        vector = (axis / np.linalg.norm(axis)).astype("<f4").tobytes()
        name = f"d{number:03d}"
        right = bool(draw.random() < (rent if about_rent else fuel))
        cases.append(case(name, vector, right, cursor=count - number))
        task = f"Pay the {'rent of the flat' if about_rent else 'fuel bill'} of client {number}"
        found.requests[name] = json.dumps({"task": task, "output": {"sum": number}}).encode()
    found.cases = cases
    return found


def case(name: str, vector: bytes, right: bool, cursor: int = 1) -> PastCase:
    """Make a labelled case."""
    return PastCase(
        cursor=cursor,
        workspace="default",
        slice_key="bills",
        decision_id=name,
        model_id="model",
        vector=vector,
        approved=right,
    )


async def look(cases: Cases, policy: SlicePolicy | None = None) -> RejectedClusters:
    """Read the clusters of the slice."""
    ledger: Any = cases
    reader = ClusterReader(ledger=ledger, cases=cases, workspace="default")
    return await reader.read("bills", policy or slice_policy())


async def test_the_worst_cluster_is_described() -> None:
    """Size, rate, three wrong examples, and the words that tell its tasks from the others."""
    cases = made()
    found = await look(cases)
    worst = found.worst
    assert worst is not None
    assert worst.right.whole == RENT
    assert f"Of {RENT} similar tasks only {worst.right.part} were right" in found.sentence
    assert worst.low < worst.right.part / RENT < worst.high < found.right.part / 240
    wrong = {one.decision_id for one in cases.cases[:RENT] if not one.approved}
    assert len(set(worst.examples)) == 3
    assert set(worst.examples) <= wrong
    assert {one.word for one in worst.words} == {"flat", "rent"}
    assert worst.split.endswith("“flat”, “rent”.")


async def test_it_reads_few_payloads() -> None:
    """Memory and time do not grow with the cases: 40 texts inside and 40 outside are read."""
    cases = made(2_500)
    found = await look(cases)
    assert found.right.whole == 2_000
    assert found.worst is not None
    assert len(cases.read) <= 80


async def test_erased_payloads_are_passed_over() -> None:
    """What is left gives the words; where nothing is left, the report says so."""
    cases = made()
    for name in list(cases.requests)[: RENT // 2]:
        cases.requests[name] = None
    found = await look(cases)
    assert found.worst is not None
    assert {one.word for one in found.worst.words} == {"flat", "rent"}
    cases.requests.clear()
    found = await look(cases)
    assert found.worst is not None
    assert found.worst.words == ()
    assert "have been erased" in found.worst.split


async def test_without_telling_words_it_points_to_the_examples() -> None:
    """Texts that are all alike propose no split."""
    cases = made()
    cases.requests = dict.fromkeys(cases.requests, b'{"task": "Pay this"}')
    found = await look(cases)
    assert found.worst is not None
    assert found.worst.split.startswith("No word tells these tasks")


async def test_sources_that_only_an_agent_vouches_for_are_not_read() -> None:
    """The text is the one that was embedded, and claims of an agent are not part of it."""
    cases = made()
    for place, name in enumerate(cases.requests):
        about = "landlord" if place < RENT else "station"
        source = [
            {"ref": "a", "text": about, "trusted": True},
            {"ref": "b", "text": f"claimed {about} {about}x", "trusted": False},
        ]
        cases.requests[name] = json.dumps({"task": "Pay", "source": source}).encode()
    found = await look(cases)
    assert found.worst is not None
    assert [one.word for one in found.worst.words] == ["landlord"]


async def test_where_none_is_worse_it_says_so() -> None:
    """A slice whose groups are equally good has no worst cluster, and nothing is read for it."""
    cases = made(rent=0.9, fuel=0.9)
    found = await look(cases)
    assert found.worst is None
    assert found.groups > 0
    assert found.sentence.startswith("None: of ")
    assert cases.read == []


async def test_without_vectors_it_is_not_available() -> None:
    """A slice that gives history no weight keeps no vectors; that is no finding."""
    found = await look(Cases([]))
    assert (found.groups, found.worst, found.right.whole) == (0, None, 0)
    assert found.sentence.startswith("Not available: no labelled case has a vector")


async def test_too_few_cases_are_no_finding() -> None:
    """Nineteen cases do not make two groups of ten."""
    found = await look(made(19))
    assert (found.groups, found.worst) == (0, None)
    assert found.sentence.startswith("Not available: 19 labelled cases")


async def test_vectors_that_cannot_be_compared_are_left_out() -> None:
    """A torn vector, one of another length and one of zeros take no part."""
    cases = made()
    odd = [case("torn", b"123", False), case("zero", bytes(32), False), case("long", b"", False)]
    one_hot = np.eye(16, dtype="<f4")[0].tobytes()
    cases.cases = [*cases.cases, *odd, case("other", one_hot, False)]
    found = await look(cases)
    assert found.right.whole == 240


async def test_copies_are_examples_only_where_nothing_else_is() -> None:
    """Three examples are three different tasks if the cluster has as many."""
    cases = made(rent=0.0)
    copy = cases.cases[0]
    copies = [case(f"copy{n}", copy.vector, False) for n in range(5)]
    cases.cases = [*copies, *cases.cases]
    found = await look(cases)
    assert found.worst is not None
    vectors = {one.decision_id: one.vector for one in cases.cases}
    assert len({vectors[name] for name in found.worst.examples}) == 3
