"""Checks of texts."""

from __future__ import annotations

import pytest

from sureline.core.checks.prose import compile_prose
from sureline.core.checks.sentences import count_sentences
from sureline.core.checks.urls import url_hosts
from sureline.core.values.checks import ProseRules
from sureline.errors import PolicyError


def codes(output: object, task: str = "", **rules: object) -> list[str]:
    check = compile_prose(ProseRules(**rules))  # type: ignore[arg-type]
    return [found.code for result in check.check(output, task) for found in result.findings]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One. Two! Three?", 3),
        ("Dr. Smith paid 3.50 to Acme, e.g. today. Done", 2),
        ("これは一。それは二。", 2),
        ("He said “Go.” Then left.", 2),
        ("No stop", 1),
        ("Wait... What?", 2),
        ("", 0),
        ("...", 0),
    ],
)
def test_sentences(text: str, count: int) -> None:
    """Abbreviations, decimals and empty runs are no sentences."""
    assert count_sentences(text) == count


@pytest.mark.parametrize(
    ("text", "rules", "expected"),
    [
        ("One. Two.", {"max_sentences": 1}, ["too_many_sentences"]),
        ("One.", {"min_sentences": 2}, ["too_few_sentences"]),
        ("abc", {"min_length": 4}, ["too_few_characters"]),
        ("abc", {"max_length": 2}, ["too_many_characters"]),
        ("A Refund is due", {"keywords": ("refund",)}, []),
        ("Refundable", {"keywords": ("refund",)}, ["keyword_missing"]),
        ("my Password: x", {"forbidden_patterns": ("password:",)}, ["forbidden_pattern"]),
        ("pass\u200bword: x", {"forbidden_patterns": ("password:",)}, ["forbidden_pattern"]),
        ("As an\u200b AI I", {"forbidden_phrases": ("as an ai",)}, ["forbidden_phrase"]),
        ("has an airport", {"forbidden_phrases": ("as an ai",)}, []),
        ("https://x.evil.com/a", {"forbidden_hosts": ("evil.com",)}, ["url_forbidden"]),
        ("write to a@evil.com", {"forbidden_hosts": ("evil.com",)}, ["url_forbidden"]),
        ("notevil.com, evil.com.au", {"forbidden_hosts": ("evil.com",)}, []),
        ("https://acme.com/x", {"allowed_hosts": ("acme.com",)}, []),
        ("https://acme.com.evil.io", {"allowed_hosts": ("acme.com",)}, ["url_not_allowed"]),
        (
            "https://acme.com@evil.io",
            {"allowed_hosts": ("acme.com",)},
            ["url_malformed", "url_not_allowed"],
        ),
        ("see http:// now", {"allowed_hosts": ()}, ["url_malformed", "url_not_allowed"]),
        ("no link", {"allowed_hosts": ()}, []),
    ],
)
def test_one_condition(text: str, rules: dict[str, object], expected: list[str]) -> None:
    """Each condition finds its violation and nothing else."""
    assert codes(text, **rules) == expected


@pytest.mark.parametrize(
    ("task", "text", "expected"),
    [
        ('Explain the "late fee"', "The late fee is 5.", []),
        ('Explain the "late fee"', "The fee is late.", ["keyword_missing"]),
        ("Summarise the quarterly invoice for Acme", "Acme's quarterly bill", []),
        ("Summarise the quarterly invoice for Acme", "I cannot help.", ["keyword_missing"]),
        ("", "Anything", ["keyword_missing"]),
    ],
)
def test_keywords_from_the_task(task: str, text: str, expected: list[str]) -> None:
    """Quoted phrases are needed, each; without any, half of the telling words are."""
    assert codes(text, task, keywords_from_task=True) == expected


@pytest.mark.parametrize(
    ("url", "host", "faulty"),
    [
        ("http://EXAMPLE.org./x", "example.org", False),
        ("http://1.2.3.4:80/", "1.2.3.4", False),
        ("http://[::1]:8080/", "[::1]", False),
        ("http://xn--e1afmkfd.xn--p1ai/", "пример.рф", False),
        ("www.example.org", "www.example.org", False),
        ("http://2130706433/", "2130706433", True),
        ("http://a%2eb/", "a%2eb", True),
        ("http://x:99999/", "x", True),
        ("http://gооgle.com", "gооgle.com", True),
        ("https:\\\\evil.com\\a", "evil.com", True),
        ("http://-a.com", "-a.com", True),
    ],
)
def test_hosts(url: str, host: str, faulty: bool) -> None:
    """A host is read as a browser would, and a form that hides it is malformed."""
    found = next(url_hosts(f"see {url}"))
    assert (found.host, found.fault is not None) == (host, faulty)


@pytest.mark.parametrize("output", [{}, {"t": None}, {"t": 5}], ids=["missing", "null", "number"])
def test_a_missing_text_fails_every_condition(output: object) -> None:
    """Leaving the text out is never cheaper than writing a bad one."""
    assert len(codes(output, field="t", min_length=1, max_sentences=3, keywords=("a", "b"))) == 4


def test_the_whole_output_is_all_its_texts() -> None:
    """Without a field, the texts of a structured output are looked at together."""
    assert codes({"a": ["refund"], "b": {"c": "due"}}, keywords=("refund", "due")) == []


@pytest.mark.parametrize(
    "rules",
    [
        {"forbidden_patterns": ("(?!x)",)},
        {"min_length": 3, "max_length": 2},
        {"field": "[", "min_length": 1},
        {"penalty": -5},
    ],
)
def test_rules_that_make_no_sense_are_refused(rules: dict[str, object]) -> None:
    """A bad pattern, crossed limits, a bad path or penalty is a policy error."""
    with pytest.raises(PolicyError):
        compile_prose(ProseRules(**rules))  # type: ignore[arg-type]
