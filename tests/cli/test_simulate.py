import json
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from fe.simulator import FaultKind
from tests.cli.running import Fe, environment
from tests.cli.warm import warm_fe
from tests.waiting import PATIENCE


@contextmanager
def simulating(*args: str) -> Iterator[tuple[dict[str, Any], "subprocess.Popen[str]"]]:
    """A simulator on free ports: its addresses and its process."""
    command = [str(warm_fe()), "authority", "simulate", "--port", "0", "--management-port", "0", "--json"]
    process = subprocess.Popen([*command, *args], stdout=subprocess.PIPE, text=True, env=environment())
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline()), process
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)


def test_it_serves_until_sigterm_and_ends_well() -> None:
    with simulating() as (at, process):
        seed = httpx.get(f"{at['ecf']}/testecf/autenticacion/api/autenticacion/semilla", timeout=PATIENCE)
        management = httpx.get(f"{at['management']}/healthz", timeout=PATIENCE)

    assert seed.status_code == 200
    assert "<SemillaModel" in seed.text
    assert management.json() == {"status": "ok"}
    assert process.returncode == 0


def test_ping_finds_it(fe: Fe) -> None:
    with simulating() as (at, _):
        answered = fe("authority", "ping", "--environment", "certecf", authority_ecf_url=at["ecf"])

    assert answered.code == 0
    assert f"{at['ecf']} (certecf) answers, in " in answered.out


def test_its_state_may_lie_in_a_file_of_one_simulator(tmp_path: Path, fe: Fe) -> None:
    state = tmp_path / "state"
    with simulating("--state", str(state)):
        told = fe.refused("authority", "simulate", "--port", "0", "--management-port", "0", "--state", str(state))

    assert state.exists()
    assert str(state) in told


def test_a_seed_and_a_preset_choose_the_faults() -> None:
    with simulating("--faults", "mild", "--seed", "7") as (at, _):
        faults = httpx.get(f"{at['management']}/faults", timeout=PATIENCE).json()

    assert faults["plan"]["seed"] == 7


@pytest.mark.parametrize("answers", ["--answers", "--shapes"], ids=["as documented", "as it was called before"])
def test_its_ways_are_chosen_by_the_names_its_documentation_uses(answers: str) -> None:
    ways = ("--check", "signature", answers, "documented", "--messages", "live", "--availability", "1.6")
    with simulating(*ways) as (at, _):
        summaries = httpx.get(f"{at['fc']}/certecf/consultarfce/api/Consultas/Consulta", timeout=PATIENCE)

    assert summaries.status_code == 404, "by edition 1.6 that query is for production only"


def test_its_page_names_every_fault_and_its_examples_work(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "simulator.md").read_text(encoding="utf-8")
    orders = re.findall(r"^curl .*", page, re.MULTILINE)

    with simulating() as (at, _):
        answers = [
            subprocess.run(
                ["sh", "-c", order.replace("http://127.0.0.1:8091", at["management"])],
                cwd=tmp_path,  # they leave files
                capture_output=True,
                text=True,
                check=True,
                timeout=300,
            ).stdout
            for order in orders
        ]

    assert [kind for kind in FaultKind if f"`{kind}`" not in page] == []
    assert json.loads(answers[0])["kind"] == "reset-after"
    assert json.loads(answers[1])["windows"][0]["environment"] == "testecf"
    assert json.loads(answers[2]) == {"plan": None, "scripts": [], "windows": []}


def test_the_world_of_its_page_is_one(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "simulator.md").read_text(encoding="utf-8")
    match = re.search(r"```json\n(.*?)```", page, re.DOTALL)
    assert match is not None
    world = json.loads(match[1])
    del world["roots"]  # its certificate is abridged
    (tmp_path / "world.json").write_text(json.dumps(world))

    with simulating("--world", str(tmp_path / "world.json")) as (at, _):
        assert httpx.get(f"{at['management']}/healthz", timeout=PATIENCE).status_code == 200


def test_a_world_that_cannot_be_read_is_refused(tmp_path: Path, fe: Fe) -> None:
    (tmp_path / "world.json").write_text('{"ranges": [{"issuer": "1"}]}')

    told = fe.refused("authority", "simulate", "--world", str(tmp_path / "world.json"), "--port", "0")

    assert "ranges, entry 1" in told


def test_it_is_not_shown_to_other_machines_by_accident(fe: Fe) -> None:
    assert "--public-bind" in fe.refused("authority", "simulate", "--host", "0.0.0.0", "--port", "0", code=2)


def test_a_port_in_use_is_said_in_one_line(fe: Fe) -> None:
    with simulating() as (at, _):
        port = at["ecf"].rpartition(":")[2]
        told = fe.refused("authority", "simulate", "--port", port, "--management-port", "0")

    assert "in use" in told
