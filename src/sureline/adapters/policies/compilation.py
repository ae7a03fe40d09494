"""Compile a slice's checks while it is read, so that none of them can fail at a decision."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from zoneinfo import ZoneInfo

from sureline.adapters.policies.faults import Faults
from sureline.adapters.policies.freeze import frozen_checks
from sureline.adapters.policies.settings import SliceSettings
from sureline.adapters.policies.tree import Node
from sureline.core.checks.grounding import compile_grounding
from sureline.core.checks.prose import compile_prose
from sureline.core.checks.rules import compile_rule
from sureline.core.checks.values import compile_formats
from sureline.errors import PolicyError


def check_compilation(node: Node, settings: SliceSettings, faults: Faults) -> None:
    """Tell every rule, limit or reading that the checks themselves refuse."""
    checks = frozen_checks(settings)
    formats = None
    with _told(node, faults, "reading"):
        formats = compile_formats(checks.reading)
    for index, limits in enumerate(checks.prose):
        with _told(node, faults, "prose", index):
            compile_prose(limits)
    if formats is None:
        return
    zone = ZoneInfo(checks.reading.timezone)
    for index, rule in enumerate(checks.rules):
        with _told(node, faults, "rules", index):
            compile_rule(rule, formats, zone)
    if checks.grounding is not None:
        with _told(node, faults, "grounding"):
            compile_grounding(checks.grounding, formats)


@contextmanager
def _told(node: Node, faults: Faults, *steps: str | int) -> Iterator[None]:
    try:
        yield
    except PolicyError as error:
        faults.add(node.deepest(steps)[0], error.message)
