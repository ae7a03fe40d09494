"""From where a policy lets verdicts come, and what is refused with its place."""

from __future__ import annotations

import pytest

from sureline.adapters.policies import load_policy, policy_from_canonical
from sureline.errors import PolicyError

SLICES = """\
version: 1
slices:
  replies: {output: {structured: false}, weights: {verification: 1}, prose: [{max_length: 500}]}
"""
WHOLE = """\
inbound:
  - {name: chat, secret_from: CHAT_SECRET, reviewers: {U1: Ada, 17: "Bo C."}}
  - {name: tickets, secret_from: TICKETS_SECRET, slices: [replies], reviewers: {a: Ada}}
"""


def test_what_is_written_is_what_holds() -> None:
    """Sources are read, and read back from the stored policy; no measurement changes."""
    loaded = load_policy(SLICES + WHOLE)
    chat, tickets = loaded.policy.inbound
    assert chat.reviewers == {"U1": "Ada", "17": "Bo C."}
    assert (tickets.slices, tickets.secret_variable) == (("replies",), "TICKETS_SECRET")
    assert policy_from_canonical(loaded.text) == loaded.policy
    bare = load_policy(SLICES).policy
    assert bare.inbound == ()
    assert bare.hash != loaded.policy.hash
    assert bare.measurement_hashes == loaded.policy.measurement_hashes


def source(text: str) -> str:
    return f"inbound:\n  - {{{text}}}\n"


CHAT = "name: chat, secret_from: S"
REFUSED = {
    "no list": ("inbound: {}\n", "expected a list of sources"),
    "a source that is no mapping": ("inbound: [3]\n", "expected a mapping of settings"),
    "a source that says nothing": ("inbound: [{}]\n", 'the key "name" is missing'),
    "a source without a secret": (
        source("name: chat, reviewers: {U1: Ada}"),
        'the key "secret_from" is missing',
    ),
    "a secret in the policy": (
        source("name: chat, secret_from: whsec_c2Vj, reviewers: {U1: Ada}"),
        "expected the name of an environment variable",
    ),
    "nobody": (source(f"{CHAT}, reviewers: {{}}"), "expected 1 to 200 people"),
    "a person without a name": (
        source(f"{CHAT}, reviewers: {{U1: ' '}}"),
        "expected the name of a person",
    ),
    "the guard": (source(f"{CHAT}, reviewers: {{U1: Guard}}"), "expected the name of a person"),
    "a recorded name": (
        source(f"{CHAT}, reviewers: {{U1: 'inbound:x:Ada'}}"),
        "expected the name of a person",
    ),
    "a number for a name": (
        source(f"{CHAT}, reviewers: {{U1: 3}}"),
        "expected a mapping of ids to names",
    ),
    "a line break in a name": (
        source(f'{CHAT}, reviewers: {{U1: "A\\nda"}}'),
        "printable characters",
    ),
    "an unknown slice": (
        source(f"{CHAT}, slices: [bills], reviewers: {{U1: Ada}}"),
        'there is no slice "bills"',
    ),
    "a name with a colon": (
        source("name: 'a:b', secret_from: S, reviewers: {U1: Ada}"),
        "expected a name",
    ),
    "a source twice": (
        f"inbound:\n  - {{{CHAT}, reviewers: {{U1: Ada}}}}\n"
        f"  - {{{CHAT}, reviewers: {{U1: Ada}}}}\n",
        "chat stands there twice",
    ),
    "a person written in two ways": (
        source(f"{CHAT}, reviewers: {{U1: Ada, U2: ADA}}"),
        "is written in two ways",
    ),
}


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(text: str, message: str) -> None:
    """Each fault is told with file, line and key, and no secret is quoted."""
    with pytest.raises(PolicyError) as error:
        load_policy(SLICES + text)
    assert message in str(error.value)
    assert str(error.value).startswith("policy:")
    assert "whsec_" not in str(error.value)
