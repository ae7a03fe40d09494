"""What of a proposal is embedded, and how its vector is made (G8)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sureline.application.ports.embedder import Embedded, EmbeddingModel
from sureline.core.canonical import json_bytes
from sureline.core.checks.parse import parse_output
from sureline.core.checks.paths import ABSENT, parse_path, walk
from sureline.core.values.policy import SlicePolicy
from sureline.core.values.proposal import Proposal, SourceText

CONTENT_WEIGHT = np.float32(2.0)
"""How much more what is particular to a case counts than its task.

As one text, a prompt of 1,000 characters drowns an invoice's fields: similarities of all cases
then lie within .004. Weighted apart, their spread is the same (.06) whatever the prompt's length,
and the similarity floor keeps its meaning (docs/explanation/history.md).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseText:
    """What is embedded of a proposal: its task, and what is particular to it (may be empty)."""

    task: str
    content: str


def case_text(proposal: Proposal, policy: SlicePolicy) -> CaseText:
    """Return the task with the policy's key fields of the output, else with the source.

    Sources that no trusted caller delivered are left out: an agent could make them up to look
    like what was approved before (G34). Verdicts or tags written in a text are only text (H11).
    """
    content = _key_fields(proposal.output, policy)
    if not content:
        content = "\n".join(source.text for source in proposal.source if source.trusted)
    return CaseText(task=proposal.task, content=content)


def stored_case_text(request: bytes, policy: SlicePolicy) -> CaseText:
    """Return the same of a request as the ledger keeps it."""
    given = json.loads(request)
    proposal = Proposal(
        slice_key=given.get("slice_key", ""),
        task=given.get("task", ""),
        output=given.get("output"),
        source=tuple(
            SourceText(ref=one["ref"], text=one["text"], trusted=one["trusted"])
            for one in given.get("source", ())
        ),
    )
    return case_text(proposal, policy)


async def case_vectors(model: EmbeddingModel, cases: Sequence[CaseText]) -> Embedded:
    """Return one vector per case: the sum of task and content, scaled to unit length.

    What is not finite stays so, and a case with nothing to see in it has a row of zeros: it is
    for the caller to refuse them. Raises what the embedder raises.
    """
    texts = [text for case in cases for text in _texts(case)]
    found = await model.embedded(texts)
    rows = np.empty((len(cases), found.dimension), dtype=np.float32)
    at = 0
    for row, case in zip(rows, cases, strict=True):
        parts = len(_texts(case))
        row[:] = _joined(found.rows[at], found.rows[at + 1]) if parts == 2 else found.rows[at]
        at += parts
    return replace(found, rows=rows)


def _texts(case: CaseText) -> list[str]:
    return [case.task, case.content] if case.content else [case.task]


def _key_fields(output: object, policy: SlicePolicy) -> str:
    if not policy.history.fields:
        return ""
    parsed = parse_output(output, structured=policy.checks.structured)
    if not parsed.ok:
        return ""
    lines = [
        f"{where}: {value if isinstance(value, str) else json_bytes(value).decode()}"
        for field in policy.history.fields
        for where, value in walk(parsed.value, parse_path(field))
        if value is not ABSENT and value is not None
    ]
    return "\n".join(lines)


def _joined(task: NDArray[np.float32], content: NDArray[np.float32]) -> NDArray[np.float32]:
    # What is not finite stays so and is refused by its caller.
    with np.errstate(all="ignore"):
        joined: NDArray[np.float32] = task + CONTENT_WEIGHT * content
        length = np.sqrt(joined @ joined)
        return joined / length if length else joined
