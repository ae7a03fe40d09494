"""Where a request may go: no address of a private network, however it is written (A36, A39)."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable, Iterator, Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

from sureline.adapters.notifiers.blocking import beside
from sureline.errors import DeliveryFailed

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns every address of a host, IPv4 and IPv6; raises OSError."""

NAT64 = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
"""RFC 6052 and RFC 8215: the last 32 bits are an IPv4 address."""
COMPATIBLE = IPv6Network("::/96")
"""RFC 4291, 2.5.5.1: deprecated, and still understood here and there."""
NOBODYS = tuple(
    map(
        ip_network,
        (
            "::ffff:0:0:0/96",  # RFC 2765: IPv4-translated, which a translator takes for IPv4
            "3fff::/20",  # RFC 9637: for documentation
            "5f00::/16",  # RFC 9602: segments within one operator's network
            "192.88.99.0/24",  # RFC 7526: relays of 6to4, withdrawn
            "168.63.129.16/32",  # Azure's own services, seen from a machine there
        ),
    )
)
"""Addresses that Python takes for public ones, and behind which there is no public host."""
ISATAP = {0x5EFE, 0x02005EFE}
"""RFC 5214: what stands before the IPv4 address in the last 64 bits."""


async def resolve(host: str, port: int) -> Sequence[str]:
    """Ask the system for all addresses of a host. Raises OSError and UnicodeError."""
    found = await beside(
        lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM), name="sureline-resolve"
    )
    return list(dict.fromkeys(str(one[4][0]) for one in found))


async def checked_addresses(
    host: str, port: int, *, allowed: frozenset[str], resolve: Resolve
) -> Sequence[str]:
    """Return the addresses at which a host may be connected to, now and by these addresses.

    One bad address among many refuses the host: which one a client would take is anybody's
    guess. A host that is allowed by name may lie anywhere. Raises DeliveryFailed.
    """
    name = host.lower().rstrip(".").strip("[]")
    try:
        addresses = await resolve(name, port)
    except (OSError, UnicodeError):
        raise DeliveryFailed("no_such_host", f"{name}: the host has no address") from None
    if not addresses:
        raise DeliveryFailed("no_such_host", f"{name}: the host has no address")
    if name not in allowed and any(is_private(one) for one in addresses):
        raise DeliveryFailed(
            "refused_target",
            f"{name}: it leads into a private network; an admin can name it in allow_private",
        )
    return addresses


def is_private(text: str) -> bool:
    """Tell whether an address is anything but a host of the public internet.

    IPv6 addresses that carry an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo, ISATAP)
    are as private as that one. What is no address counts as private.
    """
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return True
    return any(_is_local(one) for one in (address, *_carried(address)))


def _is_local(address: IPv4Address | IPv6Address) -> bool:
    if any(address in network for network in NOBODYS):
        return True
    if isinstance(address, IPv6Address):
        if address in COMPATIBLE:
            return True
        if address.ipv4_mapped is not None:
            return False  # what it carries is looked at
        if address.is_site_local:
            return True
    return not address.is_global or address.is_multicast or address.is_unspecified


def _carried(address: IPv4Address | IPv6Address) -> Iterator[IPv4Address]:
    """Yield the IPv4 addresses inside an IPv6 address."""
    if not isinstance(address, IPv6Address):
        return
    number = int(address)
    last = IPv4Address(number & 0xFFFFFFFF)
    if address.ipv4_mapped is not None:
        yield address.ipv4_mapped
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
    if any(address in network for network in NAT64):
        yield last
    if (number >> 32) & 0xFFFFFFFF in ISATAP:
        yield last
