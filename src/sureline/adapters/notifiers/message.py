"""Texts for people through apprise: Slack, e-mail, Teams and what else it knows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sureline.adapters.notifiers.blocking import beside
from sureline.adapters.notifiers.targets import Resolve, checked_addresses, resolve
from sureline.application.ports.notifiers import Parcel
from sureline.core.review.message import Message, message
from sureline.errors import DeliveryFailed, MissingExtra


@dataclass(slots=True, kw_only=True)
class MessageNotifier:
    """Sends deliveries as one text.

    The library blocks, so it works on a thread that nobody waits for longer than for a sending;
    while one hangs, no second is begun. Its address is a secret and is in no error.
    """

    address: Callable[[], str | None]
    allowed: frozenset[str] = frozenset()
    resolve: Resolve = resolve
    _busy: bool = field(default=False, init=False)

    async def send(self, parcel: Parcel) -> None:
        """Send one text about all deliveries. Raises DeliveryFailed and MissingExtra."""
        told = [one.notice for one in parcel.deliveries]
        shown = parcel.shown.get(told[0].id) if len(told) == 1 else None
        text = message(told, page=parcel.page, shown=shown)
        address = self.address()
        if not address:
            raise DeliveryFailed("no_address", "the variable of the address is not set")
        if self._busy:
            raise DeliveryFailed("still_busy", "the sending before this one has not ended")
        await self._check(address)
        self._busy = True
        if not await beside(lambda: self._notify(address, text), name="sureline-message"):
            raise DeliveryFailed("not_taken", "the service did not take the message")

    def _notify(self, address: str, text: Message) -> bool:
        try:
            service = _service(address)
            return bool(service.notify(title=text.title, body=text.body, body_format="text"))
        finally:
            self._busy = False

    async def _check(self, address: str) -> None:
        """Refuse an address that names a host of a private network."""
        for host in await beside(lambda: _hosts(address), name="sureline-address"):
            await checked_addresses(host, 443, allowed=self.allowed, resolve=self.resolve)


def _service(address: str) -> Any:
    """Return the library's service. Raises DeliveryFailed and MissingExtra."""
    try:
        import apprise
    except ImportError as error:
        raise MissingExtra(
            f"telling needs the extra `notify` (no module {error.name!r}): pip install "
            "'sureline[notify]'"
        ) from None
    service = apprise.Apprise(asset=apprise.AppriseAsset(app_id="sureline", async_mode=False))
    if not service.add(address):
        raise DeliveryFailed("bad_address", "the address is none that apprise knows")
    return service


def _hosts(address: str) -> list[str]:
    """Return what in an address is a host, and no token that stands in a host's place."""
    _service(address)
    from apprise.utils import parse

    read: Any = parse.parse_url
    parts = read(address, verify_host=False) or {}
    host = parts.get("host")
    if str(parts.get("schema", "")).startswith("mailto"):  # the domain may have no host at all
        host = (parts.get("qsd") or {}).get("smtp") or host
    return [str(host)] if host and _looks_like_host(str(host)) else []


def _looks_like_host(text: str) -> bool:
    return text.lower() == "localhost" or "." in text or ":" in text
