"""Forms that can be told apart by a check of their own: mail addresses, IBANs, card numbers.

What has no check digit or mark (telephone numbers, names) has no built-in form: it would be found
in half of all figures, or missed. Every finder takes time linear in the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from sureline.core.checks.patterns import compile_pattern

Span = tuple[int, int]

_LABEL = r"[^\s@<>()\[\],;:\"'/.\x{3002}]+"
_MAIL = (
    r"(?:[^\s@<>()\[\],;:\"'/]+|\"(?:[^\"\n]|\\\"){1,64}\")@"
    rf"(?:{_LABEL}(?:\.{_LABEL}|\x{{3002}}[A-Za-z0-9-]+)+"
    r"|\[(?i:ipv6:)?[0-9A-Fa-f:.]{2,45}\])"
)
"""Names may be quoted and domains addresses in brackets (RFC 5321, 4.1.2 and 4.1.3)."""
_IBAN = r"[A-Za-z]{2}[0-9]{2}"
_DIGITS = r"[0-9]+"
_IBAN_LENGTHS: Mapping[str, int] = {
    country: int(length)
    for length, countries in (
        line.split(":")
        for line in (
            "15:NO", "16:BE", "18:DK FI FO GL NL SD FK", "19:MK SI", "20:AT BA EE KZ LT LU MN XK",
            "21:CH HR LI LV", "22:BG BH CR DE GB GE IE ME RS VA", "23:AE GI IL IQ OM SO TL",
            "24:AD CZ ES MD PK RO SA SE SK TN VG", "25:LY PT ST", "26:IS TR",
            "27:BI DJ FR GR IT MC MR SM", "28:AL AZ BY CY DO GT HN HU LB NI PL",
            "29:BR EG PS QA UA", "30:JO KW MU YE", "31:MT SC", "32:LC", "33:RU",
        )
    )
    for country in countries.split()
}  # fmt: skip
"""How many letters and digits an IBAN has (SWIFT's registry of ISO 13616)."""
_APART = " \t\r\n-./_"
"""What may stand between groups, in any number."""
_USUAL = frozenset({"", " ", "-", "."})
_WHOLE_GROUP = 3
"""So many digits each group has where something else than that stands between them: no dates."""
_CARD = range(13, 20)
_CARD_GROUPS = 7
"""In more groups no card number is written; it bounds what a hostile text costs."""
_CARD_BEGINS = frozenset("23456")
"""With what the numbers of the card schemes begin (ISO/IEC 7812)."""


def mail_addresses(text: str) -> Iterator[Span]:
    """Yield where mail addresses stand."""
    for found in compile_pattern(_MAIL).finditer(text):
        yield found.start(), found.end()


def ibans(text: str) -> Iterator[Span]:
    """Yield where IBANs stand: of the length of their country, with right check digits.

    They may be written in groups.
    """
    for found in compile_pattern(_IBAN).finditer(text):
        start = found.start()
        length = _IBAN_LENGTHS.get(text[start : start + 2].upper())
        if length is None or _is_inside(text, start):
            continue
        end, signs = _signs(text, start, length)
        if len(signs) == length and not _goes_on(text, end) and _is_iban(signs.upper()):
            yield start, end


def _signs(text: str, start: int, length: int) -> tuple[int, str]:
    """Return the next so many letters and digits, without what is between groups, and their end."""
    signs: list[str] = []
    place = end = start
    while place < len(text) and len(signs) < length:
        sign = text[place]
        if sign.isascii() and sign.isalnum():
            signs.append(sign)
            end = place + 1
        elif sign not in _APART:
            break
        place += 1
    return end, "".join(signs)


def _is_inside(text: str, start: int) -> bool:
    return start > 0 and text[start - 1].isalnum()


def _goes_on(text: str, end: int) -> bool:
    return end < len(text) and text[end].isalnum()


def _is_iban(signs: str) -> bool:
    return int("".join(str(int(sign, 36)) for sign in signs[4:] + signs[:4])) % 97 == 1


def card_numbers(text: str) -> Iterator[Span]:
    """Yield where numbers of payment cards stand: 13 to 19 digits with a right check digit.

    They may be written in groups; a group is never cut.
    """
    groups = [(one.start(), one.end()) for one in compile_pattern(_DIGITS).finditer(text)]
    for first, (start, _) in enumerate(groups):
        if text[start] in _CARD_BEGINS:
            end = _card_end(text, groups, first)
            if end:
                yield start, end


def _card_end(text: str, groups: list[Span], first: int) -> int:
    """Return where the longest card number ends that begins with a group, 0 if none does."""
    digits, longest, end = "", 0, groups[first][0]
    is_usual, shortest = True, _WHOLE_GROUP
    for start, stop in groups[first : first + _CARD_GROUPS]:
        apart = text[end:start]
        if apart.strip(_APART) or len(digits) + stop - start >= _CARD.stop:
            break
        is_usual, shortest = is_usual and apart in _USUAL, min(shortest, stop - start)
        if not is_usual and shortest < _WHOLE_GROUP:
            break
        digits, end = digits + text[start:stop], stop
        if len(digits) in _CARD and _has_check_digit(digits):
            longest = end
    return longest


def _has_check_digit(digits: str) -> bool:
    """Tell whether the last digit fits by Luhn's formula (ISO/IEC 7812-1)."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (1 + place % 2)
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0


FORMS: Mapping[str, Callable[[str], Iterator[Span]]] = {
    "card_number": card_numbers,
    "email": mail_addresses,
    "iban": ibans,
}
"""The built-in forms by name."""
