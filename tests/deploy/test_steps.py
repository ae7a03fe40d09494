"""The steps of the page lead to what the recipes need: files, tables, secrets, in this order."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
PAGE = (ROOT / "docs/howto/deploy.md").read_text("utf-8")
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
IN_ETC = re.compile(r"/etc/sureline/[\w.-]+")


def steps(section: str) -> list[str]:
    """Return the commands of a section's first block, each on one line."""
    found = re.search(
        rf"^## {section}.*?^```console no-run\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL
    )
    assert found, section
    return [one.lstrip("$# ") for one in found[1].replace("\\\n", " ").splitlines()]


def place(commands: list[str], *words: str) -> int:
    """Return where the first command with all these words stands."""
    return next(n for n, one in enumerate(commands) if all(word in one for word in words))


def pod(name: str) -> Any:
    one, *_ = yaml.safe_load_all((DEPLOY / f"kubernetes/{name}.yaml").read_text("utf-8"))
    return one["spec"]["template"]["spec"]


ORDER = [
    pytest.param("Compose", ("compose run", "upgrade"), ("compose up",), id="compose"),
    pytest.param(
        "systemd", ("systemctl start", "upgrade"), ("systemctl enable", "serve"), id="systemd"
    ),
    pytest.param("Kubernetes", ("apply", "upgrade"), ("apply", "gate"), id="kubernetes"),
]


@pytest.mark.parametrize(("section", "upgrading", "starting"), ORDER)
def test_tables_then_a_key_then_the_gates(
    section: str, upgrading: tuple[str, ...], starting: tuple[str, ...]
) -> None:
    """Each way upgrades the store, makes a key, and only then starts what listens."""
    commands = steps(section)
    tables, key = place(commands, *upgrading), place(commands, "keys create")
    assert tables < key < place(commands, *starting)


def test_what_units_read_is_installed_into_a_folder_that_is_there() -> None:
    """Each file of /etc/sureline in a unit has a step, after the step that makes the folder."""
    commands = steps("systemd")
    folder = place(commands, "install -d", "/etc/sureline")
    read = {path for unit in UNITS for path in IN_ETC.findall(unit.read_text("utf-8"))}
    assert len(read) == 2
    for path in read:
        assert place(commands, "install -m", path) > folder
    assert "600" in commands[place(commands, "install", "environment")]
    assert place(commands, "cp deploy/systemd") < place(commands, "daemon-reload")
    made = {unit.stem for unit in UNITS}
    assert {one for line in commands for one in re.findall(r"\bsureline-\w+", line)} == made


def test_the_steps_make_a_key_as_the_service() -> None:
    """The key is made by the user and in the environment of the units."""
    words = shlex.split(steps("systemd")[place(steps("systemd"), "keys create")])
    unit = UNITS[0].read_text("utf-8")
    assert "--uid=sureline" in words
    assert "User=sureline" in unit
    (given,) = [one.partition("=")[2] for one in words if one.startswith("--property=")]
    assert given in unit.splitlines()


@pytest.mark.parametrize(
    "name", [one for one in COMPOSE["services"] if one.startswith(("gate", "worker"))]
)
def test_secrets_reach_the_containers(name: str) -> None:
    """Gates and workers read the file that the page says to make, and nothing else does."""
    assert COMPOSE["services"][name]["env_file"] == ["./environment"]
    assert "chmod 600 .env environment" in steps("Compose")


def test_only_who_needs_secrets_has_them() -> None:
    """What upgrades, the database and the watchers get no key of a model or channel."""
    others = [one for one in COMPOSE["services"] if not one.startswith(("gate", "worker"))]
    assert others
    assert not [one for one in others if COMPOSE["services"][one].get("env_file")]
    assert "envFrom" not in pod("upgrade")["containers"][0]


@pytest.mark.parametrize("name", ["gate", "worker"])
def test_secrets_reach_the_pods(name: str) -> None:
    """Each pod has the whole secret that the page makes of the same file."""
    (source,) = pod(name)["containers"][0]["envFrom"]
    secret = source["secretRef"]["name"]
    making = place(
        steps("Kubernetes"), f"create secret generic {secret} ", "--from-env-file=environment"
    )
    assert making < place(steps("Kubernetes"), "apply")
