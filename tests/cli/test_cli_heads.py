"""`sureline ledger head`: who holds a public key can prove that the ledger runs through a head."""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sureline.adapters.storage.store import open_store
from tests.cli.conftest import Run, proposal


@pytest.fixture
def stated(started: Run) -> Run:
    """Return `run` in a folder with a key, a decision, and a signed head of then; more follow."""
    started("decide", text=proposal(id="d1"))
    assert started("ledger", "keygen", "key").exit_code == 0
    assert started("ledger", "head", "--sign", "key", "--out", "head.json").exit_code == 0
    started("decide", text=proposal(id="d2", task="Another"))
    return started


VERIFY = ("ledger", "verify", "--head", "head.json", "--public-key", "key.pub")


def test_the_ledger_runs_through_a_signed_head(stated: Run, folder: Path) -> None:
    """Of the store and of an export of it, and after a change of keys with several public keys."""
    told = stated(*VERIFY)
    assert told.exit_code == 0, told.output
    assert "runs through the head of" in told.stdout
    (folder / "out.jsonl").write_text(stated("ledger", "export").stdout)
    (folder / "sureline.db").unlink(missing_ok=True)
    stated("ledger", "keygen", "new")
    found = json.loads(
        stated(*VERIFY[:2], "out.jsonl", *VERIFY[2:], "--public-key", "new.pub", "--json").stdout
    )
    assert (found["ok"], found["against"]["faults"]) == (True, [])
    assert len(found["against"]["signed_by"]) == 32


def test_keys_are_the_owner_s_and_never_overwritten(run: Run, folder: Path) -> None:
    """The private key has mode 0600; a second run refuses, whichever of the files is there."""
    assert run("ledger", "keygen", "key").exit_code == 0
    assert stat.S_IMODE((folder / "key").stat().st_mode) == 0o600
    before = (folder / "key").read_bytes()
    again = run("ledger", "keygen", "key")
    assert (again.exit_code, "never overwritten" in again.output) == (1, True)
    assert (folder / "key").read_bytes() == before
    (folder / "key").unlink()
    assert run("ledger", "keygen", "key").exit_code == 1
    assert run("ledger", "keygen", "none/key").exit_code == 2


def _changed(**values: Any) -> Callable[[Path], None]:
    def change(file: Path) -> None:
        file.write_text(json.dumps({**json.loads(file.read_text()), **values}))

    return change


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-30])


def _unsigned(file: Path) -> None:
    content = json.loads(file.read_text())
    del content["signature"]
    file.write_text(json.dumps(content))


BAD = {
    "cut off": (_cut, "head.json: not JSON, perhaps cut off"),
    "altered": (_changed(at="2020-01-01T00:00:00+00:00"), "head.json: signature.value"),
    "rows": (_changed(rows=77), "head.json: rows: expected"),
    "no signature": (_unsigned, "head.json: signature: there is none"),
    "format": (_changed(format="other"), "head.json: expected a statement with format"),
    "field": (_changed(more=1), "head.json: unknown field 'more'"),
    "moment": (_changed(at="2020-01-01"), "head.json: at: expected a moment with its zone"),
    "head": (_changed(heads={"common": "4:ff"}), "head.json: heads.common"),
    "store": (_changed(store=""), "head.json: store: expected a text"),
    "signature": (_changed(signature={"key": 1}), "head.json: signature: expected algorithm"),
}


@pytest.mark.parametrize(("change", "message"), BAD.values(), ids=BAD)
def test_a_bad_statement_is_named(
    change: Callable[[Path], None], message: str, stated: Run, folder: Path
) -> None:
    """What is no statement, or not the one that was signed, is bad input naming file and field."""
    change(folder / "head.json")
    told = stated(*VERIFY)
    assert told.exit_code == 2
    assert message in told.stderr


def test_bad_keys_are_named(stated: Run, folder: Path) -> None:
    """Another key, the private one, none at all, and one that everybody can read."""
    stated("ledger", "keygen", "other")
    for key, message in (
        ("other.pub", "head.json: signature.key: signed by"),
        ("key", "key: this is a private key"),
        ("head.json", "head.json: not a public key in PEM"),
        ("none.pub", "none.pub: cannot read the key"),
    ):
        told = stated(*VERIFY[:-1], key)
        assert (told.exit_code, message in told.stderr) == (2, True), told.stderr
    (folder / "key").chmod(0o644)
    told = stated("ledger", "head", "--sign", "key")
    assert (told.exit_code, "chmod 600" in told.stderr) == (2, True)


@pytest.mark.sqlite_file
def test_another_store_s_head_is_not_compared(stated: Run) -> None:
    """It says which store it is of."""
    open_store("sqlite:///other.db").close()
    stated("switch", "on", "--reason", "x", "--by", "ada", "--store", "sqlite:///other.db")
    told = stated(*VERIFY, "--store", "sqlite:///other.db")
    assert (told.exit_code, "head.json: store: this is the head of store" in told.stderr) == (
        2,
        True,
    )


def test_a_head_beyond_the_ledger_says_how_many_rows_are_missing(stated: Run, folder: Path) -> None:
    """An export that was cut off, or made earlier, ends before the head."""
    lines = stated("ledger", "export").stdout.splitlines(keepends=True)
    (folder / "less.jsonl").write_text("".join(lines[:2]))
    told = stated("ledger", "verify", "less.jsonl", *VERIFY[2:])
    assert told.exit_code == 1
    assert "ends at row 2, 1 row before the stated head" in told.stdout or "rows before" in (
        told.stdout
    )


def test_the_key_may_come_from_the_environment(
    stated: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SURELINE_HEAD_KEY signs too; a folder gets a file a moment, and nothing is overwritten."""
    told = stated("ledger", "head")
    assert "not signed" in told.stderr
    assert "signature" not in json.loads(told.stdout)
    monkeypatch.setenv("SURELINE_HEAD_KEY", "key")
    assert "signature" in json.loads(stated("ledger", "head").stdout)
    (folder / "heads").mkdir()
    assert stated("ledger", "head", "--out", "heads").exit_code == 0
    assert len(list((folder / "heads").iterdir())) == 1
    assert stated("ledger", "head", "--out", "head.json").exit_code == 1


@pytest.mark.parametrize(
    "command",
    [("ledger", "keygen", "more"), ("ledger", "head", "--sign", "key"), VERIFY],
    ids=["keygen", "sign", "verify"],
)
def test_without_the_extra_it_is_named(
    command: tuple[str, ...], stated: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Signing is optional; what is missing is said, and what to install."""
    for name in ("cryptography.exceptions", "cryptography.hazmat.primitives"):
        monkeypatch.setitem(sys.modules, name, None)
    told = stated(*command)
    assert told.exit_code == 2
    assert "pip install 'sureline[audit]'" in told.stderr
    assert stated("ledger", "verify", "--head", "head.json").exit_code == 0


def test_a_bare_head_has_no_signature(stated: Run) -> None:
    """A key beside a bare head, and what is neither head nor file, are bad input."""
    bare = ("ledger", "verify", "--head", f"1:{'ab' * 32}")
    assert stated(*bare, "--public-key", "key.pub").exit_code == 2
    told = stated("ledger", "verify", "--head", "nowhere.json")
    assert (told.exit_code, "there is no 'nowhere.json'" in told.stderr) == (2, True)
