"""Whether two model names mean the same model or the same family (G2)."""

from __future__ import annotations

import hashlib
import re

_VERSION = re.compile(
    r"(?:[-@:](?:latest|free|beta|preview|v\d+(?::\d+)?|\d{4}|\d{8}|\d{4}-\d{2}-\d{2}))+\Z"
)
_REGION = re.compile(r"\A(?:us|eu|apac|global|us-gov)\.")
_MAKER = re.compile(r"\A(?:anthropic|openai|meta|mistral|cohere|amazon|google|deepseek|qwen)\.")


def same_model(one: str, other: str) -> bool:
    """Tell whether two names mean one model, provider, path and date of issue aside."""
    return _bare(one) == _bare(other)


def same_family(one: str, other: str) -> bool:
    """Tell whether two names share provider or the word their model names start with."""
    providers = {_provider(one), _provider(other)}
    return _stem(one) == _stem(other) or (len(providers) == 1 and None not in providers)


def related(one: str, family: str | None, other: str, other_family: str | None) -> bool:
    """Tell whether two models are of one family: as stated of both, else by their names."""
    if family and other_family:
        return family.casefold() == other_family.casefold()
    return same_family(one, other)


def _bare(name: str) -> str:
    return _VERSION.sub("", _last(name))


def _last(name: str) -> str:
    """Return a model's own name: without provider, path, region, maker and tuning."""
    last = _parted(name)[1].rpartition("/")[2]
    last = _MAKER.sub("", _REGION.sub("", last))
    tuned = last.split(":")
    return tuned[1] if tuned[0] == "ft" and len(tuned) > 1 else last


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


LONGEST_ID = 64
_ID = re.compile(r"[A-Za-z0-9._:/@+-]+", re.ASCII)
_LONG_NUMBER = re.compile(r"[0-9]{9}", re.ASCII)
"""Versions and dates are shorter; numbers of accounts, cards and telephones are not."""


def kept_id(answered: str, asked: str) -> str:
    """Return the id of a model that answered as it is kept for ever, erasures or not.

    Kept as it is: the name that was asked for, and what looks like a model's name, at most 64
    characters of those that ids are made of without a number of nine digits or more. What else a
    provider calls its model may quote the payload: of that a digest is kept, so that two such
    models are still two.
    """
    plausible = len(answered) <= LONGEST_ID and _ID.fullmatch(answered)
    if answered == asked.partition(":")[2] or (plausible and not _LONG_NUMBER.search(answered)):
        return answered
    digest = hashlib.sha256(answered.encode("utf-8", "surrogatepass")).hexdigest()
    return f"other-{digest[:16]}"
