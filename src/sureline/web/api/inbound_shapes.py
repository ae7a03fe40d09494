"""What a delivery from elsewhere says, and what is answered to it."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Required

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from sureline.core.values.outcome import Action
from sureline.core.values.review import ReviewState
from sureline.web.api.review_shapes import Digest
from sureline.web.api.shapes import Comment, Moment, Name


@with_config(ConfigDict(extra="forbid", strict=True))
class InboundFields(TypedDict, total=False):
    """What somebody says elsewhere about the content whose `digest` they were shown.

    `reviewer` is the id that they have there. `output` is the whole output as it shall be, for an
    edit. `reason` is a code such as `not_in_source`, or words.
    """

    review_id: Required[Name]
    digest: Required[Digest]
    action: Required[Literal["approve", "reject", "edit", "escalate", "skip"]]
    reviewer: Required[Annotated[str, Field(min_length=1, max_length=200)]]
    output: Any
    reason: Comment | None


class InboundShape(TypedDict):
    """How the item stands after that; it holds no word of what was written.

    `release_at` is until when the verdict can be taken back, on the pages; `approvals` are those
    that count so far.
    """

    review_id: str
    decision_id: str
    state: ReviewState
    action: Action
    by: str
    digest: str
    version: int
    level: int
    approvals: list[str]
    approvals_needed: int
    release_at: Moment | None


class InWorkShape(TypedDict):
    """It is being worked on; send it again, and the answer to it comes."""

    state: Literal["in_work"]
