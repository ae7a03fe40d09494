"""`sureline keys`: made once, shown once, revoked for ever."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Run


def test_a_key_is_made_listed_and_revoked(run: Run) -> None:
    """The secret is in the answer to `create` and nowhere afterwards."""
    made = json.loads(
        run("keys", "create", "--name", "agent 1", "--role", "agent", "--slice", "invoices",
            "--json").stdout
    )  # fmt: skip
    assert made["secret"]
    listed = run("keys", "list", "--json").stdout
    assert made["secret"] not in listed
    assert json.loads(listed)[0]["slices"] == ["invoices"]
    assert run("keys", "revoke", made["id"]).exit_code == 0
    assert json.loads(run("keys", "list", "--json").stdout)[0]["revoked_at"] is not None
    assert "revoked" in run("keys", "list").stdout


def test_the_secret_alone_is_on_standard_output(run: Run) -> None:
    """A script can take the secret from the output; what a person wants to know is beside it."""
    made = run("keys", "create", "--name", "ci", "--role", "admin")
    assert len(made.stdout.split()) == 1
    assert "shown" in made.stderr or "not stored" in made.stderr


@pytest.mark.parametrize(
    ("role", "more", "told"),
    [
        pytest.param("agent", [], True, id="an agent"),
        pytest.param("agent", ["--trusted-sources"], False, id="an agent that fetches them"),
        pytest.param("reviewer", [], False, id="a reviewer, who brings none"),
    ],
)
def test_who_makes_an_agents_key_learns_that_its_sources_are_claims(
    run: Run, role: str, more: list[str], told: bool
) -> None:
    """Else everything that is grounded goes to people, and nobody knows why."""
    made = run("keys", "create", "--name", "x", "--role", role, *more)
    assert ("--trusted-sources" in made.stderr) is told


@pytest.mark.parametrize("name", ["ada", "Ada  B", "ADA b", "Ad\uff41 B"])
def test_a_name_is_one_person(run: Run, name: str) -> None:
    """A second key of the same name is made; one that only reads like it is refused."""
    first = "Ada" if name == "ada" else "Ada B"
    assert run("keys", "create", "--name", first, "--role", "reviewer").exit_code == 0
    assert run("keys", "create", "--name", first, "--role", "reviewer").exit_code == 0
    refused = run("keys", "create", "--name", name, "--role", "reviewer")
    assert refused.exit_code == 2
    assert f"key for '{first}' already" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "exit_code"),
    [
        pytest.param(["keys", "revoke", "nobody"], 2, id="unknown key"),
        pytest.param(["keys", "create", "--name", " ", "--role", "agent"], 2, id="no name"),
        pytest.param(["keys", "create", "--name", "x", "--role", "king"], 2, id="no such role"),
    ],
)
@pytest.mark.usefixtures("empty_store")
def test_what_cannot_be_done_is_said(arguments: list[str], exit_code: int, run: Run) -> None:
    """Bad input exits with 2 and a sentence."""
    result = run(*arguments)
    assert result.exit_code == exit_code
    assert result.stderr


@pytest.mark.usefixtures("empty_store")
def test_no_keys_is_a_sentence(run: Run) -> None:
    """An empty list says so."""
    assert run("keys", "list").stdout == "there are no keys\n"
