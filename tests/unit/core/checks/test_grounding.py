"""Looking for fields in the source."""

from __future__ import annotations

import pytest

from sureline.core.checks.grounding import MAX_VALUES, compile_grounding
from sureline.core.checks.tokens import contains_token
from sureline.core.checks.values import compile_formats
from sureline.core.values.checks import FieldType, GroundingRules, Reading
from sureline.core.values.finding import Finding
from sureline.core.values.proposal import SourceText
from sureline.errors import PolicyError


def findings(
    output: object,
    *sources: SourceText,
    field: str = "e",
    kind: FieldType | None = None,
    **reading: object,
) -> list[Finding]:
    rules = GroundingRules(fields=(field,), types={field: kind} if kind else {})
    formats = compile_formats(Reading(**reading))  # type: ignore[arg-type]
    (result,) = compile_grounding(rules, formats).check(output, sources)
    return list(result.findings)


def costly(found: list[Finding]) -> list[str]:
    return [one.code for one in found if one.penalty]


def text(value: str, *, trusted: bool = True) -> SourceText:
    return SourceText(ref="doc", text=value, trusted=trusted)


@pytest.mark.parametrize(
    ("source", "entity", "settings"),
    [
        ("TOTAL:9.00", 9.0, {}),
        ("RM9.00 paid", 9, {}),
        ("USD4500 and EUR 7.90", 7.9, {}),
        ("$4,500.00.", "4500.00", {}),
        ("VAT 10%", 0.1, {}),
        ("balance (-5)", -5, {}),
        ("合計 ￥１２，０００ 円", 12000, {"locale": "ja"}),
        ("12,000円です", 12000, {"locale": "ja"}),
        ("total 7 412,90 EUR", 7412.9, {"locale": "fr"}),
        ("due 15 June 2026.", "2026-06-15", {}),
        ("due 15/06/2026", "2026-06-15", {"date_order": "DMY"}),
        ("Acme's invoice", "Acme", {}),
        ("ACME  Corp\nLtd", "Acme Corp Ltd", {}),
        ("株式会社アクメ御中", "株式会社アクメ", {}),
        ("shipped by Acme.", "Acme", {}),
        ("Ｎｅｔ ３０", "Net 30", {}),
        ("Café", "Cafe\u0301", {}),
    ],
)
def test_honest_values_are_found(source: str, entity: object, settings: dict[str, object]) -> None:
    """Presentation, number and date formats do not hide a value."""
    assert costly(findings({"e": entity}, text(source), **settings)) == []


@pytest.mark.parametrize(
    ("source", "entity", "settings"),
    [
        ("7 412.90", 412.9, {}),
        ("7 412.90", 7, {}),
        ("1.234,56", 1.234, {}),
        ("1,999", "999", {}),
        ("ref A4500, #4501, 4502kg, INV-4503, 4504-1", 4500, {}),
        ("ref A4500, #4501, 4502kg, INV-4503, 4504-1", 4501, {}),
        ("ref A4500, #4501, 4502kg, INV-4503, 4504-1", 4502, {}),
        ("ref A4500, #4501, 4502kg, INV-4503, 4504-1", 4503, {}),
        ("ref A4500, #4501, 4502kg, INV-4503, 4504-1", 4504, {}),
        ("area 10² m", 10, {}),
        ("area 10² m", 102, {}),
        ("VAT 10%", 10, {}),
        ("balance -5", 5, {}),
        ("2026-06-15", 15, {}),
        ("due 15/06/2026", "2026-06-15", {}),
        ("アクメックス", "アクメ", {}),
        ("Cafe\u0301", "Cafe", {}),
        ("Acme-Corp", "Acme", {}),
        ("x", "", {}),
        ("None", None, {}),
        ("True", True, {}),
        ("{}", {}, {}),
        ("[]", [], {}),
    ],
)
def test_parts_and_other_values_are_not(
    source: str, entity: object, settings: dict[str, object]
) -> None:
    """A part of a token, an id's digits and a value of another type are not grounded."""
    assert len(costly(findings({"e": entity}, text(source), **settings))) == 1


@pytest.mark.parametrize(
    ("kind", "entity", "code"),
    [
        (FieldType.TEXT, 1999, "not_grounded"),
        (FieldType.NUMBER, 1999, None),
        (FieldType.MONEY, "$1,999.00", None),
        (FieldType.NUMBER, "1_999", "unreadable"),
        (FieldType.DATE, "03/04/2026", "ambiguous"),
        (FieldType.DATE, 2026, "wrong_type"),
    ],
)
def test_the_stated_type_decides_how_a_field_is_compared(
    kind: FieldType, entity: object, code: str | None
) -> None:
    """As text, a year is not found in a price; as a number, its value is."""
    found = costly(findings({"e": entity}, text("fee $1999.00"), kind=kind))
    assert found == ([] if code is None else [code])


def test_without_a_source_nothing_is_grounded() -> None:
    """No source where grounding is configured costs the penalty of every field."""
    assert costly(findings({"e": "Acme"})) == ["no_source"]


@pytest.mark.parametrize("trusted", [(), (text("nothing here"),)], ids=["alone", "beside"])
def test_a_claimed_source_costs_what_no_source_costs(trusted: tuple[SourceText, ...]) -> None:
    """What stands only in a source that the agent claims is reported and does not count."""
    claimed = text("Acme", trusted=False)
    assert costly(findings({"e": "Acme"}, *trusted, claimed)) == ["claimed_source"]
    assert costly(findings({"e": "Other"}, *trusted, claimed)) == ["not_grounded"]


def test_a_claimed_source_takes_nothing_from_a_trusted_one() -> None:
    """A value in a trusted source is grounded whatever else the agent brings."""
    assert costly(findings({"e": "Acme"}, text("Acme"), text("x", trusted=False))) == []


def test_each_value_of_a_list_is_looked_for() -> None:
    """Each entity that is not found is listed by its own path."""
    found = findings({"e": ["Acme", "Initech", "Hooli"]}, text("Acme and Hooli"))
    assert [(one.code, one.field) for one in found if one.penalty] == [("not_grounded", "e[1]")]


def test_more_values_than_are_looked_for_count_as_not_found() -> None:
    """The bound on time is no way around the check."""
    output = {"e": ["Acme"] * (MAX_VALUES + 1)}
    assert costly(findings(output, text("Acme"))) == ["too_many_values"]


def test_a_hostile_source_takes_bounded_time() -> None:
    """A million occurrences inside one word end with a no."""
    assert not contains_token("a" * 1_000_000, "a" * 1000)


@pytest.mark.parametrize(
    "rules",
    [
        GroundingRules(),
        GroundingRules(fields=("a",), types={"b": FieldType.DATE}),
        GroundingRules(fields=("a[",)),
        GroundingRules(fields=("a",), penalty=-1),
    ],
    ids=["empty", "types", "path", "penalty"],
)
def test_rules_that_make_no_sense_are_refused(rules: GroundingRules) -> None:
    """No field, a type of no field, a bad path or penalty is a policy error."""
    with pytest.raises(PolicyError):
        compile_grounding(rules, compile_formats(Reading()))
