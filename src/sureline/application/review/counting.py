"""Whose word counts: who was shown not to look, and what the others noticed (R7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sureline.core.review.honeypot import PlantedAnswer
from sureline.core.statistics.attention import Attention, Detection, attention
from sureline.core.statistics.measured_detection import MeasuredDetection
from sureline.core.values.person import person_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Counting:
    """What planted errors say of the people of one workspace.

    `unseen` are those who were shown not to look, with the slices in which it was shown; none:
    everywhere. Their labels count for nothing there, and neither do their answers to planted
    errors: `answers` are those of the others.
    """

    unseen: Mapping[str, tuple[str, ...]]
    answers: tuple[PlantedAnswer, ...]

    @classmethod
    def of(cls, answers: Sequence[PlantedAnswer]) -> Counting:
        """Judge people by their answers to planted errors, oldest first."""
        people = {person_of(one.by) for one in answers}
        found = {name: judged(name, answers) for name in people}
        unseen = {
            name: () if one.evidence >= one.limit else one.inattentive_in
            for name, one in sorted(found.items())
            if one.flagged
        }
        counted = tuple(
            one for one in answers if not _is_unseen(unseen, person_of(one.by), one.slice_key)
        )
        return cls(unseen=unseen, answers=counted)

    def unseen_in(self, slice_key: str) -> tuple[str, ...]:
        """Return whose labels count for nothing in a slice."""
        return tuple(name for name in self.unseen if _is_unseen(self.unseen, name, slice_key))

    def measured(self, slice_key: str) -> MeasuredDetection:
        """Return how many planted errors the people whose labels count noticed."""
        own = [one for one in self.answers if one.slice_key == slice_key]
        return MeasuredDetection.of(detection_of(own), detection_of(self.answers))


NOBODY = Counting(unseen={}, answers=())
"""What is known where nothing was planted."""


def judged(name: str, answers: Sequence[PlantedAnswer]) -> Attention:
    """Return what planted errors say of one person; a name is who somebody is."""
    theirs = [one for one in answers if person_of(one.by) == name]
    return attention([(one.slice_key, one.caught) for one in theirs])


def detection_of(answers: Sequence[PlantedAnswer]) -> Detection:
    """Return how many of these planted errors were noticed."""
    return Detection(caught=sum(one.caught for one in answers), shown=len(answers))


def _is_unseen(unseen: Mapping[str, tuple[str, ...]], name: str, slice_key: str) -> bool:
    slices = unseen.get(name)
    return slices is not None and (not slices or slice_key in slices)
