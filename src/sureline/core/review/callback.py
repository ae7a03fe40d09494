"""What programs are told, as the body of a request (R11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sureline.core.canonical import json_bytes
from sureline.core.review.message import item_link
from sureline.core.values.notification import Notice


def callback_body(notice: Notice, *, page: str | None, shown: Mapping[str, Any]) -> bytes:
    """Return the body of a notice: `id` is the event's, the same for every receiver and try.

    It has no word of the output beyond `shown`, and nothing that could be acted on unseen: the
    receiver fetches the verdict with its own key.
    """
    return json_bytes(
        {
            "id": notice.id,
            "type": notice.kind.value,
            "timestamp": notice.at.isoformat(),
            "data": {
                "workspace": notice.workspace,
                "decision_id": notice.decision_id,
                "review_id": notice.review_id,
                "slice_key": notice.slice_key,
                "action": notice.action,
                "level": notice.level,
                "link": item_link(page, notice),
                "facts": dict(notice.facts),
                "fields": dict(shown),
            },
        }
    )
