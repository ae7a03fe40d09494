"""The logbook: what changed, when, by whom, and how much was automated before and after (L6)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sureline.application.canary_standings import CANARIES
from sureline.application.drafted import SUGGESTION, drafted
from sureline.application.fresh_index import REEMBEDDED
from sureline.application.holding import CALIBRATION, share_text
from sureline.application.models_seen import MODEL, named_in
from sureline.application.policies import POLICY
from sureline.application.ports.incidents import CLOSED
from sureline.application.ports.ledger import Ledger, RouteDay
from sureline.application.ports.recalls import RECALL
from sureline.application.ports.registry import REBUILD, RESTORED, Activation, Registry
from sureline.application.route_rates import of_proposals
from sureline.core.gate.routing import GUARD
from sureline.core.values.decision import Route
from sureline.core.values.periods import day_number
from sureline.core.values.switch import Switch

KINDS = (
    POLICY,
    CALIBRATION,
    SUGGESTION,
    REBUILD,
    RESTORED,
    REEMBEDDED,
    MODEL,
    CANARIES,
    CLOSED,
    RECALL,
)
"""The activations that are told of; each has the name of its change."""
DAYS = 7
"""Days before and after a change whose rates are compared."""
_SLICE = "slice:"
GLOBAL = "global"


class Change(StrEnum):
    """What kind of change a line of the logbook records."""

    POLICY = "policy"
    """A policy became current."""
    CALIBRATION = "calibration"
    """A calibration's certificates became current."""
    SWITCH_ON = "switch on"
    """A person, or a proposed policy, gave a scope to people."""
    GUARD = "guard"
    """The guard gave a slice to people because audited precision fell."""
    SWITCH_OFF = "switch off"
    """A scope may automate again."""
    REBUILD = "rebuild"
    """Labels and counts were made anew, because they were not what the ledger says."""
    RESTORED = "restored"
    """The store was restored from a backup."""
    REEMBEDDED = "reembedded"
    """Vectors of past decisions were made anew, after a change of embedder."""
    ERASURE = "erasure"
    """A decision's payload was erased."""
    MODEL = "model"
    """Another model answered behind a name of the policy, or one answered for the first time."""
    SUGGESTION = "suggestion"
    """A person made a proposed policy of a suggestion; nothing became current by it."""
    CANARIES = "canaries"
    """A second model passed its canaries, or failed them."""
    INCIDENT = "incident"
    """An incident was closed."""
    RECALL = "recall"
    """What acted alone was called back."""


_OF_ALL = frozenset(
    {
        Change.POLICY,
        Change.CALIBRATION,
        Change.REBUILD,
        Change.RESTORED,
        Change.REEMBEDDED,
        Change.MODEL,
    }
)
"""Changes that bear on every slice; a switch does if its scope is everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How many of some decisions were automated."""

    automated: int
    decisions: int

    @property
    def share(self) -> float | None:
        """Return the automated share in [0, 1], None without decisions."""
        return self.automated / self.decisions if self.decisions else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One change; `before` and `after` are automation in the 7 whole days (UTC) around its day.

    `slice_key` is the slice that it and the rates concern, None for all. The day itself belongs to
    neither side, because it has some of both.
    """

    at: datetime
    change: Change
    subject: str
    by: str
    note: str
    slice_key: str | None
    before: Rate
    after: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Logbook:
    """Reads one workspace's changes from its ledger."""

    ledger: Ledger
    registry: Registry
    workspace: str

    async def entries(
        self, since: datetime | None = None, *, slices: Collection[str] = ()
    ) -> Sequence[Entry]:
        """Return the changes at or after `since`, oldest first.

        With `slices` only what concerns those or everything, and with the rates of those alone.
        """
        days = [
            one
            for one in await self.ledger.route_days(self.workspace)
            if not slices or one.slice_key in slices
        ]
        found = [
            Entry(
                at=one.at,
                change=one.change,
                subject=one.subject,
                by=one.by,
                note=one.note,
                slice_key=one.slice_key,
                before=_rate(days, one, -DAYS, -1),
                after=_rate(days, one, 1, DAYS),
            )
            for one in await self._acts()
            if (since is None or one.at >= since) and (not slices or one.concerns(slices))
        ]
        return sorted(found, key=lambda entry: entry.at)

    async def _acts(self) -> list[_Act]:
        acts = [
            _activation(one)
            for kind in KINDS
            for one in await self.registry.activations(self.workspace, kind)
        ]
        acts += _switched(await self.ledger.switch_history(self.workspace))
        for erasure in await self.ledger.erasures(self.workspace):
            acts.append(
                _Act(
                    at=erasure.erased_at,
                    change=Change.ERASURE,
                    subject=erasure.decision_id,
                    by=erasure.by,
                    note=erasure.reason,
                    slice_key=erasure.slice_key,
                )
            )
        return acts


@dataclass(frozen=True, slots=True, kw_only=True)
class _Act:
    at: datetime
    change: Change
    subject: str
    by: str
    note: str
    slice_key: str | None

    def concerns(self, slices: Collection[str]) -> bool:
        """Tell whether whoever may see these slices may see it: what names none may be of others.

        A batch, a recall over several slices and an incident's end do not say whose they are.
        """
        if self.slice_key is not None:
            return self.slice_key in slices
        return self.change in _OF_ALL or self.subject == GLOBAL


def _activation(one: Activation) -> _Act:
    return _Act(
        at=one.at,
        change=Change(one.kind),
        subject=_subject(one),
        by=one.by,
        note=_note(one),
        slice_key=drafted(one)[1] if one.kind == SUGGESTION else None,
    )


def _subject(one: Activation) -> str:
    """Return what became current or was proposed; of a model, the name that it answers to."""
    if one.kind == SUGGESTION:
        return drafted(one)[0]
    named = named_in(one) if one.kind == MODEL else None
    return one.subject if named is None else named[0]


def _note(one: Activation) -> str:
    """Return why, and for how many decisions if not for all."""
    if one.share == 1:
        return one.note
    for_some = f"for {share_text(one.share)} of the decisions"
    return f"{for_some}: {one.note}" if one.note else for_some


def _switched(history: Sequence[Switch]) -> Iterator[_Act]:
    for one in history:
        change = Change.SWITCH_ON if one.on else Change.SWITCH_OFF
        yield _Act(
            at=one.changed_at,
            change=Change.GUARD if one.on and one.by == GUARD else change,
            subject=one.scope,
            by=one.by,
            note=one.reason,
            slice_key=one.scope.removeprefix(_SLICE) if one.scope.startswith(_SLICE) else None,
        )


def _rate(days: Sequence[RouteDay], act: _Act, first: int, last: int) -> Rate:
    """Return the automation from `first` to `last` days after the act's day.

    That of an act for the whole workspace is without evaluations of missions.
    """
    of = day_number(act.at)
    near = [one for one in days if first <= one.day - of <= last]
    if act.slice_key is None:
        return automation(of_proposals(near))
    return automation([one for one in near if one.slice_key == act.slice_key])


def automation(days: Iterator[RouteDay] | Sequence[RouteDay]) -> Rate:
    """Return how many of the decisions of some days were automated."""
    automated = decisions = 0
    for one in days:
        decisions += one.count
        automated += one.count if one.route == Route.AUTO_APPROVE else 0
    return Rate(automated=automated, decisions=decisions)


def entry_json(entry: Entry) -> dict[str, Any]:
    """Return a line of the logbook as JSON values."""
    return {
        "at": entry.at.isoformat(),
        "change": entry.change,
        "subject": entry.subject,
        "by": entry.by,
        "note": entry.note,
        "slice_key": entry.slice_key,
        "before": _rate_json(entry.before),
        "after": _rate_json(entry.after),
    }


def _rate_json(rate: Rate) -> dict[str, Any]:
    return {"automated": rate.automated, "decisions": rate.decisions, "share": rate.share}
