"""Which header tells who is there, from whom it is believed, and what whose groups may do."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass

from sureline.application.ports.keys import Role
from sureline.errors import InvalidInput

HEADER = "SURELINE_TRUSTED_HEADER"
PROXIES = "SURELINE_TRUSTED_PROXIES"
GROUPS = "SURELINE_TRUSTED_GROUPS"
ROLES = {
    "SURELINE_TRUSTED_ADMINS": Role.ADMIN,
    "SURELINE_TRUSTED_REVIEWERS": Role.REVIEWER,
    "SURELINE_TRUSTED_AUDITORS": Role.AUDITOR,
}
"""By variable, each a list of groups; nobody becomes an agent by a header."""
VARIABLES = (HEADER, PROXIES, GROUPS, *ROLES)

STRONGEST_FIRST = (Role.ADMIN, Role.REVIEWER, Role.AUDITOR)

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,99}")
_TAKEN = frozenset(
    {
        "accept",
        "authorization",
        "connection",
        "content-length",
        "content-type",
        "cookie",
        "forwarded",
        "host",
        "origin",
        "referer",
        "user-agent",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-proto",
        "x-real-ip",
    }
)
"""Headers that say something else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompanySignIn:
    """How people come in whom a proxy has signed in.

    `header` and `groups` are names in lower case. `proxies` are the addresses of those that are
    believed, as they connect to us; `roles` says by group what its members may do.
    """

    header: str
    groups: str
    proxies: frozenset[str]
    roles: Mapping[str, Role]

    def role_of(self, groups: frozenset[str]) -> Role | None:
        """Return the most that somebody's groups may do, None for nothing."""
        held = {self.roles[group] for group in groups if group in self.roles}
        return next((role for role in STRONGEST_FIRST if role in held), None)


def read_company_sign_in(variables: Mapping[str, str]) -> CompanySignIn | None:
    """Read it from variables of the environment; None where none of them is set.

    Raises InvalidInput naming the variable: half of a setting is no setting.
    """
    given = {name: variables[name].strip() for name in VARIABLES if variables.get(name, "").strip()}
    if not given:
        return None
    for name in (HEADER, PROXIES, GROUPS):
        if name not in given:
            others = ", ".join(given)
            raise InvalidInput(f"expected a value, since {others} is set; see {HEADER}", field=name)
    header, groups = _header(given, HEADER), _header(given, GROUPS)
    if header == groups:
        raise InvalidInput(f"expected another header than that of {HEADER}", field=GROUPS)
    return CompanySignIn(
        header=header,
        groups=groups,
        proxies=frozenset(_address(one) for one in _listed(given[PROXIES])),
        roles=_roles(given),
    )


def plain_address(text: str) -> str:
    """Return an address as it is compared: one that is mapped into IPv6 is an IPv4 address."""
    address = ipaddress.ip_address(text)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)


def _header(given: Mapping[str, str], name: str) -> str:
    text = given[name]
    if not _NAME.fullmatch(text) or text.lower() in _TAKEN:
        raise InvalidInput(
            f"expected the name of a header of the proxy's own, got {text!r}", field=name
        )
    return text.lower()


def _address(text: str) -> str:
    try:
        address = plain_address(text)
    except ValueError:
        raise InvalidInput(
            f"expected addresses such as 10.0.0.5, no names and no networks; got {text!r}",
            field=PROXIES,
        ) from None
    if ipaddress.ip_address(address).is_unspecified:
        raise InvalidInput(f"{text} is nobody's address", field=PROXIES)
    return address


def _roles(given: Mapping[str, str]) -> Mapping[str, Role]:
    roles: dict[str, Role] = {}
    for name, role in ROLES.items():
        for group in _listed(given.get(name, "")):
            if roles.setdefault(group, role) is not role:
                raise InvalidInput(f"the group {group!r} has another role already", field=name)
    if not roles:
        raise InvalidInput(
            f"expected the groups that may do something, in one of {', '.join(ROLES)}",
            field=next(iter(ROLES)),
        )
    return roles


def _listed(text: str) -> list[str]:
    return [one.strip() for one in text.split(",") if one.strip()]
