"""Make the pages of a pack that are for reading again, of the pack's other files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sureline.application.evidence import README, SUMMARY, Summary, Wanted, page_lines
from sureline.core.evidence import AUDITS, LISTED, PeriodViews
from sureline.core.evidence_manifest import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """How this version of sureline writes the pages."""

    version: str
    summarise: Callable[[Summary], str]
    readme: Callable[[bool], str]

    def unproven(self, manifest: Manifest) -> str | None:
        """Say why the pages cannot be compared: only the version that made them makes the same."""
        if manifest.version == self.version:
            return None
        return (
            f"whether {SUMMARY} and {README} say what the other files say: they cannot be "
            f"compared, made by version {manifest.version}, and this is {self.version}"
        )

    def again(
        self,
        manifest: Manifest,
        views: PeriodViews,
        rows: Mapping[str, Sequence[Mapping[str, Any]]],
        verification: Mapping[str, Any],
    ) -> bytes:
        """Return the summary as it follows from a pack's other files."""
        lines = views.lines()
        derived = {name: [json.loads(one) for one in lines[name]] for name in (*LISTED, AUDITS)}
        wanted = Wanted(
            period=manifest.period,
            seed=manifest.seed,
            sample=manifest.sample,
            payloads=manifest.payloads,
        )
        summary = Summary(
            wanted=wanted,
            store=manifest.store,
            counts=views.counts(),
            verification=verification,
            rows={**derived, **rows},
        )
        return _bytes(self.summarise(summary))

    def readme_again(self, manifest: Manifest) -> bytes:
        """Return the page that says what the files show."""
        return _bytes(self.readme(manifest.payloads))


def _bytes(page: str) -> bytes:
    return "".join(f"{line}\n" for line in page_lines(page)).encode("utf-8", "surrogatepass")
