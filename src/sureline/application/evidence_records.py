"""Read the files of a pack that come from tables, and compare them with what the chain names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from hashlib import sha256
from typing import Any

from sureline.application.evidence import (
    CALIBRATIONS,
    HELD,
    INCIDENTS,
    POLICIES,
    RECALLS,
    VERIFICATION,
    json_lines,
)
from sureline.application.holding import CALIBRATION, NO_CALIBRATION
from sureline.application.policies import POLICY
from sureline.application.ports.evidence import PackReader
from sureline.application.ports.registry import Activation
from sureline.core.canonical import canonical_json
from sureline.core.evidence import PeriodViews
from sureline.core.values.incident import Incident
from sureline.core.values.recall import Recall
from sureline.core.values.strict_json import strict_json
from sureline.errors import InvalidInput

Rows = Sequence[Mapping[str, Any]]

_RECORDS: Mapping[str, type[Activation | Incident | Recall]] = {
    HELD: Activation,
    INCIDENTS: Incident,
    RECALLS: Recall,
}
_VERIFIED = {"ok", "rows", "head", "erased", "fault", "cannot_see", "tables"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What the chain and `held.jsonl` name; `made` are calibrations as the chain has them."""

    policies: frozenset[str]
    calibrations: frozenset[str]
    made: Mapping[str, str]

    @property
    def unproven(self) -> tuple[str, ...]:
        """Return the calibrations whose content is in no row of the period's chain."""
        return tuple(sorted(self.calibrations - set(self.made)))


def named(views: PeriodViews, held: Rows) -> Named:
    """Return which policies and calibrations belong into a pack, no more and no less."""
    subjects = {
        kind: {str(one.get("subject")) for one in held if one.get("kind") == kind}
        for kind in (POLICY, CALIBRATION)
    }
    activated = views.activated_calibrations | subjects[CALIBRATION]
    return Named(
        policies=frozenset(views.policies | subjects[POLICY]),
        calibrations=frozenset({*views.calibrations, *activated} - {NO_CALIBRATION}),
        made=views.calibrations,
    )


def read_records(pack: PackReader, name: str) -> Rows:
    """Read `held.jsonl`, `incidents.jsonl` or `recalls.jsonl`. Raises InvalidInput."""
    known = frozenset(one.name for one in fields(_RECORDS[name]))
    return [content for _, content in _lines(pack, name, known)]


def read_verification(pack: PackReader) -> Mapping[str, Any]:
    """Read `verification.json`. Raises InvalidInput for what is none."""
    try:
        content = strict_json(pack.read(VERIFICATION), beyond=True)
    except ValueError as error:
        raise InvalidInput(f"not JSON ({error})", field=VERIFICATION) from None
    if not _has(content, _VERIFIED):
        raise InvalidInput(f"expected {', '.join(sorted(_VERIFIED))}", field=VERIFICATION)
    fault, tables = content["fault"], content["tables"]
    if fault is not None and not _has(fault, {"row", "message"}):
        raise InvalidInput("fault: expected row and message", field=VERIFICATION)
    if not isinstance(tables, list) or not all(_has(one, {"sentence", "ok"}) for one in tables):
        raise InvalidInput("tables: expected sentence and ok of each", field=VERIFICATION)
    if list(pack.lines(VERIFICATION)) != json_lines(content):
        raise InvalidInput("written otherwise than in a pack", field=VERIFICATION)
    found: dict[str, Any] = content
    return found


def read_policies(pack: PackReader, wanted: Named) -> Rows:
    """Read the texts, one for each policy that is named. Raises InvalidInput."""
    found = []
    for number, content in _lines(pack, POLICIES, frozenset({"policy_hash", "text"})):
        text, digest = str(content.get("text")), content.get("policy_hash")
        if sha256(text.encode("utf-8", "surrogatepass")).hexdigest() != digest:
            said = f"line {number}: the text has another hash than {digest}"
            raise InvalidInput(said, field=POLICIES)
        found.append(content)
    _each_once(POLICIES, [str(one["policy_hash"]) for one in found], wanted.policies)
    return found


def read_calibrations(pack: PackReader, wanted: Named) -> Rows:
    """Read the calibrations, one for each that is named. Raises InvalidInput."""
    found = []
    for number, content in _lines(pack, CALIBRATIONS, frozenset({"id", "body"})):
        name, body = str(content.get("id")), content.get("body")
        if not isinstance(body, str) or wanted.made.get(name, body) != body:
            said = f"line {number}: {name} is not what the chain has"
            raise InvalidInput(said, field=CALIBRATIONS)
        found.append(content)
    _each_once(CALIBRATIONS, [str(one.get("id")) for one in found], wanted.calibrations)
    return found


def _has(content: Any, keys: set[str]) -> bool:
    return isinstance(content, dict) and set(content) == keys


def _each_once(name: str, found: Sequence[str], wanted: Iterable[str]) -> None:
    more, missing = set(found) - set(wanted), set(wanted) - set(found)
    if more:
        said = f"{min(more)}: no decision or activation names it, so it does not belong here"
    elif missing:
        said = f"{min(missing)}, which a decision or an activation names, is missing"
    elif list(found) != sorted(found) or len(set(found)) < len(found):
        said = "one is there twice, or they are in another order"
    else:
        return
    raise InvalidInput(said, field=name)


def _lines(
    pack: PackReader, name: str, known: frozenset[str]
) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(pack.lines(name), start=1):
        try:
            content = strict_json(line, beyond=True)
            fault = _fault(content, line, known)
        except InvalidInput as error:
            fault = error.message
        except ValueError as error:
            fault = f"not JSON ({error})"
        if fault is not None:
            raise InvalidInput(f"line {number}: {fault}", field=name)
        yield number, content


def _fault(content: Any, line: str, known: frozenset[str]) -> str | None:
    if not isinstance(content, dict):
        return "expected an object"
    unknown = sorted(set(content) - known)
    if unknown:
        return f"unknown key {unknown[0]!r}"
    if canonical_json(content).decode() != line:
        return "written otherwise than in a pack"
    return None
