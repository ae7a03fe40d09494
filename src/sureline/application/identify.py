"""Give a proposal its digests: what makes it the same proposal, and the same task."""

from __future__ import annotations

import hmac
import json
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sureline.core.canonical import canonical_json
from sureline.core.values.proposal import Proposal
from sureline.errors import InvalidInput

_ASCII_REST = bytes(code for code in range(128) if not chr(code).isalnum())
_BLANK = " \t\r\n\ufeff"
_FILLERS = frozenset("\u115f\u1160\u3164\uffa0")
"""Letters of Hangul that show nothing."""

MOST_PARSED = 100_000
"""Characters of a text that is compared as the JSON it holds; reading more would hold up others."""
UNREADABLE_CHARACTERS = 10_000
"""How much is kept of an output that is no JSON value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The proposal as canonical JSON with keyed digests of its content and of its task.

    The digests are HMAC-SHA-256 under the store's secret: after an erasure they betray nothing
    about a short or guessable payload. Only letters and digits make another task.
    `sample_key` follows from task, source and output alone: neither another id nor other
    metadata draws another sample. `subject` is the key of whom it is about, None for nobody.
    """

    request: bytes
    content_digest: bytes
    task_digest: bytes
    sample_key: str
    subject: bytes | None = None


def identify(proposal: Proposal, secret: bytes) -> Identity:
    """Return the identity of a proposal. Raises InvalidInput if it is not JSON throughout."""
    request = canonical_json(proposal_json(proposal))
    sources = {normal_text(text.text) for text in proposal.source} - {""}
    task = canonical_json([normal_text(proposal.task), sorted(sources)])
    task_digest = hmac.digest(secret, b"task\x00" + task, "sha256")
    drawn = b"sample\x00" + task_digest + canonical_json(normal_output(proposal.output))
    return Identity(
        request=request,
        content_digest=hmac.digest(secret, b"content\x00" + request, "sha256"),
        task_digest=task_digest,
        sample_key=hmac.digest(secret, drawn, "sha256")[:16].hex(),
        subject=None
        if proposal.subject is None
        else subject_key(secret, proposal.workspace, proposal.subject),
    )


def subject_key(secret: bytes, workspace: str, subject: str) -> bytes:
    """Return under what a subject's decisions are found: it cannot be guessed without the secret.

    Raises InvalidInput for a text that is no Unicode.
    """
    named = canonical_json([workspace, subject])
    return hmac.digest(secret, b"subject\x00" + named, "sha256")


def normal_output(output: Any) -> Any:
    """Return what makes an output the same output again, whatever its spelling.

    JSON text counts as what it says, a number by its value, and of texts the letters and digits:
    a space, a mark or an invisible character draws no other sample (G34).
    """
    if isinstance(output, str):
        return _normal_string(output)
    storable = _storable(output)
    try:
        return _normal(storable)
    except RecursionError:
        return storable


def _normal_string(text: str) -> Any:
    if len(text) <= MOST_PARSED and text.lstrip(_BLANK)[:1] in {"{", "["}:
        with suppress(ValueError, RecursionError):  # no JSON after all: a text like any other
            return _normal(json.loads(text.strip(_BLANK)))
    return normal_text(text)


def _normal(value: Any) -> Any:
    if isinstance(value, str):
        return normal_text(value)
    if isinstance(value, dict):
        return {normal_text(str(key)): _normal(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_normal(one) for one in value]
    if isinstance(value, float):
        return int(value) if value.is_integer() else str(value)
    return value


def normal_text(text: str) -> str:
    """Return a text's letters and digits without case: what makes it the same task again.

    Everything else (spaces, marks, punctuation, what is invisible) can be varied without anybody
    seeing another task.
    """
    if text.isascii():
        return text.lower().encode().translate(None, _ASCII_REST).decode()
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(c for c in folded if c.isalnum() and c not in _FILLERS)


def proposal_json(proposal: Proposal) -> dict[str, Any]:
    """Return the proposal's given fields, without its id, as JSON values."""
    given: dict[str, Any] = {
        "slice_key": proposal.slice_key,
        "task": proposal.task,
        "output": _storable(proposal.output),
        "action_class": proposal.action_class,
        "stakes": proposal.stakes,
        "self_report": _readable(proposal.self_report),
        "reasoning": proposal.reasoning,
        "retry_of": proposal.retry_of,
        "batch_id": proposal.batch_id,
        "variant": proposal.variant,
        "subject": proposal.subject,
    }
    for name in ("evidence", "alternatives", "metadata"):
        value = getattr(proposal, name)
        if value:
            given[name] = value
    if proposal.generations:
        given["generations"] = [_storable(one) for one in proposal.generations]
    if proposal.logprobs:
        given["logprobs"] = [_readable(one) for one in proposal.logprobs]
    if proposal.source:
        given["source"] = [
            {"ref": text.ref, "text": text.text, "trusted": text.trusted}
            for text in proposal.source
        ]
    if proposal.generator is not None:
        given["generator"] = {
            "model": proposal.generator.model,
            "family": proposal.generator.family,
        }
    if proposal.force_human:
        given["force_human"] = True
    return {name: value for name, value in given.items() if value is not None}


def _storable(output: Any) -> Any:
    """Return the output, or a marked description of one that JSON cannot say.

    Such an output is rejected by the checks; refusing it here would lose the record of it.
    """
    try:
        canonical_json(output)
    except InvalidInput:
        return {"$unreadable": _described(output)}
    return output


def _described(output: Any) -> str:
    try:
        return ascii(output)[:UNREADABLE_CHARACTERS]
    except (ValueError, RecursionError):  # an integer too long to print, or endless nesting
        return type(output).__name__


def _readable(figure: object) -> object:
    """Return a self-report or log-probability as it can be stored: NaN and infinities as names."""
    if isinstance(figure, float) and figure - figure != 0:
        return str(figure)
    return figure
