"""Signing out ends the session for everybody who holds its cookie, in every process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from sureline.bootstrap import Plugins, open_services
from sureline.web.settings import ServerSettings
from tests.web.browsing import Visitor, value_of
from tests.web.served import REVIEWER, Served, running, serve
from tests.web.test_company_sign_in import ADA, PROXY, SETTINGS, Person, asked


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A server to which people come with keys."""
    with serve(tmp_path) as one:
        yield one


def cookie_of(client: httpx.Client) -> dict[str, str]:
    """Return a browser's cookie as somebody would copy it."""
    return {"cookie": f"sureline_session={client.cookies['sureline_session']}"}


def statuses(url: str, headers: dict[str, str], csrf: str, *, peer: str = "127.0.0.1") -> list[int]:
    """Return what a copied cookie gets: pages, the stream, and a form with the session's token."""
    transport = httpx.HTTPTransport(local_address=peer)
    with httpx.Client(base_url=url, headers=headers, transport=transport, timeout=20) as thief:
        pages = [thief.get(path).status_code for path in ("/", "/queue.csv", "/slices")]
        form = {"csrf": csrf, "act": "save", "name": "x", "in": ""}
        return [
            *pages,
            thief.head("/events").status_code,
            thief.post("/views", data=form).status_code,
        ]


def test_a_copied_cookie_is_worth_nothing_after_signing_out(served: Served) -> None:
    """Not in this process and not in another on the store; another session of the key goes on."""
    ada, elsewhere = Visitor(served, REVIEWER), Visitor(served, REVIEWER)
    copied, csrf = cookie_of(ada.client), value_of(ada.get("/").text, "csrf")
    assert 303 not in statuses(served.url, copied, csrf)[:3]
    plugins = Plugins(clock=served.clock)
    other = open_services(served.services.store.url, plugins=plugins)
    with running(other, ServerSettings()) as url:
        assert statuses(url, copied, csrf)[0] == 200
        assert ada.post("/logout").status_code == 303
        for one in (served.url, url):
            assert statuses(one, copied, csrf) == [303, 303, 303, 401, 303]
        assert httpx.get(f"{url}/", headers=cookie_of(elsewhere.client)).status_code == 200
    assert elsewhere.get("/").status_code == 200
    assert Visitor(served, REVIEWER).get("/").status_code == 200


def test_a_company_session_ends_as_well(tmp_path: Path) -> None:
    """The proxy still vouches, but the old cookie and its token are nothing; a new one is made."""
    with serve(tmp_path, SETTINGS) as served:
        ada = Person(served, ADA)
        csrf = value_of(ada.get().text, "csrf")
        copied = {**ADA, **cookie_of(ada.client)}
        assert statuses(served.url, copied, csrf, peer=PROXY)[0] == 200
        assert ada.post("/logout").status_code == 200
        assert statuses(served.url, copied, csrf, peer=PROXY) == [303, 303, 303, 401, 303]
        assert value_of(ada.get().text, "csrf") != csrf


def test_a_company_session_watches_the_counts(tmp_path: Path) -> None:
    """The stream goes by the session that the company's sign-in has, not by a key."""
    with serve(tmp_path, SETTINGS) as served:
        ada = Person(served, ADA)
        asked(served)
        ada.get()
        with ada.client.stream("GET", "/events") as reply:
            begun = [line for line, _ in zip(reply.iter_lines(), range(4), strict=False)]
    assert "event: counts" in begun
    assert "event: end" not in begun
