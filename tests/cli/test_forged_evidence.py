"""A pack that somebody wrote anew without the key: each file of it is doubted, and the archive."""

from __future__ import annotations

import json
import stat
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from tests.cli.conftest import Run, proposal

Files = dict[str, bytes]
MAKE = ("ledger", "evidence", "--from", "2020-01-01", "--to", "2100-01-01", "--payloads")
CHECK = ("ledger", "check-evidence", "pack.zip")


@pytest.fixture
def packed(started: Run, folder: Path) -> Run:
    """Return `run` in a folder with a pack, signed by `key`, and an `other` key."""
    started("decide", text="\n".join(proposal(id=f"d{n}", task=f"Read {n}") for n in range(3)))
    started("recalibrate")
    for name in ("key", "other"):
        assert started("ledger", "keygen", name).exit_code == 0
    made = started(*MAKE, "--sign", "key", "--out", "pack.zip")
    assert made.exit_code == 0, made.output
    return started


def _read(path: Path) -> Files:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _write(path: Path, files: Files) -> None:
    """Write a pack whose manifest fits its files."""
    manifest = json.loads(files["manifest.json"])
    for name in manifest["files"]:
        data = files[name]
        manifest["files"][name] = {"bytes": len(data), "sha256": sha256(data).hexdigest()}
    files["manifest.json"] = (json.dumps(manifest, indent=2, sort_keys=True) + "\n").encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)


def _line(**content: object) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode() + b"\n"


def _twice(name: str, forged: bytes) -> Callable[[Files], None]:
    """Put a key before the one that is there, in the first line."""

    def forge(files: Files) -> None:
        files[name] = b"{" + forged + b"," + files[name][1:]

    return forge


def _added(name: str, line: bytes) -> Callable[[Files], None]:
    def forge(files: Files) -> None:
        files[name] += line

    return forge


def _put(name: str, old: bytes, new: bytes) -> Callable[[Files], None]:
    def forge(files: Files) -> None:
        assert old in files[name]
        files[name] = files[name].replace(old, new, 1)

    return forge


def _no_lines(name: str) -> Callable[[Files], None]:
    def forge(files: Files) -> None:
        files[name] = b""

    return forge


TEXT = "version: 1 # a policy that never was"
POLICY = _line(policy_hash=sha256(TEXT.encode()).hexdigest(), text=TEXT)
CALIBRATION = _line(body='{"certificates":[]}', id="cal_invented")
VERSION = b'"version": "'
FORGED = {
    "summary rewritten": (
        _put("summary.html", b"3 decisions", b"3 flawless decisions"),
        "summary.html: is not what the other files make",
    ),
    "readme rewritten": (
        _put("README.md", b"is for reading", b"is all you need"),
        "README.md: is not what the other files make",
    ),
    "certificate invented": (
        _added("calibrations.jsonl", CALIBRATION),
        "calibrations.jsonl: cal_invented: no decision or activation names it",
    ),
    "policy invented": (
        _added("policies.jsonl", POLICY),
        "no decision or activation names it",
    ),
    "certificates taken out": (
        _no_lines("calibrations.jsonl"),
        "which a decision or an activation names, is missing",
    ),
    "policies taken out": (
        _no_lines("policies.jsonl"),
        "which a decision or an activation names, is missing",
    ),
    "sample with a key twice": (
        _twice("sample.jsonl", b'"decision":{"route":"human_required"}'),
        "sample.jsonl: line 1: not what follows from the chain",
    ),
    "payload with another key": (
        _put("sample.jsonl", b'"payload": {', b'"payload": {"also": "", '),
        "sample.jsonl: line 1: not what follows from the chain",
    ),
    "chain with a key twice": (
        _twice("chain.jsonl", b'"fields":{"route":"human_required"}'),
        "chain.jsonl: line 1: not a line of a ledger export (the key 'fields' is there twice)",
    ),
    "chain with another key": (
        _twice("chain.jsonl", b'"note":"certified"'),
        "chain.jsonl: line 1: not a line of a ledger export (unknown key 'note')",
    ),
    "chain with a field that no hash covers": (
        _put("chain.jsonl", b'"fields":{', b'"fields":{"approved_by":null,'),
        "no row's hash covers the field 'approved_by'",
    ),
    "policy with a key twice": (
        _twice("policies.jsonl", b'"policy_hash":"x"'),
        "policies.jsonl: line 1: not JSON (the key 'policy_hash' is there twice)",
    ),
    "certificate with another key": (
        _put("calibrations.jsonl", b'{"body"', b'{"also":1,"body"'),
        "calibrations.jsonl: line 1: unknown key 'also'",
    ),
    "held of another shape": (
        _added("held.jsonl", _line(kind="policy", verdict="fine")),
        "held.jsonl: line 1: unknown key 'verdict'",
    ),
    "incident that is none": (
        _added("incidents.jsonl", b"[]\n"),
        "incidents.jsonl: line 1: expected an object",
    ),
    "recall with spaces": (
        _added("recalls.jsonl", b'{"id": "r"}\n'),
        "recalls.jsonl: line 1: written otherwise than in a pack",
    ),
    "verification with a key twice": (
        _put("verification.json", b'{\n  "cannot', b'{\n  "ok": false,\n  "cannot'),
        "verification.json: not JSON (the key 'ok' is there twice)",
    ),
    "verification of other figures": (
        _put("verification.json", b'"erased": 0', b'"erased": 7'),
        "summary.html: is not what the other files make",
    ),
}


def test_a_forged_file_is_named(packed: Run, folder: Path) -> None:
    """Whichever it is, though the manifest fits: unsigned it does not hold, with a key it is none.

    One pack serves all, since making it takes longest.
    """
    whole = _read(folder / "pack.zip")
    for name, (forge, sentence) in FORGED.items():
        files = dict(whole)
        forge(files)
        _write(folder / "pack.zip", files)
        told = packed(*CHECK)
        assert (told.exit_code, f"{sentence}" in told.stdout) == (1, True), (name, told.output)
    told = packed(*CHECK, "--public-key", "key.pub")
    assert (told.exit_code, "changed after it was signed" in told.stderr) == (2, True)


def test_pages_of_another_version_are_named_as_unproven(packed: Run, folder: Path) -> None:
    """They cannot be made again, so nothing says that they are right."""
    files = _read(folder / "pack.zip")
    files["manifest.json"] = files["manifest.json"].replace(VERSION, VERSION + b"9", 1)
    _write(folder / "pack.zip", {**files, "summary.html": b"All is well."})
    told = packed(*CHECK)
    said = "cannot see: whether summary.html and README.md say what the other files say"
    assert (told.exit_code, said in told.stdout) == (0, True), told.output
    assert "made by version 9" in told.stdout


KEYS = {
    "another key": (("other.pub",), "which is none of the public keys given"),
    "no such key": (("none.pub",), "none.pub"),
    "a private key": (("key",), "key"),
    "one of two": (("other.pub", "key.pub"), None),
}


def test_a_pack_is_believed_of_its_key_alone(packed: Run) -> None:
    """Another, or none, is refused with a sentence; of several, one that fits is enough."""
    for name, (keys, message) in KEYS.items():
        told = packed(*CHECK, *(one for key in keys for one in ("--public-key", key)))
        assert told.exit_code == (0 if message is None else 2), (name, told.output)
        assert message is None or message in told.stderr, (name, told.output)


def _entry(name: str, mode: int = 0, flags: int = 0) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.external_attr = mode << 16
    entry.flag_bits = flags
    return entry


MEMBERS = {
    "a path upwards": (_entry("../evil.txt"), "../evil.txt: no file of a pack lies in a folder"),
    "a path from the root": (_entry("/etc/evil"), "/etc/evil: no file of a pack lies in a folder"),
    "a path of Windows": (_entry("..\\evil"), "evil: no file of a pack lies in a folder"),
    "a folder": (_entry("notes/"), "notes/: no file of a pack lies in a folder"),
    "a link": (_entry("held.jsonl", stat.S_IFLNK | 0o777), "held.jsonl: a link or a device"),
    "a name twice": (_entry("chain.jsonl"), "chain.jsonl: two files of this name"),
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_no_pack_has_is_refused_by_name(packed: Run, folder: Path) -> None:
    """Nothing is ever unpacked, yet who unpacks a pack that was checked shall not be surprised."""
    path = folder / "pack.zip"
    whole = _read(path)
    for name, (entry, message) in MEMBERS.items():
        kept = {one: data for one, data in whole.items() if one != "held.jsonl"}
        with zipfile.ZipFile(path, "w") as archive:
            for one, data in kept.items():
                archive.writestr(one, data)
            archive.writestr(entry, b"" if entry.is_dir() else b"/etc/passwd")
        told = packed(*CHECK)
        assert (told.exit_code, message in told.stderr) == (2, True), (name, told.output)


def test_an_archive_that_is_more_than_its_files_is_refused(packed: Run, folder: Path) -> None:
    """An encrypted file, and bytes before the first one, which another program would show."""
    path = folder / "pack.zip"
    whole = path.read_bytes()
    path.write_bytes(b"PK\x03\x04" * 10 + whole)
    told = packed(*CHECK)
    assert (told.exit_code, "something stands around the files" in told.stderr) == (2, True)
    directory = whole.index(b"PK\x01\x02")
    path.write_bytes(whole[: directory + 8] + b"\x01" + whole[directory + 9 :])
    told = packed(*CHECK)
    assert (told.exit_code, "chain.jsonl: encrypted" in told.stderr) == (2, True), told.output


def test_an_export_and_a_head_mean_one_thing(packed: Run, folder: Path) -> None:
    """A key that is twice is refused there too."""
    whole = packed("ledger", "export").stdout
    (folder / "l.jsonl").write_text('{"body":"",' + whole[1:])
    told = packed("ledger", "verify", "l.jsonl")
    assert (told.exit_code, "the key 'body' is there twice" in told.output) == (1, True)
    (folder / "l.jsonl").write_text(whole)
    assert packed("ledger", "head", "--out", "head.json").exit_code == 0
    head = (folder / "head.json").read_text()
    (folder / "head.json").write_text('{"rows": 9,' + head[1:])
    told = packed("ledger", "verify", "l.jsonl", "--head", "head.json")
    assert (told.exit_code, "the key 'rows' is there twice" in told.stderr) == (2, True)
