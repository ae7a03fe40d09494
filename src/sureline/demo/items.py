"""What the demonstration feeds to the gate: an output with its source, and the hidden label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

from sureline.demo.corpus import SEED, SIZE, Receipt, make_corpus, seeded
from sureline.demo.extractor import extract

DAY = datetime(2026, 7, 1, 9, tzinfo=UTC)
"""When the demonstration takes place: after the last receipt, the same for ever."""
TASK = "Extract vendor, date, total, currency and tax from the receipt."


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One output to decide on.

    `correct` is the truth: only the simulated reviewer and the final comparison look at it.
    `wrong` names the fields that are wrong, where that is known.
    """

    id: str
    slice_key: str
    task: str
    source: str
    output: Any
    correct: bool
    self_report: float | None = None
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Items in the order in which they arrive, and the policy text (log-only) that fits them.

    `about` says in one sentence where they come from. `arithmetic` tells whether the items are
    receipts whose sums can be checked. `day` is the moment that counts as now, None for the real
    one.
    """

    items: Sequence[Item]
    policy: str
    about: str
    arithmetic: bool
    day: datetime | None = None


def bundled(seed: int = SEED, size: int = SIZE) -> Material:
    """Return the bundled corpus as the extractor reads it."""
    receipts = make_corpus(seeded(seed), size)
    return Material(
        items=[_item(receipt) for receipt in receipts],
        policy=(files("sureline.demo") / "policy.yaml").read_text(encoding="utf-8"),
        about=f"{size:,} receipts of invented shops (seed {seed}), read by a simple extractor.",
        arithmetic=True,
        day=DAY,
    )


def _item(receipt: Receipt) -> Item:
    """Let the extractor read a receipt's text, and mark it by the truth."""
    extraction = extract(receipt.text)
    wrong = receipt.truth.wrong_fields(extraction.output)
    return Item(
        id=receipt.id,
        slice_key=f"receipts-{receipt.market}",
        task=TASK,
        source=receipt.text,
        output=extraction.output,
        correct=not wrong,
        self_report=extraction.self_report,
        wrong=wrong,
    )
