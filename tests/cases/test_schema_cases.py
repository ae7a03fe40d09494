"""Rows of area 2-schema that are a list of outputs with the decision that each must get."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sureline.testing import MOMENT, temporary_gate
from tests.cases.doors import (
    Answer,
    Server,
    ask,
    decide_by_command,
    decide_by_process,
    found,
    reasons,
    served,
)
from tests.cases.schema_policy import schema_policy

POLICY = schema_policy(MOMENT.date())


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """One output with the decision that it must get; `found` are the codes of all findings."""

    slice_key: str
    output: Any
    route: str
    reason: str
    found: tuple[str, ...]
    source: str | None = None

    def proposal(self, task: str) -> dict[str, Any]:
        given = {} if self.source is None else {"source": self.source}
        return {"slice_key": self.slice_key, "task": task, "output": self.output, **given}


def approved(slice_key: str, output: Any, *codes: str, source: str | None = None) -> Try:
    return Try(
        slice_key=slice_key,
        output=output,
        route="auto_approve",
        reason="above_hypothesis",
        found=codes,
        source=source,
    )


def held(slice_key: str, output: Any, *codes: str, source: str | None = None) -> Try:
    """A penalty brings the score below the threshold, and a person looks."""
    return Try(
        slice_key=slice_key,
        output=output,
        route="human_review",
        reason="below_threshold",
        found=codes,
        source=source,
    )


def violating(slice_key: str, output: Any, *codes: str) -> Try:
    """The schema does not admit it: verification is 0 and it goes back."""
    return Try(
        slice_key=slice_key, output=output, route="auto_reject", reason="fatal_check", found=codes
    )


def unreadable(output: Any, *codes: str) -> Try:
    """It cannot be parsed, or not by every reader alike, and it goes back."""
    return Try(
        slice_key="objects",
        output=output,
        route="auto_reject",
        reason="unreadable_output",
        found=codes,
    )


Given = Any
Tries = Callable[[Given], list[Try]]


@dataclass(frozen=True, slots=True)
class Row:
    """By which door a case enters, and what it tries there."""

    door: str
    tries: Tries


def nested(text: str) -> str:
    return '{"a": [{"b": ' + text + "}]}"


ROWS: dict[str, Row] = {
    "S01": Row("http", lambda given: [violating("invoices", given["payload"], "schema_type")]),
    # The process runs where 31,45 would be three thousand; only the policy's locale counts.
    "S03": Row(
        "process",
        lambda given: [
            held("totals", given["payload"], "not_grounded", source=given["source_text"]),
            approved("totals", {"amount": 31.45}, source=given["source_text"]),
        ],
    ),
    "S04": Row(
        "cli",
        lambda given: [
            approved("german", {"text": given["text"]}),
            held("english", {"text": given["text"]}, "unreadable"),
        ],
    ),
    "S05": Row(
        "http",
        lambda given: [
            *(
                approved("french", {"text": f"7{space}412,90 EUR"})
                for space in (" ", "\u00a0", "\u202f", "\u2009")
            ),
            approved("french", {"text": given["text"]}),
            held("english", {"text": given["text"]}, "unreadable"),
            held("french", {"text": "7_412,90 EUR"}, "unreadable"),
        ],
    ),
    "S07": Row(
        "http",
        lambda given: [
            held("amounts", given["payload"], "not_grounded", source=given["source_text"]),
            held("amounts", {"amount": 450}, "not_grounded", source=given["source_text"]),
            approved("amounts", {"amount": 4500}, source=given["source_text"]),
        ],
    ),
    "S08": Row(
        "cli",
        lambda given: [
            approved("era", {"text": given["text"]}, "folded"),
            held("no_era", {"text": given["text"]}, "unreadable"),
        ],
    ),
    "S11": Row("gate", lambda given: [approved("day_first", {"text": given["text"]})]),
    # `non_finite` says more than `invalid_json` would.
    "S15": Row(
        "http",
        lambda given: [
            unreadable(given[0]["raw_output"], "non_finite"),
            violating("invoices", given[1]["raw_output"], "schema_type"),
            held("figures", given[1]["raw_output"], "non_finite"),
        ],
    ),
    "S16": Row(
        "http",
        lambda _: [
            unreadable("[" * 200_000, "too_deep"),
            unreadable('{"a":' * 200_000, "too_deep"),
            approved("objects", {"still": "up"}),
        ],
    ),
    "S17": Row("http", lambda _: [unreadable('{"amount": ' + "9" * 5000 + "}", "number_too_long")]),
    "S19": Row(
        "cli",
        lambda given: [
            unreadable(given["raw_output"], "duplicate_key"),
            unreadable(nested(given["raw_output"]), "duplicate_key"),
            # The same key, once written with an escape.
            unreadable(nested('{"amount": 1, "\\u0061mount": 2}'), "duplicate_key"),
        ],
    ),
    # An accepted output with a note is what the case asks for: dropped and noted.
    "S22": Row(
        "gate",
        lambda given: [
            approved("objects", given[0]["raw_output"], "bom"),
            approved("objects", given[0]["raw_output"].encode(), "bom"),
            approved("objects", bytes.fromhex(given[1]["raw_output_bytes"]), "bom"),
            approved("objects", bytes.fromhex(given[1]["raw_output_bytes"]).decode(), "bom"),
            unreadable("\ufeff" + given[0]["raw_output"], "bom", "invalid_json"),
        ],
    ),
    "S23": Row(
        "http",
        lambda given: [
            *(unreadable(text, "not_an_object") for text in given),
            *(unreadable(value, "not_an_object") for value in ([1], None, 12, True)),
        ],
    ),
    "S27": Row(
        "http",
        lambda given: [
            held(
                "entities",
                {"entity": given["entity"]},
                "not_grounded",
                source=given["source_text"],
            ),
        ],
    ),
    "S29": Row(
        "http",
        lambda given: [
            *(
                held(
                    "entities",
                    {"entity": given["entity"]},
                    "not_grounded",
                    source=given["source_text"].replace("-retry", f"{joiner}retry"),
                )
                for joiner in "-_./:"
            ),
            approved(
                "entities",
                {"entity": "billing-eu-retry"},
                source=given["source_text"],
            ),
        ],
    ),
    "S30": Row(
        "cli",
        lambda given: [
            approved("entities", {"entity": given["entity"]}, source=given["source_text"]),
            held(
                "entities",
                {"entity": "issue again within 30 days"},
                "not_grounded",
                source=given["source_text"],
            ),
        ],
    ),
    "S32": Row(
        "http",
        lambda given: [
            held(
                "entities",
                {"entity": given[0]["entity"]},
                "mixed_script",
                "not_grounded",
                source=given[0]["source_text"],
            ),
            held(
                "entities",
                {"entity": given[1]["entity"]},
                "invisible_character",
                "not_grounded",
                source=given[1]["source_text"],
            ),
        ],
    ),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(tmp_path_factory.mktemp("served") / "store.db", POLICY) as one:
        yield one


def answers(
    row: Row, proposals: list[Mapping[str, Any]], folder: Path, server: Server
) -> list[Answer]:
    """Decide about the proposals by the row's door."""
    if row.door == "http":
        return [server.decide(proposal) for proposal in proposals]
    if row.door == "process":
        return decide_by_process(folder, proposals)
    if row.door == "cli":
        return decide_by_command(folder, proposals)
    with temporary_gate(POLICY) as gate:
        return [ask(gate, proposal) for proposal in proposals]


@pytest.mark.parametrize("name", ROWS)
def test_each_output_gets_its_decision(
    name: str, cases: dict[str, dict[str, Any]], tmp_path: Path, server: Server
) -> None:
    """Route, first reason and all findings of each output of the case are as the row says."""
    row = ROWS[name]
    tries = row.tries(cases[name]["input"])
    proposals = [one.proposal(f"{name}, number {n}") for n, one in enumerate(tries)]
    for one, answer in zip(tries, answers(row, proposals, tmp_path, server), strict=True):
        seen = (answer["route"], reasons(answer)[0], found(answer))
        assert seen == (one.route, one.reason, sorted(one.found)), one.output
        if one.route == "auto_reject":
            assert answer["signals"]["verification"]["value"] == 0.0
