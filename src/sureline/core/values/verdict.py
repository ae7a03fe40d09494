"""What a judge says after trying to refute an output."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sureline.core.values.finding import Finding
from sureline.core.values.model_card import ModelCard

_CODE = re.compile(r"[a-z][a-z0-9_]{0,39}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A judge's answer: `agrees` is a true boolean, `confidence` is finite in [0, 1].

    `failure_mode` is a short code that does not quote the output, such as `invented`; the judge's
    own words, which may, are the `reason`. `card` says which model gave it and how; None for a
    judge that is no model. The verdict of a panel has its `votes`, and no card of its own.
    """

    agrees: bool
    confidence: float
    failure_mode: str | None = None
    reason: str | None = None
    model: str | None = None
    card: ModelCard | None = None
    votes: tuple[Vote, ...] = ()

    @property
    def code(self) -> str | None:
        """Return the failure mode as a signal's detail may keep it: words are `other`."""
        mode: object = self.failure_mode  # a plug-in may have put anything there
        if mode is None:
            return None
        return mode if isinstance(mode, str) and _CODE.fullmatch(mode) else "other"

    @property
    def words(self) -> str | None:
        """Return all that the judge said in words, None if nothing."""
        mode = None if self.failure_mode == self.code else self.failure_mode
        said: tuple[object, ...] = (mode, self.reason)
        return ": ".join(one for one in said if isinstance(one, str) and one) or None


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """What one judge of a panel said: a verdict, or the code of the `fault` that left it out.

    `detail` are the figures of one that gave no verdict, `findings` what quotes its reply.
    """

    asked: str
    verdict: Verdict | None = None
    fault: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
