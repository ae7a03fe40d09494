"""`sureline outbox`: what was told, what could not be, and telling it again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sureline.cli.app import app
from tests.outbox.told import courier, decide, opened, policy, release, submit, webhook
from tests.receivers import SECRET, Receiver, receiving

runner = CliRunner()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving(500) as found:
        yield found


@pytest.fixture
def store(tmp_path: Path, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store with one delivery that has failed once."""
    monkeypatch.setenv("HOOK_SECRET", SECRET)

    async def fill() -> None:
        services = await opened(tmp_path / "store.db", policy(webhook(receiver.url)))
        services.clock.advance(timedelta(minutes=-5))  # type: ignore[attr-defined]
        await decide(services, await submit(services))
        await release(services)
        await courier(services).round()
        services.close()

    asyncio.run(fill())
    return f"sqlite:///{tmp_path / 'store.db'}"


def run(*arguments: str, exits: int = 0) -> str:
    result = runner.invoke(app, ["outbox", *arguments])
    assert result.exit_code == exits, result.output
    return result.output


def listed(store: str, *more: str) -> list[dict[str, object]]:
    found = json.loads(run("list", "--store", store, "--json", *more))
    deliveries: list[dict[str, object]] = found["deliveries"]
    return deliveries


def test_a_failed_delivery_is_listed_and_shown(store: str) -> None:
    """The table and the JSON say what is told to whom, how often it was tried and why again."""
    (one,) = listed(store)
    assert one["what"] == "review.decided"
    assert (one["channel"], one["state"], one["tries"]) == ("hook", "waiting", 1)
    assert one["said"] == "status_500"
    assert "review.decided  replies  hook     waiting" in run("list", "--store", store)
    shown = run("show", str(one["id"]), "--store", store)
    assert "said: status_500" in shown
    assert json.loads(run("show", str(one["id"]), "--store", store, "--json")) == one
    assert listed(store, "--state", "dead") == []
    assert listed(store, "--channel", "other") == []
    assert "there are no deliveries" in run("list", "--store", store, "--state", "dead")


def test_a_replayed_delivery_is_sent_again(store: str, receiver: Receiver) -> None:
    """Replaying makes it due at once; `deliver` sends it under its old id."""
    receiver.says = lambda _: 200
    (one,) = listed(store)
    assert "1 to be delivered anew" in run("replay", str(one["id"]), "--store", store)
    assert "nothing is left" in run("deliver", "--store", store)
    assert [request.id for request in receiver.received] == [one["id"]] * 2
    assert [found["state"] for found in listed(store)] == ["delivered"]


def test_a_delivery_that_fails_stays(store: str) -> None:
    """`deliver` says how many are left."""
    (one,) = listed(store)
    run("replay", str(one["id"]), "--store", store)
    assert "1 wait" in run("deliver", "--store", store)
    assert json.loads(run("deliver", "--store", store, "--json")) == {"waiting": 1}


def test_all_dead_ones_are_replayed_and_a_disabled_channel_is_named(
    store: str, receiver: Receiver
) -> None:
    """After 410 the list says that the channel is disabled; --dead begins anew."""
    receiver.says = lambda _: 410
    run("replay", str(listed(store)[0]["id"]), "--store", store)
    run("deliver", "--store", store)
    assert "the channel hook is disabled" in run("list", "--store", store)
    assert json.loads(run("list", "--store", store, "--json"))["disabled"] == ["hook"]
    receiver.says = lambda _: 200
    replayed = run("replay", "--dead", "--channel", "hook", "--store", store, "--json")
    assert json.loads(replayed) == {"replayed": 1}
    run("deliver", "--store", store)
    assert [one["state"] for one in listed(store)] == ["delivered"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "dlv_x"], "there is no delivery 'dlv_x'"),
        (["replay", "dlv_x"], "there is no delivery 'dlv_x'"),
        (["replay"], "name deliveries, or say --dead"),
        (["replay", "dlv_x", "--dead"], "name deliveries, or say --dead"),
    ],
    ids=["show", "replay", "nothing named", "both"],
)
def test_what_is_not_there(arguments: list[str], message: str, store: str) -> None:
    """A wrong id or no id is said in plain words and changes nothing."""
    result = runner.invoke(app, ["outbox", *arguments, "--store", store])
    assert result.exit_code == 2
    assert message in result.output
