"""What a server really exposes, and what expressions and panels ask for."""

from __future__ import annotations

import re

import promql_parser

from sureline.application.ports.store_figures import BATCH_SECONDS, StoreFigures
from sureline.web.metrics import Metrics

FROM_PROMETHEUS = {"up": frozenset[str]()}
"""What Prometheus itself makes of a scrape."""

OF_THE_TARGET = frozenset({"instance", "job"})
"""Labels that Prometheus adds to everything that it scrapes."""

VARIABLES = {
    "$__rate_interval": "5m",
    "$__range": "1h",
    "$slice": "invoices",
    "$instance": "gate:8700",
}
"""What a dashboard's variables stand for while its queries are read."""


def exposed() -> dict[str, frozenset[str]]:
    """Return every name that a server exposes, with the names of its labels."""
    metrics = Metrics()
    metrics.store.figures = lambda: StoreFigures(
        batches=[1] * (len(BATCH_SECONDS) + 1), seconds=1.0, jobs=1, failed={"StoreFull": 1}
    )
    found = dict(FROM_PROMETHEUS)
    for collector, names in metrics.registry._collector_to_names.items():
        labels = frozenset(getattr(collector, "_labelnames", ()))
        found |= {name: labels | ({"le"} if name.endswith("_bucket") else set()) for name in names}
    for family in metrics.registry.collect():
        for sample in family.samples:
            found.setdefault(sample.name, frozenset(sample.labels))
    return found


def check(expression: str) -> None:
    """Raise AssertionError where an expression is unsound or asks for what is not exposed."""
    for written, value in VARIABLES.items():
        expression = expression.replace(written, value)
    assert "$" not in expression, f"a variable that is not known: {expression}"
    known = exposed()
    for name, matched in selected(expression):
        assert name in known, f"{name} is not exposed: {expression}"
        unknown = (matched | grouped(expression)) - known[name] - OF_THE_TARGET
        assert not unknown, f"{name} has no labels {sorted(unknown)}: {expression}"


def selected(expression: str) -> list[tuple[str, frozenset[str]]]:
    """Return every metric that an expression selects, with the labels that it matches on."""
    found: list[tuple[str, frozenset[str]]] = []

    def visit(one: object) -> None:
        selector = getattr(one, "vector_selector", one)
        if isinstance(selector, promql_parser.VectorSelector):
            matchers = selector.matchers.matchers
            found.append((selector.name, frozenset(matcher.name for matcher in matchers)))

    promql_parser.walk(promql_parser.parse(expression), visit)
    return list(dict.fromkeys(found))


def grouped(expression: str) -> frozenset[str]:
    """Return the labels by which an expression groups."""
    lists = re.findall(r"\bby\s*\(([^)]*)\)", expression)
    return frozenset(name.strip() for one in lists for name in one.split(",") if name.strip())
