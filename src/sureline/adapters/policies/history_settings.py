"""The keys of a policy that say how similar past cases are found."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from sureline.adapters.policies.setting import (
    FIELDS,
    RATE,
    FieldPath,
    Rate,
    Settings,
    Text,
    setting,
)

EMBEDDER = "hashing, local, or a model such as openai:text-embedding-3-small"


def _known_form(name: str) -> str:
    provider, colon, model = name.partition(":")
    if name not in {"hashing", "local"} and not (provider and colon and model):
        raise ValueError(f"expected {EMBEDDER}")
    return name


EmbedderName = Annotated[Text, AfterValidator(_known_form)]


class HistorySettings(Settings):
    """How similar past cases are found."""

    neighbours: Annotated[int, Field(ge=1, le=1000)] = setting(
        10,
        expected="a whole number from 1 to 1000",
        meaning="How many similar past cases are asked; with fewer verdicts history says nothing.",
    )
    similarity_floor: Rate = setting(
        0.6, expected=RATE, meaning="Below this similarity a case does not count as similar."
    )
    window: Annotated[int, Field(ge=1, le=1_000_000)] = setting(
        1000,
        expected="a whole number from 1 to 1000000",
        meaning="How many of the latest verdicts are searched; more than 20,000 only on PostgreSQL "
        "with pgvector (`sureline cases status`).",
    )
    fields: list[FieldPath] = setting(
        [],
        expected=FIELDS,
        meaning="Fields that are compared beside the task; with none, the source text is.",
    )
    embedder: EmbedderName = setting(
        "hashing",
        expected=EMBEDDER,
        meaning="What turns texts into vectors: `hashing` is built in, `local` is a sentence "
        "encoder on this machine (extra `local`), `provider:model` is asked over the network "
        "(extra `models`). Vectors of another embedder are not compared; `sureline reembed` "
        "makes them anew.",
    )

    @model_validator(mode="after")
    def _window_holds_neighbours(self) -> HistorySettings:
        if self.window < self.neighbours:
            raise ValueError(f"window {self.window} is smaller than neighbours {self.neighbours}")
        return self
