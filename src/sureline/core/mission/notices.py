"""What is told of a mission: its id, why, and figures; never a word of what it is about (M8)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sureline.core.canonical import canonical_json
from sureline.core.values.mission import Cause, Mission
from sureline.core.values.mission_kind import MISSION_SLICE
from sureline.core.values.notification import Notice, NoticeKind


def mission_notice(
    mission: Mission, kind: NoticeKind, at: datetime, facts: Mapping[str, Any]
) -> Notice:
    """Return the notice; the mission's version makes its id, so that each edge has its own.

    It names the latest evaluation only where the mission stands as it does because of that.
    """
    last = mission.last if mission.cause in _RESTS_ON_EVALUATION else None
    told = {name: as_text(value) for name, value in facts.items()}
    return Notice(
        workspace=mission.workspace,
        id=f"evt_{_digest(mission, kind)}",
        kind=kind,
        slice_key=f"{MISSION_SLICE}{mission.kind}",
        review_id="",
        decision_id="" if last is None else last.decision_id,
        at=at,
        submitted_by=mission.submitted_by,
        level=0 if mission.escalation is None else mission.escalation.reminded,
        facts={**told, "mission": mission.id, "cause": mission.cause.value},
    )


def as_text(value: Any) -> str:
    """Return a fact as JSON spells it, a text as it is: `true`, `0.41`, never `True`."""
    return value if isinstance(value, str) else canonical_json(value).decode()


_RESTS_ON_EVALUATION = frozenset(
    {
        Cause.ACHIEVED,
        Cause.UNSURE,
        Cause.TO_CONFIRM,
        Cause.LITTLE_EVIDENCE,
        Cause.SWITCH,
        Cause.JUDGE_UNAVAILABLE,
        Cause.CHECK_FAILED,
    }
)


def _digest(mission: Mission, kind: NoticeKind) -> str:
    parts = (mission.workspace, mission.id, kind.value, str(mission.version))
    framed = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(framed.encode("utf-8", "surrogatepass")).hexdigest()[:32]
