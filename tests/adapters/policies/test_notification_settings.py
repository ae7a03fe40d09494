"""What a policy may say about telling, and what is refused with its place."""

from __future__ import annotations

import pytest

from sureline.adapters.policies import load_policy, policy_from_canonical
from sureline.adapters.policies.notification_settings import EVENTS
from sureline.core.values.notification import NoticeKind
from sureline.errors import PolicyError

SLICES = """\
version: 1
slices:
  replies: {output: {structured: false}, weights: {verification: 1}, prose: [{max_length: 500}]}
"""
WHOLE = """\
notifications:
  page: https://review.example.com/
  allow_private: [Hooks.Internal., "[::1]"]
  fields: [{slice: replies, show: [text]}]
  channels:
    - {name: team, kind: message, address_from: TEAM_ADDRESS, slices: [replies]}
    - {name: hook, kind: webhook, url: "http://hooks.internal/x", secret_from: S, keys: [k1]}
"""


def test_what_is_written_is_what_holds() -> None:
    """Channels, fields and hosts are read, and read back from the stored policy."""
    loaded = load_policy(SLICES + WHOLE)
    told = loaded.policy.notifications
    assert told.page == "https://review.example.com"
    assert told.allow_private == {"hooks.internal", "::1"}
    assert told.fields == {"replies": ("text",)}
    team, hook = told.channels
    quiet = {NoticeKind.DECIDED, NoticeKind.MISSION_COMPLETED}
    assert set(team.events) == set(NoticeKind) - quiet
    assert hook.events == (NoticeKind.DECIDED, NoticeKind.EXPIRED, NoticeKind.CORRECTED)
    assert (team.per_minute, hook.per_minute) == (2, 600)
    assert policy_from_canonical(loaded.text) == loaded.policy


def test_every_event_can_be_asked_for() -> None:
    """Whatever happens to an item, a slice or a mission, a channel may be told of it."""
    assert set(EVENTS.values()) == set(NoticeKind)
    asked = f"{HOOK}, url: 'https://x.example', events: [{', '.join(EVENTS)}]"
    (hook,) = load_policy(SLICES + channel(asked)).policy.notifications.channels
    assert set(hook.events) == set(NoticeKind)


def test_telling_changes_the_policy_and_no_measurement() -> None:
    """Another channel is another policy; a certificate stays."""
    bare, whole = load_policy(SLICES).policy, load_policy(SLICES + WHOLE).policy
    assert bare.notifications.channels == ()
    assert bare.hash != whole.hash
    assert bare.measurement_hashes == whole.measurement_hashes


def channel(text: str) -> str:
    return f"notifications:\n  channels:\n    - {{{text}}}\n"


HOOK = "name: hook, kind: webhook, secret_from: S"
REFUSED = {
    "no mapping": ("notifications: 3\n", "expected a mapping of settings, found the number 3"),
    "unknown key": ("notifications: {pages: x}\n", 'unknown key "pages"'),
    "a page that is none": ("notifications: {page: 'ftp://x'}\n", "where the pages are served"),
    "an unknown slice": (
        "notifications: {fields: [{slice: bills, show: [a]}]}\n",
        'there is no slice "bills"',
    ),
    "an unknown slice of a channel": (
        channel(f"{HOOK}, url: 'https://x.example', slices: [bills]"),
        'there is no slice "bills"',
    ),
    "a secret in the policy": (
        channel("name: hook, kind: webhook, url: 'https://x.example', secret_from: whsec_c2Vj"),
        "expected the name of an environment variable",
    ),
    "an address in the policy": (
        channel("name: team, kind: message, address_from: 'slack://a/b/c'"),
        "expected the name of an environment variable",
    ),
    "a webhook without url": (channel(HOOK), "a webhook needs url"),
    "a message with url": (
        channel("name: t, kind: message, address_from: A, url: 'https://x.example'"),
        "a message has no url",
    ),
    "plain http": (
        channel(f"{HOOK}, url: 'http://x.example'"),
        "plain http is only for hosts in allow_private",
    ),
    "a password in a url": (
        channel(f"{HOOK}, url: 'https://a:b@x.example'"),
        "without a password",
    ),
    "another scheme": (channel(f"{HOOK}, url: 'file:///etc/passwd'"), "expected https://host/path"),
    "an event that is none": (
        channel(f"{HOOK}, url: 'https://x.example', events: [closed]"),
        "expected a list of opened, escalated, expired, decided, corrected",
    ),
    "no event": (
        channel(f"{HOOK}, url: 'https://x.example', events: []"),
        "expected a list of opened, escalated, expired, decided, corrected",
    ),
    "a name twice": (
        f"notifications:\n  channels:\n    - {{{HOOK}, url: 'https://x.example'}}\n"
        f"    - {{{HOOK}, url: 'https://y.example'}}\n",
        "hook stands there twice",
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
    assert "slack://" not in str(error.value)
