"""Redaction: what has a form is found however it is written, and what has none is left alone."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.core.checks.paths import parse_path
from sureline.core.redacted_text import mark, redacted_text
from sureline.core.redaction import KEPT, hidden, redacted, without
from sureline.core.redaction_forms import FORMS, card_numbers, ibans, mail_addresses
from sureline.core.values.proposal import Proposal, SourceText
from sureline.core.values.redaction import RedactionPolicy

RULES = RedactionPolicy(
    forms=("card_number", "email", "iban"), patterns=(("customer", "K-[0-9]{6}"),)
)


def found(finder: Any, text: str) -> list[str]:
    return [text[start:stop] for start, stop in finder(text)]


def said(text: str, rules: RedactionPolicy = RULES) -> str:
    return redacted_text(text, rules, Counter())


@pytest.mark.parametrize(
    "number",
    [
        "4111111111111111",
        "4111 1111 1111 1111",
        "4111-1111-1111-1111",
        "4111.1111.1111.1111",
        "4111  1111 \t 1111\n1111",
        "4111/1111/1111/1111",
        "4111_1111_1111_1111",
        "4111 - 1111 - 1111 - 1111",
        "5555555555554444",
        "378282246310005",
        "3782 822463 10005",
        "6011 1111 1111 1117",
        "2223003122003222",
        "4222222222222",
        "6304000000000000000",
    ],
)
def test_card_numbers_are_found_in_any_grouping(number: str) -> None:
    """With text and other figures around them, and never cut."""
    for text in (number, f"pay 12 {number}, please", f"a{number}b", f"7 {number} 55"):
        assert number in found(card_numbers, text)


@pytest.mark.parametrize(
    "text",
    [
        "4111111111111112",
        "1234567890123",
        "0000000000000000",
        "4111 1111 1111",
        "4111, 1111, 1111, 1111",
        "4111/1111/1111/11/11",
        "2026/11/30 22/15/59",
        "41111111111111111111111111",
        "2026-11-30 22:15:59",
        "invoice 4711, total 1300.00 of 5",
    ],
)
def test_other_figures_are_no_card_numbers(text: str) -> None:
    """A wrong check digit, a wrong length, dates and amounts are left alone."""
    assert found(card_numbers, text) == []


@pytest.mark.parametrize(
    "iban",
    [
        "DE89370400440532013000",
        "DE89 3704 0044 0532 0130 00",
        "DE89  3704\t0044\n0532/0130_00",
        "de89 3704 0044 0532 0130 00",
        "GB82 WEST 1234 5698 7654 32",
        "FR14 2004 1010 0505 0001 3M02 606",
        "NO93 8601 1117 947",
        "MT84 MALT 0110 0001 2345 MTLC AST0 01S",
    ],
)
def test_ibans_are_found_by_their_check_digits(iban: str) -> None:
    """In groups or not, in whatever case, among other words."""
    for text in (iban, f"to {iban} until Friday", f"IBAN:{iban}.", f"AB12 {iban}"):
        assert iban in found(ibans, text)


@pytest.mark.parametrize(
    "text",
    [
        "DE88370400440532013000",
        "DE8937040044053201300",
        "XX89370400440532013000",
        "order AB12 3456",
    ],
    ids=["check digits", "length", "country", "a code"],
)
def test_what_looks_like_an_iban_is_none(text: str) -> None:
    """Wrong check digits, another length and an unknown country are left alone."""
    assert found(ibans, text) == []


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("Write to ada@example.com.", ["ada@example.com"]),
        ("<a.b+c@x-y.co.uk>, (d@e.org)", ["a.b+c@x-y.co.uk", "d@e.org"]),
        ("mailto:ada@example.com?x", ["ada@example.com?x"]),
        ('to "ada"@example.com', ['"ada"@example.com']),
        ('"ada b"@example.com', ['"ada b"@example.com']),
        ('"hello" "ada"@example.com', ['"ada"@example.com']),
        ('"a\\"b"@example.com', ['"a\\"b"@example.com']),
        ("ada@[192.168.7.9]!", ["ada@[192.168.7.9]"]),
        ("ada@[IPv6:2001:db8::1]", ["ada@[IPv6:2001:db8::1]"]),
        ("ada@example\u3002com", ["ada@example\u3002com"]),
        ("ada@example.com\u3002\u8bf7\u56de\u590d", ["ada@example.com"]),
        ("josé@exämple.com", ["josé@exämple.com"]),
        ("@home and 5 @ 3.50 EUR", []),
        ("user@localhost", []),
    ],
    ids=[
        "sentence",
        "several",
        "link",
        "quoted",
        "with a space",
        "after a quotation",
        "with a quote",
        "address",
        "address of version 6",
        "ideographic dot",
        "full stop",
        "letters",
        "no address",
        "no domain",
    ],
)
def test_mail_addresses(text: str, addresses: list[str]) -> None:
    """What has an @ between a name and a domain with a dot."""
    assert found(mail_addresses, text) == addresses


@pytest.mark.parametrize(
    "text",
    [
        "４１１１１１１１１１１１１１１１",
        "٤١١١١١١١١١١١١١١١",
        "4111\u00a01111\u20111111\u20131111",
        "4111\u200b1111\u00ad1111\u20601111",
        "ada＠example．com",
        "a\u200cd\u200da@example.com",
        "ＤＥ８９370400440532013000",
        "4111\ufe0f1111\ufe001111\ufe0e1111",
        "ada\U000e0100@example\U000e01ef.com",
        "ada\u034f@example.com",
        "41\u115f11\u1160111\u3164111\uffa0111111",
        "a\x00da@exam\x7fple.com",
        "4\u2460\u2460\u2460 1111 1111 1111",
        "ada\\u0040example\\u002ecom",
        "ada\\\\u0040example.com",
        "ada\\x40example.com",
        "ada%40example%2Ecom",
        "ada%2540example.com",
        "ada&#64;example&#46;com",
        "ada&#x40;example.com",
        "ada&commat;example&period;com",
        "%34%31%31%31&nbsp;1111&#32;1111\\u00201111",
    ],
    ids=[
        "full width",
        "Arabic",
        "spaces and dashes",
        "invisible",
        "wide @",
        "joiners",
        "IBAN",
        "variation selector",
        "supplement",
        "grapheme joiner",
        "fillers",
        "control",
        "enclosed",
        "JSON",
        "JSON twice",
        "script",
        "link",
        "link twice",
        "HTML",
        "HTML in hex",
        "HTML by name",
        "all digits",
    ],
)
def test_how_it_is_written_makes_no_difference(text: str) -> None:
    """What a reader sees as the form is replaced as a whole, and the rest is untouched."""
    assert said(f"é {text} ü") in {f"é {mark(name)} ü" for name in FORMS}


@pytest.mark.parametrize("text", ["50%41 &amp; more", "\\u0041 %zz &#64 &unknown;", "\\x4"])
def test_an_escape_without_a_form_stays_as_it_is_written(text: str) -> None:
    """Escapes are undone to look, and never in what is kept."""
    assert said(text) == text
    assert said(f"{text} ada@example.com") == f"{text} {mark('email')}"


NUMBER = 4111111111111111
CARRIERS: dict[str, list[Any]] = {
    "task": [str(NUMBER)],
    "output": [{"x": NUMBER}, {"x": [float(NUMBER)]}, {str(NUMBER): 1}],
    "source": [(SourceText(ref=str(NUMBER), text="t"),), (SourceText(ref="r", text=str(NUMBER)),)],
    "self_report": [NUMBER, float(NUMBER), -NUMBER, [NUMBER], str(NUMBER)],
    "reasoning": [str(NUMBER)],
    "evidence": [(NUMBER,), ({"x": float(NUMBER)},)],
    "alternatives": [({"x": NUMBER},)],
    "generations": [({"x": NUMBER},)],
    "logprobs": [(-0.1, -float(NUMBER)), (float(NUMBER),), (NUMBER,)],
    "metadata": [{"x": NUMBER}, {"x": float(NUMBER)}, {str(NUMBER): [{"y": NUMBER}]}],
}
"""Every field that is no id, name or setting, with the number wherever one can stand in it."""


def test_every_field_is_redacted_or_known_to_stay() -> None:
    """A field that is new must be put on one of the two lists."""
    assert {one.name for one in fields(Proposal)} == CARRIERS.keys() | KEPT
    assert not CARRIERS.keys() & KEPT


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, values in CARRIERS.items() for value in values],
)
def test_a_number_is_found_in_every_field(name: str, value: Any) -> None:
    """As a text, as a whole number and as a float, in values and keys."""
    given_ = Proposal(**{"slice_key": "s", "task": "t", "output": {}, name: value})
    shown = redacted(given_, RULES, structured=True)
    assert sum(shown.counts.values()) == repr(value).count("411111111111111")
    assert "41111" not in repr(shown.proposal)


def test_nineteen_digits_are_found_in_a_float() -> None:
    """However a float is printed."""
    given_ = Proposal(slice_key="s", task="t", output={}, metadata={"x": 6.304e18})
    assert redacted(given_, RULES, structured=True).counts == {"card_number": 1}


@pytest.mark.parametrize("value", [0.4111111111111111, 1.0, 0.0, math.inf, True, None])
def test_a_figure_stays_a_figure(value: Any) -> None:
    """A share or the logarithm of one is not taken for a number of a card by its digits."""
    logprobs = (-0.4111111111111111, -math.inf, -999.5)
    given_ = Proposal(slice_key="s", task="t", output={}, self_report=value, logprobs=logprobs)
    assert redacted(given_, RULES, structured=True).proposal == given_


def test_what_overlaps_is_replaced_as_a_whole() -> None:
    """Two forms in one place leave nothing between them."""
    rules = RedactionPolicy(forms=("email",), patterns=(("number", "[0-9]{6}"),))
    assert said("K123456@example.com", rules) == mark("email")
    assert said("123456 and 654321", rules) == f"{mark('number')} and {mark('number')}"


@given(st.text(), st.sampled_from(["ada@example.com", "4111 1111 1111 1111", "K-123456"]))
def test_nothing_is_lost_but_the_form(text: str, secret: str) -> None:
    """Around a form everything stays; redacting twice changes nothing more."""
    whole = f"{text}\n{secret}\n{text}"
    once = said(whole)
    assert secret not in once
    assert said(once) == once


@given(st.recursive(st.text() | st.integers() | st.none(), lambda x: st.lists(x) | st.dictionaries(
    st.text(), x), max_leaves=8))  # fmt: skip
def test_without_a_form_everything_stays(value: Any) -> None:
    """A proposal in which nothing is to be replaced comes back equal."""
    rules = RedactionPolicy(patterns=(("never", "\\x{10FFFF}{3}"),))
    given_ = Proposal(slice_key="s", task="t", output={"a": 1}, metadata={"v": value})
    shown = redacted(given_, rules, structured=True)
    assert shown.counts == {}
    assert shown.proposal == given_


def test_keys_that_become_the_same_stay_apart() -> None:
    """No value is lost where two keys are replaced by one mark."""
    output = {"a@x.org": 1, "b@x.org": 2, "[redacted:email]": 3}
    given_ = Proposal(slice_key="s", task="t", output=output)
    shown = redacted(given_, RULES, structured=True).proposal.output
    assert sorted(shown.values()) == [1, 2, 3]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a", {"a": "*", "b": [{"c": 1}, {"c": 2}, 3]}),
        ("b[].c", {"a": 1, "b": [{"c": "*"}, {"c": "*"}, 3]}),
        ("b[1].c", {"a": 1, "b": [{"c": 1}, {"c": "*"}, 3]}),
        ("b", {"a": 1, "b": "*"}),
        ("b[9]", {"a": 1, "b": [{"c": 1}, {"c": 2}, 3]}),
        ("z.y", {"a": 1, "b": [{"c": 1}, {"c": 2}, 3]}),
    ],
)
def test_a_field_is_replaced_wherever_its_path_leads(path: str, expected: Any) -> None:
    """Whatever it holds; a path that leads nowhere changes nothing, and the original is not."""
    value = {"a": 1, "b": [{"c": 1}, {"c": 2}, 3]}
    counts: Counter[str] = Counter()
    changed = without(value, parse_path(path), counts)
    assert changed == _starred(expected)
    assert value == {"a": 1, "b": [{"c": 1}, {"c": 2}, 3]}


def _starred(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _starred(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_starred(one) for one in value]
    return mark("field") if value == "*" else value


def test_models_are_shown_less_than_people() -> None:
    """Hidden fields are marked for models only, in an output that is a text as well."""
    rules = RedactionPolicy(hide_from_models=("salary",))
    one = Proposal(slice_key="s", task="t", output='{"salary": 4711, "x": 1}', metadata={"m": 1})
    shown = hidden(one, rules)
    assert (shown.output, shown.metadata) == ({"salary": mark("field"), "x": 1}, {})
    assert hidden(one, RedactionPolicy()) is one
