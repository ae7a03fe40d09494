"""Whether a judge is another model than the actor that it judges (M15, M16)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sureline.core.values.mission import Mission
from sureline.core.values.mission_kind import MissionKind
from sureline.core.values.model_names import related, same_model


class Kinship(StrEnum):
    """How close two models are."""

    NONE = "none"
    SAME_FAMILY = "same_family"
    SAME_MODEL = "same_model"

    @property
    def rank(self) -> int:
        """Order: 0 for none, 2 for the same model."""
        return list(Kinship).index(self)


@dataclass(frozen=True, slots=True)
class Found:
    """The closest that a model is to what the actor may be, and the name of that."""

    kinship: Kinship
    actor: str


def kinship(model: str, family: str | None, mission: Mission, kind: MissionKind) -> Found:
    """Return how close a model is to the actor: as the policy names it, and as it names itself.

    Names are compared without provider, path and date of issue. Of an actor that nobody named
    nothing is known.
    """
    named = [(kind.agent_model, kind.agent_family), (mission.evidence.model, None)]
    found = [
        Found(_between(model, family, actor, actor_family), actor)
        for actor, actor_family in named
        if actor is not None
    ]
    return max(found, key=lambda one: one.kinship.rank, default=Found(Kinship.NONE, ""))


def _between(model: str, family: str | None, actor: str, actor_family: str | None) -> Kinship:
    if same_model(model, actor):
        return Kinship.SAME_MODEL
    close = related(model, family, actor, actor_family)
    return Kinship.SAME_FAMILY if close else Kinship.NONE
