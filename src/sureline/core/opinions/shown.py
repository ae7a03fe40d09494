"""A proposal as a model is shown it: task, sources and output, each between fences (G9).

Nothing is shortened: what is wrong could be in the part that was cut off. Sources that no trusted
caller delivered are left out, because an agent could make them up to support its output (G34);
so are its reasoning and its opinion of itself.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from sureline.core.canonical import canonical_json
from sureline.core.checks.parse import parse_output
from sureline.core.opinions.fence import fenced
from sureline.core.values.proposal import Proposal
from sureline.errors import InvalidInput, ModelFailed

MOST_CHARACTERS = 200_000
"""Of a task with its sources and output; more is `too_long` and goes to a person."""

OUTPUT = "OUTPUT"


@dataclass(frozen=True, slots=True)
class Shown:
    """The texts that a model is shown, each with its label, in order."""

    parts: tuple[tuple[str, str], ...]

    @property
    def output(self) -> str:
        """Return the output as it is shown."""
        return dict(self.parts)[OUTPUT]

    @property
    def others(self) -> tuple[str, ...]:
        """Return all that is shown beside the output."""
        return tuple(text for label, text in self.parts if label != OUTPUT)

    def between(self, nonce: str) -> str:
        """Return the texts between fences that only someone who knows the nonce could write."""
        return "\n\n".join(fenced(label, text, nonce) for label, text in self.parts)

    def digest(self, instructions: str) -> str:
        """Return the SHA-256 of these texts under these instructions, whatever the nonce is.

        Not of the fenced text: a text with fences of its own could then pass for another case.
        """
        return hashlib.sha256(canonical_json([instructions, self.parts])).hexdigest()


def shown(proposal: Proposal) -> Shown:
    """Return what a model is shown of a proposal.

    Raises ModelFailed: `too_long`, or `unreadable_output` for what is no text and no JSON value.
    """
    sources = [one.text for one in proposal.source if one.trusted]
    labels = ["SOURCE"] if len(sources) == 1 else [f"SOURCE {n + 1}" for n in range(len(sources))]
    parts = (
        ("TASK", proposal.task),
        *zip(labels, sources, strict=True),
        (OUTPUT, _output_text(proposal.output)),
    )
    if sum(len(text) for _, text in parts) > MOST_CHARACTERS:
        raise ModelFailed("too_long")
    try:
        canonical_json(parts)
    except InvalidInput as error:  # lone surrogates, which no request could carry
        raise ModelFailed("unreadable_output") from error
    return Shown(parts)


def _output_text(output: object) -> str:
    parsed = parse_output(output, structured=False)
    if not parsed.ok:
        raise ModelFailed("unreadable_output")
    if isinstance(parsed.value, str):
        return parsed.value
    return json.dumps(parsed.value, ensure_ascii=False, indent=1)
