"""Verify the ledger beside a server or a worker."""

from __future__ import annotations

from sureline.adapters.storage.store import Store
from sureline.adapters.verifying import VerifyThread
from sureline.application.ports.clock import Clock
from sureline.application.verify_ledger import LedgerWatch


def ledger_watch(store: Store, clock: Clock, workspace: str) -> LedgerWatch:
    """Return what verifies a store's ledger, and tells a workspace's channels."""
    return LedgerWatch(verifications=store.verifications, clock=clock, workspace=workspace)


def verify_thread(store: Store, clock: Clock, workspace: str) -> VerifyThread:
    """Return the thread that verifies what is new, at the start and later; enter it to start."""
    return VerifyThread(ledger_watch(store, clock, workspace).tail)
