"""Who a company's sign-in says is there; believed from its proxies alone."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sureline.application.company_sign_in import CompanySignIn, plain_address
from sureline.application.ports.keys import ApiKey
from sureline.core.gate.company_name import company_name
from sureline.errors import Forbidden, Unauthorized

logger = logging.getLogger("sureline.web")

LONGEST_NAME = 200
LONGEST_GROUPS = 32_000
"""Characters; a person in a thousand groups is still let in."""

Headers = Sequence[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Company:
    """Reads the proxy's headers, anew on every request: who loses a role has lost it at once."""

    settings: CompanySignIn
    workspace: str

    def person(self, peer: str, headers: Headers, now: datetime) -> ApiKey:
        """Return who is there, as a key without a secret.

        `peer` is the address of the connection, whatever a header says. Raises Unauthorized for
        anybody whom no trusted proxy vouches for, and Forbidden without a role.
        """
        said = _values(headers, self.settings.header)
        groups = _values(headers, self.settings.groups)
        if not self._is_proxy(peer):
            if said or groups:
                logger.warning(
                    "refused: a request from %s names somebody in %s, but %s is no trusted proxy",
                    peer or "a socket without address",
                    self.settings.header,
                    peer or "it",
                )
            raise Unauthorized(
                "people come in through their company's sign-in here; open the address that your "
                "company gives you"
            )
        name = company_name(_only(said, "name", LONGEST_NAME))
        role = self.settings.role_of(_groups(groups))
        if role is None:
            raise Forbidden(
                f"your company has signed you in as {name}, but none of your groups may do "
                "anything here; ask whoever runs this server"
            )
        return ApiKey(
            id=f"company-{hashlib.sha256(name.encode()).hexdigest()[:32]}",
            name=name,
            role=role,
            workspace=self.workspace,
            slices=(),
            created_at=now,
        )

    def _is_proxy(self, peer: str) -> bool:
        try:
            return plain_address(peer) in self.settings.proxies
        except ValueError:
            return False


def _values(headers: Headers, name: str) -> list[bytes]:
    wanted = name.encode("ascii")
    return [value for one, value in headers if one == wanted]


def _groups(values: Sequence[bytes]) -> frozenset[str]:
    """Return the groups that are listed, none where none are."""
    text = _only(values, "groups", LONGEST_GROUPS) if any(values) else ""
    return frozenset(one.strip() for one in text.split(",") if one.strip())


def _only(values: Sequence[bytes], what: str, longest: int) -> str:
    """Return the text of a header that stands there once, and can be read one way only."""
    if len(values) != 1:
        how = "no" if not values else "more than one"
        raise Unauthorized(f"your company's sign-in has sent {how} {what}")
    try:
        text = values[0].decode("utf-8").strip()
    except UnicodeDecodeError:
        text = ""
    # A comma in a name is how proxies write two headers as one: the visitor's and their own.
    is_list = what == "name" and "," in text
    if not 0 < len(text) <= longest or not text.isprintable() or is_list:
        raise Unauthorized(f"your company's sign-in has sent a {what} header that cannot be read")
    return text
