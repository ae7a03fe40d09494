"""Items whose reviewer answers first, over HTTP and on the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web.browsing import Visitor
from tests.web.served import ADMIN, REVIEWER, Served, serve

POLICY = """\
version: 1
defaults: {review: {answer_first: 1}}
slices:
  replies: {mode: route, output: {structured: false}, prose: [{max_length: 500}]}
"""
SECRET_OUTPUT = "Dear Ada, seventeen."


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A server on which every item asks to answer first."""
    with serve(tmp_path, policy=POLICY) as one:
        yield one


def asked(served: Served) -> str:
    given = {"slice_key": "replies", "output": SECRET_OUTPUT, "force_human": True}
    return str(served.decide(**given).json()["id"])


def test_the_output_is_shown_after_the_answer(served: Served) -> None:
    """Over HTTP the output and what rates it come after one's own answer, and only for oneself."""
    review_id = asked(served)
    path = f"/v1/reviews/{review_id}"
    before = served.call("GET", path, REVIEWER).json()
    assert (before["answer_first"], before["output"], before["decision"]) == (True, None, {})
    digest = before["review"]["digest"]
    verdict = {"action": "approve", "digest": digest}
    assert served.call("POST", f"{path}/decide", REVIEWER, json=verdict).status_code == 409
    after = served.call("POST", f"{path}/answer", REVIEWER, json={"answer": "Seventeen"}).json()
    assert (after["answer_first"], after["output"]) == (False, SECRET_OUTPUT)
    assert served.call("GET", path, ADMIN).json()["answer_first"] is True
    decided = served.call("POST", f"{path}/decide", REVIEWER, json=verdict)
    assert decided.json()["state"] == "decided"
    assert served.call("POST", f"{path}/answer", ADMIN, json={"answer": "x"}).status_code == 409


def test_the_page_asks_first(served: Served) -> None:
    """The page has task and a box for the answer; sending it shows the output."""
    review_id, visitor = asked(served), Visitor(served)
    page = visitor.get(f"/reviews/{review_id}").text
    assert "What should the output be?" in page
    assert SECRET_OUTPUT not in page
    assert SECRET_OUTPUT not in visitor.get(f"/reviews/{review_id}/whole/output").text
    refused = visitor.decide(review_id, "answer", own=" ")
    assert refused.status_code == 422
    assert SECRET_OUTPUT not in refused.text
    visitor.decide(review_id, "answer", own="Seventeen, I think")
    assert SECRET_OUTPUT in visitor.get(f"/reviews/{review_id}").text
