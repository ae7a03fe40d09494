"""Packs of evidence: made from a store, checked without one."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from sureline.adapters.evidence.pack_reading import reading_pack
from sureline.adapters.evidence.pack_writing import writing_pack
from sureline.adapters.reports.evidence_html import evidence_html, evidence_readme
from sureline.adapters.signing.ed25519 import sign, verify
from sureline.adapters.storage.period_rows import PeriodRows
from sureline.application.check_evidence import PackReport, check_pack
from sureline.application.evidence import EvidenceMaker, Verification, Wanted
from sureline.application.evidence_pages import Pages
from sureline.bootstrap.heads import StatedHead
from sureline.bootstrap.services import Services
from sureline.core.chain_verification import ChainReport
from sureline.core.derived_verification import TableReport
from sureline.core.evidence_manifest import (
    MANIFEST,
    SIGNATURE,
    Manifest,
    read_manifest,
    signed_bytes,
)
from sureline.core.signed_head import read_signature, store_identity
from sureline.core.values.strict_json import strict_json
from sureline.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedPack:
    """What checking a pack showed; `signed_by` is the key's fingerprint, None if not checked."""

    manifest: Manifest
    report: PackReport
    signed_by: str | None


async def make_pack(
    services: Services,
    wanted: Wanted,
    path: Path,
    key: Path | None,
    *,
    tell: Callable[[ChainReport, Sequence[TableReport]], None] = lambda *_: None,
) -> Manifest:
    """Write a pack of a period, signed if a key is given. Raises Refused, StoreError.

    Of a ledger that does not hold, too, and the pack says so; `tell` is given what was seen.
    """
    store = services.store
    if key is not None:
        sign(key, b"")  # a key that cannot be used is told before the work, not after it
    chain = await store.ledger.verify()
    tables = await store.derived.compare() if chain.ok else ()
    tell(chain, tables)
    with writing_pack(path) as pack, store.database.reader() as fetch:
        maker = EvidenceMaker(
            version=version("sureline"),
            source=PeriodRows(fetch=fetch, store=store_identity(store.secret)),
            registry=services.registry,
            incidents=store.incidents,
            recalls=store.recalls,
            summarise=evidence_html,
            readme=evidence_readme,
        )
        manifest = await maker.make(pack, wanted, Verification(chain=chain, tables=tables))
        text = manifest.text()
        pack.add_bytes(MANIFEST, text)
        if key is not None:
            signature = sign(key, signed_bytes(text)).as_json()
            pack.add_bytes(SIGNATURE, json.dumps(signature, indent=2).encode())
    return manifest


def check_pack_file(
    path: Path, public_keys: Sequence[Path], head: StatedHead | None
) -> CheckedPack:
    """Check a pack without its store. Raises InvalidInput for what is none, or not signed so."""
    pages = Pages(version=version("sureline"), summarise=evidence_html, readme=evidence_readme)
    with reading_pack(path) as pack:
        text = pack.read(MANIFEST)
        manifest = read_manifest(text, file=f"{path}: {MANIFEST}")
        signed_by = None
        if public_keys:
            where = f"{path}: {SIGNATURE}"
            if not pack.has(SIGNATURE):
                raise InvalidInput("is missing: this pack was not signed", field=where)
            signature = read_signature(_json(pack.read(SIGNATURE), where), file=where)
            signed_by = verify(public_keys, signed_bytes(text), signature, file=where)
        report = check_pack(pack, manifest, None if head is None else head.statement, pages)
    return CheckedPack(manifest=manifest, report=report, signed_by=signed_by)


def _json(data: bytes, where: str) -> object:
    try:
        found: object = strict_json(data, beyond=True)
    except ValueError as error:
        raise InvalidInput(f"not JSON ({error})", field=where) from None
    return found
