"""`sureline serve` with the settings of the how-to, and what it refuses to start with."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import httpx
import pytest

from sureline.application.company_sign_in import read_company_sign_in
from sureline.cli.serve import company_note
from tests.web.served import Served
from tests.web.test_serve import run, started

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "sign-in-with-your-company.md"
SETTINGS = dict(
    re.findall(r"^\$ export (SURELINE_\w+)=(\S+)$", PAGE.read_text("utf-8"), re.MULTILINE)
)


def test_the_settings_of_the_how_to_let_their_groups_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each group of the example has its role behind a proxy on this machine; keys open no page."""
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    assert len(SETTINGS) == 6
    with started(tmp_path) as server:
        for groups, role in (
            ("gate-admins", "admin"),
            ("others,claims-team", "reviewer"),
            ("invoice-team", "reviewer"),
            ("internal-audit", "auditor"),
            ("others", None),
        ):
            headers = {"x-forwarded-email": "Ada@example.com", "x-forwarded-groups": groups}
            with httpx.Client(base_url=server.url, headers=headers, timeout=20) as browser:
                page = browser.get("/", follow_redirects=True)
                assert page.status_code == (403 if role is None else 200)
                assert role is None or f"company:ada@example.com ({role})" in page.text
                assert browser.post("/login", data={"key": server.key}).status_code == 403
        assert httpx.get(server.url, follow_redirects=True).status_code == 401
        assert server.post("/v1/calibrations").status_code == 201
        server.popen.terminate()
        _, log = server.popen.communicate(timeout=20)
    assert "ada" not in log.casefold()


def test_a_start_names_the_keys_that_could_be_second_people(served: Served) -> None:
    """What is said at the start names the header, the proxies and whoever could decide by a key."""
    company = read_company_sign_in(SETTINGS)
    assert company is not None
    said = asyncio.run(company_note(served.services, company))
    assert said == (
        "people sign in by the header x-forwarded-email from 127.0.0.1; these keys can still "
        "decide over HTTP, and whoever has one counts as a second person: a admin, a reviewer"
    )


@pytest.mark.parametrize("left_out", list(SETTINGS)[:3])
def test_it_does_not_start_with_half_a_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left_out: str
) -> None:
    """The message names the variable that is missing, and nothing is made on disk."""
    for name, value in SETTINGS.items():
        if name != left_out:
            monkeypatch.setenv(name, value)
    refused = run(tmp_path)
    assert refused.returncode == 2
    assert f"{left_out}: expected a value" in refused.stderr
    assert not (tmp_path / "store.db").exists()
