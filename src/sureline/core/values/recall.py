"""Which decisions are called back, and how far that is (R14)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sureline.errors import InvalidInput

SHORTEST_HASH = 8
"""Characters of a policy's hash that name it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallWanted:
    """What the decisions have in common that are called back; all that is given must hold.

    `model` is one that had a part in a score, or that the agent named as its generator: a name as
    the policy has it, the part after its colon, or the id that answered. `policy` is a hash or the
    beginning of one. `since` is included, `until` is not. Raises InvalidInput where nothing is
    given, or what can cover nothing.
    """

    certificate: str | None = None
    model: str | None = None
    policy: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    slice_key: str | None = None

    def __post_init__(self) -> None:
        given = (self.certificate, self.model, self.policy, self.slice_key, self.since, self.until)
        if all(one is None for one in given):
            raise InvalidInput(
                "say what to call back: a certificate, model, policy, slice or period"
            )
        for name in ("certificate", "model", "policy", "slice_key"):
            if getattr(self, name) == "":
                raise InvalidInput("must not be empty", field=name)
        if self.policy is not None and len(self.policy) < SHORTEST_HASH:
            raise InvalidInput(f"expected {SHORTEST_HASH} characters or more", field="policy")
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise InvalidInput("the period ends before it begins", field="until")

    def covers(
        self,
        *,
        slice_key: str,
        policy: str,
        certificate: str | None,
        decided_at: datetime,
        models: Collection[str],
    ) -> bool:
        """Tell whether a decision is meant."""
        return (
            self.slice_key in {None, slice_key}
            and self.certificate in {None, certificate}
            and (self.policy is None or policy.startswith(self.policy))
            and (self.since is None or decided_at >= self.since)
            and (self.until is None or decided_at < self.until)
            and (self.model is None or self._is_among(models))
        )

    def _is_among(self, models: Collection[str]) -> bool:
        return any(self.model in {one, one.partition(":")[2]} for one in models)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """Decisions that are called back, and how far that is.

    It covers what was decided before it began, up to the place `until_mark` of the ledger, and has
    been carried out up to `done_mark`. Of its decisions `recalled` were called back, `queued` wait
    or waited for a person (the others were erased), and of `used` the approval had been used.
    """

    workspace: str
    id: str
    wanted: RecallWanted
    reason: str
    by: str
    started_at: datetime
    until_mark: int = 0
    done_mark: int = 0
    recalled: int = 0
    queued: int = 0
    used: int = 0
    finished_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Covered:
    """A decision that acted alone and is covered by a recall.

    `mark` is its place in the ledger. `used` says that its approval was used, `recalled_by` which
    recall called it back before, None if none did.
    """

    mark: int
    decision_id: str
    slice_key: str
    decided_at: datetime
    stakes: str
    confidence: float | None
    certificate: str | None
    submitted_by: str | None
    used: bool
    recalled_by: str | None
