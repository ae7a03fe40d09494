"""Import the libraries of models once, whoever comes first: embedder and judge begin together."""

from __future__ import annotations

import importlib
import threading

IMPORTING = threading.RLock()
"""Held by whoever imports them, or makes what imports a provider's.

Two threads that import one package from two of its ends can meet a module that is half loaded.
"""

_USED = ("direct", "embeddings", "exceptions", "messages", "models", "output", "providers")
_DEPTH = 12


def import_models_library() -> None:
    """Import all of pydantic_ai that is used later, on an event loop. Raises ImportError."""
    with IMPORTING:
        for name in _USED:
            importlib.import_module(f"pydantic_ai.{name}")


def missing_module(error: ImportError) -> str | None:
    """Return the module that is not installed, None if the import failed for another reason.

    Libraries say in an error of their own what to install; its cause is the missing module.
    """
    cause: BaseException | None = error
    for _ in range(_DEPTH):
        if cause is None or isinstance(cause, ModuleNotFoundError):
            break
        cause = cause.__cause__ or cause.__context__
    return (cause.name or "?") if isinstance(cause, ModuleNotFoundError) else None
