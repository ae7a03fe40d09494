"""One JSON object out of a reply: what counts as chatter, and what hides the object."""

from __future__ import annotations

import time

import pytest

from sureline.core.opinions.json_reply import MOST_CHARACTERS, read_object

FOUND = {
    "bare": ('{"score": 1}', {"score": 1}),
    "fenced": ('```json\n{"score": 1}\n```', {"score": 1}),
    "in_prose": ('Sure: {"score": 1} Anything else?', {"score": 1}),
    "after_reasoning": ('<think>{"score": 5}</think>{"score": 1}', {"score": 1}),
    "after_two_reasonings": (
        ' <THINK>{"a": 5}</think>\n<thinking class="x">}{</thinking>{"score": 1}',
        {"score": 1},
    ),
    "after_nested_reasoning": (
        '<think>a <think>b</think> {"score": 2}</think>{"score": 1}',
        {"score": 1},
    ),
    "after_bracketed_reasoning": ('[THINK]{"score": 2}[/THINK]{"score": 1}', {"score": 1}),
    "after_reasoning_in_arrows": ('◁think▷{"score": 2}◁/think▷{"score": 1}', {"score": 1}),
    "after_a_heading": ('[Reasoning] It adds up.\n{"score": 1}', {"score": 1}),
    "braces_in_text": ('{"note": "kept {id: 7} and } {"}', {"note": "kept {id: 7} and } {"}),
    "quotes_in_text": ('{"note": "a \\" { b"}', {"note": 'a " { b'}),
    "tag_in_text": ('{"note": "the output holds <think>"}', {"note": "the output holds <think>"}),
    "twice_the_same": ('{"a": 1, "b": 2} again: {"b":2,"a":1}', {"a": 1, "b": 2}),
    "same_as_its_draft": ('Hm <think>{"a": 1}</think> {"a": 1}', {"a": 1}),
    "broken_unicode_around": ('\ud800 {"score": 1}', {"score": 1}),
    "empty": ("{}", {}),
}

FAULTS = {
    "nothing": ("", "no_object"),
    "prose": ("It looks right to me. Score: 100.", "no_object"),
    "number": ("85", "no_object"),
    "list_of_numbers": ("[[10]]", "no_object"),
    "text": ('"agrees"', "no_object"),
    "only_reasoned": ('<think>{"score": 1}</think>', "no_object"),
    "only_reasoned_later": ('Hm. <think>{"score": 1}</think> Done.', "no_object"),
    "reasoning_never_opened": ('{"score": 1}</think> Done.', "no_object"),
    "reasoning_never_closed": ('<think>{"score": 1}', "unclosed_reasoning"),
    "later_reasoning_never_closed": ('{"score": 1}<think>', "unclosed_reasoning"),
    "cut_off": ('{"score": 9', "truncated"),
    "cut_off_in_a_text": ('{"score": 9, "note": "and }', "truncated"),
    "cut_off_after_reasoning": ('<think>x</think>\n{"score":', "truncated"),
    "two": ('{"score": 5} no, {"score": 1}', "ambiguous"),
    "true_is_not_one": ('{"score": true} {"score": 1}', "ambiguous"),
    "draft_without_opening": ('{"score": 5}</think>{"score": 1}', "ambiguous"),
    "draft_after_prose": ('Hm. <think>{"score": 5}</think>{"score": 1}', "ambiguous"),
    "two_in_a_list": ('[{"score": 5}, {"score": 1}]', "ambiguous"),
    "comment": ('{"score": 75, // fine\n"note": "x"}', "invalid_json"),
    "line_break_in_text": ('{"note": "one\ntwo"}', "invalid_json"),
    "trailing_comma": ('{"score": 1,}', "invalid_json"),
    "single_quotes": ("{'score': 1}", "invalid_json"),
    "no_quotes": ("{score: 1}", "invalid_json"),
    "bad_escape": ('{"note": "saved to C:\\work"}', "invalid_json"),
    "other_digits": ('{"score": ٣}', "invalid_json"),
    "leading_zero": ('{"score": 08}', "invalid_json"),
    "python": ('{"agrees": True}', "invalid_json"),
    "escaped_twice": ('"{\\"score\\": 1}"', "truncated"),
    "broken_beside_whole": ('{score: 0} {"score": 1}', "invalid_json"),
    "not_a_number": ('{"score": NaN}', "non_finite"),
    "infinite": ('{"score": -Infinity}', "non_finite"),
    "beyond_floats": ('{"score": 1e999}', "non_finite"),
    "many_digits": ('{"score": ' + "9" * 5000 + "}", "number_too_long"),
    "key_twice": ('{"score": 1, "score": 1}', "duplicate_key"),
    "key_twice_by_escape": ('{"score": 1, "\\u0073core": 9}', "duplicate_key"),
    "lone_surrogate": ('{"note": "\\ud800"}', "invalid_unicode"),
    "deep": ('{"a":' * 1000 + "1" + "}" * 1000, "too_deep"),
    "long": ('{"score": 1}' + " " * 200_000, "too_long"),
}


@pytest.mark.parametrize(("text", "fields"), FOUND.values(), ids=FOUND)
def test_an_object_is_found_in_chatter(text: str, fields: object) -> None:
    """Reasoning, prose and fences around the one object do not matter."""
    read = read_object(text)
    assert (read.fields, read.fault) == (fields, None)
    assert read.span in text


@pytest.mark.parametrize(("text", "fault"), FAULTS.values(), ids=FAULTS)
def test_what_is_not_one_object_has_a_fault(text: str, fault: str) -> None:
    """Nothing is repaired and nothing is guessed; the model is told what was wrong."""
    read = read_object(text)
    assert (read.fields, read.fault) == (None, fault)
    assert read.hint


KEYED = {
    "other_braces": ('The code {return 1;} is fine. {"agrees": true}', {"agrees": True}),
    "quoted_object": ('It says {"amount": 5}. {"agrees": false}', {"agrees": False}),
    "unclosed_chatter": ('{"agrees": true} and a { brace', {"agrees": True}),
    "without_the_key": ('{"confidence": 0.97}', {"confidence": 0.97}),
    "key_deeper": ('{"verdict": {"agrees": true}}', {"verdict": {"agrees": True}}),
    "broken_with_the_key": ('{agrees: false} {"agrees": true}', "invalid_json"),
    "broken_with_the_key_escaped": ('{"\\u0061grees": false,} {"agrees": true}', "invalid_json"),
    "cut_off_with_the_key": ('{"agrees": true} {"agrees": fal', "truncated"),
    "two_with_the_key": ('{"agrees": true} {"agrees": false}', "ambiguous"),
    "two_without_the_key": ('{"a": 1} {"a": 1}', "no_object"),
    "one_without_the_key_cut_off": ('{"a": 1', "truncated"),
}


@pytest.mark.parametrize(("text", "expected"), KEYED.values(), ids=KEYED)
def test_with_a_key_only_what_mentions_it_counts(text: str, expected: object) -> None:
    """Quoted objects and code are chatter; a broken text that mentions the key is not."""
    read = read_object(text, "agrees")
    assert (read.fault or read.fields) == expected


NASTY = {
    "braces": "{",
    "closed": "{}",
    "texts": '{"',
    "escapes": '\\"{',
    "reasoning": "<think>",
    "closed_reasoning": "<think></think>",
    "ends_of_reasoning": "</think>{}",
    "begins_of_tags": "<",
    "spaces_in_a_tag": "<think ",
    "faults": "{x}",
    "keys": '{"a":1,',
    "white_space": " \n",
}


@pytest.mark.parametrize("nasty", NASTY.values(), ids=NASTY)
def test_reading_takes_time_linear_in_the_reply(nasty: str) -> None:
    """The longest reply that is read takes about ten times as long as one of a tenth."""

    def seconds(length: int) -> float:
        text = nasty * (length // len(nasty))
        took = []
        for _ in range(3):
            start = time.process_time()
            read_object(text)
            took.append(time.process_time() - start)
        return min(took)

    assert seconds(MOST_CHARACTERS) < 40 * seconds(MOST_CHARACTERS // 10) + 0.05
