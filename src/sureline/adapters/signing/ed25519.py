"""Ed25519 keys in files, and signatures with them (RFC 8032).

The library is loaded when a key is used: nothing else of sureline needs it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sureline.core.signed_head import Signature
from sureline.errors import InvalidInput, MissingExtra, Refused

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

MOST_BYTES = 1 << 16
"""A longer file is no key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPair:
    """Where a new pair of keys was written, and the fingerprint that signatures name it by."""

    private: Path
    public: Path
    fingerprint: str


def make_key_pair(path: Path) -> KeyPair:
    """Write a private key, readable by its owner alone, and the public one beside it (`.pub`).

    Raises Refused if one of the files is there, InvalidInput if they cannot be written.
    """
    serialization = _serialization()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    public_path = path.with_name(path.name + ".pub")
    for one in (path, public_path):
        if one.exists() or one.is_symlink():
            raise Refused(f"{one} is there already; a key is never overwritten")
    key = Ed25519PrivateKey.generate()
    public = key.public_key()
    _write(
        path,
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
        0o600,
    )
    _write(
        public_path,
        public.public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        ),
        0o644,
    )
    return KeyPair(private=path, public=public_path, fingerprint=_fingerprint(public))


def sign(path: Path, data: bytes) -> Signature:
    """Sign with the private key of a file. Raises InvalidInput, MissingExtra."""
    key = _private_key(path)
    return Signature(key=_fingerprint(key.public_key()), value=key.sign(data))


def verify(paths: Sequence[Path], data: bytes, signature: Signature | None, *, file: str) -> str:
    """Return the fingerprint of the public key whose signature it is.

    Several keys may be given, as they followed each other. Raises InvalidInput where none of them
    made it, or there is no signature; `file` is what the message names.
    """
    _serialization()
    from cryptography.exceptions import InvalidSignature

    if signature is None:
        raise InvalidInput("signature: there is none, so a key shows nothing", field=file)
    keys = {_fingerprint(key): key for key in map(_public_key, paths)}
    if signature.key not in keys:
        known = ", ".join(sorted(keys))
        raise InvalidInput(
            f"signature.key: signed by {signature.key}, which is none of the public keys given "
            f"({known})",
            field=file,
        )
    try:
        keys[signature.key].verify(signature.value, data)
    except InvalidSignature:
        raise InvalidInput(
            "signature.value: it does not fit; the content was changed after it was signed",
            field=file,
        ) from None
    return signature.key


def _private_key(path: Path) -> Ed25519PrivateKey:
    serialization = _serialization()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    data = _read(path)
    if b"PUBLIC KEY" in data:
        raise InvalidInput(
            "this is the public key; sign with the private one, which is beside it without .pub",
            field=str(path),
        )
    if os.name == "posix" and path.stat().st_mode & (stat.S_IROTH | stat.S_IWOTH):
        raise InvalidInput(f"every user can read this key; run `chmod 600 {path}`", field=str(path))
    key = _loaded(
        lambda: serialization.load_pem_private_key(data, password=None), path, "a private key"
    )
    if not isinstance(key, Ed25519PrivateKey):
        raise InvalidInput("expected an Ed25519 private key", field=str(path))
    return key


def _public_key(path: Path) -> Ed25519PublicKey:
    serialization = _serialization()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    data = _read(path)
    if b"PRIVATE KEY" in data:
        raise InvalidInput(
            "this is a private key; give the one that ends in .pub, and keep this one",
            field=str(path),
        )
    key = _loaded(lambda: serialization.load_pem_public_key(data), path, "a public key")
    if not isinstance(key, Ed25519PublicKey):
        raise InvalidInput("expected an Ed25519 public key", field=str(path))
    return key


def _loaded(load: Any, path: Path, what: str) -> Any:
    from cryptography.exceptions import UnsupportedAlgorithm

    try:
        return load()
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise InvalidInput(
            f"not {what} in PEM without a password, perhaps cut off", field=str(path)
        ) from None


def _fingerprint(key: Ed25519PublicKey) -> str:
    return sha256(key.public_bytes_raw()).hexdigest()[:32]


def _serialization() -> Any:
    try:
        from cryptography.hazmat.primitives import serialization
    except ImportError as error:
        raise MissingExtra(f"signing needs: pip install 'sureline[audit]' ({error})") from error
    return serialization


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InvalidInput(f"cannot read the key: {error.strerror}", field=str(path)) from None
    if len(data) > MOST_BYTES:
        raise InvalidInput("longer than any key", field=str(path))
    return data


def _write(path: Path, data: bytes, mode: int) -> None:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
    except OSError as error:
        raise InvalidInput(f"cannot write the key: {error.strerror}", field=str(path)) from None
