"""Make a proposed policy of a suggestion that a person accepts; routing stays as it is (R8)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sureline.application.calibration_report import CalibrationReport, SliceReport
from sureline.application.drafted import SUGGESTION, subject_of
from sureline.application.policies import PolicyBook, newly_human
from sureline.application.ports.clock import Clock
from sureline.application.ports.registry import Activation, Registry
from sureline.core.canonical import canonical_json
from sureline.core.gate.acting import acting
from sureline.core.learning.key_change import KeyChange, with_change
from sureline.core.learning.offers import Offer
from sureline.core.values.policy import Policy
from sureline.errors import Conflict, NotFound, Refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The policy that was proposed, and the key in which it differs from the one that holds.

    `restricted` says that it gives the slice to people, which holds at once, by its switch.
    """

    policy: Policy
    key: str
    change: KeyChange
    restricted: bool
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """Turns suggestions of one workspace's reports into proposed policies."""

    policies: PolicyBook
    registry: Registry
    clock: Clock
    workspace: str

    async def accept(
        self,
        report: CalibrationReport,
        slice_key: str,
        suggestion: str,
        *,
        by: str,
        mark: str | None = None,
    ) -> Accepted:
        """Propose the policy that holds with the one key changed that a suggestion names.

        `report` is one of now; `mark` is that of the offer that the person read. Raises NotFound,
        Conflict where the figures or the policy have changed since, and Refused where no change of
        the policy says it.
        """
        named = acting(by)
        before = await self.policies.latest()
        if report.policy != before.hash:
            raise Conflict("another policy became current meanwhile; look at the figures again")
        offer = offer_of(report, slice_key, suggestion)
        change = _checked(offer, mark)
        content = with_change(before.raw, slice_key, change)
        loaded = await self.policies.propose(canonical_json(content).decode(), by=named)
        await self._record(loaded.policy.hash, slice_key, offer, change, named)
        return Accepted(
            policy=loaded.policy,
            key=change.dotted(slice_key),
            change=change,
            restricted=slice_key in newly_human(before, loaded.policy),
            warnings=loaded.warnings,
        )

    async def _record(
        self, policy_hash: str, slice_key: str, offer: Offer, change: KeyChange, by: str
    ) -> None:
        """Write down who made the policy of which suggestion; nothing becomes current by it."""
        await self.registry.activate(
            Activation(
                workspace=self.workspace,
                kind=SUGGESTION,
                subject=subject_of(policy_hash, slice_key),
                by=by,
                at=self.clock.now(),
                note=f"proposed {change.dotted(slice_key)} as {offer.suggestion} suggests",
            )
        )


def offer_of(report: CalibrationReport, slice_key: str, suggestion: str) -> Offer:
    """Return what a report offers about a suggestion.

    Raises NotFound for a slice that the policy does not have, Conflict for a suggestion that the
    figures do not make (any more).
    """
    found = slice_of(report, slice_key)
    offer = next((one for one in found.offers if one.suggestion == suggestion), None)
    if offer is None:
        now = ", ".join(one.suggestion for one in found.offers)
        raise Conflict(f"the figures do not suggest {suggestion!r} now; they suggest {now}")
    return offer


def slice_of(report: CalibrationReport, slice_key: str) -> SliceReport:
    """Return what a report says of a slice. Raises NotFound."""
    found = next((one for one in report.slices if one.slice_key == slice_key), None)
    if found is None:
        raise NotFound(f"the policy has no slice {slice_key!r}")
    return found


def _checked(offer: Offer, mark: str | None) -> KeyChange:
    """Return the change of an offer that is the one that was read. Raises Conflict, Refused."""
    if mark is not None and mark != offer.mark:
        raise Conflict(
            f"the figures have changed since you looked; now they say: {offer.sentence} "
            "Look again, and decide on these"
        )
    if offer.change is None:
        raise Refused(f"no single key of the policy does this. {offer.how}")
    return offer.change


def accepted_json(accepted: Accepted) -> Mapping[str, Any]:
    """Return what was proposed as JSON values."""
    return {
        "policy": accepted.policy.hash,
        "key": accepted.key,
        "before": accepted.change.before,
        "after": accepted.change.after,
        "restricted": accepted.restricted,
        "warnings": list(accepted.warnings),
    }


def file_lines(slice_key: str, change: KeyChange) -> tuple[str, ...]:
    """Return the change as lines of a policy file, so that the file does not undo it later.

    Values are JSON, which YAML reads alike; of a list that grows, only what is new.
    """
    keys = ("slices", slice_key, *change.path)
    lines = [f"{'  ' * depth}{_key(name)}:" for depth, name in enumerate(keys)]
    if isinstance(change.after, list):
        indent = "  " * len(keys)
        known = change.before or []
        added = [f"{indent}- {_json(one)}" for one in change.after if one not in known]
        return (*lines, *added)
    return (*lines[:-1], f"{lines[-1]} {_json(change.after)}")


def _key(name: str) -> str:
    return name if name.isascii() and name.isidentifier() else _json(name)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
