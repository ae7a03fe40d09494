"""Take in a proposal from outside: one strict description for Python, HTTP and CLI."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Required

from pydantic import ConfigDict, Field, Strict, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from sureline.application.fault_words import in_words
from sureline.core.values.proposal import Generator, Proposal, SourceText, Stakes

_FORBID = ConfigDict(extra="forbid", strict=True)

Text = Annotated[str, Field(max_length=2_000_000)]
Name = Annotated[str, Field(min_length=1, max_length=200)]

MOST_GENERATIONS = 64
MOST_LOGPROBS = 100_000


@with_config(_FORBID)
class SourceFields(TypedDict):
    """A document behind an output."""

    ref: Name
    text: Text


@with_config(_FORBID)
class GeneratorFields(TypedDict, total=False):
    """The model that made an output."""

    model: Required[Name]
    family: Name | None


@with_config(_FORBID)
class ProposalFields(TypedDict, total=False):
    """A proposal's fields; those not marked required may be left out.

    `self_report` may be anything: what is no number in [0, 1] becomes a failed signal, and so
    does a number in `logprobs` that is not finite or above 0. Entries of `generations` are read
    like `output`.
    `deadline` is in seconds, from 0.001 to 3600.
    """

    slice_key: Required[Name]
    task: Required[Text]
    output: Required[Any]
    id: Name | None
    source: Text | list[SourceFields] | None
    action_class: Name | None
    stakes: Annotated[Stakes, Strict(False)] | None
    generator: GeneratorFields | None
    self_report: Any
    reasoning: Text | None
    evidence: list[Any] | None
    alternatives: list[Any] | None
    retry_of: Name | None
    force_human: bool
    batch_id: Name | None
    generations: Annotated[list[Any], Field(max_length=MOST_GENERATIONS)] | None
    logprobs: Annotated[list[float], Field(max_length=MOST_LOGPROBS)] | None
    variant: Name | None
    deadline: Annotated[float, Field(gt=0.0, le=3600.0)] | None
    metadata: dict[str, Any] | None
    subject: Name | None


@cache
def _adapter() -> TypeAdapter[ProposalFields]:
    return TypeAdapter(ProposalFields)


def read_proposal(
    raw: Mapping[str, Any],
    *,
    workspace: str = "default",
    trusted: bool = True,
    submitted_by: str | None = None,
) -> Proposal:
    """Return the proposal that `raw` describes.

    `trusted` says whether the caller may vouch for task and sources; otherwise they count as
    claimed. `submitted_by` is the name of the caller's API key.
    Raises InvalidInput naming every field at fault and what was expected there.
    """
    try:
        fields = _adapter().validate_python(raw)
    except ValidationError as error:
        raise in_words(error, raw, shape=ProposalFields, whole="proposal") from None
    given = {name: value for name, value in fields.items() if value is not None}
    given["output"] = fields["output"]
    for name in ("evidence", "alternatives", "generations", "logprobs"):
        if name in given:
            given[name] = tuple(given[name])  # type: ignore[arg-type]
    if "source" in given:
        given["source"] = _sources(fields["source"], trusted)
    if "generator" in given:
        given["generator"] = Generator(**fields["generator"])  # type: ignore[arg-type]
    own = {"workspace": workspace, "trusted": trusted, "submitted_by": submitted_by}
    return Proposal(**given, **own)  # type: ignore[arg-type]


def _sources(source: str | list[SourceFields] | None, trusted: bool) -> tuple[SourceText, ...]:
    if source is None:
        return ()
    if isinstance(source, str):
        return (SourceText(ref="source", text=source, trusted=trusted),)
    return tuple(SourceText(ref=one["ref"], text=one["text"], trusted=trusted) for one in source)
