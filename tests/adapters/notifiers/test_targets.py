"""Which addresses a request may go to."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.adapters.notifiers.targets import checked_addresses, is_private, resolve
from sureline.errors import DeliveryFailed

PRIVATE = {
    "loopback": "127.0.0.1",
    "loopback, another": "127.8.8.8",
    "any": "0.0.0.0",
    "ten": "10.1.2.3",
    "172.16": "172.31.255.255",
    "192.168": "192.168.0.1",
    "link-local, cloud metadata": "169.254.169.254",
    "carrier-grade NAT": "100.64.0.1",
    "multicast": "224.0.0.1",
    "broadcast": "255.255.255.255",
    "documentation": "192.0.2.1",
    "v6 loopback": "::1",
    "v6 any": "::",
    "v6 unique local": "fd00::1",
    "v6 link-local": "fe80::1",
    "v6 link-local with a zone": "fe80::1%eth0",
    "v6 site-local": "fec0::1",
    "v6 multicast": "ff02::1",
    "v6 documentation": "2001:db8::1",
    "mapped loopback": "::ffff:127.0.0.1",
    "mapped ten": "::ffff:10.0.0.1",
    "compatible": "::127.0.0.1",
    "NAT64 loopback": "64:ff9b::7f00:1",
    "NAT64 metadata": "64:ff9b::a9fe:a9fe",
    "local NAT64": "64:ff9b:1::a00:1",
    "6to4 metadata": "2002:a9fe:a9fe::1",
    "6to4 ten": "2002:a00:1::1",
    "Teredo of a private client": "2001:0:5db8:d822:0:0:f5ff:fffe",
    "Teredo of a private server": "2001:0:a00:1:0:0:a247:27dd",
    "ISATAP": "2606:4700::5efe:10.0.0.1",
    "IPv4-translated": "::ffff:0:127.0.0.1",
    "IPv4-translated, of a public host": "::ffff:0:8.8.8.8",
    "v6 documentation, the newer": "3fff::1",
    "segment routing": "5f00::1",
    "relays of 6to4": "192.88.99.1",
    "relays of 6to4, mapped": "::ffff:192.88.99.1",
    "Azure's own services": "168.63.129.16",
    "Azure's own services, by NAT64": "64:ff9b::a83f:8110",
    "no address": "printer",
}
PUBLIC = {
    "v4": "93.184.215.14",
    "beside Azure's own": "168.63.129.17",
    "v6": "2606:4700::6810:84e5",
    "mapped": "::ffff:93.184.215.14",
    "NAT64": "64:ff9b::5db8:d70e",
}


@pytest.mark.parametrize("address", PRIVATE.values(), ids=PRIVATE)
def test_private_in_any_spelling(address: str) -> None:
    """An address of no public host is private, also inside another address."""
    assert is_private(address)


@pytest.mark.parametrize("address", PUBLIC.values(), ids=PUBLIC)
def test_public_addresses_are_not_private(address: str) -> None:
    """A public host can be reached, through a translator too."""
    assert not is_private(address)


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1))
def test_what_carries_a_private_address_is_private(number: int, rest: int) -> None:
    """Whatever the IPv4 address and the rest: if the one is private, so is all that carries it."""
    inner = IPv4Address(number)
    carriers = (
        IPv6Address((0xFFFF << 32) | number),
        IPv6Address((0x64FF9B << 96) | number),
        IPv6Address((0x2002 << 112) | (number << 80) | rest),
        IPv6Address((0x26064700 << 96) | (0x5EFE << 32) | number),
    )
    if is_private(str(inner)):
        assert all(is_private(str(one)) for one in carriers)


def answering(*addresses: str):  # type: ignore[no-untyped-def]
    async def resolve(host: str, port: int) -> Sequence[str]:
        if not addresses:
            raise OSError("no such host")
        return addresses

    return resolve


@pytest.mark.parametrize(
    ("addresses", "code"),
    [
        (("93.184.215.14", "::1"), "refused_target"),
        (("::1", "93.184.215.14"), "refused_target"),
        (("10.0.0.1",), "refused_target"),
        ((), "no_such_host"),
    ],
)
async def test_one_bad_address_refuses_the_host(addresses: tuple[str, ...], code: str) -> None:
    """All addresses are checked, whichever a client would prefer."""
    with pytest.raises(DeliveryFailed) as failed:
        await checked_addresses(
            "hooks.example.com", 443, allowed=frozenset(), resolve=answering(*addresses)
        )
    assert failed.value.code == code


@pytest.mark.parametrize("host", ["hooks.internal", "HOOKS.internal", "hooks.internal."])
async def test_a_host_that_is_named_may_be_private(host: str) -> None:
    """An admin's word counts for that name, however it is written, and for no other."""
    allowed = frozenset({"hooks.internal"})
    found = await checked_addresses(host, 443, allowed=allowed, resolve=answering("10.0.0.1"))
    assert found == ("10.0.0.1",)
    with pytest.raises(DeliveryFailed):
        await checked_addresses(
            "other.internal", 443, allowed=allowed, resolve=answering("10.0.0.1")
        )


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.1", "2130706433", "0x7f.1", "[::1]", "localhost"]
)
async def test_the_system_s_own_spellings_are_seen_through(host: str) -> None:
    """What the resolver would take for this machine is refused as this machine."""
    with pytest.raises(DeliveryFailed) as failed:
        await checked_addresses(host, 443, allowed=frozenset(), resolve=resolve)
    assert failed.value.code in {"refused_target", "no_such_host"}
