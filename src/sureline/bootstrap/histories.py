"""Wire the search in past cases, and what embeds them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib.util import find_spec

from sureline.adapters.embedders.hashing import HashingEmbedder
from sureline.adapters.search.beyond import BeyondWindow
from sureline.adapters.search.check import CheckReport, check
from sureline.adapters.search.check_stored import check_stored
from sureline.adapters.search.exact import ExactCaseIndex
from sureline.adapters.storage.store import Store
from sureline.application.fixed_model import FixedModel
from sureline.application.fresh_index import REEMBEDDED
from sureline.application.history import HistorySource
from sureline.application.ports.cases import StoredCases
from sureline.application.ports.embedder import Embedder, EmbeddingModel
from sureline.application.ports.registry import Activation
from sureline.bootstrap.plugins import Plugins
from sureline.core.values.policy import SlicePolicy
from sureline.errors import EmbeddingFailed, MissingExtra, PolicyError

HASHING = "hashing"
LOCAL = "local"
NO_MODEL = ""
"""The name of no embedding model: to whoever looks with it, all that lacks a vector is missing."""


def chosen_embedder(plugins: Plugins) -> Embedder:
    """Return the program's own embedder, or the built-in one: what `hashing` stands for."""
    return plugins.embedder or HashingEmbedder()


def embedding_models(plugins: Plugins) -> Callable[[str], EmbeddingModel]:
    """Return what knows embedders by the name that a policy has for them; each is opened once.

    A program's own embedder takes the place of `hashing`, so it serves every slice whose policy
    names no other. Raises MissingExtra where a name needs what is not installed.
    """
    opened = plugins.opened_models

    def model_for(name: str) -> EmbeddingModel:
        if name not in opened:
            opened[name] = _open_model(name, plugins)
        return opened[name]

    return model_for


def _open_model(name: str, plugins: Plugins) -> EmbeddingModel:
    if name == HASHING:
        return FixedModel(name, chosen_embedder(plugins))
    # Imported here: a gate that names neither needs none of what is behind them.
    if name == LOCAL:
        from sureline.adapters.embedders.sentence import SentenceEmbedder

        return FixedModel(name, SentenceEmbedder())
    from sureline.adapters.embedders.remote import RemoteModel
    from sureline.adapters.models.embeddings import PydanticAIEmbeddings

    return RemoteModel(name, PydanticAIEmbeddings(plugins.limits, plugins.clock))


def check_embedder(key: str, policy: SlicePolicy) -> None:
    """Refuse an embedder that cannot work here, before anything is decided.

    Raises MissingExtra naming slice and extra, and PolicyError where the local model's files are
    not those that are pinned. Whether a remote model answers is not asked.
    """
    name = policy.history.embedder
    if name == HASHING or not embeds(policy):
        return
    if name != LOCAL:
        if find_spec("pydantic_ai") is None:
            raise MissingExtra(
                f"slice {key}: history.embedder {name!r} is asked over the network, which needs "
                "the extra `models`; install sureline[models]"
            )
        return
    from sureline.adapters.embedders.model_files import check_files, model_folder

    try:
        check_files(model_folder())
    except (EmbeddingFailed, MissingExtra) as error:
        kind = MissingExtra if isinstance(error, MissingExtra) else PolicyError
        raise kind(f"slice {key}: history.embedder is `local`: {error}") from None


def embeds(policy: SlicePolicy) -> bool:
    """Tell whether anything of a slice is embedded: for its history, or to compare its texts."""
    compares_texts = policy.consistency is not None and not policy.checks.structured
    return compares_texts or policy.weights.get("history", 0.0) > 0.0


def open_history(store: Store, plugins: Plugins, workspace: str) -> HistorySource:
    """Wire the search in past cases."""

    async def remade() -> Activation | None:
        return await store.registry.active(workspace, REEMBEDDED)

    return HistorySource(
        model_for=embedding_models(plugins),
        open_index=lambda model_id, dimension: beyond_window(store, model_id, dimension, plugins),
        remade=remade,
    )


def case_index(store: Store, model_id: str, dimension: int, plugins: Plugins) -> ExactCaseIndex:
    """Open the index of one embedding model's vectors."""
    return ExactCaseIndex(store.ledger, model_id, dimension=dimension, most=plugins.most_cases)


def beyond_window(store: Store, model_id: str, dimension: int, plugins: Plugins) -> BeyondWindow:
    """Open the index of one embedding model's vectors, older ones in the database included."""
    memory = case_index(store, model_id, dimension, plugins)

    async def find() -> StoredCases | str:
        table = store.case_vectors
        if table is None:
            return "sqlite"
        why = await asyncio.to_thread(why_not_beyond, store)
        return why or table.of_model(model_id, dimension)

    return BeyondWindow(memory, find)


def why_not_beyond(store: Store) -> str | None:
    """Say by a code why cases beyond the window in memory are not searched; None if they are."""
    if store.case_vectors is None:
        return "sqlite"
    return None if store.case_vectors.is_there else "no_extension"


async def check_cases(store: Store, plugins: Plugins) -> CheckReport:
    """Compare the search in past cases, of every model there is, with the ledger.

    What is in memory is rebuilt; what lies in the database is looked at as it is.
    """
    report = CheckReport(cases=0, expected=0, queries=0, disagreements=0)
    table = None
    if store.case_vectors is not None and store.case_vectors.is_there:
        table = store.case_vectors.unhurried()
    # Where no vector is left there is no model either; that they are missing is told all the same.
    for model_id, dimension in await store.remade.models() or ((NO_MODEL, 1),):
        index = case_index(store, model_id, dimension, plugins)
        try:
            await index.refresh()
            report += await check(index, store.ledger)
        finally:
            index.close()
        if table is not None:
            report = await check_stored(
                report,
                table.of_model(model_id, dimension),
                store.ledger,
                model_id=model_id,
                dimension=dimension,
            )
    if table is not None:
        table.close()
    return report
