"""A saved policy file is checked and proposed, told of once, and changes no routing by itself."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sureline.application.policy_watch import PolicyWatch
from sureline.bootstrap import Plugins, open_services, policy_watch
from sureline.core.values.decision import Decision
from sureline.core.values.signal import Signal
from sureline.errors import StoreBusy
from sureline.gate import Gate
from sureline.testing import FakeModels, FixedClock, PinnedSampling

POLICY = """\
version: 1
slices:
  letters:
    mode: route
    output: {structured: false}
    weights: {self_evaluation: 1}
    reject_audit_rate: 0
    self_evaluation: {model: small:one, deductions: deductions.yaml}
"""
DEDUCTIONS = """\
deductions:
  - {id: invented_facts, points: 40, text: It invents.}
  - {id: padding, points: 10, text: It pads.}
"""
LABELS = 70


@dataclass
class Desk:
    """A folder with a policy, and a gate that was opened on it and looks at its files."""

    gate: Gate
    folder: Path
    watch: PolicyWatch
    lines: list[str] = field(default_factory=list)

    def look(self, times: int = 4) -> list[str]:
        """Look until all is settled, and return what was told without the folder's name."""
        for _ in range(times):
            self.gate.run(self.watch.look())
        told = [line.replace(f"{self.folder}/", "") for line in self.lines]
        self.lines.clear()
        return told

    def save(self, name: str, text: str) -> None:
        """Write a file as editors do: beside it, and then in its place."""
        beside = self.folder / f"{name}~"
        beside.write_text(text, encoding="utf-8")
        beside.replace(self.folder / name)

    def active(self) -> str:
        found = self.gate.run(self.gate.services.policies.active_hash())
        assert found is not None
        return found

    def decide(self, number: int) -> Decision:
        output = f"Letter {number}"
        return self.gate.decide_sync(slice_key="letters", task="Write", output=output)


@contextmanager
def opened(folder: Path) -> Iterator[Desk]:
    """Open a gate on the policy file of a folder, as `sureline serve` does."""
    plugins = Plugins(clock=FixedClock(), model_client=FakeModels(lambda *_: '{"deductions": []}'))
    services = open_services(f"sqlite:///{folder / 'store.db'}", plugins=plugins)
    with Gate(PinnedSampling().pin(services)) as gate:
        gate.run(services.prepare(folder / "policy.yaml"))
        lines: list[str] = []
        watch = policy_watch(services, folder / "policy.yaml", lines.append)
        yield Desk(gate, folder, watch, lines)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "deductions.yaml").write_text(DEDUCTIONS, encoding="utf-8")
    with opened(tmp_path) as made:
        yield made


def test_files_that_say_what_is_active_are_not_worth_a_word(desk: Desk) -> None:
    """A start, and a file that is saved again or touched, are silent."""
    assert desk.look() == []
    os.utime(desk.folder / "deductions.yaml", (1, 1))
    desk.save("deductions.yaml", DEDUCTIONS)
    assert desk.look() == []


def test_a_saved_change_is_proposed_and_told_once(desk: Desk) -> None:
    """One line names the proposal and what activates it; what is active stays."""
    desk.look()
    before = desk.active()
    desk.save("deductions.yaml", DEDUCTIONS.replace("40", "50"))
    warning, told = desk.look()
    newest = desk.gate.run(desk.gate.services.policies.proposed())[0]
    assert newest["active"] is False
    short = str(newest["hash"])[:12]
    assert warning == f"warning: policy {short} would end the certificates of: letters"
    assert told == (
        f"policy.yaml: proposed policy {short}; to use it: sureline policy activate {short} "
        "--by NAME"
    )
    assert desk.active() == before
    assert desk.look(10) == []


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        pytest.param(
            "deductions.yaml",
            DEDUCTIONS.replace("40", "forty"),
            ['deductions.yaml:2:34: invented_facts.points: expected a whole number from 1 to 100, '
             'found the text "forty"'],
            id="points",
        ),
        pytest.param(
            "deductions.yaml", "", ["deductions.yaml:1:1: the file is empty; expected at least "
                                    "`deductions:`"], id="empty",
        ),
        pytest.param(
            "policy.yaml",
            POLICY.replace("audit_rate: 0", "audit_rate: 7").replace("small:one", "''"),
            ["policy.yaml:7:24: slices.letters.reject_audit_rate: expected a number from 0 to 1, "
             "found the number 7",
             "policy.yaml:8:30: slices.letters.self_evaluation.model: expected a text that is not "
             "empty"],
            id="two-faults",
        ),
    ],
)  # fmt: skip
def test_a_broken_file_is_told_once_and_keeps_what_was_active(
    desk: Desk, name: str, text: str, lines: list[str]
) -> None:
    """Each fault is a line with file, line and column, however often it is looked at."""
    desk.look()
    desk.save(name, text)
    assert desk.look(10) == [
        *lines,
        f"policy.yaml: not proposed; policy {desk.active()[:12]} stays active",
    ]
    assert len(desk.gate.run(desk.gate.services.policies.proposed())) == 1


def test_each_save_is_answered(desk: Desk) -> None:
    """The same fault after another save is told again, and so is that all is as before."""
    desk.look()
    desk.save("deductions.yaml", DEDUCTIONS + "oops: 1\n")
    first = desk.look()
    desk.save("deductions.yaml", DEDUCTIONS + "oops: 1\n# let me see\n")
    assert desk.look() == first != []
    desk.save("deductions.yaml", DEDUCTIONS)
    assert desk.look() == [f"policy.yaml: says what is active, policy {desk.active()[:12]}"]


def test_a_half_written_file_is_not_proposed(desk: Desk) -> None:
    """A content that is gone at the next look was never meant."""
    desk.look()
    for text in ("", "deductions:\n  - {id: x, points: 1, text: t}\n", DEDUCTIONS):
        (desk.folder / "deductions.yaml").write_text(text, encoding="utf-8")
        assert desk.look(1) == []
    assert desk.look() == []
    assert len(desk.gate.run(desk.gate.services.policies.proposed())) == 1


def test_a_file_that_the_policy_newly_names_is_watched(desk: Desk) -> None:
    """Also one that is missing or broken when it is first named."""
    desk.look()
    desk.save("policy.yaml", POLICY.replace("deductions.yaml", "other.yaml"))
    assert "other.yaml cannot be read" in desk.look()[0]
    desk.save("other.yaml", "deductions: nothing\n")
    assert desk.look()[0].startswith("other.yaml:1:13: deductions: expected a list")
    desk.save("other.yaml", DEDUCTIONS.replace("10", "11"))
    assert desk.look()[-1].startswith("policy.yaml: proposed policy ")
    desk.save("deductions.yaml", "broken: [\n")
    assert desk.look() == []


def test_a_policy_that_is_gone_for_good_is_told_of(desk: Desk) -> None:
    """A file that is removed keeps what was active, and is taken up when it is back."""
    desk.look()
    (desk.folder / "policy.yaml").unlink()
    gone, stays = desk.look()
    assert gone == "policy.yaml: the policy cannot be read: No such file or directory"
    assert stays.endswith("stays active")
    desk.save("policy.yaml", POLICY + "    attempts: 3\n")
    assert desk.look()[-1].startswith("policy.yaml: proposed policy ")
    desk.save("deductions.yaml", DEDUCTIONS.replace("10", "12"))
    assert desk.look()[-1].startswith("policy.yaml: proposed policy ")


def test_a_policy_that_nothing_here_measures_is_warned_of(desk: Desk) -> None:
    """It is proposed all the same: another process may measure it."""
    desk.look()
    desk.save("policy.yaml", POLICY.replace("{self_evaluation: 1}", "{self_evaluation: 1, x: 1}"))
    told = desk.look()
    assert any("nothing measures it here" in line for line in told)
    assert told[-1].startswith("policy.yaml: proposed policy ")


def test_a_store_that_is_busy_is_tried_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told once, and the change is proposed as soon as the store can be written."""
    desk.look()

    async def busy(*_: object, **__: object) -> None:
        raise StoreBusy

    with monkeypatch.context() as patched:
        patched.setattr(desk.gate.services.policies, "propose", busy)
        desk.save("deductions.yaml", DEDUCTIONS.replace("40", "50"))
        (told,) = desk.look(10)
    assert told.startswith("policy.yaml: not proposed: Another process holds the store")
    assert desk.look(1)[-1].startswith("policy.yaml: proposed policy ")


def test_from_edit_to_activation_nothing_is_automated_on_an_old_promise(
    desk: Desk, tmp_path: Path
) -> None:
    """An edited list holds from its activation on, in every process, and ends the certificate."""
    gate = desk.gate
    for number in range(LABELS):
        gate.run(gate.record_outcome(desk.decide(number).id, action="approve", by="Ada"))
    calibration = gate.run(gate.recalibrate())
    gate.run(gate.activate(calibration.id, by="Ada"))
    certified = desk.decide(LABELS)
    assert certified.approved
    desk.look()

    desk.save("deductions.yaml", DEDUCTIONS.replace("It pads.", "It has words too many."))
    told = desk.look()[-1]
    still = desk.decide(LABELS + 1)
    assert still.approved
    assert still.certificate == certified.certificate

    with opened(tmp_path) as elsewhere:
        book = elsewhere.gate.services.policies
        proposed = elsewhere.gate.run(book.find(told.split()[-3]))
        elsewhere.gate.run(book.activate(proposed, by="Mia", note="Plainer words"))

    after = desk.decide(LABELS + 2)
    assert after.policy == proposed != certified.policy
    assert after.measurement != certified.measurement
    assert after.certificate is None
    assert not after.approved
    assert any("what is measured has changed" in one.message for one in after.reasons)
    assert _card(after)["deductions"] != _card(certified)["deductions"]
    assert _card(after)["prompt"] == _card(certified)["prompt"]


def _card(decision: Decision) -> dict[str, object]:
    found: Signal = next(one for one in decision.signals if one.name == "self_evaluation")
    return dict(found.detail)
