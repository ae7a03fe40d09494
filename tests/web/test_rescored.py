"""What somebody edited is shown with what the checks say of it now, wherever it is shown."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sureline.cli.review_text import item_lines
from sureline.core.values.verdict import Verdict
from sureline.testing import FakeJudge
from tests.web.browsing import Visitor
from tests.web.served import ADMIN, REVIEWER, Served, awaited, serve

POLICY = """\
version: 1
slices:
  invoices:
    mode: log_only
    weights: {verification: 0.5, judge: 0.5}
    output: {json_schema: {type: object, properties: {total: {type: number}}}}
    grounding: {fields: [total], penalty: 0.3}
    judge: {model: "test:judge", otherwise: 1.0}
    review: {approvals: 2, honeypots: 0, double_review: 0, undo_seconds: 10}
"""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    judge = FakeJudge(Verdict(agrees=True, confidence=0.9, failure_mode=None, reason="It fits."))
    with serve(tmp_path, policy=POLICY, judge=judge) as one:
        yield one


def edited(served: Served, total: float) -> str:
    """Have a total of 50 that is in its source edited by the reviewer; return the item's id."""
    given = served.decide(ADMIN, output={"total": 50}, source="Total due: 50. Paid on account: 60.")
    review_id = str(given.json()["id"])
    assert given.json()["signals"]["verification"]["value"] == 1.0
    first = shown(served, review_id)
    assert (first["rescored"], first["decision"]["composite"]) == (False, 1.0)
    body = {"action": "edit", "digest": first["review"]["digest"], "edited": {"total": total}}
    done = served.call("POST", f"/v1/reviews/{review_id}/decide", REVIEWER, json=body)
    assert done.status_code == 200, done.text
    return review_id


def shown(served: Served, review_id: str) -> dict[str, Any]:
    found: dict[str, Any] = served.call("GET", f"/v1/reviews/{review_id}", REVIEWER).json()
    return found


@pytest.mark.parametrize(
    ("total", "score", "codes"),
    [(5000, 0.7, ["not_grounded"]), (60, 1.0, [])],
    ids=["an edit that is not in the source", "an edit that is"],
)
def test_an_edit_carries_the_score_and_findings_of_what_it_made(
    served: Served, total: float, score: float, codes: list[str]
) -> None:
    """Findings and composite are those of a recheck; the judge's word is marked as older."""
    review_id = edited(served, total)
    again = served.call(
        "POST", f"/v1/reviews/{review_id}/recheck", REVIEWER, json={"edited": {"total": total}}
    ).json()
    item = shown(served, review_id)
    decision = item["decision"]
    assert item["rescored"]
    assert item["findings"] == again["findings"]
    assert [one["code"] for one in item["findings"]] == codes
    assert decision["composite"] == decision["confidence"] == again["score"] == score
    assert (decision["calibrated"], decision["threshold"]) == (None, None)
    marks = {name: one["before_edit"] for name, one in decision["signals"].items()}
    assert marks == {"verification": False, "judge": True}


def test_the_next_person_is_shown_what_is_wrong_with_an_edit(served: Served) -> None:
    """On the page and in the terminal, and not that the checks found nothing to object to."""
    review_id = edited(served, 5000)
    page = Visitor(served, ADMIN, secret=served.make_key(ADMIN, name="Rev2")).get(
        f"/reviews/{review_id}"
    )
    assert "is not in the source" in page.text
    assert "nothing to object to" not in page.text
    assert "of the output before the edit" in page.text
    assert ">0.700<" in page.text
    text = "\n".join(item_lines(awaited(served.services.desk.show(review_id))))
    assert "found: '5000' is not in the source." in text
    assert "score of the edit: 0.700" in text
    assert "before the edit: the reasons above, judge" in text


def test_a_decided_item_keeps_the_score_of_the_edit(served: Served) -> None:
    """After the second approval and its release the item says of the edit what it said before."""
    review_id = edited(served, 5000)
    body = {"action": "approve", "digest": shown(served, review_id)["review"]["digest"]}
    second = served.client(secret=served.make_key(REVIEWER, name="Rev2"))
    with second:
        assert second.post(f"/v1/reviews/{review_id}/decide", json=body).status_code == 200
    served.clock.advance(timedelta(seconds=11))
    item = shown(served, review_id)
    assert item["review"]["state"] == "decided"
    assert (item["decision"]["composite"], len(item["findings"])) == (0.7, 1)


def test_an_edit_of_a_slice_that_is_gone_is_not_said_to_be_checked(served: Served) -> None:
    """Where the policy has the slice no longer, nothing was found and nothing was scored."""
    review_id = edited(served, 5000)
    text = POLICY.replace("  invoices:", "  others:")
    stored = served.call("POST", "/v1/policies", ADMIN, json={"text": text}).json()
    made = served.call("POST", f"/v1/policies/{stored['hash']}/activate", ADMIN, json={})
    assert made.status_code == 200, made.text
    decision = shown(served, review_id)["decision"]
    assert decision["composite"] is None
    assert decision["signals"]["verification"]["reason"] == "slice_left_policy"
    assert "No check could be run on it" in Visitor(served).get(f"/reviews/{review_id}").text
