"""Measure the deterministic checks: microseconds per output, and growth on hostile texts.

Run: python benchmarks/checks.py
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime

from sureline.core.checks.parse import parse_output
from sureline.core.checks.verification import verify
from sureline.core.values.checks import (
    ChecksPolicy,
    FieldRule,
    FieldType,
    GroundingRules,
    ProseRules,
)
from sureline.core.values.proposal import SourceText

NOW = datetime(2026, 6, 14, tzinfo=UTC)
HALF = 500_000

SCHEMA = {
    "type": "object",
    "properties": {
        "vendor": {"type": "string"},
        "amount": {"type": "number"},
        "tax_rate": {"type": "number"},
        "due_date": {"type": "string", "format": "date"},
        "lines": {"type": "array", "items": {"type": "object"}},
    },
    "required": ["vendor", "amount", "due_date"],
}
RULES = (
    FieldRule(field="amount", between=(1, 1_000_000), penalty=300),
    FieldRule(field="due_date", not_before="today", penalty=400),
    FieldRule(field="tax_rate", one_of=(0, 0.08, 0.1), penalty=200),
)
GROUNDING = GroundingRules(
    fields=("amount", "due_date", "vendor"),
    types={"amount": FieldType.MONEY, "due_date": FieldType.DATE},
)
INVOICE = json.dumps(
    {
        "vendor": "Harbour Supplies Ltd",
        "amount": 4500.0,
        "tax_rate": 0.1,
        "due_date": "2026-06-30",
        "memo": "Quarterly maintenance of the cooling plant, as agreed in March.",
        "lines": [{"text": f"Item {n}", "quantity": n, "price": 100.25} for n in range(7)],
    }
)
SOURCE = (
    SourceText(
        ref="invoice",
        text="INVOICE\nHarbour Supplies Ltd\nDue 30 June 2026\n"
        + "\n".join(f"Item {n} 100.25" for n in range(40))
        + "\nTOTAL: $4,500.00\n",
    ),
)
HOSTILE: dict[str, Callable[[int], str]] = {
    "open brackets": lambda n: "[" * n,
    "open braces": lambda n: "{" * n,
    "code fences": lambda n: "```json" * (n // 7),
    "quotes": lambda n: '"' * n,
    "escaped quotes": lambda n: '{"a":"' + '\\"' * (n // 2),
    "backslashes": lambda n: "\\" * n,
    "empty lists": lambda n: '{"a":[' + "[]," * (n // 3) + "0]}",
    "duplicate keys": lambda n: "{" + '"a":1,' * (n // 6) + '"a":1}',
    "late duplicate": lambda n: '{"b":[' + "{}," * (n // 3) + '{"a":1,"a":2}]}',
    "digits": lambda n: "9" * n,
    "spaces": lambda n: " " * n,
    "stops": lambda n: json.dumps({"a": ". " * (n // 2)}),
    "schemes": lambda n: json.dumps({"a": "http://" * (n // 7)}),
    "letters": lambda n: json.dumps({"a": "a" * n}),
    "numbers": lambda n: json.dumps({"a": "1 234 " * (n // 6)}),
}


def microseconds(action: Callable[[], object], *, repeat: int = 5, number: int = 2000) -> float:
    """Return the best mean processor time of an action; other programs then do not count."""
    best = float("inf")
    for _ in range(repeat):
        start = time.process_time()
        for _ in range(number):
            action()
        best = min(best, (time.process_time() - start) / number)
    return best * 1e6


def once(action: Callable[[], object]) -> float:
    """Return the best time of three runs, in seconds."""
    return microseconds(action, repeat=3, number=1) / 1e6


def verifying(output: object, policy: ChecksPolicy) -> Callable[[], object]:
    """Return an action that verifies one output."""
    return lambda: verify(output, policy=policy, task="Read the invoice", source=SOURCE, now=NOW)


def main() -> None:
    """Print both tables."""
    value = json.loads(INVOICE)
    full = ChecksPolicy(json_schema=SCHEMA, rules=RULES, grounding=GROUNDING)
    print(f"An invoice of {len(INVOICE)} bytes, its source of {len(SOURCE[0].text)} characters")
    for name, action in {
        "json.loads, for comparison": lambda: json.loads(INVOICE),
        "parse text": lambda: parse_output(INVOICE),
        "parse a Python value": lambda: parse_output(value),
        "verify: parse": verifying(INVOICE, ChecksPolicy()),
        "verify: + schema": verifying(INVOICE, ChecksPolicy(json_schema=SCHEMA)),
        "verify: + schema, rules": verifying(
            INVOICE, ChecksPolicy(json_schema=SCHEMA, rules=RULES)
        ),
        "verify: + schema, rules, grounding": verifying(INVOICE, full),
    }.items():
        print(f"  {name:<38}{microseconds(action):9.1f} us")
    prose = ProseRules(field="a", max_sentences=5, keywords=("x",), allowed_hosts=("example.org",))
    hostile = ChecksPolicy(prose=(prose,), rules=RULES, grounding=GroundingRules(fields=("a",)))
    print(f"\nTime at {2 * HALF} characters, and its ratio to half of that (linear: 2)")
    for name, make in HOSTILE.items():
        half = once(verifying(make(HALF), hostile))
        whole = once(verifying(make(2 * HALF), hostile))
        print(f"  {name:<38}{whole * 1e3:9.1f} ms {whole / half:6.2f}")


if __name__ == "__main__":
    main()
