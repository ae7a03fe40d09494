"""`sureline ledger evidence`: an auditor finds in a pack what was changed."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, proposal

PERIOD = ("--from", "2020-01-01", "--to", "2100-01-01")
MAKE = ("ledger", "evidence", *PERIOD, "--sign", "key")
CHECK = ("ledger", "check-evidence", "pack.zip", "--public-key", "key.pub")


@pytest.fixture
def packed(started: Run) -> Run:
    """Return `run` in a folder with a key and a signed pack of a store in which things happened."""
    lines = [proposal(id=f"d{number}", task=f"Read {number}") for number in range(8)]
    started("decide", text="\n".join(lines))
    started("outcome", "d1", "--action", "approve", "--by", "Ada", "--comment", "fine")
    started("switch", "on", "--reason", "a trial", "--by", "Ada")
    started("ledger", "erase", "d2", "--reason", "Asked for", "--by", "Ada")
    started("recalibrate")
    assert started("ledger", "keygen", "key").exit_code == 0
    assert started("ledger", "head", "--sign", "key", "--out", "head.json").exit_code == 0
    made = started(*MAKE, "--out", "pack.zip", "--sample", "3")
    assert made.exit_code == 0, made.output
    return started


def _files(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _write(path: Path, files: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)


def _relisted(files: dict[str, bytes]) -> dict[str, bytes]:
    """Write the manifest anew, as a forger without the key would."""
    manifest = json.loads(files["manifest.json"])
    for name in manifest["files"]:
        data = files[name]
        manifest["files"][name] = {"bytes": len(data), "sha256": sha256(data).hexdigest()}
    text = json.dumps(manifest, indent=2, sort_keys=True) + "\n"
    return {**files, "manifest.json": text.encode()}


def test_an_auditor_reads_a_pack_without_the_store(packed: Run, folder: Path) -> None:
    """With the public key and a head from earlier, on a machine without the store; no payload."""
    (folder / "sureline.db").unlink(missing_ok=True)
    told = packed(*CHECK, "--head", "head.json", "--json")
    assert told.exit_code == 0, told.output
    found = json.loads(told.stdout)
    assert (found["ok"], len(found["signed_by"])) == (True, 32)
    assert any("runs through the head in" in one["sentence"] for one in found["findings"])
    files = _files(folder / "pack.zip")
    assert not any(b"Harbour Paper" in data for data in files.values())
    drawn = [json.loads(line) for line in files["sample.jsonl"].splitlines()]
    assert [len(drawn), "signals" in drawn[0]["decision"]] == [3, True]
    (switch,) = [json.loads(line) for line in files["switches.jsonl"].splitlines()]
    assert (switch["by"], switch["reason"]) == ("Ada", "a trial")
    (erasure,) = [json.loads(line) for line in files["erasures.jsonl"].splitlines()]
    assert (erasure["decision_id"], erasure["reason"]) == ("d2", "Asked for")
    assert json.loads(files["counts.json"])["labels"] == {"review": {"right": 1}}
    page = files["summary.html"].decode()
    assert "a trial" in page
    assert not any(word in page for word in ("src=", "href=", "<script", "@import", "url("))
    manifest = json.loads(files["manifest.json"])
    for name, listed in manifest["files"].items():
        assert sha256(files[name]).hexdigest() == listed["sha256"]
        assert f"`{name}`" in files["README.md"].decode() or name == "README.md"


def test_the_same_ledger_and_period_give_the_same_bytes(packed: Run, folder: Path) -> None:
    """Nothing in a pack depends on when it is made; another seed draws others."""
    assert packed(*MAKE, "--out", "again.zip", "--sample", "3").exit_code == 0
    assert (folder / "again.zip").read_bytes() == (folder / "pack.zip").read_bytes()
    assert packed(*MAKE, "--out", "other.zip", "--sample", "3", "--seed", "s").exit_code == 0
    samples = [_files(folder / name)["sample.jsonl"] for name in ("pack.zip", "other.zip")]
    assert samples[0] != samples[1]
    assert packed("ledger", "check-evidence", "other.zip").exit_code == 0


def test_payloads_are_in_only_when_asked_for_and_confirmed(packed: Run, folder: Path) -> None:
    """The sample's texts fit the digests in the chain; a changed one is found."""
    assert packed(*MAKE, "--out", "full.zip", "--payloads").exit_code == 0
    files = _files(folder / "full.zip")
    assert b"Harbour Paper" in files["sample.jsonl"]
    assert b"Read 2" not in files["sample.jsonl"]
    assert packed("ledger", "check-evidence", "full.zip").exit_code == 0
    files["sample.jsonl"] = files["sample.jsonl"].replace(b"Harbour Paper", b"Harbour Pages", 1)
    _write(folder / "full.zip", _relisted(files))
    told = packed("ledger", "check-evidence", "full.zip")
    assert (told.exit_code, "NOT ok: sample.jsonl: line" in told.stdout) == (1, True)


NAMES = [
    "README.md", "activations.jsonl", "calibrations.jsonl", "chain.jsonl", "counts.json",
    "erasures.jsonl", "policies.jsonl", "sample.jsonl", "summary.html", "switches.jsonl",
    "verification.json",
]  # fmt: skip


def _edited(data: bytes) -> bytes:
    """Change one letter or figure in the middle, and nothing else."""
    place = next(at for at in range(len(data) // 2, len(data)) if chr(data[at]).isalnum())
    return data[:place] + (b"7" if data[place : place + 1] != b"7" else b"8") + data[place + 1 :]


def test_a_changed_file_is_named(packed: Run, folder: Path) -> None:
    """Whichever it is; the exit code is 1."""
    files = _files(folder / "pack.zip")
    for name in NAMES:
        _write(folder / "pack.zip", {**files, name: _edited(files[name])})
        told = packed(*CHECK)
        assert told.exit_code == 1
        assert f"NOT ok: {name}: is not what the manifest lists" in told.stdout


FOLLOWS = [
    "activations.jsonl", "calibrations.jsonl", "chain.jsonl", "counts.json", "erasures.jsonl",
    "policies.jsonl", "sample.jsonl", "switches.jsonl",
]  # fmt: skip


def test_a_changed_file_does_not_follow_from_the_chain(packed: Run, folder: Path) -> None:
    """Also where the manifest was made to fit: the chain says otherwise, and so does the key."""
    files = _files(folder / "pack.zip")
    for name in FOLLOWS:
        _write(folder / "pack.zip", _relisted({**files, name: _edited(files[name])}))
        told = packed("ledger", "check-evidence", "pack.zip")
        assert (told.exit_code, f"NOT ok: {name}: " in told.stdout) == (1, True), told.output
        signed = packed(*CHECK)
        assert (signed.exit_code, "changed after it was signed" in signed.stderr) == (2, True)


def _swap(files: dict[str, bytes]) -> None:
    names = ("switches.jsonl", "erasures.jsonl")
    files[names[0]], files[names[1]] = files[names[1]], files[names[0]]


def _other_period(files: dict[str, bytes]) -> None:
    manifest = json.loads(files["manifest.json"])
    manifest["to"] = "2020-02-01T00:00:00+00:00"
    files["manifest.json"] = (json.dumps(manifest, indent=2, sort_keys=True) + "\n").encode()


def _shorter(files: dict[str, bytes]) -> None:
    lines = files["chain.jsonl"].splitlines(keepends=True)
    files["chain.jsonl"] = b"".join(lines[:-1])


def _without(name: str) -> Callable[[dict[str, bytes]], None]:
    def take(files: dict[str, bytes]) -> None:
        manifest = json.loads(files["manifest.json"])
        del files[name], manifest["files"][name]
        files["manifest.json"] = (json.dumps(manifest, indent=2, sort_keys=True) + "\n").encode()

    return take


def _more(files: dict[str, bytes]) -> None:
    files["extra.txt"] = b"x"


FORGED = {
    "files swapped": (_swap, "switches.jsonl: line 1: not what follows from the chain"),
    "another period": (_other_period, "counts.json: line"),
    "a row cut off": (_shorter, ": the chain ends at row"),
    "a file left out": (_without("switches.jsonl"), "switches.jsonl: is missing in the pack"),
    "a file more": (_more, "extra.txt: no file of a pack"),
}


@pytest.mark.parametrize(("forge", "sentence"), FORGED.values(), ids=FORGED)
def test_a_forged_pack_does_not_hold(
    forge: Callable[[dict[str, Any]], None], sentence: str, packed: Run, folder: Path
) -> None:
    """Without a key it is the chain that says so; with it, nothing of it passes."""
    files = _files(folder / "pack.zip")
    forge(files)
    _write(folder / "pack.zip", _relisted(files))
    told = packed("ledger", "check-evidence", "pack.zip")
    assert (told.exit_code, sentence in told.stdout) == (1, True), told.output
    assert packed(*CHECK).exit_code in {1, 2}


def test_a_head_of_elsewhere_does_not_fit(packed: Run, folder: Path) -> None:
    """One that the chain never ran through, and one of another store."""
    head = json.loads((folder / "head.json").read_text())
    number = head["heads"]["common"].split(":")[0]
    bare = {name: one for name, one in head.items() if name != "signature"}
    (folder / "wrong.json").write_text(
        json.dumps({**bare, "heads": {**head["heads"], "common": f"{number}:{'ab' * 32}"}})
    )
    told = packed(*CHECK[:3], "--head", "wrong.json")
    assert (told.exit_code, "does not run through the head" in told.stdout) == (1, True)
    (folder / "other.json").write_text(json.dumps({**bare, "store": "f" * 32}))
    told = packed(*CHECK[:3], "--head", "other.json")
    assert (told.exit_code, "the head is of store" in told.stdout) == (1, True)


def _bomb(path: Path) -> None:
    _write(path, {**_files(path), "chain.jsonl": b"0" * 50_000_000})


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-50])


def _foreign(path: Path) -> None:
    _write(path, {"letter.txt": b"hello"})


def _many(path: Path) -> None:
    _write(path, {f"{number}.txt": b"x" for number in range(100)})


def _no_manifest(path: Path) -> None:
    _write(path, {**_files(path), "manifest.json": b'{"format": "sureline-evidence-1"}'})


def _damaged(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[200] ^= 255
    path.write_bytes(bytes(data))


def _unsigned(path: Path) -> None:
    _write(path, {name: one for name, one in _files(path).items() if name != "signature.json"})


BAD = {
    "bomb": (_bomb, "pack.zip: chain.jsonl: far longer than it is packed"),
    "cut off": (_cut, "pack.zip: no ZIP file, or cut off"),
    "foreign": (_foreign, "pack.zip: manifest.json: is missing; this is no pack of evidence"),
    "many files": (_many, "pack.zip: more files than any pack has"),
    "manifest": (_no_manifest, "pack.zip: manifest.json: sample: is missing"),
    "damaged": (_damaged, "pack.zip: chain.jsonl: damaged"),
    "not signed": (_unsigned, "pack.zip: signature.json: is missing: this pack was not signed"),
    "no file": (lambda path: path.unlink(), "pack.zip: No such file"),
}


@pytest.mark.parametrize(("spoil", "message"), BAD.values(), ids=BAD)
def test_what_is_no_pack_is_bad_input(
    spoil: Callable[[Path], None], message: str, packed: Run, folder: Path
) -> None:
    """It is named, nothing of it is unpacked without end, and the exit code is 2."""
    spoil(folder / "pack.zip")
    told = packed(*CHECK)
    assert (told.exit_code, message in told.stderr) == (2, True), told.output


def test_nothing_is_overwritten_or_half_written(packed: Run, folder: Path) -> None:
    """An existing file is refused; after a fault neither the pack nor a part of it is there."""
    assert packed(*MAKE, "--out", "pack.zip").exit_code == 1
    assert packed(*MAKE, "--out", "none/pack.zip").exit_code == 2
    assert packed(*MAKE[:-1], "nokey", "--out", "new.zip").exit_code == 2
    empty = ("ledger", "evidence", "--from", "2026-02-01", "--to", "2026-02-01", "--out", "e.zip")
    assert packed(*empty).exit_code == 2
    assert sorted(path.name for path in folder.glob("*.zip")) == ["pack.zip"]
    assert list(folder.glob(".*.part")) == []


def test_a_period_in_which_nothing_happened_is_a_pack_too(packed: Run) -> None:
    """It holds, and says so of no rows."""
    early = ("ledger", "evidence", "--from", "2001-01-01", "--to", "2001-02-01", "--out", "e.zip")
    assert packed(*early).exit_code == 0
    told = packed("ledger", "check-evidence", "e.zip")
    assert (told.exit_code, "the chain holds: 0 rows" in told.stdout) == (0, True), told.output
