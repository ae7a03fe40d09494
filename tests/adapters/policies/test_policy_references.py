"""The files that a policy names are part of it, and their faults name both files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sureline.adapters.policies import load_policy
from sureline.errors import PolicyError

POLICY = """version: 1
slices:
  a:
    output: {json_schema: s.json}
    self_evaluation: {model: m, deductions: d.yaml}
"""
SCHEMA = '{"type": "object"}'
DEDUCTIONS = "deductions:\n  - {id: wrong, points: 10, text: It is wrong.}\n"


def write(folder: Path, **texts: str) -> Path:
    found = {"s.json": SCHEMA, "d.yaml": DEDUCTIONS, "p.yaml": POLICY}
    found |= {name.replace("_", "."): text for name, text in texts.items()}
    for name, text in found.items():
        (folder / name).write_text(text)
    return folder / "p.yaml"


def test_the_content_of_a_named_file_is_part_of_the_hash(tmp_path: Path) -> None:
    """A changed schema or deduction is another policy; its formatting is not."""
    before = load_policy(write(tmp_path)).policy
    spaced = load_policy(
        write(tmp_path, s_json=' { "type" :\n"object"}', d_yaml="# x\n" + DEDUCTIONS)
    )
    schema = load_policy(write(tmp_path, s_json='{"type": "array"}')).policy
    points = load_policy(write(tmp_path, d_yaml=DEDUCTIONS.replace("10", "20"))).policy
    assert spaced.policy == before
    assert len({before.hash, schema.hash, points.hash}) == 3
    assert before.measurement_hashes["a"] not in {
        schema.measurement_hashes["a"],
        points.measurement_hashes["a"],
    }


@pytest.mark.parametrize(
    ("name", "text", "place", "message"),
    [
        pytest.param("s_json", "{", "4:27", "s.json is not JSON", id="json"),
        pytest.param("s_json", '{"a": 1, "a": 2}', "4:27", "'a' is there twice", id="twice"),
        pytest.param("s_json", '{"a": NaN}', "4:27", "NaN is not JSON", id="nan"),
        pytest.param("s_json", '{"type": "strin"}', "4:27", "not a JSON Schema", id="schema"),
        pytest.param("s_json", "[1]", "4:27", "expected a mapping", id="list"),
        pytest.param("s_json", '{"pattern": "(?=a)"}', "4:27", "not a JSON Schema", id="pattern"),
        pytest.param("s_json", '{"$ref": "#/none"}', "4:27", "not a JSON Schema", id="ref"),
        pytest.param("s_json", '{"title": "\\ud83d"}', "4:27", "not a JSON", id="surrogate"),
        pytest.param("s_json", "[" * 100_000, "4:27", "is not JSON", id="deep"),
    ],
)
def test_a_broken_schema_names_both_files(
    tmp_path: Path, name: str, text: str, place: str, message: str
) -> None:
    """The fault stands at the place that names the file, and says what is wrong inside it."""
    with pytest.raises(PolicyError, match=rf"p\.yaml:{place}: (?s:.*){message}"):
        load_policy(write(tmp_path, **{name: text}))


@pytest.mark.parametrize("name", ["s.json", "d.yaml"])
def test_a_missing_file_names_both_files(tmp_path: Path, name: str) -> None:
    """A file that is not there is named where the policy names it."""
    policy = write(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(PolicyError, match=rf"p\.yaml:[45]:\d+: slices\.a\..*{name} cannot be read"):
        load_policy(policy)


def test_a_file_of_another_encoding_is_refused(tmp_path: Path) -> None:
    """Named files must be UTF-8 as the policy must."""
    policy = write(tmp_path)
    (tmp_path / "s.json").write_bytes(b'{"title": "\xe4"}')
    with pytest.raises(PolicyError, match="not UTF-8"):
        load_policy(policy)


def told(text: str, tmp_path: Path) -> list[str]:
    """Return what is said of a deductions file, a line for each fault, without the folder."""
    with pytest.raises(PolicyError) as caught:
        load_policy(write(tmp_path, d_yaml=text))
    return caught.value.message.replace(f"{tmp_path}/", "").splitlines()


HEAD = "deductions:\n"
SOUND = "  - {id: wrong, points: 10, text: It is wrong.}\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("", "1:1: the file is empty; expected at least `deductions:`", id="empty"),
        pytest.param("# nothing yet\n", "1:1: the file is empty;", id="only-a-comment"),
        pytest.param("wrong", "1:1: expected `deductions:` and a list below it", id="a-word"),
        pytest.param(SOUND, "1:3: expected the line `deductions:` above the list", id="no-head"),
        pytest.param("deductions:", "1:12: deductions: expected a list, each", id="no"),
        pytest.param("deductions: []", "1:13: deductions: expected 1 to 100 .*; the list", id="[]"),
        pytest.param("deductions: {a: 1}", "1:13: deductions: expected a list, each", id="map"),
        pytest.param(
            "deduction: []", '1:1: deduction: unknown key "deduction"; did you mean', id="typo"
        ),
        pytest.param(HEAD + "\t- id: wrong", "2:1: this cannot be read as YAML: .* tabs", id="tab"),
        pytest.param(
            HEAD + "  - id: a\n    text: It is wrong: badly",
            "3:22: this cannot be read as YAML: .*put quotes",
            id="a-colon",
        ),
        pytest.param(
            HEAD + "  - wrong",
            "2:5: entry 1: expected an entry with id, points and text",
            id="word",
        ),
        pytest.param(
            HEAD + SOUND + "  - {points: 1, text: t}",
            '3:5: entry 2: the key "id" is missing',
            id="no-id",
        ),
        pytest.param(
            HEAD + "  - {id: a, points: 1}", '2:5: a: the key "text" is missing', id="no-text"
        ),
        pytest.param(
            HEAD + "  - {id: a, points: 1, text: ' '}",
            "2:30: a.text: expected a text that is not empty",
            id="blank-text",
        ),
        pytest.param(
            HEAD + f"  - {{id: a, points: 1, text: {'x' * 1001}}}",
            "2:30: a.text: expected at most 1000 characters, found 1001",
            id="long-text",
        ),
        pytest.param(
            HEAD + "  - {id: a, points: 1, text: t, example: [x]}",
            '2:33: a.example: unknown key "example"; did you mean "examples"',
            id="unknown-key",
        ),
        pytest.param(
            HEAD + "  - {id: a, points: 1, text: t, examples: x}",
            "2:43: a.examples: expected a list of at most 10 texts, found the text",
            id="one-example",
        ),
        pytest.param(
            HEAD + f"  - {{id: a, points: 1, text: t, examples: [{'x, ' * 11}]}}",
            "2:43: a.examples: expected a list of at most 10 texts, found a list",
            id="many-examples",
        ),
        pytest.param(
            HEAD + "  - {id: a, points: 1, text: t, examples: [x, 7]}",
            "2:47: a.examples 2: expected a list of at most 10 texts, found the number 7",
            id="a-number-as-example",
        ),
        pytest.param(
            HEAD + SOUND + SOUND,
            '3:10: wrong.id: the id "wrong" is here again; first in line 2',
            id="id-twice",
        ),
        pytest.param(
            HEAD + "  - {id: Invented facts, points: 1, text: t}",
            '2:10: Invented facts.id: .*found the text "Invented facts"; write invented_facts',
            id="a-name-of-two-words",
        ),
        pytest.param(
            HEAD + "  - {id: 7, points: 1, text: t}",
            "2:10: entry 1.id: expected a short name .*, found the number 7",
            id="a-number-as-id",
        ),
        pytest.param(
            HEAD + "  - {id: a, id: b, points: 1, text: t}",
            '2:13: .*the key "id" is here again',
            id="key-twice",
        ),
    ],
)
def test_a_broken_deductions_file_is_told_at_its_own_line(
    tmp_path: Path, text: str, line: str
) -> None:
    """Whoever edits the file reads its line and column, and the failure mode's id."""
    assert any(re.match(rf"d\.yaml:{line}", one) for one in told(text, tmp_path)), told(
        text, tmp_path
    )


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ("forty", 'expected a whole number from 1 to 100, found the text "forty"'),
        ("0", "a failure mode of 0 points would change nothing"),
        ("-40", "without a minus: write 40"),
        ("101", "from 1 to 100, found the number 101"),
        ("40.5", "a whole number from 1 to 100, found the number 40.5"),
        ("'40'", 'found the text "40"; write it without quotes'),
        ("40%", 'found the text "40%"'),
        ("true", "found true"),
        ("", "found nothing"),
        (".nan", "found the number nan"),
        ("[40]", "found a list"),
    ],
)
def test_points_are_a_whole_number(tmp_path: Path, points: str, words: str) -> None:
    """Anything else is refused in plain words, at the place where it stands."""
    (line,) = told(HEAD + f"  - id: a\n    text: t\n    points: {points}\n", tmp_path)
    assert re.match(r"d\.yaml:4:\d+: a\.points: ", line)
    assert words in line


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    """An author mends a file in one go, and a file that two slices name is told of once."""
    text = HEAD + "  - {id: a, points: 0, text: t}\n  - {id: b, points: x}\n"
    policy = write(tmp_path, d_yaml=text)
    policy.write_text(POLICY + POLICY.partition("slices:\n")[2].replace("  a:", "  b:"))
    with pytest.raises(PolicyError) as caught:
        load_policy(policy)
    assert [
        one.partition(".yaml")[2].partition(": ")[0] for one in caught.value.message.splitlines()
    ] == [":2:21", ":3:5", ":3:21"]


def test_faults_in_the_policy_and_in_its_files_come_together(tmp_path: Path) -> None:
    """A file that the policy names is checked even where the policy has faults of its own."""
    policy = write(tmp_path, d_yaml=HEAD)
    policy.write_text(POLICY + "    audit_rate: 7\n")
    with pytest.raises(PolicyError, match=r"d\.yaml:1:12: (?s:.*)p\.yaml:6:17: "):
        load_policy(policy)


def test_a_list_in_the_policy_is_checked_as_a_file_is(tmp_path: Path) -> None:
    """Without a file of its own the list stands in the policy, and its faults at its lines."""
    policy = write(tmp_path)
    policy.write_text(POLICY.replace("d.yaml", "[{id: a, points: -1, text: t}]"))
    with pytest.raises(PolicyError, match=r"p\.yaml:5:62: .*deductions\[0\]\.points: .*write 1"):
        load_policy(policy)


def test_a_list_that_no_model_could_read_is_refused(tmp_path: Path) -> None:
    """The texts are shown with every output, so together they have a limit; so has their number."""
    entries = [f"  - {{id: a{n}, points: 1, text: {'x' * 1000}}}\n" for n in range(51)]
    (line,) = told(HEAD + "".join(entries), tmp_path)
    assert "51000 characters, at most 50000" in line
    entries = [f"  - {{id: a{n}, points: 1, text: t}}\n" for n in range(101)]
    assert told(HEAD + "".join(entries), tmp_path) == [
        "d.yaml:2:3: deductions: expected 1 to 100 failure modes; found 101"
    ]


@pytest.mark.parametrize(
    ("more", "points", "words"),
    [
        pytest.param("{self_evaluation: 1}", 5, "5 points at a weight of 1, so", id="few-points"),
        pytest.param("{self_evaluation: 1}", 6, None, id="enough-points"),
        pytest.param(
            "{self_evaluation: 0.04, verification: 0.96}",
            100,
            "can still score 0.96, and may be automated from 0.95",
            id="little-weight",
        ),
        pytest.param("{self_evaluation: 1}\n    hypothesis: {auto: 0.9}", 10, "0.9 on", id="hypo"),
        pytest.param("{verification: 1}", 40, "has no weight", id="no-weight"),
    ],
)
def test_deductions_that_hold_nothing_back_are_warned_of(
    tmp_path: Path, more: str, points: int, words: str | None
) -> None:
    """If every mode together leaves an output above the threshold, its author should know."""
    policy = write(tmp_path, d_yaml=DEDUCTIONS.replace("10", str(points)))
    policy.write_text(POLICY + f"    weights: {more}\n")
    told = [one for one in load_policy(policy).warnings if "self_evaluation.deductions" in one]
    assert len(told) == (0 if words is None else 1)
    assert words is None or words in told[0]
