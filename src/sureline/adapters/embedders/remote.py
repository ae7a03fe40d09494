"""A remote embedding model, behind whatever provider a policy names."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sureline.adapters.embedders.normal_form import normal_form
from sureline.adapters.embedders.windows import unit, windows
from sureline.application.ports.embedder import Embedded, EmbeddingClient, EmbeddingReply
from sureline.core.values.model_card import Usage
from sureline.errors import EmbeddingFailed, ModelFailed

MAX_CHARACTERS = 200_000
"""Longer texts are refused, never cut (H12)."""

WINDOW_CHARACTERS = 2_000
"""At most 6,000 tokens in any script; the smallest limit among common models is 8,192."""

WINDOWS_AT_ONCE = 32
"""Windows in one request: below every provider's limit on inputs and on tokens together."""

MOST_DIMENSIONS = 16_384
LONGEST_ID = 200


class RemoteModel:
    """An EmbeddingModel whose model and dimension are known from its answers only.

    `model_id` is what the provider calls the model that answered, with our normalisation and the
    dimension. The dimension of a model is learned from its first reply and then held to. A text
    of more than 2,000 characters is embedded in windows; its vector is the mean of theirs, scaled
    to unit length. May be used from several event loops.
    """

    def __init__(self, name: str, client: EmbeddingClient) -> None:
        self.name = name
        self._client = client
        self._dimensions: dict[str, int] = {}
        self._latest = name

    async def embedded(self, texts: Sequence[str]) -> Embedded:
        """Return the texts' vectors. Raises EmbeddingFailed.

        That is for a text of more than 200,000 characters, a provider that fails or is late, rows
        that are missing, of another length, not finite or all zeros, and two models in one answer.
        """
        characters = max(map(len, texts), default=0)
        if characters > MAX_CHARACTERS:
            raise EmbeddingFailed(
                f"a text has {characters:,} characters; at most {MAX_CHARACTERS:,} are embedded"
            )
        parts = (
            await asyncio.to_thread(_parts_of, texts) if characters > 10_000 else (_parts_of(texts))
        )
        flat = [part for of_text in parts for part in of_text]
        if not flat:
            return self._nothing(len(texts))
        rows, answered, usage = await self._ask(flat)
        found = np.zeros((len(texts), rows.shape[1]), dtype=np.float32)
        at = 0
        for row, of_text in zip(found, parts, strict=True):
            if of_text:
                row[:] = _mean(rows[at : at + len(of_text)])
            at += len(of_text)
        self._latest = answered
        return Embedded(
            rows=found,
            model_id=self._model_id(answered, rows.shape[1]),
            answered=answered,
            usage=usage,
        )

    async def _ask(self, flat: Sequence[str]) -> tuple[NDArray[np.float64], str, Usage]:
        """Return a unit row per window, the one model that made them all, and what that took."""
        rows, answered, usages = [], None, []
        for start in range(0, len(flat), WINDOWS_AT_ONCE):
            asked = flat[start : start + WINDOWS_AT_ONCE]
            try:
                reply = await self._client.embed(self.name, asked)
            except ModelFailed as error:
                raise EmbeddingFailed(
                    f"{self.name} gave no vectors ({error.reason})", reason=error.reason
                ) from None
            if answered not in {None, reply.model}:
                raise EmbeddingFailed(f"two models answered as {self.name}")
            answered = reply.model
            usages.append(reply.usage)
            rows.append(self._checked(reply, len(asked)))
        assert answered is not None
        return np.concatenate(rows), answered, sum(usages[1:], usages[0])

    def _checked(self, reply: EmbeddingReply, expected: int) -> NDArray[np.float64]:
        if not _is_name(reply.model):
            raise EmbeddingFailed(f"{self.name} does not say which model answered")
        try:
            rows = np.asarray(reply.rows)
        except ValueError:
            raise EmbeddingFailed(f"{self.name} gave rows of different lengths") from None
        if rows.ndim != 2 or len(rows) != expected or rows.dtype.kind not in "fi":
            raise EmbeddingFailed(
                f"{self.name} gave {rows.dtype} of shape {rows.shape} for {expected} texts"
            )
        width = len(rows[0])
        held = self._dimensions.get(reply.model, width)
        if width != held or not 1 < held <= MOST_DIMENSIONS:
            raise EmbeddingFailed(f"{self.name} gave vectors of {width} numbers, expected {held}")
        rows = rows.astype(np.float64)
        with np.errstate(all="ignore"):
            lengths = np.sqrt((rows * rows).sum(axis=1))
        if not all(math.isfinite(length) and length > 0 for length in lengths.tolist()):
            raise EmbeddingFailed(f"{self.name} gave a vector that is not finite or all zeros")
        self._dimensions[reply.model] = held
        scaled: NDArray[np.float64] = rows / lengths[:, np.newaxis]
        return scaled

    def _nothing(self, count: int) -> Embedded:
        """Return rows of zeros without asking: there is nothing to see in any of the texts."""
        dimension = self._dimensions.get(self._latest, 1)
        return Embedded(
            rows=np.zeros((count, dimension), dtype=np.float32),
            model_id=self._model_id(self._latest, dimension),
        )

    def _model_id(self, answered: str, dimension: int) -> str:
        provider = self.name.partition(":")[0]
        return f"{provider}:{answered}:nfc-ws:window{WINDOW_CHARACTERS}-mean:l2:{dimension}"


def _parts_of(texts: Sequence[str]) -> list[list[str]]:
    # JSON has no lone surrogates.
    forms = (normal_form(text).encode("utf-8", "replace").decode() for text in texts)
    return [windows(form, WINDOW_CHARACTERS) for form in forms]


def _mean(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    return unit(rows.sum(axis=0).astype(np.float32))


def _is_name(model: object) -> bool:
    return isinstance(model, str) and 0 < len(model) <= LONGEST_ID and model.isprintable()
