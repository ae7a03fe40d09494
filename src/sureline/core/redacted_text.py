"""Replace what has a form in a text, however it is written, by a mark that says only which form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sureline.core.checks.patterns import compile_pattern
from sureline.core.redaction_forms import FORMS, Span
from sureline.core.seen_text import readings
from sureline.core.values.redaction import RedactionPolicy


def mark(name: str) -> str:
    """Return what stands in place of something: always the same, so that nothing is told by it."""
    return f"[redacted:{name}]"


def redacted_text(text: str, rules: RedactionPolicy, counts: Counter[str]) -> str:
    """Return a text without what the rules name; `counts` counts it.

    Looked for is what a reader sees: widths, digits of other scripts, kinds of dashes and spaces
    and invisible characters make no difference, and neither do the escapes of JSON, addresses and
    HTML. What overlaps is replaced as a whole.
    """
    found = sorted(
        (seen.starts[start], seen.ends[stop - 1] + 1, name)
        for seen in readings(text)
        for name, (start, stop) in _spans(seen.text, rules)
    )
    if not found:
        return text
    parts: list[str] = []
    end = 0
    for start, stop, name in _merged(found):
        counts[name] += 1
        parts += [text[end:start], mark(name)]
        end = stop
    return "".join([*parts, text[end:]])


def _spans(plain: str, rules: RedactionPolicy) -> Iterator[tuple[str, Span]]:
    for name in rules.forms:
        for span in FORMS[name](plain):
            yield name, span
    for name, pattern in rules.patterns:
        for match in compile_pattern(pattern).finditer(plain):
            if match.end() > match.start():
                yield name, (match.start(), match.end())


def _merged(found: list[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """Yield spans that do not overlap; one of several goes by the name of the first."""
    start, stop, name = found[0]
    for begin, end, other in found[1:]:
        if begin < stop:
            stop = max(stop, end)
            continue
        yield start, stop, name
        start, stop, name = begin, end, other
    yield start, stop, name
