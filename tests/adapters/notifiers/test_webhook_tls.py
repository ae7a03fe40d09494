"""TLS to a checked address: the certificate must still be the name's."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from sureline.errors import DeliveryFailed
from tests.sending import PARCEL, notifier

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the keys")


def certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """Make a certificate for a name, signed by itself."""
    key, cert = folder / "key.pem", folder / "cert.pem"
    command = (
        f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
        f"-keyout {key} -out {cert} -subj /CN={name} -addext subjectAltName=DNS:{name}"
    )
    subprocess.run(command.split(), check=True, capture_output=True)
    return key, cert


@contextmanager
def serving(key: Path, cert: Path) -> Iterator[tuple[int, list[str]]]:
    """Answer 204 over TLS; the list has the hosts that were asked for."""
    hosts: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            hosts.append(self.headers["host"])
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    server = HTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_address[1], hosts
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


async def here(host: str, port: int) -> Sequence[str]:
    return ["127.0.0.1"]


async def test_the_certificate_of_the_name_is_taken(tmp_path: Path) -> None:
    """Connected to by address, the receiver is still asked for and known by its name."""
    key, cert = certificate(tmp_path, "hooks.example.com")
    with serving(key, cert) as (port, hosts):
        trusting = ssl.create_default_context(cafile=str(cert))
        url = f"https://hooks.example.com:{port}/hook"
        await notifier(url, resolve=here, tls=trusting).send(PARCEL)
        assert hosts == [f"hooks.example.com:{port}"]


@pytest.mark.parametrize("trusted", [True, False], ids=["another name", "unknown issuer"])
async def test_another_certificate_is_refused(tmp_path: Path, trusted: bool) -> None:
    """A certificate of another name, or of an unknown issuer, ends the delivery unsent."""
    name = "other.example.com" if trusted else "hooks.example.com"
    key, cert = certificate(tmp_path, name)
    with serving(key, cert) as (port, hosts):
        tls = ssl.create_default_context(cafile=str(cert) if trusted else None)
        url = f"https://hooks.example.com:{port}/hook"
        with pytest.raises(DeliveryFailed):
            await notifier(url, resolve=here, tls=tls).send(PARCEL)
        assert hosts == []
