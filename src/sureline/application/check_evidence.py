"""Check a pack of evidence without the store that it is of: nothing in it is believed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import Any

from sureline.application.evidence import (
    CALIBRATIONS,
    CHAIN,
    HELD,
    INCIDENTS,
    POLICIES,
    README,
    RECALLS,
    SUMMARY,
    VERIFICATION,
)
from sureline.application.evidence_pages import Pages
from sureline.application.evidence_records import (
    Rows,
    named,
    read_calibrations,
    read_policies,
    read_records,
    read_verification,
)
from sureline.application.ports.evidence import PackReader
from sureline.core.canonical import canonical_json
from sureline.core.chain import Head, payload_digest
from sureline.core.chain_export import read_export_line
from sureline.core.chain_verification import ChainVerifier
from sureline.core.evidence import DERIVED, SAMPLE, PeriodViews, with_payload
from sureline.core.evidence_manifest import MANIFEST, SIGNATURE, Manifest, Stretch
from sureline.core.signed_head import HeadStatement
from sureline.core.values.counted import counted
from sureline.core.values.strict_json import strict_json
from sureline.errors import InvalidInput

CONTENT = (CHAIN, *DERIVED, POLICIES, CALIBRATIONS, HELD, INCIDENTS, RECALLS, VERIFICATION)
FILES = frozenset({*CONTENT, SUMMARY, README})
"""What a pack has beside its manifest and signature, no more and no less."""
_UNPROVEN = (
    f"whether {HELD}, {INCIDENTS}, {RECALLS} and {VERIFICATION} are what the store had: they are "
    f"no part of the period's chain",
    "rows before and after the period",
    "whether what was recorded was true: a wrong label, or a clock that was set back",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What checking one file showed, in a sentence."""

    file: str
    ok: bool
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PackReport:
    """What was found, file by file; `cannot_see` says what could not have been noticed."""

    findings: tuple[Finding, ...]
    cannot_see: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Tell whether everything holds."""
        return all(one.ok for one in self.findings)


def check_pack(
    pack: PackReader, manifest: Manifest, head: HeadStatement | None, pages: Pages
) -> PackReport:
    """Check digests, the chain, and all that follows from it. Raises InvalidInput for no pack."""
    findings = list(_digests(pack, manifest))
    other_version = pages.unproven(manifest)
    unseen: tuple[str, ...] = () if other_version is None else (other_version,)
    if all(one.ok for one in findings):
        views = PeriodViews(manifest.period, seed=manifest.seed, sample=manifest.sample)
        chain = _Chain(manifest, head)
        findings.append(chain.read(pack, views))
        findings += chain.compared()
        findings += _follow(pack, manifest, views)
        beside = _Beside(pack, manifest, views)
        findings += beside.tables()
        findings += beside.pages(pages, all(one.ok for one in findings))
        unseen += beside.unproven
    if head is None:
        unseen += ("that the chain was rewritten as a whole: give a signed --head",)
    return PackReport(findings=tuple(findings), cannot_see=(*unseen, *_UNPROVEN))


def _digests(pack: PackReader, manifest: Manifest) -> Iterator[Finding]:
    """Compare every file with the manifest, and the names with what a pack has."""
    found = {name: one for name, one in pack.listed().items() if name not in (MANIFEST, SIGNATURE)}
    for name in sorted(FILES | set(found) | set(manifest.files)):
        listed, present = manifest.files.get(name), found.get(name)
        if name not in FILES:
            yield Finding(file=name, ok=False, sentence="no file of a pack")
        elif present is None or listed is None:
            where = "the pack" if present is None else "the manifest"
            yield Finding(file=name, ok=False, sentence=f"is missing in {where}")
        elif present != listed:
            yield Finding(file=name, ok=False, sentence="is not what the manifest lists: changed")
        else:
            yield Finding(file=name, ok=True, sentence="is what the manifest lists")


class _Chain:
    """Verifies the stretches of a pack's chain, and compares them with a head."""

    def __init__(self, manifest: Manifest, head: HeadStatement | None) -> None:
        self._streams = manifest.streams
        self._verifiers = {name: _verifier(name, one) for name, one in self._streams.items()}
        self._store, self._head = manifest.store, head
        self._wanted = {} if head is None else dict(head.heads)
        self._met: set[str] = set()

    def read(self, pack: PackReader, views: PeriodViews) -> Finding:
        """Take every row of the file."""
        rows = 0
        for number, line in enumerate(pack.lines(CHAIN), start=1):
            problem = self._take(line, views)
            if problem is not None:
                return Finding(file=CHAIN, ok=False, sentence=f"line {number}: {problem}")
            rows += 1
        for name, verifier in self._verifiers.items():
            fault = verifier.finish().fault
            if fault is not None:
                return Finding(file=CHAIN, ok=False, sentence=f"stream {name!r}: {fault.message}")
        return Finding(file=CHAIN, ok=True, sentence=f"the chain holds: {counted(rows, 'row')}")

    def compared(self) -> Iterator[Finding]:
        """Say whether the chain runs through the head, where it is in the period."""
        if self._head is None:
            return
        if self._head.store != self._store:
            said = f"the head is of store {self._head.store}, the pack of {self._store}"
            yield Finding(file=CHAIN, ok=False, sentence=said)
            return
        inside = {name for name, head in self._wanted.items() if self._covers(name, head)}
        for name in sorted(inside - self._met):
            said = f"stream {name!r} does not run through the head (row {self._wanted[name].seq})"
            yield Finding(file=CHAIN, ok=False, sentence=said)
        if inside <= self._met:
            said = f"the chain runs through the head in {counted(len(inside), 'stream')}"
            beyond = counted(len(self._wanted) - len(inside), "stream")
            sentence = f"{said}; in {beyond} the head lies outside the period"
            yield Finding(file=CHAIN, ok=True, sentence=sentence)

    def _covers(self, stream: str, head: Head) -> bool:
        stretch = self._streams.get(stream)
        if stretch is None:
            return False
        if head == stretch.before:
            self._met.add(stream)
        return stretch.before.seq <= head.seq <= stretch.last.seq

    def _take(self, line: str, views: PeriodViews) -> str | None:
        try:
            row = read_export_line(line)
        except InvalidInput as error:
            return error.message
        verifier = self._verifiers.get(row.stream)
        if verifier is None:
            return f"the manifest has no stream {row.stream!r}"
        if row.seq > self._streams[row.stream].last.seq:
            return f"row {row.seq} lies beyond the stretch of stream {row.stream!r}"
        if not verifier.add(row):
            return "it does not hold" if verifier.fault is None else verifier.fault.message
        if self._wanted.get(row.stream) == Head(seq=row.seq, hash=row.hash):
            self._met.add(row.stream)
        views.add(row)
        return None


def _verifier(stream: str, stretch: Stretch) -> ChainVerifier:
    first = stretch.before == Head()
    return ChainVerifier(stream, start=None if first else stretch.before, expected=stretch.last)


def _follow(pack: PackReader, manifest: Manifest, views: PeriodViews) -> Iterator[Finding]:
    """Make the files again that follow from the chain."""
    expected = views.lines()
    for name in DERIVED:
        lines: Iterable[str] = pack.lines(name)
        if name == SAMPLE:
            lines = _confirmed(lines, manifest.payloads)
        yield _same(name, lines, expected[name])


def _same(name: str, found: Iterable[str], expected: Sequence[str]) -> Finding:
    for number, (one, other) in enumerate(zip_longest(found, expected), start=1):
        if one != other:
            return Finding(
                file=name, ok=False, sentence=f"line {number}: not what follows from the chain"
            )
    return Finding(file=name, ok=True, sentence="follows from the chain")


def _confirmed(lines: Iterable[str], payloads: bool) -> Iterator[str]:
    """Yield the sample without payloads; a line whose payload has another digest becomes none."""
    for line in lines:
        yield _without_payload(line) if payloads else line


def _without_payload(line: str) -> str:
    try:
        content = strict_json(line, beyond=True)
        payload = content.pop("payload", None)
        bare = canonical_json(content).decode()
        if payload is None:
            return line
        whole = with_payload(bare, payload)
    except (ValueError, TypeError, AttributeError, InvalidInput):
        return ""
    fits = _digest_of(payload) == content.get("payload_digest")
    return bare if fits and whole == line else ""


def _digest_of(payload: Any) -> str | None:
    try:
        parts = (payload[name].encode("utf-8", "surrogateescape") for name in ("answer", "request"))
        digest = payload_digest(bytes.fromhex(payload["salt"]), *parts).hex()
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    return digest if len(payload) == len(("salt", "answer", "request")) else None


class _Beside:
    """Checks the files that stand beside the chain, and makes the pages of all of them again."""

    def __init__(self, pack: PackReader, manifest: Manifest, views: PeriodViews) -> None:
        self._pack, self._manifest, self._views = pack, manifest, views
        self._rows: dict[str, Rows] = {}
        self.unproven: tuple[str, ...] = ()

    def tables(self) -> Iterator[Finding]:
        """Read each file strictly, and compare it with what names its lines."""
        for name in (HELD, INCIDENTS, RECALLS):
            yield self._read(name, partial(read_records, self._pack, name), "well formed; unproven")
        names = named(self._views, self._rows.get(HELD, ()))
        proven = "one text for each policy that is named, with the hash that names it"
        yield self._read(POLICIES, partial(read_policies, self._pack, names), proven)
        proven = "those made in the period are what the chain has; none is there unnamed"
        yield self._read(CALIBRATIONS, partial(read_calibrations, self._pack, names), proven)
        if names.unproven:
            listed = ", ".join(names.unproven)
            self.unproven = (f"whether {listed} had these certificates: made outside the period",)

    def pages(self, pages: Pages, others_hold: bool) -> Iterator[Finding]:
        """Compare the pages byte by byte with what the other files make."""
        try:
            verification = read_verification(self._pack)
        except InvalidInput as error:
            yield Finding(file=VERIFICATION, ok=False, sentence=error.message)
            others_hold = False
        if pages.unproven(self._manifest) is not None:
            return
        yield self._page(README, pages.readme_again(self._manifest))
        if not others_hold:
            yield Finding(file=SUMMARY, ok=False, sentence="not compared: other files do not hold")
            return
        made = pages.again(self._manifest, self._views, self._rows, verification)
        yield self._page(SUMMARY, made)

    def _page(self, name: str, made: bytes) -> Finding:
        same = self._pack.read(name) == made
        said = "is what the other files make" if same else "is not what the other files make"
        return Finding(file=name, ok=same, sentence=said)

    def _read(self, name: str, read: Callable[[], Rows], proven: str) -> Finding:
        try:
            self._rows[name] = read()
        except InvalidInput as error:
            return Finding(file=name, ok=False, sentence=error.message)
        return Finding(file=name, ok=True, sentence=proven)
