"""Put together what shows an auditor how a gate was run in a period (L13).

The same ledger and the same period give the same bytes: nothing in a pack says when it was made.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from sureline.application.holding import CALIBRATION
from sureline.application.policies import POLICY
from sureline.application.ports.evidence import PackWriter, PeriodSource
from sureline.application.ports.incidents import IncidentStore
from sureline.application.ports.recalls import RecallStore
from sureline.application.ports.registry import Activation, Registry
from sureline.core.canonical import canonical_json
from sureline.core.chain import ZERO, ChainRow
from sureline.core.chain_export import export_line
from sureline.core.chain_verification import ChainReport
from sureline.core.derived_verification import TableReport
from sureline.core.evidence import (
    AUDITS,
    LISTED,
    SAMPLE,
    Period,
    PeriodViews,
    calibration_line,
    policy_line,
    with_payload,
)
from sureline.core.evidence_manifest import Manifest, Stretch
from sureline.core.values.incident import Incident
from sureline.core.values.recall import Recall

CHAIN, POLICIES, CALIBRATIONS = "chain.jsonl", "policies.jsonl", "calibrations.jsonl"
HELD, INCIDENTS, RECALLS = "held.jsonl", "incidents.jsonl", "recalls.jsonl"
VERIFICATION, SUMMARY, README = "verification.json", "summary.html", "README.md"
SHOWN = (*LISTED, AUDITS, POLICIES, CALIBRATIONS, HELD, INCIDENTS, RECALLS)
"""The files that the page for reading is made of."""
PAGE = 500
MOST_RECALLS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a pack shall be of; `payloads` adds what the sample's proposals said."""

    period: Period
    seed: str
    sample: int
    payloads: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What the verification of the whole ledger showed, and of the tables that follow from it."""

    chain: ChainReport
    tables: Sequence[TableReport] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What the readable page of a pack shows; rows are those of the pack's files.

    It has nothing that the pack has not, so that the page can be made again and compared.
    """

    wanted: Wanted
    store: str
    counts: Mapping[str, Any]
    verification: Mapping[str, Any]
    rows: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceMaker:
    """Reads a store's period and writes it into a pack; `version` is that of sureline."""

    version: str
    source: PeriodSource
    registry: Registry
    incidents: IncidentStore
    recalls: RecallStore
    summarise: Callable[[Summary], str]
    readme: Callable[[bool], str]

    async def make(self, pack: PackWriter, wanted: Wanted, verification: Verification) -> Manifest:
        """Write all files but the manifest, and return that. Raises StoreError."""
        views = PeriodViews(wanted.period, seed=wanted.seed, sample=wanted.sample)
        stretches = self.source.stretches(wanted.period)
        pack.add(CHAIN, self._chain(views, stretches))
        files = views.lines()
        if wanted.payloads:
            files[SAMPLE] = self._with_payloads(files[SAMPLE], views.drawn())
        files |= await self._around(views, wanted.period)
        verified = verification_json(verification)
        files[VERIFICATION] = json_lines(verified)
        for name, lines in files.items():
            pack.add(name, lines)
        summary = Summary(
            wanted=wanted,
            store=self.source.store,
            counts=views.counts(),
            verification=verified,
            rows={name: [json.loads(one) for one in files[name]] for name in SHOWN},
        )
        pack.add(SUMMARY, page_lines(self.summarise(summary)))
        pack.add(README, page_lines(self.readme(wanted.payloads)))
        return Manifest(
            version=self.version,
            store=self.source.store,
            period=wanted.period,
            seed=wanted.seed,
            sample=wanted.sample,
            payloads=wanted.payloads,
            streams=stretches,
            files=pack.listed(),
        )

    def _chain(self, views: PeriodViews, stretches: Mapping[str, Stretch]) -> Iterator[str]:
        for stream, stretch in stretches.items():
            for row in self.source.rows(stream, stretch):
                views.add(row)
                yield export_line(_without_payload(row))

    def _with_payloads(self, lines: Sequence[str], places: Sequence[tuple[str, int]]) -> list[str]:
        """Add to each decision of the sample what was said, unless it was erased."""
        found = []
        for line, (stream, seq) in zip(lines, places, strict=True):
            row = self.source.row(stream, seq)
            if row is None or row.payload is None:
                found.append(line)
                continue
            payload = json.loads(export_line(row))["payload"]
            found.append(with_payload(line, payload))
        return found

    async def _around(self, views: PeriodViews, period: Period) -> dict[str, list[str]]:
        """Return what the period's rows rest on, and what stands in tables beside the chain."""
        held = {kind: await self._held(kind, period) for kind in (POLICY, CALIBRATION)}
        policies = views.policies | {one.subject for one in held[POLICY]}
        wanted = views.activated_calibrations | {one.subject for one in held[CALIBRATION]}
        calibrations = dict(views.calibrations)
        for subject in wanted - set(calibrations):
            body = await self.registry.calibration(subject)
            if body is not None:
                calibrations[subject] = body.decode("utf-8", "backslashreplace")
        texts = {one: await self.registry.policy_text(one) for one in sorted(policies)}
        return {
            POLICIES: [policy_line(name, text) for name, text in texts.items() if text is not None],
            CALIBRATIONS: [calibration_line(*one) for one in sorted(calibrations.items())],
            HELD: [_record(one) for kind in held for one in held[kind]],
            INCIDENTS: [_record(one) for one in await self._incidents(period)],
            RECALLS: [_record(one) for one in await self._recalls(period)],
        }

    async def _held(self, kind: str, period: Period) -> list[Activation]:
        """Return what was activated before the period and held when it began, oldest first.

        An activation for a share of the decisions leaves the earlier one in force.
        """
        found: list[Activation] = []
        for one in await self.registry.activations(period.workspace, kind):
            if one.at < period.since:
                found = [one] if one.share == 1 else [*found, one]
        return found

    async def _incidents(self, period: Period) -> list[Incident]:
        """Return what was opened or closed in the period, or open all through it, by id."""
        found: list[Incident] = []
        offset = 0
        while page := await self.incidents.list(
            period.workspace, only_open=False, slices=(), limit=PAGE, offset=offset
        ):
            offset += len(page)
            found += [
                one
                for one in page
                if one.opened_at < period.until
                and (one.closed_at is None or one.closed_at >= period.since)
            ]
        return sorted(found, key=lambda one: (one.opened_at, one.id))

    async def _recalls(self, period: Period) -> list[Recall]:
        found = await self.recalls.list(period.workspace, limit=MOST_RECALLS)
        inside = [one for one in found if period.since <= one.started_at < period.until]
        return sorted(inside, key=lambda one: (one.started_at, one.id))


def _without_payload(row: ChainRow) -> ChainRow:
    """Leave a payload out, whether it is there still or not: the chain of a pack has none."""
    omitted = row.payload_digest != ZERO
    return replace(row, payload=None, payload_omitted=True) if omitted else row


def _record(one: Activation | Incident | Recall) -> str:
    """Write a value with its moments as text; what has none is left out."""
    return canonical_json(_plain(asdict(one))).decode()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items() if one is not None}
    if isinstance(value, datetime):
        return value.isoformat()
    return list(value) if isinstance(value, tuple) else value


def verification_json(found: Verification) -> dict[str, Any]:
    """Return what `verification.json` and the page for reading say of it."""
    chain, fault = found.chain, found.chain.fault
    return {
        "ok": chain.ok and all(one.ok for one in found.tables),
        "rows": chain.rows,
        "head": str(chain.head),
        "erased": chain.erased,
        "fault": None if fault is None else {"row": fault.seq, "message": fault.message},
        "cannot_see": list(chain.cannot_see),
        "tables": [{"sentence": one.sentence, "ok": one.ok} for one in found.tables],
    }


def json_lines(content: Mapping[str, Any]) -> list[str]:
    """Write JSON values as the lines of a pack's file."""
    return json.dumps(content, indent=2, sort_keys=True).splitlines()


def page_lines(page: str) -> list[str]:
    """Return a page as the lines of a pack's file."""
    return page.removesuffix("\n").split("\n")
