"""The recipes for deploying: sound to the tools that read them, hardened, of commands of ours."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import compose_spec
import kubernetes_validate
import pytest
import typer
import yaml

from sureline.adapters.jobs.worker import WorkerSettings, WorkerThread
from sureline.application.outbox.courier import ENDING_SECONDS, SEND_SECONDS
from sureline.cli.app import app
from sureline.web.server import STOP_SECONDS

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
KUBERNETES = "1.33"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
MANIFESTS = [
    pytest.param(one, id=f"{path.stem}-{one['kind']}-{one['metadata']['name']}")
    for path in sorted((DEPLOY / "kubernetes").glob("*.yaml"))
    for one in yaml.safe_load_all(path.read_text("utf-8"))
]
OF_OURS = [name for name, one in COMPOSE["services"].items() if one["image"] == "sureline"]
MOST_EXPOSED = 2.0
"""On systemd's scale from 0 (nothing) to 10 (everything)."""


def commands() -> Iterator[tuple[str, list[str]]]:
    """Yield where our command line is called, and how."""
    for name in OF_OURS:
        yield f"compose {name}", [*COMPOSE["services"][name]["command"]]
    for unit in UNITS:
        start = re.search(r"^ExecStart=\S+/sureline (.*)$", unit.read_text("utf-8"), re.MULTILINE)
        assert start, unit
        yield unit.stem, start[1].split()
    for manifest in MANIFESTS:
        for pod in pods(manifest.values[0]):
            yield pod["containers"][0]["name"], [*pod["containers"][0]["args"]]
    dockerfile = (DEPLOY / "Dockerfile").read_text("utf-8")
    default = re.search(r"^CMD \[(.*)\]$", dockerfile, re.MULTILINE)
    assert default
    yield "Dockerfile", re.findall(r'"([^"]*)"', default[1])


def pods(manifest: Any) -> Iterator[dict[str, Any]]:
    """Yield the pod templates of a manifest."""
    template = manifest["spec"].get("template")
    if isinstance(template, dict):
        yield template["spec"]


@pytest.mark.parametrize(("where", "words"), list(commands()), ids=lambda one: str(one)[:40])
def test_a_command_line_is_understood(where: str, words: list[str]) -> None:
    """Every option that a recipe gives is one of the command, with a value that it takes."""
    command: click.Command = typer.main.get_command(app)
    context = click.Context(command)
    while isinstance(command, click.Group):
        name, *words = words
        found = command.get_command(context, name)
        assert found is not None, f"{where}: there is no command {name}"
        command, context = found, click.Context(found, parent=context)
    command.make_context(command.name, words, parent=context.parent)


def test_the_compose_file_is_sound() -> None:
    """It is a compose file to a parser of the specification; networks and volumes are there."""
    read = compose_spec.PyCompose.from_json(json.dumps(COMPOSE))
    read.validate()
    assert set(read.service_names()) == set(COMPOSE["services"])


@pytest.mark.parametrize(
    "service",
    [{"portz": ["1"]}, {"networks": ["nowhere"]}, {"ports": ["abc"]}],
    ids=["key", "network", "port"],
)
def test_the_parser_of_compose_files_sees_faults(service: dict[str, Any]) -> None:
    """It refuses what Docker would refuse."""
    faulty = {"services": {"a": {"image": "x", **service}}}
    with pytest.raises(Exception, match=r"\w"):
        compose_spec.PyCompose.from_json(json.dumps(faulty)).validate()


def test_files_that_are_mounted_are_there() -> None:
    """What the compose file mounts from here exists, apart from what a reader is to make."""
    made_by_hand = {"./config", "./secrets/scrape-key"}
    mounts = [
        one.split(":")[0]
        for each in COMPOSE["services"].values()
        for one in each.get("volumes", ())
    ]
    mounts += [one["file"] for one in COMPOSE["secrets"].values()]
    for mount in {one for one in mounts if one.startswith("./")} - made_by_hand:
        assert (DEPLOY / mount).exists(), mount
    assert {one for one in mounts if not one.startswith("./")} == set(COMPOSE["volumes"])


def test_prometheus_and_grafana_find_what_they_read() -> None:
    """Targets are gates of the compose file; rules, key and dashboard are mounted for them."""
    services = COMPOSE["services"]
    settings = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text("utf-8"))
    (scraped,) = settings["scrape_configs"]
    targets = scraped["static_configs"][0]["targets"]
    assert {one.split(":")[0] for one in targets} == {one for one in services if "gate" in one}
    assert {one.split(":")[1] for one in targets} == {"8700"}
    assert scraped["job_name"] == "sureline"  # by this name the rules know who is down
    mounted = {one.split(":")[1] for one in services["prometheus"]["volumes"]}
    assert set(settings["rule_files"]) <= mounted
    (secret,) = services["prometheus"]["secrets"]
    assert scraped["authorization"]["credentials_file"] == f"/run/secrets/{secret}"
    folder = DEPLOY / "grafana/provisioning"
    source = yaml.safe_load((folder / "datasources/prometheus.yaml").read_text("utf-8"))
    assert source["datasources"][0]["url"] == "http://prometheus:9090"
    provider = yaml.safe_load((folder / "dashboards/sureline.yaml").read_text("utf-8"))
    shown = provider["providers"][0]["options"]["path"]
    assert any(one.split(":")[1].startswith(shown) for one in services["grafana"]["volumes"])


@pytest.mark.parametrize("name", OF_OURS)
def test_a_service_of_ours_can_do_little(name: str) -> None:
    """It has no capability, cannot gain one, and writes nowhere but to its database."""
    service = COMPOSE["services"][name]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["read_only"] is True


def test_nothing_listens_to_the_world() -> None:
    """Published ports are those of this machine, and the database has none."""
    services = COMPOSE["services"]
    published = [port for one in services.values() for port in one.get("ports", ())]
    assert published
    assert all(port.startswith("127.0.0.1:") for port in published)
    assert services["database"]["networks"] == ["inside"]
    assert COMPOSE["networks"]["inside"] == {"internal": True}


def test_no_secret_is_written_down() -> None:
    """Passwords and keys come from outside every recipe."""
    for path in (one for one in DEPLOY.rglob("*") if one.is_file()):
        text = path.read_text("utf-8")
        for found in re.findall(r"(?im)^\s*\w*(?:password|api_key)\w*\s*[:=]\s*(\S.*)$", text):
            assert found.startswith(("${", "$(")), f"{path.name}: {found}"


@pytest.mark.parametrize("manifest", MANIFESTS)
def test_a_manifest_is_sound(manifest: dict[str, Any]) -> None:
    """It follows the schema of Kubernetes, without a field that is not in it."""
    kubernetes_validate.validate(manifest, KUBERNETES, strict=True)
    assert manifest["metadata"]["labels"]["app.kubernetes.io/name"] == "sureline"


@pytest.mark.parametrize("manifest", MANIFESTS)
def test_a_pod_is_restricted(manifest: dict[str, Any]) -> None:
    """Pods keep to the profile `restricted`: no root, no capability, nothing written but /tmp."""
    for pod in pods(manifest):
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in pod["containers"]:
            own = container["securityContext"]
            assert own["allowPrivilegeEscalation"] is False
            assert own["readOnlyRootFilesystem"] is True
            assert own["capabilities"] == {"drop": ["ALL"]}
            assert container["resources"]["limits"]["memory"]
            mounted = {one["name"] for one in container["volumeMounts"]}
            assert mounted == {one["name"] for one in pod["volumes"]}


def test_selectors_find_pods() -> None:
    """Services, budgets and network policies select labels that pods carry."""
    found = [one.values[0] for one in MANIFESTS]
    carried = [one["spec"]["template"]["metadata"]["labels"] for one in found if [*pods(one)]]
    for one in found:
        spec = one["spec"]
        chosen = spec.get("selector", spec.get("podSelector"))
        if chosen is not None:
            labels = chosen.get("matchLabels", chosen)
            assert any(labels.items() <= each.items() for each in carried), one["metadata"]


def test_probes_ask_addresses_that_need_no_key() -> None:
    """A database that is away makes gates unready; it does not restart them."""
    deployments = [one.values[0] for one in MANIFESTS if one.values[0]["kind"] == "Deployment"]
    (gate,) = [one for one in deployments if one["metadata"]["name"] == "sureline-gate"]
    container = gate["spec"]["template"]["spec"]["containers"][0]
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
    assert container["ports"][0]["containerPort"] == 8700


@pytest.fixture(scope="module")
def units(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return copies of the units whose program is there."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    folder = tmp_path_factory.mktemp("units")
    for unit in UNITS:
        text = unit.read_text("utf-8").replace("/opt/sureline/bin/sureline", "/bin/true")
        (folder / unit.name).write_text(text, "utf-8")
    return [str(folder / unit.name) for unit in UNITS]


def test_units_are_sound(units: list[str]) -> None:
    """systemd understands every line."""
    done = subprocess.run(
        ["systemd-analyze", "verify", *units], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_units_are_hardened(units: list[str]) -> None:
    """By systemd's own reckoning they can do next to nothing beside their work."""
    for unit in units:
        done = subprocess.run(
            ["systemd-analyze", "security", "--offline=true", "--no-pager", unit],
            capture_output=True,
            text=True,
            check=False,
        )
        level = re.search(r"exposure level for \S+: (\d+\.\d)", done.stdout)
        assert level, done.stderr
        assert float(level[1]) <= MOST_EXPOSED


def test_units_differ_in_what_they_run() -> None:
    """Gate and worker are confined alike; what upgrades has nothing that they have not."""
    texts = {one.stem: one.read_text("utf-8").splitlines() for one in UNITS}
    upgrade = texts.pop("sureline-upgrade")
    serve = texts["sureline-serve"]
    different = {a.split("=")[0] for a, b in zip(*texts.values(), strict=True) if a != b}
    assert {one for one in different if not one.startswith("#")} == {"Description", "ExecStart"}
    own = {one.split("=")[0] for one in set(upgrade) - set(serve) if not one.startswith("#")}
    assert own == {"Description", "ExecStart", "Type"}
    confined = serve[serve.index("NoNewPrivileges=yes") : serve.index("[Install]")]
    assert set(confined) <= set(upgrade)


def _unused() -> Any:
    raise AssertionError("nothing is begun")


def test_nothing_is_killed_while_it_finishes() -> None:
    """Whoever stops us waits longer than requests, and then jobs and deliveries, may take."""
    working = WorkerThread("", _unused, settings=WorkerSettings(), check=_unused).stop_seconds
    longest = 2 * STOP_SECONDS + working
    assert working > SEND_SECONDS + ENDING_SECONDS
    for name in OF_OURS:
        assert int(COMPOSE["services"][name]["stop_grace_period"].removesuffix("s")) > longest
    for unit in UNITS:
        (found,) = re.findall(r"(?m)^TimeoutStopSec=(\d+)$", unit.read_text("utf-8"))
        assert int(found) > longest, unit
    for manifest in MANIFESTS:
        for pod in pods(manifest.values[0]) if manifest.values[0]["kind"] == "Deployment" else ():
            words = pod["containers"][0].get("lifecycle", {}).get("preStop", {}).get("exec", {})
            before = int(words["command"][-1]) if words else 0
            assert pod["terminationGracePeriodSeconds"] > before + longest


def test_the_image_is_of_a_wheel_and_not_of_root() -> None:
    """What is installed is locked by hash, and runs as a number that is not 0."""
    text = (DEPLOY / "Dockerfile").read_text("utf-8")
    assert "--require-hashes -r /tmp/runtime.txt" in text
    assert "COPY dist/*.whl" in text
    assert re.search(r"^USER [1-9]\d*$", text, re.MULTILINE)
    assert "http" not in text
