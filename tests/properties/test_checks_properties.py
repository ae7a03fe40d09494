"""What holds for every output that the checks may meet."""

from __future__ import annotations

import json
import string
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal

from babel.dates import format_date
from babel.numbers import format_decimal
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sureline.core.checks.dates import date_format, read_date
from sureline.core.checks.folding import fold_presentation
from sureline.core.checks.numbers import number_format, read_number
from sureline.core.checks.parse import parse_output
from sureline.core.checks.reading import Read
from sureline.core.checks.tokens import contains_token
from sureline.core.checks.verification import Verification, verify
from sureline.core.values.checks import (
    ChecksPolicy,
    FieldRule,
    FieldType,
    GroundingRules,
    ProseRules,
    Reading,
)
from sureline.core.values.proposal import SourceText

NOW = datetime(2026, 6, 14, tzinfo=UTC)
LOCALES = ["en", "de", "fr", "hi", "de_CH", "ja", "pl", "pt_BR", "sv", "en_IN", "ar"]

TEXTS = st.text(st.characters(), max_size=40)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
)
JSON_KEYS = st.sampled_from(["amount", "due_date", "vendor", "memo", "lines", "x"])
JSON_VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(JSON_KEYS, inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(JSON_KEYS, JSON_VALUES, max_size=6)
ANYTHING = (
    TEXTS
    | st.binary(max_size=40)
    | OBJECTS.map(json.dumps)
    | st.recursive(
        SCALARS | st.floats() | TEXTS | st.binary(max_size=5) | st.complex_numbers(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(JSON_KEYS | st.integers(), inner, max_size=3)
        ),
        max_leaves=8,
    )
)
SOURCES = st.lists(
    st.builds(SourceText, ref=st.just("doc"), text=TEXTS, trusted=st.booleans()), max_size=3
).map(tuple)

RULES = (
    FieldRule(field="amount", between=(0, 100), penalty=150),
    FieldRule(field="amount", type=FieldType.MONEY, one_of=(1, 2), penalty=90),
    FieldRule(field="due_date", not_before="today", penalty=210),
    FieldRule(field="vendor", pattern="[a-z]+", penalty=70),
    FieldRule(field="lines[].amount", required=True, penalty=35),
)
PROSE = (
    ProseRules(field="memo", max_sentences=2, keywords_from_task=True, penalty=60),
    ProseRules(forbidden_phrases=("as an ai",), allowed_hosts=("example.org",), penalty=80),
)
POLICY = ChecksPolicy(
    json_schema={"properties": {"memo": {"type": "string"}, "x": {"minimum": 3}}},
    rules=RULES,
    prose=PROSE,
    grounding=GroundingRules(
        fields=("amount", "vendor", "lines"), types={"amount": FieldType.MONEY}, penalty=110
    ),
)
LOOSE = replace(POLICY, json_schema=None)


def run(
    output: object, policy: ChecksPolicy, source: tuple[SourceText, ...] = (), task: str = ""
) -> Verification:
    return verify(output, policy=policy, task=task, source=source, now=NOW)


def score(output: object, policy: ChecksPolicy, source: tuple[SourceText, ...] = ()) -> float:
    value = run(output, policy, source).signal.value
    assert value is not None
    return value


@given(output=ANYTHING, task=TEXTS, source=SOURCES, fraction=st.booleans(), prose=st.booleans())
@example(output="[" * 5000, task="", source=(), fraction=False, prose=False)
@example(output={"amount": "1" * 5000}, task="", source=(), fraction=False, prose=False)
def test_every_output_ends_in_a_verification(
    output: object, task: str, source: tuple[SourceText, ...], fraction: bool, prose: bool
) -> None:
    """Nothing raises, a score is in [0, 1], and a fatal finding makes it 0."""
    policy = replace(POLICY, score="fraction" if fraction else "penalties", structured=not prose)
    result = run(output, policy, source, task)
    assert result.signal.value is not None
    assert 0.0 <= result.signal.value <= 1.0
    assert not result.fatal or result.signal.value == 0.0
    assert not result.parse_failed or result.fatal
    json.dumps(result.output, allow_nan=False, ensure_ascii=False).encode()
    json.dumps(dict(result.signal.detail))


@given(output=OBJECTS, source=SOURCES, dropped=st.integers(0, len(RULES) - 1))
def test_removing_a_rule_never_lowers_the_score(
    output: object, source: tuple[SourceText, ...], dropped: int
) -> None:
    """Fewer rules, no lower score: a rule only ever costs."""
    fewer = replace(LOOSE, rules=RULES[:dropped] + RULES[dropped + 1 :])
    assert score(output, fewer, source) >= score(output, LOOSE, source)
    assert score(output, replace(LOOSE, prose=()), source) >= score(output, LOOSE, source)
    assert score(output, replace(LOOSE, grounding=None), source) >= score(output, LOOSE, source)


@given(output=OBJECTS, source=SOURCES, claimed=TEXTS, fraction=st.booleans())
def test_a_claimed_source_never_changes_the_score(
    output: dict[str, object], source: tuple[SourceText, ...], claimed: str, fraction: bool
) -> None:
    """Whatever an agent claims as its source, the score stays what it is without it."""
    policy = replace(LOOSE, score="fraction" if fraction else "penalties")
    own = SourceText(ref="own", text=f"{claimed} {json.dumps(output)}", trusted=False)
    assert score(output, policy, (*source, own)) == score(output, policy, source)


@given(output=OBJECTS, source=SOURCES, claimed=TEXTS, fraction=st.booleans())
def test_what_the_score_would_be_is_the_score_with_trusted_sources(
    output: dict[str, object], source: tuple[SourceText, ...], claimed: str, fraction: bool
) -> None:
    """Where it is said, it is exactly what the same sources give if they are trusted."""
    policy = replace(LOOSE, score="fraction" if fraction else "penalties")
    own = SourceText(ref="own", text=f"{claimed} {json.dumps(output)}", trusted=False)
    given_ = (*source, own)
    checked = verify(output, policy=policy, task="t", source=given_, now=NOW)
    said = checked.signal.detail.get("if_trusted")
    trusted = tuple(replace(one, trusted=True) for one in given_)
    codes = {finding.code for finding in checked.findings}
    assert (said is None) == ("claimed_source" not in codes)
    assert said is None or said == score(output, policy, trusted)


@given(output=OBJECTS, field=JSON_KEYS)
def test_null_is_worth_what_a_missing_field_is(output: dict[str, object], field: str) -> None:
    """Writing null instead of leaving a field out changes nothing."""
    without = {key: value for key, value in output.items() if key != field}
    assert score({**without, field: None}, LOOSE) == score(without, LOOSE)


@given(output=OBJECTS)
def test_what_json_writes_is_read_back(output: dict[str, object]) -> None:
    """Text, bytes and Python values that say the same are the same output."""
    text = json.dumps(output)
    assert parse_output(text).value == output
    assert parse_output(text.encode()).value == output
    assert parse_output(output).value == output


@given(output=OBJECTS.filter(bool), at=st.integers(0, 5))
def test_a_repeated_key_is_always_refused(output: dict[str, object], at: int) -> None:
    """Two values under one key are never resolved by choosing one."""
    key = list(output)[at % len(output)]
    text = json.dumps(output)[:-1] + f", {json.dumps(key)}: 1}}"
    assert [found.code for found in parse_output(text).findings] == ["duplicate_key"]


@given(
    number=st.decimals(min_value=-(10**9), max_value=10**9, places=2),
    # The library groups large numbers of de_CH wrongly (1000000'000), so it is no witness there.
    locale=st.sampled_from([locale for locale in LOCALES if locale != "de_CH"]),
)
def test_numbers_are_read_as_their_locale_writes_them(number: Decimal, locale: str) -> None:
    """Reading undoes writing in every locale."""
    text = format_decimal(number, "#,##0.00" if locale not in ("hi", "en_IN") else None, locale)
    read = read_number(text.strip("\u200e\u200f\u061c"), number_format(locale))
    assert isinstance(read, Read)
    assert read.value == number


@given(
    text=st.text(string.digits + ".,_ '’-+eE%\u00a0", max_size=15), locale=st.sampled_from(LOCALES)
)
def test_a_number_keeps_all_its_digits(text: str, locale: str) -> None:
    """A reading never drops a digit: what is read has the digits that were written."""
    read = read_number(text, number_format(locale))
    if isinstance(read, Read):
        written = "".join(filter(str.isdigit, text))
        assert "".join(map(str, read.value.as_tuple().digits)).strip("0") == written.strip("0")


@given(
    day=st.dates(date(1900, 1, 1), date(2100, 1, 1)),
    locale=st.sampled_from(["en", "en_GB", "de", "fr", "es", "ja", "zh", "pt", "it", "nl"]),
)
def test_dates_are_read_as_their_locale_writes_them(day: date, locale: str) -> None:
    """Long dates of a locale and ISO dates are read back."""
    form = date_format(Reading(locale=locale, date_order="DMY"))
    for text in (format_date(day, "long", locale=locale), day.isoformat()):
        read = read_date(text, form)
        assert isinstance(read, Read), text
        assert read.value == day


@given(before=TEXTS, wanted=st.text(string.ascii_letters, min_size=1, max_size=8), after=TEXTS)
@settings(max_examples=200)
def test_a_token_between_spaces_is_found_and_a_part_is_not(
    before: str, wanted: str, after: str
) -> None:
    """A word among others is found; with a letter more at its end it is not."""
    assert contains_token(f"{before} {wanted} {after}", wanted)
    assert not contains_token(f"{wanted}q", wanted)
    assert not contains_token(f"q-{wanted}", wanted)


@given(text=TEXTS)
def test_folding_twice_is_folding_once(text: str) -> None:
    """Folded text is stable, so that both sides of a comparison meet."""
    folded = fold_presentation(text)
    assert fold_presentation(folded) == folded
