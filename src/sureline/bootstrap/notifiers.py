"""Wire the outbox: which channels there are, and what carries notices to them."""

from __future__ import annotations

from collections.abc import Callable
from secrets import SystemRandom

from sureline.adapters.delivering import DeliveryThread
from sureline.application.outbox.courier import Courier
from sureline.application.ports.notifiers import Notifier
from sureline.bootstrap.services import Services
from sureline.config import variable
from sureline.core.values.notification import Channel, ChannelKind, Notifications
from sureline.errors import PolicyError


def courier_of(services: Services) -> Courier:
    """Return what delivers the outbox of a store."""
    opened: dict[tuple[Channel, frozenset[str]], Notifier] = {}

    async def notifications() -> Notifications:
        try:
            return (await services.policies.latest()).notifications
        except PolicyError:  # without a policy nobody is to be told
            return Notifications()

    def open_notifier(channel: Channel, told: Notifications) -> Notifier:
        """Open a channel once: it remembers what hangs."""
        key = (channel, told.allow_private)
        if key not in opened:
            opened[key] = _open(channel, told, services)
        return opened[key]

    return Courier(
        store=services.store.outbox,
        ledger=services.ledger,
        notifications=notifications,
        open_notifier=open_notifier,
        clock=services.clock,
        jitter=SystemRandom().random,
        workspace=services.workspace,
    )


def delivery_thread(services: Services) -> DeliveryThread:
    """Return the thread that delivers the outbox; enter it to start."""
    courier = courier_of(services)
    return DeliveryThread(courier.serve, ending=courier.ending_seconds)


def _open(channel: Channel, told: Notifications, services: Services) -> Notifier:
    # Imported here: a policy that tells nobody needs none of it.
    if channel.kind is ChannelKind.WEBHOOK:
        from sureline.adapters.notifiers.webhook import WebhookNotifier

        return WebhookNotifier(
            url=channel.url or "",
            secret=_reader(channel.secret_variable),
            clock=services.clock,
            allowed=told.allow_private,
        )
    from sureline.adapters.notifiers.message import MessageNotifier

    return MessageNotifier(address=_reader(channel.address_variable), allowed=told.allow_private)


def _reader(name: str | None) -> Callable[[], str | None]:
    """Return what reads a secret when it is used: it can be changed without a restart."""
    return lambda: None if name is None else variable(name)
