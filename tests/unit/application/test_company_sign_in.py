"""What the variables of a company's sign-in mean, and which do not go together."""

from __future__ import annotations

import pytest

from sureline.application.company_sign_in import plain_address, read_company_sign_in
from sureline.application.ports.keys import Role
from sureline.core.gate.acting import check_distinct
from sureline.core.gate.company_name import company_name
from sureline.errors import InvalidInput

WHOLE = {
    "SURELINE_TRUSTED_HEADER": "X-Forwarded-User",
    "SURELINE_TRUSTED_PROXIES": "10.0.0.5, ::ffff:10.0.0.6,fd00::1",
    "SURELINE_TRUSTED_GROUPS": "X-Forwarded-Groups",
    "SURELINE_TRUSTED_ADMINS": "gate admins, owners",
    "SURELINE_TRUSTED_REVIEWERS": "reviewers",
}


@pytest.mark.parametrize("variables", [{}, {"SURELINE_TRUSTED_HEADER": " "}, {"HOME": "/"}])
def test_it_is_off_by_default(variables: dict[str, str]) -> None:
    """Without a variable nobody is believed."""
    assert read_company_sign_in(variables) is None


def test_a_whole_setting_is_read() -> None:
    """Names are in lower case, addresses as they are compared, and each group has its role."""
    found = read_company_sign_in(WHOLE)
    assert found is not None
    assert (found.header, found.groups) == ("x-forwarded-user", "x-forwarded-groups")
    assert found.proxies == {"10.0.0.5", "10.0.0.6", "fd00::1"}
    assert found.roles == {
        "gate admins": Role.ADMIN,
        "owners": Role.ADMIN,
        "reviewers": Role.REVIEWER,
    }


@pytest.mark.parametrize(
    ("change", "at_fault"),
    [
        ({"SURELINE_TRUSTED_PROXIES": ""}, "SURELINE_TRUSTED_PROXIES"),
        ({"SURELINE_TRUSTED_HEADER": ""}, "SURELINE_TRUSTED_HEADER"),
        ({"SURELINE_TRUSTED_GROUPS": ""}, "SURELINE_TRUSTED_GROUPS"),
        (
            {"SURELINE_TRUSTED_ADMINS": "", "SURELINE_TRUSTED_REVIEWERS": " , "},
            "SURELINE_TRUSTED_ADMINS",
        ),
        ({"SURELINE_TRUSTED_PROXIES": "proxy.example"}, "SURELINE_TRUSTED_PROXIES"),
        ({"SURELINE_TRUSTED_PROXIES": "10.0.0.0/8"}, "SURELINE_TRUSTED_PROXIES"),
        ({"SURELINE_TRUSTED_PROXIES": "0.0.0.0"}, "SURELINE_TRUSTED_PROXIES"),
        ({"SURELINE_TRUSTED_PROXIES": "*"}, "SURELINE_TRUSTED_PROXIES"),
        ({"SURELINE_TRUSTED_HEADER": "Authorization"}, "SURELINE_TRUSTED_HEADER"),
        ({"SURELINE_TRUSTED_HEADER": "X-Forwarded-For"}, "SURELINE_TRUSTED_HEADER"),
        ({"SURELINE_TRUSTED_HEADER": "X User"}, "SURELINE_TRUSTED_HEADER"),
        ({"SURELINE_TRUSTED_HEADER": "X_Forwarded_User"}, "SURELINE_TRUSTED_HEADER"),
        ({"SURELINE_TRUSTED_GROUPS": "x-forwarded-user"}, "SURELINE_TRUSTED_GROUPS"),
        ({"SURELINE_TRUSTED_REVIEWERS": "reviewers,owners"}, "SURELINE_TRUSTED_REVIEWERS"),
    ],
    ids=lambda value: " ".join(map(str, value.values())) if isinstance(value, dict) else value,
)
def test_half_a_setting_is_refused(change: dict[str, str], at_fault: str) -> None:
    """What does not go together, or trusts everybody, is named by its variable."""
    with pytest.raises(InvalidInput) as refused:
        read_company_sign_in({**WHOLE, **change})
    assert refused.value.field == at_fault


@pytest.mark.parametrize(
    ("groups", "role"),
    [
        (set(), None),
        ({"others", "Reviewers"}, None),
        ({"reviewers"}, Role.REVIEWER),
        ({"reviewers", "owners", "others"}, Role.ADMIN),
    ],
)
def test_the_strongest_of_the_groups_counts(groups: set[str], role: Role | None) -> None:
    """Groups are compared letter by letter; without one that is named there is no role."""
    found = read_company_sign_in(WHOLE)
    assert found is not None
    assert found.role_of(frozenset(groups)) is role


def test_no_variable_makes_an_agent() -> None:
    """Agents have keys: a header never gives that role."""
    variables = {**WHOLE, "SURELINE_TRUSTED_AGENTS": "bots"}
    found = read_company_sign_in(variables)
    assert found is not None
    assert Role.AGENT not in found.roles.values()
    assert found.role_of(frozenset({"bots"})) is None


@pytest.mark.parametrize("said", ["Ada@Example.com", " ada@example.com ", "ＡＤＡ@example.com"])
def test_ways_of_writing_a_name_are_one_person(said: str) -> None:
    """With two spellings nobody becomes two of four eyes."""
    assert company_name(said) == "company:ada@example.com"


@pytest.mark.parametrize(
    "name", ["company:ada@example.com", "Company: x", "ｃｏｍｐａｎｙ:x", "inbound:chat:Ada"]
)
def test_no_key_has_the_name_of_somebody_who_comes_without_one(name: str) -> None:
    """Such names, and what reads like them, are refused where keys are made."""
    with pytest.raises(InvalidInput):
        check_distinct(name, [])


def test_a_mapped_address_is_the_same_address() -> None:
    """A server that listens on IPv6 sees its IPv4 peers mapped."""
    assert plain_address("::ffff:10.0.0.5") == plain_address("10.0.0.5") == "10.0.0.5"
