"""A place in the ledger as one number, whatever the stream: for what walks through all of them.

The common stream's places are its `seq`; those of writer n begin at n times 2^40, which is more
than a writer can write.
"""

from __future__ import annotations

from sureline.adapters.storage.transaction import COMMON_STREAM

_SEQS = 40
EVERYWHERE = 2**62
"""Beyond every place."""
WRITER = "writer-"
"""What the name of a writer's stream begins with."""


def number_of(stream: str) -> int:
    """Return a stream's number: 0 for the common one, n for that of writer n."""
    return 0 if stream == COMMON_STREAM else int(stream.removeprefix(WRITER))


def place_of(stream: str, seq: int) -> int:
    """Return the place of a row."""
    return (number_of(stream) << _SEQS) + seq


def stream_and_seq(place: int) -> tuple[str, int]:
    """Return the stream and the number in it."""
    number, seq = divmod(place, 1 << _SEQS)
    return (f"{WRITER}{number}" if number else COMMON_STREAM), seq
