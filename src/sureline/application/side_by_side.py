"""Which proposals may be decided at the same time: those that know nothing of each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sureline.application.identify import normal_text
from sureline.core.values.proposal import Proposal

Task = tuple[str, ...]


def side_by_side(proposals: Iterable[Proposal]) -> Iterator[list[Proposal]]:
    """Cut proposals, in their order, into runs whose members do not depend on each other.

    A proposal has to wait for an earlier one with the same id, for the one it is a retry of, and
    for an attempt at the same task: what became of those is part of its decision.
    """
    run = _Run()
    for proposal in proposals:
        task = _task(proposal)
        if run.concerns(proposal, task):
            yield run.members
            run = _Run()
        run.add(proposal, task)
    if run.members:
        yield run.members


@dataclass(slots=True)
class _Run:
    members: list[Proposal] = field(default_factory=list)
    _ids: set[str] = field(default_factory=set)
    _tasks: set[Task] = field(default_factory=set)
    _hurries: bool = False

    def concerns(self, proposal: Proposal, task: Task) -> bool:
        """Tell whether a proposal has to wait for a member."""
        if self._hurries or (proposal.deadline is not None and self.members):
            return True
        return not self._ids.isdisjoint({proposal.id, proposal.retry_of}) or task in self._tasks

    def add(self, proposal: Proposal, task: Task) -> None:
        """Let a proposal run with the members."""
        self.members.append(proposal)
        self._tasks.add(task)
        self._hurries = proposal.deadline is not None
        if proposal.id is not None:
            self._ids.add(proposal.id)


def _task(proposal: Proposal) -> Task:
    texts = (normal_text(text.text) for text in proposal.source)
    return (proposal.slice_key, normal_text(proposal.task), *texts)
