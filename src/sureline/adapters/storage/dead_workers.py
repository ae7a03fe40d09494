"""Which workers are dead, as the job server's database judges by its own clock (O22).

Used on PostgreSQL only, where there are workers. The table is procrastinate's.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    DateTime,
    Float,
    String,
    and_,
    bindparam,
    cast,
    column,
    exists,
    func,
    literal_column,
    table,
)

from sureline.application.ports.jobs import WORKER

_workers = table("procrastinate_workers", column("id"), column("last_heartbeat", DateTime))

NOW: ColumnElement[int] = cast(
    func.date_part(literal_column("'epoch'"), func.clock_timestamp()) * literal_column("1000000"),
    BigInteger,
)
"""The database's time in microseconds."""


def held_by_dead(owner: Column[str]) -> ColumnElement[bool]:
    """Tell whether `owner` is a worker without a heartbeat within the parameter `seconds`."""
    age = cast(bindparam("seconds", type_=Float), Float) * literal_column("interval '1 second'")
    alive = exists().where(
        literal_column(f"'{WORKER}'").op("||")(cast(_workers.c.id, String)) == owner,
        _workers.c.last_heartbeat >= func.now() - age,
    )
    return and_(owner.startswith(literal_column(f"'{WORKER}'")), ~alive)
