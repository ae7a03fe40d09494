"""Whether two model names mean the same model or the same family (G2)."""

from __future__ import annotations

import re

_VERSION = re.compile(r"(?:[-@:](?:latest|\d{8}|\d{4}-\d{2}-\d{2}))+\Z")


def same_model(one: str, other: str) -> bool:
    """Tell whether two names mean one model, provider, path and date of issue aside."""
    return _bare(one) == _bare(other)


def same_family(one: str, other: str) -> bool:
    """Tell whether two names share provider or the word their model names start with."""
    providers = {_provider(one), _provider(other)}
    return _stem(one) == _stem(other) or (len(providers) == 1 and None not in providers)


def _bare(name: str) -> str:
    return _VERSION.sub("", _last(name))


def _last(name: str) -> str:
    return _parted(name)[1].rpartition("/")[2]


def _provider(name: str) -> str | None:
    return _parted(name)[0]


def _parted(name: str) -> tuple[str | None, str]:
    plain = name.strip().casefold()
    provider, colon, model = plain.partition(":")
    # In "llama3:8b" and "llama3:latest" the colon starts a tag, not the model.
    if not colon or model[:1].isdigit() or model in {"", "latest"}:
        return None, plain
    return provider, model


def _stem(name: str) -> str:
    return re.split(r"[^a-z]", _last(name), maxsplit=1)[0] or _last(name)
