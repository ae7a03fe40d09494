"""Wire the search in past cases."""

from __future__ import annotations

from sureline.adapters.embedders.hashing import HashingEmbedder
from sureline.adapters.search.exact import ExactCaseIndex
from sureline.adapters.storage.store import Store
from sureline.application.history import HistorySource
from sureline.application.ports.embedder import Embedder
from sureline.bootstrap.plugins import Plugins


def chosen_embedder(plugins: Plugins) -> Embedder:
    """Return the program's own embedder, or the built-in one."""
    return plugins.embedder or HashingEmbedder()


def open_history(store: Store, plugins: Plugins) -> HistorySource:
    """Wire the search in past cases."""
    embedder = chosen_embedder(plugins)
    return HistorySource(embedder=embedder, index=case_index(store, embedder, plugins))


def case_index(store: Store, embedder: Embedder, plugins: Plugins) -> ExactCaseIndex:
    """Open the index of one embedder's vectors."""
    return ExactCaseIndex(
        store.ledger, embedder.model_id, dimension=embedder.dimension, most=plugins.most_cases
    )
