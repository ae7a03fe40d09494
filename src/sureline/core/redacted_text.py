"""Replace what has a form in a text, however it is written, by a mark that says only which form."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator

from sureline.core.checks.patterns import compile_pattern
from sureline.core.redaction_forms import FORMS, Span
from sureline.core.values.redaction import RedactionPolicy


def mark(name: str) -> str:
    """Return what stands in place of something: always the same, so that nothing is told by it."""
    return f"[redacted:{name}]"


def redacted_text(text: str, rules: RedactionPolicy, counts: Counter[str]) -> str:
    """Return a text without what the rules name; `counts` counts it.

    Looked for is what a reader sees: widths, digits of other scripts, kinds of dashes and spaces
    and invisible characters make no difference. What overlaps is replaced as a whole.
    """
    plain, places = _plain(text)
    found = sorted((*span, name) for name, span in _spans(plain, rules))
    if not found:
        return text
    parts: list[str] = []
    end = 0
    for start, stop, name in _merged(found):
        counts[name] += 1
        begin = places[start]
        parts += [text[end:begin], mark(name)]
        end = places[stop - 1] + 1
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


class _Seen(dict[int, str]):
    """Maps a code point to the one character that is seen, "" where nothing is."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        kind = unicodedata.category(char)
        if char.isdecimal():
            char = str(unicodedata.decimal(char))
        elif kind == "Cf":
            char = ""
        elif kind == "Pd":
            char = "-"
        elif kind == "Zs":
            char = " "
        else:
            folded = unicodedata.normalize("NFKC", char)
            char = folded if len(folded) == 1 else char
        self[code] = char
        return char


_SEEN = _Seen()


def _plain(text: str) -> tuple[str, range | list[int]]:
    """Return a text as it is seen, and the place of each character of that in the text."""
    if text.isascii():
        return text, range(len(text))
    seen = [(char, place) for place, code in enumerate(text) if (char := _SEEN[ord(code)])]
    return "".join(char for char, _ in seen), [place for _, place in seen]
