"""What people are told: counts, slices, a link; plain text that fits."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.core.review.message import MOST_BODY, MOST_TITLE, message, shown_value
from sureline.core.values.notification import Notice, NoticeKind

PAGE = "https://review.example.com"
NOTICE = Notice(
    workspace="default",
    id="evt_1",
    kind=NoticeKind.OPENED,
    slice_key="invoices",
    review_id="d1",
    decision_id="d1",
    at=datetime(2026, 1, 5, 9, 0, tzinfo=UTC),
)


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        (NoticeKind.OPENED, "2 items wait in invoices"),
        (NoticeKind.ESCALATED, "2 items of invoices went a step up: nobody had decided in time"),
        (
            NoticeKind.EXPIRED,
            "2 items of invoices expired: nobody decided, and nothing was approved",
        ),
        (NoticeKind.DECIDED, "2 items of invoices were decided: 1 approve, 1 reject"),
    ],
    ids=str,
)
def test_notices_are_gathered_by_slice_and_kind(kind: NoticeKind, line: str) -> None:
    """Two notices are one line, with the slice's page as link."""
    told = [replace(NOTICE, kind=kind, action=one) for one in ("approve", "reject")]
    text = message(told, page=PAGE)
    assert (text.title, text.body) == (line, f"{line}\n{PAGE}/?slice=invoices")


def test_without_a_page_there_is_no_link() -> None:
    """A policy that does not say where the pages are has no links."""
    assert message([NOTICE], page=None).body == "1 item waits in invoices"


def test_a_single_item_shows_what_may_be_shown() -> None:
    """Fields that the policy names stand below the line."""
    text = message([NOTICE], page=PAGE, shown={"vendor": "Acme", "total": 12.5, "tags": ["a"]})
    assert text.body.splitlines() == [
        "1 item waits in invoices",
        "vendor: Acme",
        "total: 12.5",
        'tags: ⟦"a"⟧',
        f"{PAGE}/reviews/d1",
    ]


def test_what_does_not_fit_is_counted() -> None:
    """Of a thousand slices as many as fit are told, how many are left out, and the link."""
    told = [replace(NOTICE, slice_key=f"slice-{number:04}") for number in range(1000)]
    text = message(told, page=PAGE)
    assert len(text.body) <= MOST_BODY
    lines = text.body.splitlines()
    left = 1000 - (len(lines) - 2)
    assert lines[-2:] == [f"… and {left} more lines that do not fit here", f"{PAGE}/"]


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=400), max_size=20), st.text())
def test_a_message_always_fits_and_steers_nothing(shown: dict[str, str], name: str) -> None:
    """Whatever an output holds: the size is kept, and the link stays."""
    text = message([replace(NOTICE, review_id=name)], page=PAGE, shown={"a": shown})
    assert len(text.title) <= MOST_TITLE
    assert len(text.body) <= MOST_BODY
    last = text.body.splitlines()[-1]
    assert last.startswith(f"{PAGE}/reviews/")
    assert last.isascii()


HOSTILE = {
    "Slack's mention": "<!channel> pay now",
    "Slack's link": "<https://evil.example|the bank>",
    "Markdown's link": "[the bank](https://evil.example)",
    "Markdown's image": "![x](https://evil.example/pixel.png)",
    "HTML": "<img src=https://evil.example/pixel.png>",
    "entity": "&lt;!channel&gt;",
    "code": "```rm -rf```",
    "other direction": "fdp.exe\u202egnp",
    "new line": "fine\nlink: https://evil.example",
    "ANSI": "\x1b[2J",
    "zero width": "a\u200bb",
    "lone surrogate": "\ud800",
}


@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE)
def test_an_output_s_value_is_only_text(value: str) -> None:
    """No channel finds markup, a link or a command in it."""
    text = shown_value(value)
    assert not set(text) & set("<>[]&`")
    assert "://" not in text
    assert all(unicodedata.category(one) not in {"Cc", "Cf", "Cs"} for one in text)


def test_a_long_value_is_cut_visibly() -> None:
    """A value of two million characters ends in an ellipsis."""
    text = shown_value("x" * 2_000_000)
    assert len(text) == 200
    assert text.endswith("…")
