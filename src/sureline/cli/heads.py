"""`sureline ledger keygen` and `ledger head`: state where the ledger stands, so that it binds."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from sureline.application.verify_ledger import Glance
from sureline.bootstrap import Services
from sureline.bootstrap.heads import StatedHead, make_key_pair, read_head, state_head
from sureline.bootstrap.verifying import ledger_watch
from sureline.cli.options import JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import note, print_json, say
from sureline.cli.session import on_store
from sureline.config import head_key
from sureline.core.chain import Head
from sureline.core.signed_head import HeadsMet, HeadStatement
from sureline.core.values.counted import counted
from sureline.errors import InvalidInput, Refused

SignOption = Annotated[
    Path | None,
    typer.Option(
        "--sign", help="A private key of `ledger keygen` (default: the one of SURELINE_HEAD_KEY)."
    ),
]
PublicKeysOption = Annotated[
    list[Path] | None,
    typer.Option("--public-key", help="A key that may have signed; give several after a change."),
]

COMMON = "common"
"""The stream whose head a bare `seq:hash` is."""
UNCHECKED = "whether the statement of the head is genuine: no public key was given"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadFinding:
    """What comparing with a statement showed; `faults` are sentences."""

    stated: StatedHead
    faults: tuple[str, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """Say from when the head is, and whether the ledger runs through it."""
        one = self.stated
        signed = "not checked" if one.signed_by is None else f"by {one.signed_by}"
        runs = "does not run" if self.faults else "runs"
        sentence = (
            f"the ledger {runs} through the head of {one.statement.at.isoformat()} "
            f"({counted(one.statement.rows, 'row')}; signature: {signed})"
        )
        return sentence, *self.faults

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "file": self.stated.file,
            "at": self.stated.statement.at.isoformat(),
            "rows": self.stated.statement.rows,
            "signed_by": self.stated.signed_by,
            "faults": list(self.faults),
        }


def expected_head(text: str | None, keys: list[Path] | None) -> Head | StatedHead | None:
    """Read `--head`: a head as `ledger verify` prints it, or the file of a statement.

    Raises InvalidInput.
    """
    if text is None or _is_bare(text):
        if keys:
            raise InvalidInput("only a file of `ledger head` is signed", field="--public-key")
        return None if text is None else Head.parse(text)
    if not Path(text).exists():
        raise InvalidInput(
            f"expected <number>:<64 hex digits>, or a file of `ledger head`; there is no {text!r}",
            field="--head",
        )
    return read_head(Path(text), keys or [])


def common_head(expected: Head | StatedHead | None) -> Head | None:
    """Return the head of the common stream, that the chain is verified against."""
    if isinstance(expected, StatedHead):
        return expected.statement.heads.get(COMMON)
    return expected


def found_of(expected: Head | StatedHead | None, met: HeadsMet | None) -> HeadFinding | None:
    """Put together what comparing with a statement showed."""
    if met is None or not isinstance(expected, StatedHead):
        return None
    return HeadFinding(stated=expected, faults=met.faults())


def _is_bare(text: str) -> bool:
    number, colon, _ = text.strip().partition(":")
    return bool(colon) and number.isdecimal()


def keygen(
    file: Annotated[Path, typer.Argument(help="Where the private key goes; it must not exist.")],
    as_json: JsonOption = False,
) -> None:
    """Make a pair of keys (Ed25519) for signing heads and evidence; nothing is overwritten.

    Keep FILE where the store's administrators cannot read it; give FILE.pub to the auditor.
    """
    made = make_key_pair(file)
    if as_json:
        print_json(asdict(made))
        return
    say(f"private key: {made.private} (readable by you alone; there is no other copy)")
    say(f"public key: {made.public}")
    say(f"fingerprint: {made.fingerprint}")


def head(
    sign: SignOption = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="A new file for it, or a folder that gets one a moment."),
    ] = None,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,  # noqa: ARG001 - a statement is JSON either way
) -> None:
    """State where all streams of the ledger stand, signed if there is a key, as JSON.

    Keep it outside the store: `ledger verify --head FILE` proves later that the ledger runs
    through it. What was written since the last verification is verified first: exit code 1, after
    stating the head all the same, where the ledger does not hold.
    """
    key = sign or head_key()

    async def work(services: Services) -> tuple[HeadStatement, Glance]:
        watch = ledger_watch(services.store, services.clock, services.workspace)
        return state_head(services, key), await watch.glance()

    stated, seen = on_store(work, store=store, workspace=workspace)
    note(seen.said if seen.ok else f"warning: {seen.said}; a signature does not make it hold")
    if key is None:
        note("not signed: give a key with --sign, or in SURELINE_HEAD_KEY")
    if out is None:
        print_json(json.loads(stated.text()))
    else:
        say(f"written: {_written(out, stated)}")
    raise typer.Exit(0 if seen.ok else 1)


def _written(out: Path, stated: HeadStatement) -> Path:
    """Write the statement to a file that was not there. Raises Refused, InvalidInput."""
    path = out / f"head-{stated.at:%Y%m%dT%H%M%S%fZ}.json" if out.is_dir() else out
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(stated.text())
    except FileExistsError:
        raise Refused(f"{path} is there already; a statement is never overwritten") from None
    except OSError as error:
        raise InvalidInput(f"cannot write: {error.strerror}", field=str(path)) from None
    return path
