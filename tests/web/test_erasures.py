"""Erasing everything about somebody over HTTP (L12)."""

from __future__ import annotations

import pytest

from tests.web.served import ADMIN, AUDITOR, REVIEWER, Served

BODY = {"subject": "customer-7", "reason": "asked for by the person"}


def test_a_subject_is_counted_and_erased(served: Served) -> None:
    """The decisions about the subject lose their payload; the erasures bear the key's name."""
    about = [served.decide(task=f"t{n}", subject="customer-7").json()["id"] for n in range(3)]
    other = served.decide(task="t", subject="customer-8").json()["id"]
    counted = served.call("POST", "/v1/erasures/preview", AUDITOR, json={"subject": "customer-7"})
    assert counted.json() == {"decisions": 3}
    done = served.call("POST", "/v1/erasures", AUDITOR, json=BODY)
    assert done.json() == {"erased": 3, "left": 0, "views": 0, "late": 0}
    shown = [
        served.call("GET", f"/v1/decisions/{one}", ADMIN).json().get("erased", False)
        for one in (*about, other)
    ]
    assert shown == [True, True, True, False]
    assert served.call("POST", "/v1/erasures", ADMIN, json=BODY).json()["erased"] == 0


@pytest.mark.parametrize(
    "body",
    [
        {"subject": "customer-7"},
        {**BODY, "subject": ""},
        {**BODY, "subject": "x" * 201},
        {**BODY, "reason": "customer-7 asked"},
        {**BODY, "reason": "  "},
        {**BODY, "more": 1},
    ],
    ids=["no reason", "empty", "long", "named in the reason", "blank", "unknown field"],
)
def test_a_bad_request_erases_nothing(served: Served, body: dict[str, object]) -> None:
    """What is wrong is a 422, and everything stays."""
    served.decide(subject="customer-7")
    assert served.call("POST", "/v1/erasures", AUDITOR, json=body).status_code == 422
    counted = served.call("POST", "/v1/erasures/preview", AUDITOR, json={"subject": "customer-7"})
    assert counted.json() == {"decisions": 1}


def test_only_who_sees_all_slices_erases(served: Served) -> None:
    """A reviewer may not, and neither may a key that is bound to slices."""
    assert served.call("POST", "/v1/erasures", REVIEWER, json=BODY).status_code == 403
    with served.client(secret=served.make_key(AUDITOR, slices=("invoices",))) as client:
        assert client.post("/v1/erasures", json=BODY).status_code == 403
        preview = {"subject": BODY["subject"]}
        assert client.post("/v1/erasures/preview", json=preview).status_code == 403
