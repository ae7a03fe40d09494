"""Back a store up, try a backup, and take one into use."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from sureline.adapters.clock import SystemClock
from sureline.adapters.storage.backup import Backup as Backup
from sureline.adapters.storage.backup import (
    Progress,
    check_is_store,
    copy_file,
    copy_rows,
    file_to_copy,
    is_on_postgres,
    new_file,
    proven,
    size_of,
    take_copy,
)
from sureline.adapters.storage.erase_mission import erased_event
from sureline.adapters.storage.restored import (
    MarkRestored,
    every_erasure,
    newest_moment,
    workspaces,
)
from sureline.adapters.storage.stated_heads import heads_met
from sureline.adapters.storage.store import Store, file_of, open_store
from sureline.application.ports.audits import Erasure
from sureline.bootstrap.heads import StatedHead
from sureline.core.chain_verification import ChainReport
from sureline.core.derived_verification import TableReport
from sureline.core.gate.acting import check_distinct
from sureline.core.signed_head import store_identity
from sureline.core.values.mission_kind import MISSION_SLICE
from sureline.errors import InvalidInput, NotFound, Refused, StoreCorrupt


@dataclass(frozen=True, slots=True, kw_only=True)
class Drill:
    """What trying a backup showed.

    `newest` is the moment of its newest row and `age` how long ago that was; `missing` how many
    rows it lacks of a head, None without one; `faults` are sentences, none if it can be used.
    """

    chain: ChainReport
    tables: Sequence[TableReport]
    newest: datetime | None
    age: timedelta | None
    missing: int | None
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What marking a restored store did; `unknown` erasures are of decisions that it has not."""

    voided: int
    erased: int
    erased_before: int
    unknown: int


async def back_up(url: str, path: Path, *, progress: Progress) -> Backup:
    """Copy a store into a new file, as of one moment, and verify it.

    Raises InvalidInput, Refused where the file exists or the store does not hold, StoreError.
    """
    with new_file(path) as part:
        if is_on_postgres(url):
            await _rows_of(url, part, progress)
        else:
            copy_file(file_to_copy(url), part, progress=progress)
        try:
            chain = await proven(part)
        except StoreCorrupt as error:
            said = error.message.replace(str(part), "the store")
            raise StoreCorrupt(f"no backup was made: {said}") from error
    return Backup(path=path, size=size_of(path), rows=chain.rows, head=str(chain.head))


async def _rows_of(url: str, part: Path, progress: Progress) -> None:
    source = open_store(url, create=False, to_write=False)
    try:
        await copy_rows(source, part, progress=progress)
    finally:
        source.close()


async def drill(path: Path, head: StatedHead | None, *, may_be_empty: bool = False) -> Drill:
    """Restore a backup into a temporary folder, open it, and look at all of it.

    The backup itself is only read. One in which nothing was recorded is a fault, unless it
    `may_be_empty`. Raises Refused for what is no store, InvalidInput, StoreError.
    """
    with tempfile.TemporaryDirectory(prefix="sureline-drill-") as folder:
        try:
            copy = take_copy(path, Path(folder))
            store = open_store(f"sqlite:///{copy}", create=False)
            try:
                return await _tried(store, head, may_be_empty=may_be_empty)
            finally:
                store.close()
        except StoreCorrupt as error:  # which copy was tried is nothing that anybody has seen
            said = error.message.replace(str(Path(folder) / "restored.db"), str(path))
            said = said.replace("restore it from a backup", "try an older backup")
            raise Refused(f"do NOT rely on it: {said}") from error


async def _tried(store: Store, head: StatedHead | None, *, may_be_empty: bool) -> Drill:
    chain = await store.ledger.verify()
    tables = tuple(await store.derived.compare()) if chain.ok else ()
    faults = [] if chain.fault is None else [chain.fault.message]
    faults += [one.sentence for one in tables if not one.ok]
    faults += store.derived.programs().faults
    if chain.ok and not chain.rows and not may_be_empty:
        faults.append("nothing was ever recorded in it; if that is what you expect: --empty")
    missing = None
    if head is not None:
        if head.statement.store != store_identity(store.secret):
            raise InvalidInput("store: this is the head of another store", field=head.file)
        met = heads_met(store, head.statement)
        missing = met.missing
        faults += met.faults() if met.contradicted else ()
    newest = newest_moment(store.database)
    age = None if newest is None else max(timedelta(0), SystemClock().now() - newest)
    return Drill(
        chain=chain,
        tables=tables,
        newest=newest,
        age=age,
        missing=missing,
        faults=tuple(faults),
    )


async def mark_restored(url: str, *, by: str, reason: str, erasures: Sequence[Erasure]) -> Restored:
    """Erase again what was erased after the backup, void approvals, and stop automation.

    May be done again. Raises Refused if the ledger does not hold, StoreError.
    """
    file = file_of(url)
    if file is not None and file.is_file():
        check_is_store(file)
    store = open_store(url, create=False)
    try:
        chain = await store.ledger.verify()
        faults = [] if chain.fault is None else [f"the ledger does not hold: {chain.fault.message}"]
        for fault in (*faults, *store.derived.programs().faults):
            raise Refused(f"{fault}; try another backup")
        for workspace in workspaces(store.database):
            keys = await store.keys.all(workspace)
            check_distinct(by, [one.name for one in keys], field="--by")
        at = SystemClock().now()
        counts = {"erased": 0, "erased_before": 0, "unknown": 0}
        voided = await store.database.write(MarkRestored(by, reason, at))
        for one in erasures:
            counts[await _erase(store, one, by, at)] += 1
        return _restored(voided, counts)
    finally:
        store.close()


def _restored(voided: int, counts: Mapping[str, int]) -> Restored:
    return Restored(
        voided=voided,
        erased=counts["erased"],
        erased_before=counts["erased_before"],
        unknown=counts["unknown"],
    )


async def _erase(store: Store, one: Erasure, by: str, at: datetime) -> str:
    reason = f"again after a restore: {one.reason} ({one.by}, {one.erased_at.isoformat()})"
    if one.slice_key.startswith(MISSION_SLICE):
        event = erased_event(one.workspace, one.decision_id, by=by, reason=reason, at=at)
        with suppress(NotFound):  # an evaluation's erasure names the evaluation
            done = await store.missions.erase(one.workspace, one.decision_id, event)
            return "erased" if done else "erased_before"
    try:
        done = await store.ledger.erase(one.workspace, one.decision_id, by=by, reason=reason, at=at)
    except NotFound:
        return "unknown"
    return "erased" if done else "erased_before"


def list_erasures(url: str) -> Sequence[Erasure]:
    """Return every erasure of a store, in whatever workspace. Raises StoreError."""
    store = open_store(url, create=False, to_write=False)
    try:
        return every_erasure(store.database)
    finally:
        store.close()
