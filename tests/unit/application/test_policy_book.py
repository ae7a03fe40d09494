"""A policy is proposed, activated by a person, and held by every process that looks again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

import pytest

from sureline.application.policies import PolicyBook, newly_human
from sureline.application.policy_diff import PolicyChange, policy_diff, remeasured
from sureline.application.policy_report import policy_report
from sureline.application.ports.policies import LoadedPolicy
from sureline.application.ports.registry import Activation
from sureline.core.values.certificate import ErrorRate
from sureline.core.values.policy import ActionClass, Mode, Policy, SlicePolicy
from sureline.core.values.proposal import Stakes
from sureline.core.values.switch import Switch
from sureline.errors import NotFound, PolicyError

NOW = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)


class StoppedClock:
    def now(self) -> datetime:
        return NOW

    def monotonic(self) -> float:
        return 0.0


@dataclass
class FakeRegistry:
    """Keeps policies in memory and counts how often what is active was read."""

    texts: dict[str, str] = field(default_factory=dict)
    activated: list[Activation] = field(default_factory=list)
    reads: int = 0

    async def propose_policy(self, policy_hash: str, text: str, at: datetime) -> bool:
        is_new = policy_hash not in self.texts
        self.texts.setdefault(policy_hash, text)
        return is_new

    async def policy_text(self, policy_hash: str) -> str | None:
        return self.texts.get(policy_hash)

    async def policies(self) -> Sequence[dict[str, Any]]:
        return [{"hash": one, "proposed_at": NOW} for one in reversed(self.texts)]

    async def activate(self, activation: Activation) -> None:
        self.activated.append(activation)

    async def active(self, workspace: str, kind: str) -> Activation | None:
        self.reads += 1
        mine = [a for a in self.activated if (a.workspace, a.kind) == (workspace, kind)]
        return mine[-1] if mine else None

    async def activations(self, workspace: str, kind: str) -> Sequence[Activation]:
        return [a for a in self.activated if (a.workspace, a.kind) == (workspace, kind)]


@dataclass
class FakeLedger:
    """Keeps switches in memory."""

    rows: list[Switch] = field(default_factory=list)

    async def set_switch(self, switch: Switch) -> None:
        self.rows.append(switch)

    async def switches_on(
        self, workspace: str, slice_key: str, batch_id: str | None
    ) -> Sequence[Switch]:
        newest = {row.scope: row for row in self.rows if row.workspace == workspace}
        scopes = ("global", f"slice:{slice_key}")
        return [row for scope, row in newest.items() if row.on and scope in scopes]


def parse(text: str) -> Policy:
    """Read the tests' own little format: slice names with their modes, as JSON."""
    try:
        modes = json.loads(text)
    except ValueError as error:
        raise PolicyError("policy:1:1: broken") from error
    return Policy(
        hash=f"hash-{text}",
        slices={key: SlicePolicy(key=key, mode=Mode(mode)) for key, mode in modes.items()},
        action_classes={},
        measurement_hashes=dict.fromkeys(modes, "m"),
        raw={"slices": modes},
    )


def load(source: str | PurePath) -> LoadedPolicy:
    return LoadedPolicy(policy=parse(str(source)), text=str(source))


@dataclass
class World:
    registry: FakeRegistry
    ledger: FakeLedger

    def book(self, workspace: str = "default") -> PolicyBook:
        return PolicyBook(
            registry=self.registry,  # type: ignore[arg-type]
            ledger=self.ledger,  # type: ignore[arg-type]
            clock=StoppedClock(),
            load=load,
            restore=parse,
            workspace=workspace,
        )


@pytest.fixture
def world() -> World:
    return World(FakeRegistry(), FakeLedger())


LOGGING = '{"a": "log_only", "b": "route"}'
ROUTING = '{"a": "route", "b": "route"}'
HUMAN = '{"a": "human_only", "b": "route"}'


async def test_the_first_policy_of_an_empty_store_is_activated(world: World) -> None:
    """Nothing is overridden by it, and the ledger says who brought it."""
    current = await world.book().introduce(LOGGING, by="mia")
    assert current.hash == f"hash-{LOGGING}"
    (activation,) = world.registry.activated
    assert (activation.kind, activation.subject) == ("policy", current.hash)
    assert (activation.by, activation.at, activation.workspace) == ("mia", NOW, "default")


async def test_a_later_policy_is_only_proposed(world: World) -> None:
    """Saving a file never changes routing by itself."""
    await world.book().introduce(LOGGING)
    current = await world.book().introduce(ROUTING)
    assert current.hash == f"hash-{LOGGING}"
    assert [one["active"] for one in await world.book().proposed()] == [False, True]


async def test_an_activation_reaches_a_process_that_sees_the_mark_change(world: World) -> None:
    """A policy is read again when the store's mark has grown, and only then."""
    mine, other = world.book(), world.book()
    await mine.introduce(LOGGING)
    assert (await mine.current(1)).hash == f"hash-{LOGGING}"
    await other.propose(ROUTING)
    await other.activate(f"hash-{ROUTING}", by="bo", note="certified")
    reads = world.registry.reads
    assert (await mine.current(1)).hash == f"hash-{LOGGING}"
    assert world.registry.reads == reads
    assert (await mine.current(2)).hash == f"hash-{ROUTING}"
    assert world.registry.activated[-1].note == "certified"


async def test_a_broken_policy_changes_nothing(world: World) -> None:
    """A file that cannot be read raises, stores nothing, switches nothing, activates nothing."""
    await world.book().introduce(LOGGING)
    before = (dict(world.registry.texts), list(world.registry.activated))
    with pytest.raises(PolicyError, match="broken"):
        await world.book().introduce("{")
    assert (world.registry.texts, world.registry.activated) == before
    assert world.ledger.rows == []


async def test_a_restriction_in_a_proposal_holds_at_once(world: World) -> None:
    """A slice newly given to people is switched before anybody activates the proposal."""
    await world.book().introduce(ROUTING)
    await world.book().propose(HUMAN, by="mia")
    (row,) = world.ledger.rows
    assert (row.scope, row.on, row.by, row.workspace) == ("slice:a", True, "mia", "default")
    assert "gives this slice to people" in row.reason


async def test_a_repeated_proposal_does_not_switch_twice(world: World) -> None:
    """Each start with the same file leaves the switch as it is; turned off, it comes on again."""
    await world.book().introduce(ROUTING)
    await world.book().propose(HUMAN)
    await world.book().propose(HUMAN)
    assert len(world.ledger.rows) == 1
    await world.ledger.set_switch(replace(world.ledger.rows[0], on=False))
    await world.book().propose(HUMAN)
    assert world.ledger.rows[-1].on


async def test_lifting_a_restriction_lifts_no_switch(world: World) -> None:
    """Only a person turns a switch off; a looser policy does not."""
    await world.book().introduce(ROUTING)
    await world.book().propose(HUMAN)
    await world.book().activate(f"hash-{ROUTING}", by="bo")
    assert [row.on for row in world.ledger.rows] == [True]


async def test_workspaces_have_their_own_current_policy(world: World) -> None:
    """An activation in one workspace leaves the others without a policy."""
    await world.book("one").introduce(LOGGING)
    with pytest.raises(PolicyError, match="no policy is active"):
        await world.book("two").latest()


async def test_what_was_never_proposed_cannot_be_activated(world: World) -> None:
    """Activating an unknown hash raises and records nothing."""
    with pytest.raises(NotFound):
        await world.book().activate("hash-x", by="bo")
    assert world.registry.activated == []


async def test_an_altered_text_is_not_used(world: World) -> None:
    """A stored policy whose content does not have its hash is refused, active or not."""
    await world.book().introduce(LOGGING)
    world.registry.texts[f"hash-{LOGGING}"] = ROUTING
    with pytest.raises(PolicyError, match="altered"):
        await world.book().latest()
    with pytest.raises(PolicyError, match="altered"):
        await world.book().activate(f"hash-{LOGGING}", by="bo")


async def test_a_failed_read_is_tried_again(world: World) -> None:
    """After an error the next call with the same mark reads the store again."""
    book = world.book()
    with pytest.raises(PolicyError):
        await book.current(7)
    await world.book().introduce(LOGGING)
    assert (await book.current(7)).hash == f"hash-{LOGGING}"


@pytest.mark.parametrize("prefix", ["hash-", "hash-{", "nowhere", ""])
async def test_a_hash_is_found_by_a_prefix_that_fits_one(world: World, prefix: str) -> None:
    """A prefix must be six characters or more and fit exactly one policy."""
    await world.book().propose(LOGGING)
    await world.book().propose(ROUTING)
    with pytest.raises(NotFound, match="expected the first 6"):
        await world.book().find(prefix)


async def test_a_unique_prefix_finds_its_policy(world: World) -> None:
    """A few characters suffice."""
    await world.book().propose(LOGGING)
    assert await world.book().find("HASH-{") == f"hash-{LOGGING}"


def policy(raw: dict[str, Any], **digests: str) -> Policy:
    slices = {key: SlicePolicy(key=key) for key in digests}
    return Policy(hash="h", slices=slices, action_classes={}, measurement_hashes=digests, raw=raw)


def test_a_diff_lists_dotted_keys_with_before_and_after() -> None:
    """Changed, added and removed keys are told apart, in lists too; equal ones are silent."""
    before = policy({"a": {"x": 1, "y": [1, 2], "z": None, "t": 1}})
    after = policy({"a": {"x": 2, "y": [1, 3, 4], "n": {"m": 5}, "t": True}})
    assert policy_diff(before, after) == (
        PolicyChange(key="a.n", before=None, after={"m": 5}, added=True),
        PolicyChange(key="a.t", before=1, after=True),
        PolicyChange(key="a.x", before=1, after=2),
        PolicyChange(key="a.y[1]", before=2, after=3),
        PolicyChange(key="a.y[2]", before=None, after=4, added=True),
        PolicyChange(key="a.z", before=None, after=None, removed=True),
    )
    assert policy_diff(before, before) == ()


def test_slices_whose_measurement_changed_are_named() -> None:
    """A certificate ends where the measurement hash differs; new and gone slices have none."""
    assert remeasured(policy({}, a="1", b="1", c="1"), policy({}, a="1", b="2", d="1")) == ("b",)


def test_newly_human_slices_are_those_that_were_not_before() -> None:
    """Mode, four eyes and the action class all give a slice to people."""
    pay = {"pay": ActionClass(name="pay", stakes=Stakes.IRREVERSIBLE, human=True)}

    def of(action_classes: dict[str, ActionClass], **slices: SlicePolicy) -> Policy:
        return Policy(
            hash="h", slices=slices, action_classes=action_classes, measurement_hashes={}, raw={}
        )

    free = SlicePolicy(key="x", mode=Mode.ROUTE)
    before = of({}, a=free, b=free, c=free, d=free, e=replace(free, four_eyes=True))
    after = of(
        pay,
        a=replace(free, mode=Mode.HUMAN_ONLY),
        b=replace(free, four_eyes=True),
        c=replace(free, action_class="pay"),
        d=free,
        e=replace(free, mode=Mode.HUMAN_ONLY),
        f=replace(free, mode=Mode.HUMAN_ONLY),
    )
    assert newly_human(before, after) == ("a", "b", "c")


@pytest.mark.parametrize(
    ("target", "error_rate", "needed"),
    [
        (0.95, ErrorRate.PER_SLICE, (59, 93, 124)),
        (0.90, ErrorRate.PER_SLICE, (29, 46, 61)),
        (0.99, ErrorRate.PER_SLICE, (299, 473, 628)),
        (0.95, ErrorRate.FAMILY, (72, 110, 142)),
    ],
)
def test_a_report_says_how_many_labels_are_needed(
    target: float, error_rate: ErrorRate, needed: tuple[int, int, int]
) -> None:
    """Fewest labels for 0, 1 and 2 errors; a family of two halves each slice's delta."""
    one = SlicePolicy(key="a", target_precision=target, error_rate=error_rate)
    both = {"a": one, "b": replace(one, key="b")}
    found = policy_report(
        Policy(
            hash="h",
            slices=both,
            action_classes={},
            measurement_hashes={"a": "m", "b": "m"},
            raw={},
        )
    )
    assert [report.slice_key for report in found] == ["a", "b"]
    assert found[0].labels_by_errors == needed
    assert found[0].expectations[0].scaled is ((target, error_rate) != (0.95, "per_slice"))


def test_expectations_at_other_targets_are_scaled_by_the_smallest_band() -> None:
    """At .99 a band needs 299 labels instead of 59, so everything takes about five times more."""
    one = SlicePolicy(key="a", target_precision=0.99)
    (report,) = policy_report(
        Policy(hash="h", slices={"a": one}, action_classes={}, measurement_hashes={"a": ""}, raw={})
    )
    assert [at.labels for at in report.expectations][:2] == [507, 1014]
