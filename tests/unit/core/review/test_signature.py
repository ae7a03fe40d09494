"""What is signed, and by whom; and that a person stays one under all their names."""

from __future__ import annotations

import base64
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook

from sureline.core.review.signature import Signed, is_signed, signing_key
from sureline.core.values.person import inbound_identity, person_of, same_person

NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)
KEY = b"a key of thirty-two bytes, no less"
SECRET = "whsec_" + base64.b64encode(KEY).decode()
IDS = st.from_regex(r"[A-Za-z0-9_:@/+=-]{1,200}", fullmatch=True)
TEXTS = st.text(st.characters(codec="utf-8"))


def signed(delivery: str = "msg_1", body: str = "{}", at: datetime = NOW) -> Signed:
    """Sign with the public library."""
    return Signed(
        id=delivery,
        timestamp=str(int(at.timestamp())),
        signatures=Webhook(SECRET).sign(delivery, at, body),
        body=body.encode(),
    )


@given(IDS, TEXTS, st.timedeltas(timedelta(minutes=-5), timedelta(minutes=5)))
def test_what_the_public_library_signs_is_signed(id_: str, body: str, ago: timedelta) -> None:
    """Any id, any text, up to five minutes either way."""
    at = (NOW - ago).replace(microsecond=0)
    late = abs(at - NOW) > timedelta(minutes=5)
    assert is_signed(signed(id_, body, at), KEY, NOW) is not late


@given(IDS, st.binary(), st.integers(0, 10**11 - 1), st.text(max_size=300))
def test_nothing_else_is(id_: str, body: bytes, seconds: int, signatures: str) -> None:
    """Without the key no signature fits, and none makes it fail otherwise."""
    one = Signed(id=id_, timestamp=str(seconds), signatures=signatures, body=body)
    assert not is_signed(one, KEY, NOW)


@given(IDS, TEXTS, st.integers(0, 7), st.data())
def test_every_bit_is_bound(id_: str, body: str, bit: int, data: st.DataObject) -> None:
    """One bit of the body changed, and it is not what was signed."""
    one = signed(id_, body + "x")
    place = data.draw(st.integers(0, len(one.body) - 1))
    changed = bytearray(one.body)
    changed[place] ^= 1 << bit
    assert not is_signed(replace(one, body=bytes(changed)), KEY, NOW)


def test_id_and_time_cannot_be_parted_elsewhere() -> None:
    """An id with a full stop would make two readings of the same signed bytes; it is refused."""
    seconds = str(int(NOW.timestamp()))
    one = signed("msg", f"{seconds}.body")
    shifted = replace(one, id=f"msg.{seconds}", body=b"body")
    assert is_signed(one, KEY, NOW)
    assert not is_signed(shifted, KEY, NOW)


@pytest.mark.parametrize(
    "timestamp",
    ["", "-1", "1e9", "1.5", "2026-01-05T09:00:00", "2026-01-05", "\u0661", "9" * 12, " 1", "nan"],
)
def test_a_time_is_whole_seconds(timestamp: str) -> None:
    """A date, a fraction, other digits or a blank are no time."""
    assert not replace(signed(), timestamp=timestamp).is_of_now(NOW)


@pytest.mark.parametrize(
    ("secret", "reads"),
    [
        (SECRET, True),
        (SECRET.removeprefix("whsec_"), True),
        ("whsec_" + base64.b64encode(b"x" * 24).decode(), True),
        ("whsec_" + base64.b64encode(b"x" * 23).decode(), False),
        ("whsec_" + base64.b64encode(b"x" * 65).decode(), False),
        ("whsec_%%%", False),
        ("whsec_\u00e9", False),
        ("", False),
    ],
    ids=["whole", "bare", "24", "23", "65", "no base64", "no ASCII", "empty"],
)
def test_what_is_a_secret(secret: str, reads: bool) -> None:
    """`whsec_` and base64 of 24 to 64 bytes; what is shorter keeps nobody out."""
    assert (signing_key(secret) is not None) is reads


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Ada", "Ada", True),
        ("inbound:chat:Ada", "Ada", True),
        ("Ada", "inbound:chat:Ada", True),
        ("inbound:chat:Ada", "inbound:tickets:Ada", True),
        ("inbound:chat:Ada", "inbound:chat:Bo", False),
        ("inbound:chat", "Ada", False),
        ("inbound:chat:a:b", "a:b", True),
        (None, "Ada", False),
    ],
)
def test_who_is_one_person(one: str | None, other: str, same: bool) -> None:
    """The way somebody came makes no second person of them."""
    assert same_person(one, other) is same


@given(st.from_regex(r"[\w.-]{1,50}", fullmatch=True), TEXTS)
def test_an_identity_names_its_person(source: str, person: str) -> None:
    """Whatever the person is called, it is read back whole."""
    assert person_of(inbound_identity(source, person)) == person
