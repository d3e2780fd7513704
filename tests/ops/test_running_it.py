"""The files that run the service, checked by their own tools: image, compose, units, manifests."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # ships no types

from fe.config import Settings, load_settings
from fe.config.start_checks import require_portal, require_startable
from tests.ops.material import PROMETHEUS, ROOT

OPS = ROOT / "ops"
UNITS = sorted((OPS / "systemd").glob("*.service"))
MANIFESTS = sorted(
    file for file in (OPS / "kubernetes").rglob("*.yaml") if file.name not in ("kustomization.yaml", "adapter.yaml")
)
COMPOSE = OPS / "compose" / "compose.yaml"

SYSTEMD = shutil.which("systemd-analyze")
needs_systemd = pytest.mark.skipif(
    SYSTEMD is None, reason="NOT PROVED HERE: that systemd takes the units (no systemd-analyze on this machine)"
)


def tool(*command: str) -> str:
    """Run a tool of the environment that tests run in; what it says."""
    at = Path(sys.executable).parent / command[0]
    ended = subprocess.run([at, *command[1:]], capture_output=True, text=True, timeout=300, cwd=ROOT)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout + ended.stderr


def documents(file: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(file.read_text(encoding="utf-8")))


def test_the_image_is_made_as_it_should_be() -> None:
    tool("hadolint", "--failure-threshold", "style", "Containerfile")
    lines = (ROOT / "Containerfile").read_text(encoding="utf-8")
    assert "\nUSER 10001:10001\n" in lines
    assert "\nHEALTHCHECK " in lines
    assert lines.count("--require-hashes") == 2


def test_the_image_is_given_what_it_copies() -> None:
    """Everything is left out but what .containerignore names, so what is copied has to be named there."""
    named = [
        line[1:] for line in (ROOT / ".containerignore").read_text(encoding="utf-8").splitlines() if line[:1] == "!"
    ]
    copied = [
        word
        for line in (ROOT / "Containerfile").read_text(encoding="utf-8").splitlines()
        if line.startswith("COPY ") and "--from" not in line
        for word in line.split()[1:-1]
    ]
    assert copied != []
    for one in copied:
        assert (ROOT / one).exists()
        assert any(name == one or name.startswith(f"{one}/") for name in named), one


def test_yaml_is_written_as_it_should_be() -> None:
    assert tool("yamllint", "--strict", "ops") == ""


def test_compose_takes_its_file() -> None:
    assert "ok" in tool("check-jsonschema", "--builtin-schema", "vendor.compose-spec", str(COMPOSE))


def test_the_parts_of_compose_can_start_and_find_each_other(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (compose,) = documents(COMPOSE)
    services = compose["services"]
    ours = {name: one for name, one in services.items() if one.get("image") == "fe:local"}

    assert ours.keys() == {"migrate", "authority", "front", "actors", "portal"}
    for service in ours.values():
        assert service["network_mode"] == "service:proxy"
        for name, value in service["environment"].items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("FE_DATA_DIR", str(tmp_path))
        settings = load_settings()
        require_startable(settings)
        if service["command"][0] == "run":
            require_portal(settings, service["command"][2])
        scraped = {settings.metrics_bind} if service["command"][0] == "run" else set()
        assert scraped <= set(targets())
        for name in service["environment"]:
            monkeypatch.delenv(name)
    for service in services.values():
        for volume in service.get("volumes", []):
            source = volume.partition(":")[0]
            assert (COMPOSE.parent / source).exists() if source.startswith(".") else source in compose["volumes"]
    assert "--web.user-assets=/etc/prometheus/runbooks" in services["prometheus"]["command"]


def targets() -> list[str]:
    (config,) = documents(PROMETHEUS / "prometheus.yml")
    return [
        target for job in config["scrape_configs"] for group in job["static_configs"] for target in group["targets"]
    ]


@needs_systemd
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_systemd_takes_a_unit(unit: Path, tmp_path: Path) -> None:
    assert SYSTEMD is not None
    # It looks whether the program is there.
    copy = tmp_path / unit.name
    copy.write_text(unit.read_text(encoding="utf-8").replace("/opt/fe/bin/fe", "/bin/true"), encoding="utf-8")
    ended = subprocess.run([SYSTEMD, "verify", "--man=no", str(copy)], capture_output=True, text=True, timeout=300)
    ours = [line for line in (ended.stdout + ended.stderr).splitlines() if unit.name in line]
    assert ours == []


@needs_systemd
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_unit_lets_processes_lower_their_priority(unit: Path) -> None:
    """`fe/process/cpu.py` does so in the pools; a denied call kills the process, and with it every large document."""
    assert SYSTEMD is not None
    denied: set[str] = set()
    text = unit.read_text(encoding="utf-8")
    for groups in re.findall(r"^SystemCallFilter=~(.*)$", text, re.MULTILINE):
        for group in groups.split():
            listed = subprocess.run([SYSTEMD, "syscall-filter", group], capture_output=True, text=True, check=True)
            denied.update(listed.stdout.split())

    assert bool(denied) == ("SystemCallFilter" in text)
    assert denied.isdisjoint({"setpriority", "sched_setscheduler", "@resources"})


@pytest.mark.parametrize("file", MANIFESTS, ids=lambda file: file.stem)
def test_kubernetes_takes_a_manifest(file: Path) -> None:
    said = tool("kubernetes-validate", "--strict", str(file))

    assert said.count(" passed for resource ") == len(documents(file))


def test_kustomize_names_what_there_is() -> None:
    (all_day,) = documents(OPS / "kubernetes" / "kustomization.yaml")
    (migrate,) = documents(OPS / "kubernetes" / "migrate" / "kustomization.yaml")
    # Reception and buyers' pages are resources to add.
    assert set(all_day["resources"]) == {file.name for file in MANIFESTS} - {
        "migrate.yaml",
        "reception.yaml",
        "share.yaml",
    }
    assert migrate["resources"] == ["migrate.yaml"]
    assert migrate["images"] == all_day["images"]


def test_pods_may_reach_the_ports_that_settings_name_by_default() -> None:
    every = [document for file in MANIFESTS for document in documents(file)]
    allowed = {
        one["metadata"]["name"]: {port["port"] for rule in one["spec"]["egress"] for port in rule["ports"]}
        for one in every
        if one["kind"] == "NetworkPolicy"
    }
    called = {int(port) for port in Settings.model_fields["egress_ports"].default.split(",")}

    assert allowed.keys() == {"fe-http", "fe-actors", "fe-portal", "fe-reception", "fe-share"}
    assert all({53, 5432, 4318} <= ports for ports in allowed.values())
    assert called <= allowed["fe-actors"]
    assert called <= allowed["fe-portal"]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_unit_reads_its_own_file_as_its_own_user(unit: Path) -> None:
    text = unit.read_text(encoding="utf-8")
    user = re.findall(r"^User=(.*)$", text, re.MULTILINE)
    file = re.findall(r"^ExecStart=/opt/fe/bin/fe --env-file /etc/fe/(\w+)\.env ", text, re.MULTILINE)

    assert user == [f"fe-{name}" for name in file] != []
    if "[Install]" in text:
        assert "ExecReload=/bin/kill -HUP $MAINPID" in text
        assert "RestartPreventExitStatus=3" in text


def containers() -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    for file in MANIFESTS:
        for document in documents(file):
            if document["kind"] in ("Deployment", "Job"):
                spec = document["spec"]["template"]["spec"]
                yield document["metadata"]["name"], spec, spec["containers"][0]


def test_pods_have_no_rights_and_no_secret_is_in_a_manifest() -> None:
    found = list(containers())
    assert [name for name, _, _ in found] == [
        "fe-actors",
        "fe-http",
        "fe-migrate",
        "fe-portal",
        "fe-reception",
        "fe-share",
    ]
    for name, spec, container in found:
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["automountServiceAccountToken"] is False
        locked = container["securityContext"]
        assert (locked["readOnlyRootFilesystem"], locked["allowPrivilegeEscalation"]) == (True, False)
        assert locked["capabilities"] == {"drop": ["ALL"]}
        assert container["envFrom"] == [{"secretRef": {"name": name.replace("migrate", "owner")}}]
        assert not {one["name"] for one in container.get("env", [])} & {"FE_KEK", "FE_JWT_KEYS", "FE_API_KEY_PEPPER"}


def test_front_and_actors_scale_apart_and_one_of_each_always_stays() -> None:
    every = [document for file in MANIFESTS for document in documents(file)]
    budgets = {
        one["metadata"]["name"]: one["spec"]["minAvailable"] for one in every if one["kind"] == "PodDisruptionBudget"
    }
    scaled = {one["metadata"]["name"]: one["spec"] for one in every if one["kind"] == "HorizontalPodAutoscaler"}

    assert budgets == {"fe-http": 1, "fe-actors": 1, "fe-portal": 1, "fe-reception": 1, "fe-share": 1}
    assert scaled.keys() == {"fe-http", "fe-actors"}
    (adapter,) = documents(OPS / "kubernetes" / "adapter.yaml")
    by = next(metric["external"] for metric in scaled["fe-actors"]["metrics"] if metric["type"] == "External")
    assert by["metric"]["name"] == adapter["rules"]["external"][0]["name"]["as"]


def test_what_the_pages_show_of_units_is_what_there_is() -> None:
    page = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
    for file in [*UNITS, *MANIFESTS]:
        assert file.name in page
