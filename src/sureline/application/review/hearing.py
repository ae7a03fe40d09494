"""Take an answer that is given outside the queue: by the desk's rules, and with its label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sureline.application.ports.reviews import Heard
from sureline.application.review.release import said_so_far, settled
from sureline.core.learning.labels import effective
from sureline.core.review.elsewhere import as_label, heard, is_for_the_desk
from sureline.core.values.outcome import Outcome
from sureline.core.values.review import Review


@dataclass(frozen=True, slots=True, kw_only=True)
class Hearing:
    """What is done with one answer and the item that its decision opened, in one transaction.

    With `at_once` nobody acts on the answer: it is released as it comes.
    """

    outcome: Outcome
    at_once: bool

    def __call__(self, item: Review | None, said: Sequence[Outcome]) -> Heard:
        """Return what is to be written; `said` is what was said before, oldest first.

        Raises Conflict and Forbidden where the desk would refuse it.
        """
        outcome = self.outcome
        if item is None or not is_for_the_desk(item, outcome):
            return Heard(
                item=None, answer=as_label(item, outcome, effective(said), at_once=self.at_once)
            )
        timed = settled(item, outcome.recorded_at)
        held = effective((*said, *timed.outcomes))
        outcome = as_label(timed.item, outcome, held, at_once=self.at_once)
        after = heard(timed.item, outcome, at_once=self.at_once)
        if after == timed.item:
            return Heard(item=after, before=timed.outcomes, answer=outcome)
        earlier = said_so_far(timed.item) if timed.item.state.is_open else ()
        return Heard(
            item=after,
            before=(*timed.outcomes, *earlier),
            answer=replace(outcome, content=item.digest),
        )
