"""The files that a policy names are part of it, and their faults name both files."""

from __future__ import annotations

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
        pytest.param("s_json", '{"a": 1, "a": 2}', "4:27", '"a" is there twice', id="twice"),
        pytest.param("s_json", '{"a": NaN}', "4:27", "NaN is no JSON number", id="nan"),
        pytest.param("s_json", '{"type": "strin"}', "4:27", "not a JSON Schema", id="schema"),
        pytest.param("s_json", "[1]", "4:27", "expected a mapping", id="list"),
        pytest.param("s_json", '{"pattern": "(?=a)"}', "4:27", "not a JSON Schema", id="pattern"),
        pytest.param("s_json", '{"$ref": "#/none"}', "4:27", "not a JSON Schema", id="ref"),
        pytest.param("s_json", '{"title": "\\ud83d"}', "4:27", "not a JSON", id="surrogate"),
        pytest.param("s_json", "[" * 100_000, "4:27", "is not JSON", id="deep"),
        pytest.param("d_yaml", "", "5:45", "d.yaml:1:1: the file is empty", id="empty"),
        pytest.param("d_yaml", "deductions: []", "5:45", "d.yaml:1:13: deductions", id="none"),
        pytest.param("d_yaml", "deduction: []", "5:45", 'did you mean "deductions"', id="typo"),
        pytest.param(
            "d_yaml", DEDUCTIONS.replace("10", "-5"), "5:45", "d.yaml:2:25: .*1 to 100", id="points"
        ),
        pytest.param(
            "d_yaml",
            DEDUCTIONS + DEDUCTIONS.partition("\n")[2],
            "5:45",
            "names wrong more than once",
            id="code-twice",
        ),
    ],
)
def test_a_broken_file_names_both_files(
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
