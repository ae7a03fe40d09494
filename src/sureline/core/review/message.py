"""What people are told, as text: counts, slices and a link, and never more than fits."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from sureline.core.hidden_text import spelled
from sureline.core.review.mission_words import is_of_mission, mission_line, mission_of
from sureline.core.values.notification import Notice, NoticeKind

MOST_TITLE = 140
MOST_BODY = 2800
"""Slack shows 150 characters of a header and 3,000 of a section."""
MOST_VALUE = 200

_MARKUP = str.maketrans({"<": "‹", ">": "›", "[": "⟦", "]": "⟧", "&": "＆", "`": "ˋ"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A text for people; plain, without any markup."""

    title: str
    body: str


def message(
    told: Sequence[Notice], *, page: str | None, shown: Mapping[str, Any] | None = None
) -> Message:
    """Say what happened: a line for each slice and kind, whatever the number, and for each mission.

    `shown` are the fields of a single notice's output that may be told. The link leads to a page
    that asks who is there and changes nothing by being opened.
    """
    groups: dict[tuple[str, NoticeKind], list[Notice]] = {}
    missions = [one for one in told if is_of_mission(one)]
    items = [one for one in told if not is_of_mission(one)]
    for one in sorted(items, key=lambda one: (one.slice_key, one.kind)):
        groups.setdefault((one.slice_key, one.kind), []).append(one)
    lines = [mission_line(one, shown_value) for one in missions]
    lines += [_line(key, kind, found) for (key, kind), found in groups.items()]
    where = "in the review queue" if items else "to missions"
    title = lines[0] if len(lines) == 1 else f"{len(told)} things happened {where}"
    facts = [f"{name}: {shown_value(value)}" for name, value in (shown or {}).items()]
    return Message(
        title=_cut(title, MOST_TITLE),
        body=_fitting([*lines, *facts], _links(page, items, missions)),
    )


def _links(page: str | None, items: Sequence[Notice], missions: Sequence[Notice]) -> list[str]:
    """Return where it is told further: of the one thing, or of the queue and of the missions."""
    if page is None:
        return []
    if len(items) + len(missions) == 1:
        found = [item_link(page, one) for one in (*items, *missions)]
    else:
        found = [f"{page}/missions"] if missions else []
        found += [inbox_link(page, {one.slice_key for one in items})] if items else []
    return [one for one in found if one is not None]


def inbox_link(page: str | None, slices: AbstractSet[str]) -> str | None:
    """Return the address of the queue's page, for one slice if it is only one."""
    if page is None:
        return None
    only = next(iter(slices)) if len(slices) == 1 else ""
    return f"{page}/?slice={_quoted(only)}" if only else f"{page}/"


def item_link(page: str | None, notice: Notice) -> str | None:
    """Return the address of the page of what a notice is about."""
    if page is None:
        return None
    if notice.kind is NoticeKind.CORRECTED:
        return f"{page}/decisions/{_quoted(notice.decision_id)}"
    if notice.kind in {NoticeKind.TRIPPED, NoticeKind.SWITCHED}:
        return f"{page}/switches"
    if notice.kind is NoticeKind.BROKEN:
        return f"{page}/dashboard"
    if is_of_mission(notice):
        return f"{page}/missions/{_quoted(mission_of(notice))}"
    return f"{page}/reviews/{_quoted(notice.review_id)}"


def shown_value(value: Any) -> str:
    """Return an agent's value as text that no channel takes for markup, a link or a command."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    plain = spelled(text[: MOST_VALUE * 2])
    return _cut(plain.translate(_MARKUP).replace("://", " : // "), MOST_VALUE)


def _quoted(text: str) -> str:
    """Return a text as a part of an address (RFC 3986): ids of proposals are any text."""
    return "".join(
        chr(byte) if (chr(byte).isalnum() and byte < 128) or chr(byte) in "-_." else f"%{byte:02X}"
        for byte in text.encode("utf-8", "replace")
    )


def _line(slice_key: str, kind: NoticeKind, found: Sequence[Notice]) -> str:
    if kind in _CONTROL:
        return _control_line(slice_key, kind, found)
    count = len(found)
    items = "1 item" if count == 1 else f"{count:,} items"
    if kind is NoticeKind.OPENED:
        return f"{items} wait{'s' if count == 1 else ''} in {slice_key}"
    if kind is NoticeKind.ESCALATED:
        return f"{items} of {slice_key} went a step up: nobody had decided in time"
    if kind is NoticeKind.EXPIRED:
        return f"{items} of {slice_key} expired: nobody decided, and nothing was approved"
    said = Counter(one.action or "?" for one in found)
    actions = ", ".join(f"{number:,} {action}" for action, number in sorted(said.items()))
    return f"{items} of {slice_key} {'was' if count == 1 else 'were'} decided: {actions}"


_CONTROL = {
    NoticeKind.CORRECTED,
    NoticeKind.TRIPPED,
    NoticeKind.SWITCHED,
    NoticeKind.BROKEN,
}


def _control_line(slice_key: str, kind: NoticeKind, found: Sequence[Notice]) -> str:
    """Say what is no item's affair; the name of a batch is an agent's word."""
    if kind is NoticeKind.TRIPPED:
        return f"{slice_key} was given to people: its audited precision is below target"
    if kind is NoticeKind.SWITCHED:
        turned = {one.facts["scope"]: one.facts["turned"] for one in found}
        said = ", ".join(f"{shown_value(scope)} {now}" for scope, now in turned.items())
        return f"switched: {said}"
    if kind is NoticeKind.BROKEN:
        where = ", ".join(f"row {one.facts['row']} ({one.facts['fault']})" for one in found)
        return f"THE LEDGER DOES NOT HOLD: {where}; see `sureline ledger verify`"
    said_now = Counter(one.facts["now"] for one in found)
    verdicts = ", ".join(f"{number:,} {verdict}" for verdict, number in sorted(said_now.items()))
    return f"corrections in {slice_key}, of what was released: now {verdicts}"


def _fitting(lines: Sequence[str], last: Iterable[str]) -> str:
    """Return as many lines as fit, saying how many do not, and the last ones always."""
    kept: list[str] = []
    tail = [*last]
    room = MOST_BODY - sum(len(one) + 1 for one in tail)
    for index, line in enumerate(lines):
        rest = len(lines) - index - 1
        more = f"… and {rest + 1:,} more lines that do not fit here"
        used = sum(len(one) + 1 for one in kept)
        if used + len(line) + 1 > room - (len(more) + 1 if rest else 0):
            return "\n".join([*kept, more, *tail])
        kept.append(line)
    return "\n".join([*kept, *tail])


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
