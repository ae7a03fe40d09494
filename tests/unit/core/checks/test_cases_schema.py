"""Rows of the case table, area 2-schema, as far as the checks alone decide them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from sureline.core.checks.verification import Verification, verify
from sureline.core.values.checks import (
    ChecksPolicy,
    FieldRule,
    FieldType,
    GroundingRules,
    Reading,
)
from sureline.core.values.proposal import SourceText

NOW = datetime(2026, 6, 14, 15, 30, tzinfo=UTC)
INVOICE = {
    "type": "object",
    "properties": {
        "amount": {"type": "number", "exclusiveMinimum": 0},
        "tax_rate": {"type": "number"},
        "due_date": {"type": "string", "format": "date"},
    },
    "required": ["amount"],
}


def run(output: object, source: str | None = None, **policy: object) -> Verification:
    sources = () if source is None else (SourceText(ref="doc", text=source),)
    checks = ChecksPolicy(**policy)  # type: ignore[arg-type]
    return verify(output, policy=checks, task="Read the invoice", source=sources, now=NOW)


def codes(result: Verification) -> set[str]:
    return {found.code for found in result.findings}


def penalised(result: Verification) -> set[str]:
    return {found.code for found in result.findings if found.penalty or found.fatal}


def reading(text: str, kind: FieldType, **settings: object) -> set[str]:
    rule = FieldRule(field="value", type=kind, required=True, penalty=100)
    settings_value = Reading(**settings)  # type: ignore[arg-type]
    return penalised(run({"value": text}, rules=(rule,), reading=settings_value))


def grounded(source: str, entity: object, **settings: object) -> Verification:
    return run(
        {"entity": entity},
        source,
        grounding=GroundingRules(fields=("entity",)),
        reading=Reading(**settings),  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("output", "code"),
    [
        pytest.param({"amount": True, "tax_rate": 0.1}, "schema_type", id="S01"),
        pytest.param({"amount": "12_000", "tax_rate": 0.1}, "schema_type", id="S02"),
        pytest.param('{"amount": "Infinity"}', "schema_type", id="S15-text"),
    ],
)
def test_a_schema_violation_is_fatal(output: object, code: str) -> None:
    """What the schema does not admit makes the verification 0."""
    result = run(output, json_schema=INVOICE)
    assert result.fatal
    assert result.signal.value == 0.0
    assert codes(result) == {code}
    assert result.findings[0].field == "amount"


@pytest.mark.parametrize(
    ("output", "code"),
    [
        pytest.param('{"amount": NaN}', "non_finite", id="S14"),
        pytest.param('{"amount": 1e400}', "non_finite", id="S15-number"),
        pytest.param("[" * 200_000, "too_deep", id="S16"),
        pytest.param('{"amount": ' + "9" * 5000 + "}", "number_too_long", id="S17"),
        pytest.param('{"amount": 500, "amount": 5000000}', "duplicate_key", id="S19"),
        pytest.param("[1]", "not_an_object", id="S23-list"),
        pytest.param("null", "not_an_object", id="S23-null"),
        pytest.param("12", "not_an_object", id="S23-number"),
        pytest.param('"x"', "not_an_object", id="S23-text"),
        pytest.param("true", "not_an_object", id="S23-boolean"),
        pytest.param('{"memo": "\\ud83d"}', "invalid_unicode", id="S25"),
        pytest.param("{" * 25_000, "too_deep", id="S37-braces"),
        pytest.param("```json" * 5000, "invalid_json", id="S37-fences"),
        pytest.param('{"decision": "reject", "decision": "approve"}', "duplicate_key", id="S39"),
    ],
)
def test_what_cannot_be_parsed_is_a_failed_parse(output: str, code: str) -> None:
    """An output that two readers could read differently, or none at all, ends with its code."""
    result = run(output)
    assert result.parse_failed
    assert result.fatal
    assert result.signal.value == 0.0
    assert codes(result) == {code}


@pytest.mark.parametrize(
    "output",
    [
        pytest.param('\ufeff{"amount": 1}', id="S22-text"),
        pytest.param(b'\xef\xbb\xbf{"amount": 1}', id="S22-bytes"),
    ],
)
def test_one_leading_bom_is_dropped_and_noted(output: str | bytes) -> None:
    """Text and bytes with a byte-order mark have the same outcome."""
    result = run(output)
    assert result.output == {"amount": 1}
    assert codes(result) == {"bom"}
    assert result.signal.value == 1.0


def test_big_integers_stay_exact() -> None:
    """S18: an integer above 2^53 keeps every digit."""
    assert run('{"account_id": 9007199254740995}').output == {"account_id": 9007199254740995}


@pytest.mark.parametrize(
    ("locale", "text", "kind", "expected"),
    [
        pytest.param("en", "12_000", FieldType.NUMBER, {"unreadable"}, id="S02"),
        pytest.param("de", "1.234,56 €", FieldType.MONEY, set(), id="S04-de"),
        pytest.param("en", "1.234,56 €", FieldType.MONEY, {"unreadable"}, id="S04-en"),
        pytest.param("fr", "7 412,90 EUR", FieldType.MONEY, set(), id="S05-U+0020"),
        pytest.param("fr", "7\u00a0412,90 EUR", FieldType.MONEY, set(), id="S05-U+00A0"),
        pytest.param("fr", "7\u202f412,90 EUR", FieldType.MONEY, set(), id="S05-U+202F"),
        pytest.param("fr", "7\u2009412,90 EUR", FieldType.MONEY, set(), id="S05-U+2009"),
        pytest.param("en", "7 412.90", FieldType.MONEY, {"unreadable"}, id="S05-en"),
        pytest.param("en", "Infinity", FieldType.NUMBER, {"non_finite"}, id="S15"),
    ],
)
def test_numbers_are_read_whole_or_not_at_all(
    locale: str, text: str, kind: FieldType, expected: set[str]
) -> None:
    """The configured locale decides, and what it does not write is a violation."""
    assert reading(text, kind, locale=locale) == expected


@pytest.mark.parametrize(
    ("text", "settings", "expected"),
    [
        pytest.param(
            "令和８年６月１５日", {"locale": "ja", "japanese_era": True}, set(), id="S08-on"
        ),
        pytest.param("令和８年６月１５日", {"locale": "ja"}, {"unreadable"}, id="S08-off"),
        pytest.param("19.11", {"date_order": "DMY"}, {"unreadable"}, id="S12"),
        pytest.param("03/04/2026", {}, {"ambiguous"}, id="no-order"),
    ],
)
def test_dates_are_read_whole_or_not_at_all(
    text: str, settings: dict[str, object], expected: set[str]
) -> None:
    """A date is never completed from today and never swapped."""
    assert reading(text, FieldType.DATE, **settings) == expected


def test_iso_dates_are_year_month_day() -> None:
    """S11: a day-first setting does not swap an ISO date."""
    rule = FieldRule(field="d", not_after="2026-03-07", penalty=100)
    other = FieldRule(field="d", not_before="2026-03-07", penalty=100)
    result = run({"d": "2026-03-07"}, rules=(rule, other), reading=Reading(date_order="DMY"))
    assert not result.findings


@pytest.mark.parametrize(
    ("zone", "expected"),
    [pytest.param("Asia/Tokyo", set(), id="S13"), pytest.param("UTC", set(), id="S13-utc")],
)
def test_today_is_the_day_in_the_policy_zone(zone: str, expected: set[str]) -> None:
    """S13: it is the 15th in Tokyo while it is the 14th in UTC."""
    rule = FieldRule(field="due_date", not_before="today", penalty=400)
    result = run({"due_date": "2026-06-15"}, rules=(rule,), reading=Reading(timezone=zone))
    assert penalised(result) == expected


def test_yesterday_in_the_policy_zone_is_past() -> None:
    """S13, the other way: the 14th is over in Tokyo and not in UTC."""
    rule = FieldRule(field="due_date", not_before="today", penalty=400)
    past = {
        zone: penalised(
            run({"due_date": "2026-06-14"}, rules=(rule,), reading=Reading(timezone=zone))
        )
        for zone in ("Asia/Tokyo", "UTC")
    }
    assert past == {"Asia/Tokyo": {"not_before"}, "UTC": set()}


@pytest.mark.parametrize(
    ("source", "entity", "settings", "expected"),
    [
        pytest.param("Gesamt 31,45 EUR", 3145.0, {"locale": "de"}, {"not_grounded"}, id="S03"),
        pytest.param("Gesamt 31,45 EUR", 3145.0, {}, {"not_grounded"}, id="S03-en"),
        pytest.param("Gesamt 31,45 EUR", 31.45, {"locale": "de"}, set(), id="S03-right"),
        pytest.param("maintenance fee $4500.00", 45000, {}, {"not_grounded"}, id="S07"),
        pytest.param("maintenance fee $4500.00", 450, {}, {"not_grounded"}, id="S07-prefix"),
        pytest.param("maintenance fee $4500.00", 4500, {}, set(), id="S07-right"),
        pytest.param("No record found for this vendor.", "OR", {}, {"not_grounded"}, id="S27"),
        pytest.param("fee $1999.00, ticket 19991", "1999", {}, {"not_grounded"}, id="S28-year"),
        pytest.param("shipped to Osaka, not Nagoya", "Nagoya", {}, set(), id="S28-negated"),
        pytest.param("queues: billing-eu-retry", "billing-eu", {}, {"not_grounded"}, id="S29"),
        pytest.param("re‑issue “Net 30”…", 're-issue "Net 30"...', {}, set(), id="S30"),
        pytest.param("pay within a month", "within 30 days", {}, {"not_grounded"}, id="S30-not"),
        pytest.param("Paypal Inc", "Pаypal Inc", {}, {"not_grounded"}, id="S32-script"),
        pytest.param("Acme", "Ac\u200bme", {}, {"not_grounded"}, id="S32-invisible"),
    ],
)
def test_grounding_finds_whole_tokens(
    source: str, entity: object, settings: dict[str, object], expected: set[str]
) -> None:
    """An entity is found as a whole token or number, or it is listed."""
    assert penalised(grounded(source, entity, **settings)) == expected


@pytest.mark.parametrize(
    ("source", "entity", "code"),
    [
        pytest.param("Paypal Inc", "Pаypal Inc", "mixed_script", id="S32-script"),
        pytest.param("Acme", "Ac\u200bme", "invisible_character", id="S32-invisible"),
        pytest.param("Ac\u200bme", "Acme", "invisible_character", id="S32-in-source"),
    ],
)
def test_the_reviewer_is_told(source: str, entity: str, code: str) -> None:
    """What deceives the eye is said in a note."""
    assert code in codes(grounded(source, entity))


@pytest.mark.parametrize(
    ("entity", "presence"),
    [
        pytest.param("Nagoya", 1, id="S28"),
        pytest.param(["Osaka", "Nagoya"], 2, id="several"),
        pytest.param(["Osaka", "Tokyo"], 1, id="not all"),
        pytest.param("Tokyo", 0, id="none"),
    ],
)
def test_presence_is_counted_and_no_finding(entity: object, presence: int) -> None:
    """What stands in the source is a number beside the score; findings are what failed."""
    verified = grounded("to Osaka, not Nagoya", entity)
    assert verified.signal.detail["presence"] == presence
    assert codes(verified) <= {"not_grounded"}


@pytest.mark.parametrize("score", ["penalties", "fraction"])
def test_presence_alone_raises_no_score(score: str) -> None:
    """S28: a found entity does not outweigh another check's failure."""
    rule = FieldRule(field="amount", between=(1, 10), penalty=200)
    policy = {"rules": (rule,), "score": score}
    without = run({"amount": 99, "to": "Nagoya"}, "to Nagoya", **policy)
    grounding = GroundingRules(fields=("to",))
    with_it = run({"amount": 99, "to": "Nagoya"}, "to Nagoya", **policy, grounding=grounding)
    assert with_it.signal.value == without.signal.value


def test_ten_tenths_are_exactly_nothing() -> None:
    """S38: ten deductions of 0.1 leave exactly 0."""
    rules = tuple(FieldRule(field=f"f{n}", required=True, penalty=100) for n in range(10))
    assert run({}, rules=rules).signal.value == 0.0
