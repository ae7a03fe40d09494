"""What the checks found in an output that is only kept redacted, without quoting it."""

from __future__ import annotations

from dataclasses import replace

from sureline.core.checks.paths import ABSENT, parse_path, walk
from sureline.core.checks.verification import Verification
from sureline.core.values.finding import Finding
from sureline.errors import PolicyError

NOT_SHOWN = "What was found is not shown, because it may quote what was redacted."


def unquoting(checked: Verification, shown: Verification) -> Verification:
    """Return what the checks found in the original, in words that come from the redacted form.

    Score, codes and penalties are the original's. A finding keeps its words only where the redacted
    form gives the very same finding: then nothing redacted is in them. The output is the redacted.
    """
    known = set(shown.findings)
    findings = tuple(
        one if one in known else _unquoting(one, shown.output) for one in checked.findings
    )
    signal = replace(checked.signal, findings=findings)
    return replace(checked, output=shown.output, signal=signal, findings=findings)


def _unquoting(found: Finding, output: object) -> Finding:
    return replace(found, message=NOT_SHOWN, field=found.field if _is_in(found, output) else None)


def _is_in(found: Finding, output: object) -> bool:
    """Tell whether the place of a finding is one of the redacted output too: no key is betrayed."""
    if found.field is None:
        return False
    try:
        path = parse_path(found.field)
    except PolicyError:
        return False
    return all(value is not ABSENT for _, value in walk(output, path))
