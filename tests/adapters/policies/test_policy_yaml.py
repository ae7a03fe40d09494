"""The YAML reader avoids the traps of YAML 1.1 and says where a file goes wrong."""

from __future__ import annotations

import pytest

from sureline.adapters.policies.faults import Faults
from sureline.adapters.policies.yaml_reader import decoded, read_tree
from sureline.errors import PolicyError


def plain(text: str) -> object:
    faults = Faults()
    tree = read_tree(text, "p.yaml", faults)
    faults.raise_if_any()
    return tree.plain()


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("true", True),
        ("false", False),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("off", "off"),
        ("True", "True"),
        ("NO", "NO"),
        ("null", None),
        ("~", None),
        ("", None),
        ("010", "010"),
        ("0o17", "0o17"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        ("190:20:30", "190:20:30"),
        ("12:30", "12:30"),
        ("2026-12-01", "2026-12-01"),
        ("0", 0),
        ("-7", -7),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("0.40", 0.4),
        ("'7'", "7"),
        ('"true"', "true"),
        ("１２", "１２"),
        (r'"\ud83d\ude00"', "\U0001f600"),
    ],
)
def test_scalars_are_read_without_surprises(written: str, read: object) -> None:
    """Only true, false, null and decimal numbers are more than text."""
    value = plain(f"key: {written}\n")["key"]  # type: ignore[index]
    assert value == read
    assert type(value) is type(read)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "p.yaml:1:1: the file is empty", id="empty"),
        pytest.param("# only a comment\n", "p.yaml:1:1: the file is empty", id="comment"),
        pytest.param("a:\n\tb: 1\n", "p.yaml:2:1: .*not tabs", id="tab"),
        pytest.param("a: b: c\n", "p.yaml:1:5: .*colon", id="colon"),
        pytest.param("a: [1, 2\nb: 3\n", "p.yaml:2:.*bracket", id="open-bracket"),
        pytest.param('a: "x\n', "p.yaml:.*quote is not closed", id="open-quote"),
        pytest.param("a: 1\n---\nb: 2\n", "p.yaml:2:1: a second document", id="two-documents"),
        pytest.param("a: *b\n", r"p.yaml:1:4: the alias \*b", id="unknown-alias"),
        pytest.param("a: &x [*x]\n", r"p.yaml:1:8: the alias \*x", id="alias-of-itself"),
        pytest.param("a: !!python/name:os.system x\n", "p.yaml:1:4: a: tags", id="tag"),
        pytest.param("a: !!int '7'\n", "p.yaml:1:4: a: tags", id="harmless-tag"),
        pytest.param("a: &x {b: 1}\nc: {<<: *x}\n", "p.yaml:2:5: c.<<: merge keys", id="merge"),
        pytest.param("? [1]\n: 2\n", "p.yaml:1:3: .*key must be a plain text", id="list-as-key"),
        pytest.param(r'a: "\ud83d"', "p.yaml:1:4: a: .*half a character", id="half"),
        pytest.param(r'"\ud83d": 1', "p.yaml:1:1: .*half a character", id="half-a-key"),
        pytest.param("a: \x07\n", "p.yaml:1:4: a control character", id="control"),
        pytest.param(f"a: {'9' * 5000}\n", "p.yaml:1:4: a: .*too many digits", id="digits"),
        pytest.param("[" * 5000, "nested deeper than 64", id="deep"),
        pytest.param("a: " + "x" * 1_100_000, "larger than 1 MiB", id="large"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(text: str, message: str) -> None:
    """A file that cannot be read names file, line, column and the cause in plain words."""
    with pytest.raises(PolicyError, match=message):
        plain(text)


def test_repeated_keys_name_both_lines() -> None:
    """A key that stands twice is refused with the lines of both."""
    with pytest.raises(PolicyError, match=r"p.yaml:3:3: a.b: .*again; first in line 2"):
        plain("a:\n  b: 1\n  b: 1\n")


def test_an_alias_bomb_is_stopped_by_its_expanded_size() -> None:
    """Nine levels of nine aliases each are refused, quickly and without expanding them."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    with pytest.raises(PolicyError, match="aliases counted in full"):
        plain("\n".join(lines))


def test_a_few_aliases_are_fine() -> None:
    """An anchor can be used again below it."""
    assert plain("a: &x {b: 1}\nc: *x\n") == {"a": {"b": 1}, "c": {"b": 1}}


def test_bytes_that_are_no_utf8_are_named_with_their_place() -> None:
    """A file in another encoding says where and what to do."""
    with pytest.raises(PolicyError, match=r"p\.yaml:2:4: the file is not UTF-8"):
        decoded("a: 1\nb: ä\n".encode("latin-1"), "p.yaml")


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    """Editors that write a byte-order mark do no harm."""
    assert decoded(b"\xef\xbb\xbfa: 1", "p.yaml") == "a: 1"
