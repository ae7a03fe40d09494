"""Who acts on the command line is the person whose key has the name, and no second one."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from sureline.application.intake import read_proposal
from sureline.application.review.desk import Said
from sureline.bootstrap import Services, open_services
from sureline.core.values.outcome import Action
from tests.cli.conftest import Run

POLICY = """\
version: 1
defaults: {weights: {verification: 1}, mode: route, review: {undo_seconds: 0}}
slices:
  pay: {output: {json_schema: {type: object}}}
  four: {four_eyes: true, output: {json_schema: {type: object}}}
"""
NOT_ADA = {
    "small letters": "ada",
    "capitals": "ADA",
    "a Cyrillic letter": "Ad\u0430",
    "zero width": "Ada\u200b",
    "a filler": "ada\u3164",
    "from a chat": "inbound:chat:Ada",
    "another from a chat": "inbound:chat:Bo",
    "from a chat, in capitals": "INBOUND:chat:Bo",
    "from a company": "company:ada",
    "a key that submitted, otherwise": "Bot",
    "commands to a terminal": "Ada\x1b[31m",
    "the guard": "Guard",
    "what voids an approval": "content_mismatch",
}


@pytest.fixture
def queue(run: Run, folder: Path) -> Run:
    """Return `run` on a store in which bot's items wait, and Ada has approved the second."""
    (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
    assert run("policy", "activate", "policy.yaml", "--by", "boss").exit_code == 0
    for name, role in (("bot", "agent"), ("Ada", "reviewer")):
        assert run("keys", "create", "--name", name, "--role", role).exit_code == 0
    services = open_services(None, workspace="default")
    try:
        asyncio.run(_submit(services))
    finally:
        services.close()
    return run


async def _submit(services: Services) -> None:
    for name in ("pay", "four"):
        raw = {"slice_key": name, "task": "t", "output": {"n": 1}, "id": name}
        await services.decider.decide(read_proposal(raw, submitted_by="bot"))
    digest = (await services.desk.show("four")).review.digest
    await services.desk.decide("four", Said(action=Action.APPROVE, by="Ada", digest=digest))


def item(run: Run, name: str) -> Any:
    """Return how an item stands."""
    return json.loads(run("review", "show", name, "--json").stdout)["review"]


@pytest.mark.parametrize("by", NOT_ADA.values(), ids=NOT_ADA)
@pytest.mark.parametrize(
    "said",
    [
        ["review", "approve", "four"],
        ["review", "reject", "pay"],
        ["review", "claim", "pay"],
        ["review", "skip", "pay"],
        ["review", "edit", "pay", "--output", '{"n": 2}'],
        ["outcome", "pay", "--action", "approve"],
        ["switch", "on", "--reason", "x"],
        ["policy", "activate", "policy.yaml"],
    ],
    ids=lambda said: " ".join(said[:2]),
)
def test_what_only_reads_like_a_name_does_nothing(queue: Run, said: list[str], by: str) -> None:
    """No command takes it: one person would have two pairs of eyes, or the gate's own voice."""
    before = item(queue, "four"), item(queue, "pay")
    refused = queue(*said, "--by", by)
    assert (refused.exit_code, "--by" in refused.stderr) == (2, True)
    assert (item(queue, "four"), item(queue, "pay")) == before


def test_blanks_around_a_name_are_no_part_of_it(queue: Run) -> None:
    """ "Ada " is Ada, who has approved already; somebody else makes the second of four eyes."""
    again = queue("review", "approve", "four", "--by", "Ada ")
    assert (again.exit_code, "approved this already" in again.stderr) == (2, True)
    assert queue("review", "approve", "four", "--by", "Bo").exit_code == 0
    assert item(queue, "four")["state"] == "decided"


@pytest.mark.parametrize("by", ["Bo", "bo", " BO ", "\uff22o"])
def test_who_has_no_key_is_one_person_too(queue: Run, by: str) -> None:
    """Where no key has the name, whoever has spoken on the item already is known by it."""
    asyncio.run(_submit_again())
    assert queue("review", "approve", "again", "--by", "Bo").exit_code == 0
    refused = queue("review", "approve", "again", "--by", by)
    assert (refused.exit_code, "approved this already" in refused.stderr) == (2, True)


async def _submit_again() -> None:
    services = open_services(None, workspace="default")
    try:
        raw = {"slice_key": "four", "task": "t", "output": {"n": 3}, "id": "again"}
        await services.decider.decide(read_proposal(raw, submitted_by="bot"))
    finally:
        services.close()


@pytest.mark.parametrize(
    "said",
    [
        ["outcome", "pay", "--action", "approve"],
        ["outcome", "pay", "--action", "edit", "--edited", "n"],
        ["outcome", "pay", "--action", "approve", "--source", "audit"],
        ["review", "approve", "pay"],
    ],
    ids=lambda said: " ".join(said),
)
def test_nobody_approves_their_own_here_either(queue: Run, said: list[str]) -> None:
    """What key bot submitted is not released by whoever says that they are bot."""
    refused = queue(*said, "--by", "bot")
    assert (refused.exit_code, "their own proposal" in refused.stderr) == (2, True)
    assert item(queue, "pay")["state"] == "pending"
