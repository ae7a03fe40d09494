"""What is told of a mission: its id, why, and figures; never a word of what it is about (M8)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sureline.core.values.mission import Mission
from sureline.core.values.mission_kind import MISSION_SLICE
from sureline.core.values.notification import Notice, NoticeKind


def mission_notice(
    mission: Mission, kind: NoticeKind, at: datetime, facts: Mapping[str, Any]
) -> Notice:
    """Return the notice; the mission's next version makes its id, so that each edge has one."""
    last = mission.last
    told = {name: str(value) for name, value in facts.items()}
    return Notice(
        workspace=mission.workspace,
        id=f"evt_{_digest(mission, kind)}",
        kind=kind,
        slice_key=f"{MISSION_SLICE}{mission.kind}",
        review_id="",
        decision_id="" if last is None else last.decision_id,
        at=at,
        submitted_by=mission.submitted_by,
        facts={**told, "mission": mission.id, "cause": mission.cause.value},
    )


def _digest(mission: Mission, kind: NoticeKind) -> str:
    parts = (mission.workspace, mission.id, kind.value, str(mission.version))
    framed = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(framed.encode("utf-8", "surrogatepass")).hexdigest()[:32]
