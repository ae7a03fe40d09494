"""Signed requests by the Standard Webhooks specification."""

from __future__ import annotations

import base64
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from sureline.adapters.notifiers.targets import Resolve, checked_addresses, resolve
from sureline.application.ports.clock import Clock
from sureline.application.ports.notifiers import Parcel
from sureline.core.review.callback import callback_body
from sureline.errors import DeliveryFailed, MissingExtra

if TYPE_CHECKING:
    import httpx2

GONE = 410
PASSING = frozenset({408, 425, 429})
"""What a client did that may go well later; any other 4xx stays what it is (RFC 9110, 15.5)."""
SECONDS = 10.0
"""How long connecting, sending and each pause in an answer may take."""
MOST_ADDRESSES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookNotifier:
    """Sends each delivery as one POST, signed anew on every try.

    `webhook-id` is the delivery's id, the same on every try; the body's `id` is the event's. Any
    2xx is delivered, 410 ends the channel, and another 4xx than those of PASSING is refused for
    good. Redirects are not followed, the answer's body is not
    read, and the connection goes to an address that was checked.
    """

    url: str
    secret: Callable[[], str | None]
    clock: Clock
    allowed: frozenset[str] = frozenset()
    resolve: Resolve = resolve
    tls: ssl.SSLContext = field(default_factory=ssl.create_default_context)

    async def send(self, parcel: Parcel) -> None:
        """Send one delivery. Raises DeliveryFailed and MissingExtra."""
        (delivery,) = parcel.deliveries
        notice = delivery.notice
        body = callback_body(notice, page=parcel.page, shown=parcel.shown.get(notice.id, {}))
        headers = self._headers(delivery.id, notice.id, self.clock.now(), body)
        status, asked = await self._post(body, headers)
        if 200 <= status < 300:
            return
        raise DeliveryFailed(
            f"redirect_{status}" if 300 <= status < 400 else f"status_{status}",
            f"the receiver answered {status}",
            gone=status == GONE,
            refused=400 <= status < 500 and status not in PASSING,
            seconds=retry_after(asked, self.clock.now()),
        )

    def _headers(
        self, delivery_id: str, event_id: str, now: datetime, body: bytes
    ) -> dict[str, str]:
        return {
            "content-type": "application/json",
            "user-agent": "sureline",
            "webhook-id": delivery_id,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": self._signature(delivery_id, now, body),
            "sureline-event-id": event_id,
        }

    def _signature(self, delivery_id: str, now: datetime, body: bytes) -> str:
        try:
            from standardwebhooks import Webhook
        except ImportError as error:
            raise _missing(error) from None
        secret = self.secret()
        if not secret:
            raise DeliveryFailed("no_secret", "the variable of the signing secret is not set")
        return Webhook(_key(secret)).sign(delivery_id, now, body.decode())

    async def _post(self, body: bytes, headers: dict[str, str]) -> tuple[int, str | None]:
        """Return what the first checked address answers that can be connected to."""
        try:
            import httpx2
        except ImportError as error:
            raise _missing(error) from None
        url = httpx2.URL(self.url)
        port = url.port or (443 if url.scheme == "https" else 80)
        found = await checked_addresses(url.host, port, allowed=self.allowed, resolve=self.resolve)
        last = DeliveryFailed("not_connected", "no address could be connected to")
        async with httpx2.AsyncClient(
            verify=self.tls, timeout=SECONDS, trust_env=False, follow_redirects=False
        ) as client:
            for address in found[:MOST_ADDRESSES]:
                try:
                    return await _status(client, url, address, body, headers)
                except (httpx2.ConnectError, httpx2.ConnectTimeout):
                    continue
                except httpx2.TimeoutException:
                    raise DeliveryFailed("timeout", "the receiver did not answer") from None
                except httpx2.HTTPError as error:
                    kind = type(error).__name__
                    raise DeliveryFailed("broken_answer", f"the exchange failed: {kind}") from None
        raise last


def _key(secret: str) -> bytes:
    """Return the bytes of a secret as the specification writes it. Raises DeliveryFailed."""
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except ValueError:
        key = b""
    if not 24 <= len(key) <= 64:
        raise DeliveryFailed(
            "bad_secret", "the signing secret is not `whsec_` and base64 of 24 to 64 bytes"
        )
    return key


async def _status(
    client: httpx2.AsyncClient, url: Any, address: str, body: bytes, headers: dict[str, str]
) -> tuple[int, str | None]:
    """Post to an address under the URL's own name; only the head of the answer is read.

    Returns the status, and Retry-After as it stands there.
    """
    target = url.copy_with(host=address)
    named = {**headers, "host": url.netloc.decode("ascii")}
    async with client.stream(
        "POST", target, content=body, headers=named, extensions={"sni_hostname": url.host}
    ) as response:
        return response.status_code, response.headers.get("retry-after")


def retry_after(text: str | None, now: datetime) -> float:
    """Return how many seconds a receiver asks for (RFC 9110, 10.2.3), 0 if it does not say."""
    if text is None:
        return 0.0
    if text.isdecimal():
        return float(text)
    try:
        return max(0.0, (parsedate_to_datetime(text) - now).total_seconds())
    except (ValueError, TypeError):  # no date, or one without a zone
        return 0.0


def _missing(error: ImportError) -> MissingExtra:
    return MissingExtra(
        f"telling needs the extra `notify` (no module {error.name!r}): pip install "
        "'sureline[notify]'"
    )
