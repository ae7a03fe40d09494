"""What there is to tell: of an item's steps, of corrections and of switches (R10, R14)."""

from __future__ import annotations

import hashlib
from datetime import datetime

from sureline.core.chain_verification import Fault
from sureline.core.review.correction import Correction
from sureline.core.values.notification import Notice, NoticeKind
from sureline.core.values.outcome import OutcomeSource
from sureline.core.values.review import Review, ReviewKind, ReviewState
from sureline.core.values.switch import Switch


def notices(before: Review | None, after: Review) -> tuple[Notice, ...]:
    """Return what happened between two states of an item; `before` None opens it.

    Nobody waits for what has acted already: nothing is told of audits and recalled items.
    """
    if after.kind is not ReviewKind.REVIEW:
        return ()
    if before is None:
        return (_notice(after, NoticeKind.OPENED, after.opened_at),) if after.state.is_open else ()
    found = []
    if after.level > before.level and after.stepped_at is not None:
        found.append(_notice(after, NoticeKind.ESCALATED, after.stepped_at))
    if after.released and not before.released:
        if after.state is ReviewState.EXPIRED:
            found.append(_notice(after, NoticeKind.EXPIRED, after.deadline))
        if after.state is ReviewState.DECIDED and after.verdict is not None:
            found.append(_notice(after, NoticeKind.DECIDED, after.verdict.at))
    return tuple(found)


def corrected_notice(
    found: Correction, *, workspace: str, decision_id: str, slice_key: str, submitted_by: str | None
) -> Notice:
    """Tell that what is known of an output that acted has turned; who said so goes by kind only."""
    said = found.answer
    return Notice(
        workspace=workspace,
        id=f"evt_{_digest(workspace, decision_id, NoticeKind.CORRECTED, said.id)}",
        kind=NoticeKind.CORRECTED,
        slice_key=slice_key,
        review_id="",
        decision_id=decision_id,
        at=said.at,
        submitted_by=submitted_by,
        action=said.action.value,
        facts={
            "was": _verdict(not found.correct),
            "now": _verdict(found.correct),
            "source": said.source.value,
            "said_by": "log" if said.source is OutcomeSource.IMPORT else "person",
        },
    )


def switch_notice(switch: Switch, mark: int, *, by_guard: bool) -> Notice:
    """Tell of a switch, or of the guard's; `mark` is its row's place in the ledger.

    Its reason stays in the ledger: it is what a person wrote, and may say anything.
    """
    kind = NoticeKind.TRIPPED if switch.on and by_guard else NoticeKind.SWITCHED
    of_slice = switch.scope.startswith(_SLICE)
    return Notice(
        workspace=switch.workspace,
        id=f"evt_{_digest(switch.workspace, kind, str(mark))}",
        kind=kind,
        slice_key=switch.scope.removeprefix(_SLICE) if of_slice else "",
        review_id="",
        decision_id="",
        at=switch.changed_at,
        facts={"scope": switch.scope, "turned": "on" if switch.on else "off"},
    )


def broken_notice(fault: Fault, *, workspace: str, at: datetime) -> Notice:
    """Tell that the ledger does not hold, once a day for each place and kind of fault."""
    parts = (fault.kind.value, str(fault.seq), at.date().isoformat())
    return Notice(
        workspace=workspace,
        id=f"evt_{_digest(workspace, NoticeKind.BROKEN, *parts)}",
        kind=NoticeKind.BROKEN,
        slice_key="",
        review_id="",
        decision_id="",
        at=at,
        facts={"row": str(fault.seq), "fault": fault.kind.value},
    )


_SLICE = "slice:"


def _verdict(correct: bool) -> str:
    return "right" if correct else "wrong"


def delivery_id(notice_id: str, channel: str) -> str:
    """Return the id of telling a notice to a channel: the same on every try, its own for each."""
    return f"dlv_{_digest(notice_id, channel)}"


def _notice(item: Review, kind: NoticeKind, at: datetime) -> Notice:
    decided = kind is NoticeKind.DECIDED and item.verdict is not None
    return Notice(
        workspace=item.workspace,
        id=f"evt_{_digest(item.workspace, item.id, kind, str(item.level))}",
        kind=kind,
        slice_key=item.slice_key,
        review_id=item.id,
        decision_id=item.decision_id,
        at=at,
        submitted_by=item.submitted_by,
        action=item.verdict.action.value if decided and item.verdict else None,
        level=item.level,
    )


def _digest(*parts: str) -> str:
    """Return 128 bits in hexadecimal; ids of proposals are any text, and headers are not."""
    framed = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(framed.encode("utf-8", "surrogatepass")).hexdigest()[:32]
