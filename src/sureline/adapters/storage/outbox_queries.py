"""What is asked of the outbox's tables, compiled once."""

from __future__ import annotations

from sqlalchemy import Integer, and_, bindparam, delete, exists, literal_column, or_, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from sureline.adapters.storage.dead_workers import NOW, held_by_dead
from sureline.adapters.storage.outbox_rows import (
    DELIVERY_COLUMNS,
    NOTICE_COLUMNS,
    channels,
    deliveries,
    notices,
)
from sureline.adapters.storage.review_rows import reviews
from sureline.adapters.storage.statement import LISTED, compiled
from sureline.core.values.notification import NoticeKind

_IN = deliveries.c.workspace == bindparam("workspace_")
_OF = deliveries.c.channel == bindparam("channel_")
_WAITS = deliveries.c.state == literal_column("'waiting'")
_item = and_(reviews.c.workspace == notices.c.workspace, reviews.c.id == notices.c.review_id)
_told = and_(notices.c.workspace == deliveries.c.workspace, notices.c.id == deliveries.c.notice_id)
_WITH_NOTICE = select(*DELIVERY_COLUMNS, *NOTICE_COLUMNS).select_from(
    deliveries.join(notices, _told)
)

NEW = compiled(
    select(*NOTICE_COLUMNS, reviews.c.open)
    .select_from(notices.outerjoin(reviews, _item))
    .where(notices.c.workspace == bindparam("workspace"), notices.c.spread_at.is_(None))
    .order_by(notices.c.at, notices.c.id)
    .limit(bindparam("limit"))
    .offset(literal_column("0"))
)
"""Notices without deliveries yet, each with whether its item is open."""

ADD = compiled(upsert(deliveries).on_conflict_do_nothing())
SPREAD = compiled(
    update(notices)
    .values(spread_at=bindparam("at_"))
    .where(notices.c.workspace == bindparam("workspace_"), notices.c.id == bindparam("id_"))
)
DUE = compiled(
    select(deliveries.c.channel)
    .where(_IN, _WAITS, deliveries.c.due_at <= bindparam("now_"))
    .group_by(deliveries.c.channel)
    .order_by(deliveries.c.channel)
)
_AN_END = exists().where(
    _told,
    _item,
    reviews.c.open == literal_column("0"),
    notices.c.kind.in_([literal_column(f"'{kind.value}'") for kind in NoticeKind if kind.waits]),
)
END_MOOT = compiled(
    update(deliveries)
    .values(state=bindparam("state_"), finished_at=bindparam("now_"))
    .where(_IN, _OF, _WAITS, deliveries.c.due_at <= bindparam("due_"), _AN_END)
)
TAKE = compiled(
    _WITH_NOTICE.where(_IN, _OF, _WAITS, deliveries.c.due_at <= bindparam("now_"))
    .order_by(deliveries.c.due_at, deliveries.c.id)
    .limit(bindparam("limit"))
    .offset(literal_column("0"))
)
HOLD = compiled(
    update(deliveries)
    .values(
        due_at=bindparam("until_"),
        tries=deliveries.c.tries + literal_column("1"),
        held_by=bindparam("owner_"),
    )
    .where(_IN, deliveries.c.id == bindparam("id_"))
)
GIVE_BACK = compiled(
    update(deliveries)
    .values(
        due_at=bindparam("now_"),
        tries=deliveries.c.tries - literal_column("1"),
        held_by=literal_column("NULL"),
    )
    .where(
        _IN, deliveries.c.id == bindparam("id_"), _WAITS, deliveries.c.tries == bindparam("tries_")
    )
)
USED = compiled(
    select(channels.c.used_until).where(
        channels.c.workspace == bindparam("workspace"), channels.c.name == bindparam("name")
    )
)
_channel = upsert(channels)
_KEY = ["workspace", "name"]
PACE = compiled(
    _channel.on_conflict_do_update(
        index_elements=_KEY, set_={"used_until": _channel.excluded.used_until}
    )
)
CLOSE = compiled(
    _channel.on_conflict_do_update(
        index_elements=_KEY, set_={"closed_for": _channel.excluded.closed_for}
    )
)
CLOSED = compiled(
    select(channels.c.name, channels.c.closed_for).where(
        channels.c.workspace == bindparam("workspace"), channels.c.closed_for.is_not(None)
    )
)
REOPEN = compiled(
    update(channels)
    .values(closed_for=literal_column("NULL"))
    .where(channels.c.workspace == bindparam("workspace_"), channels.c.name.in_(LISTED))
)
FINISH = compiled(
    update(deliveries)
    .values(
        state=bindparam("state_"),
        due_at=bindparam("due_"),
        finished_at=bindparam("finished_"),
        said=bindparam("said_"),
        held_by=literal_column("NULL"),
    )
    .where(
        _IN,
        deliveries.c.id == bindparam("id_"),
        or_(
            bindparam("any_try", type_=Integer).is_(None),
            and_(_WAITS, deliveries.c.tries == bindparam("tries_")),
        ),
    )
)
"""A delivery is one whatever came after; a failure counts only for the try that it was."""

_LOST = and_(_WAITS, held_by_dead(deliveries.c.held_by))
SOME_LOST = compiled(
    select(deliveries.c.id).where(_LOST).limit(literal_column("1")).offset(literal_column("0"))
)
RELEASE = compiled(
    update(deliveries).values(due_at=NOW, held_by=literal_column("NULL")).where(_LOST)
)
"""Both on PostgreSQL only."""

END_ALL = compiled(
    update(deliveries)
    .values(state=bindparam("state_"), finished_at=bindparam("now_"), said=bindparam("said_"))
    .where(_IN, _OF, _WAITS)
)
_listed = or_(bindparam("any_state") == literal_column("''"), deliveries.c.state == bindparam("st"))
_called = or_(
    bindparam("any_channel") == literal_column("''"), deliveries.c.channel == bindparam("ch")
)
LIST = compiled(
    _WITH_NOTICE.where(_IN, _listed, _called)
    .order_by(deliveries.c.created_at.desc(), deliveries.c.id)
    .limit(bindparam("limit"))
    .offset(literal_column("0"))
)
ONE = compiled(_WITH_NOTICE.where(_IN, deliveries.c.id == bindparam("id_")))
ALL_DEAD = compiled(
    select(deliveries.c.id)
    .where(_IN, deliveries.c.state == literal_column("'dead'"), _called)
    .order_by(deliveries.c.created_at, deliveries.c.id)
)
ANEW = compiled(
    update(deliveries)
    .values(
        state=literal_column("'waiting'"),
        tries=literal_column("0"),
        due_at=bindparam("now_"),
        finished_at=literal_column("NULL"),
        said=literal_column("NULL"),
        held_by=literal_column("NULL"),
    )
    .where(_IN, deliveries.c.id == bindparam("id_"))
)
FORGET = compiled(
    delete(deliveries).where(
        _IN,
        deliveries.c.state.in_([literal_column("'delivered'"), literal_column("'moot'")]),
        deliveries.c.finished_at < bindparam("before_"),
    )
)
FORGET_NOTICES = compiled(
    delete(notices).where(
        notices.c.workspace == bindparam("workspace_"),
        notices.c.spread_at < bindparam("before_"),
        ~exists().where(
            deliveries.c.workspace == notices.c.workspace, deliveries.c.notice_id == notices.c.id
        ),
    )
)
