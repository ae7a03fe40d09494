"""A delivery to send, and a notifier that may reach this machine."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sureline.adapters.clock import SystemClock
from sureline.adapters.notifiers.webhook import WebhookNotifier
from sureline.application.ports.notifiers import Parcel
from sureline.application.ports.outbox import Delivery, DeliveryState
from sureline.core.values.notification import Notice, NoticeKind
from tests.receivers import SECRET

MOMENT = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
NOTICE = Notice(
    workspace="default",
    id="evt_1",
    kind=NoticeKind.DECIDED,
    slice_key="invoices",
    review_id="d/1 \u202e",
    decision_id="d/1 \u202e",
    at=MOMENT,
    action="approve",
)
PARCEL = Parcel(
    deliveries=[
        Delivery(
            id="dlv_1",
            channel="hook",
            notice=NOTICE,
            state=DeliveryState.WAITING,
            tries=1,
            created_at=MOMENT,
            due_at=MOMENT,
        )
    ],
    page="https://review.example.com",
)
ALLOWED = frozenset({"127.0.0.1", "hooks.example.com"})


def notifier(url: str, **more: Any) -> WebhookNotifier:
    given = {"secret": lambda: SECRET, "clock": SystemClock(), "allowed": ALLOWED}
    return WebhookNotifier(url=url, **{**given, **more})
