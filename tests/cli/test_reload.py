"""SIGHUP: each process is replaced by one that has read its files of settings again, and no request is lost."""

import base64
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from fe.http.app import PREFIX
from tests.cli.running import SECRETS, Fe, environment
from tests.ports import free_port
from tests.waiting import PATIENCE

pytestmark = pytest.mark.timeout(400)

KEYS = ["c" * 63 + "1", "d" * 63 + "2"]


@dataclass
class Running:
    process: "subprocess.Popen[str]"
    url: str
    file: Path
    lines: list[str] = field(default_factory=list)

    def listen(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as said:
            for line in said:
                self.lines.append(line)

    def await_lines(self, word: str, count: int) -> None:
        end = time.monotonic() + PATIENCE
        while sum(word in line for line in self.lines) < count:
            assert time.monotonic() < end, "".join(self.lines)
            assert self.process.poll() is None, "".join(self.lines)
            time.sleep(0.02)


@contextmanager
def running(fe: Fe, folder: Path, processes: int = 2) -> Iterator[Running]:
    file = folder / "http.env"
    file.touch(mode=0o600)
    url = f"127.0.0.1:{free_port()}"
    kept = {name: value for name, value in SECRETS.items() if name not in ("FE_KEK", "FE_JWT_KEYS")}
    write(file, {**kept, "FE_JWT_KEYS": f"a:{KEYS[0]}", "FE_DATABASE_URL": fe.dsn, "FE_METRICS_BIND": "127.0.0.1:0"})
    plain = {name: value for name, value in environment().items() if not name.startswith("FE_")}
    command = [sys.executable, "-m", "fe", "--env-file", str(file), "run", "--role", "http"]
    process = subprocess.Popen(
        [*command, "--processes", str(processes)],
        stderr=subprocess.PIPE,
        text=True,
        env={**plain, "FE_HTTP_BIND": url},
    )
    found = Running(process, f"http://{url}", file)
    thread = threading.Thread(target=found.listen, daemon=True)
    thread.start()
    try:
        found.await_lines('"serving"', processes)
        yield found
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0, "".join(found.lines)
    finally:
        process.kill()
        process.wait(PATIENCE)
        thread.join(PATIENCE)


def write(file: Path, settings: dict[str, str]) -> None:
    file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))


def key_of(token: str) -> str:
    """The id of the key that a token was signed with."""
    head = token.partition(".")[0]
    return str(json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))["kid"])


def test_reload_takes_a_rotated_secret_from_the_file_while_the_old_tokens_stay_good(
    fe: Fe, tmp_path: Path, tenant: str
) -> None:
    made = fe("key", "create", "--tenant", tenant, "--environment", "testecf", "--json").json
    credentials = {name: made[name] for name in ("apiKeyId", "apiSecret")}
    with (
        running(fe, tmp_path, processes=1) as served,
        httpx.Client(base_url=f"{served.url}{PREFIX}", timeout=PATIENCE) as client,
    ):
        before = client.post("/login", json=credentials).json()["accessToken"]
        text = served.file.read_text()
        served.file.write_text(text.replace(f"a:{KEYS[0]}", f"b:{KEYS[1]},a:{KEYS[0]}"))

        served.process.send_signal(signal.SIGHUP)
        served.await_lines('"a process was replaced"', 1)

        after = client.post("/login", json=credentials).json()["accessToken"]
        answers = [
            client.get("/ncf", headers={"Authorization": f"Bearer {token}"}).status_code for token in (before, after)
        ]
    assert (key_of(before), key_of(after)) == ("a", "b")
    assert answers == [200, 200]


def test_reload_with_settings_that_are_wrong_changes_nothing(fe: Fe, tmp_path: Path) -> None:
    with running(fe, tmp_path, processes=1) as served:
        served.file.write_text(served.file.read_text().replace(f"a:{KEYS[0]}", "a:short"))

        served.process.send_signal(signal.SIGHUP)
        served.await_lines("a new process did not come to serve", 1)

        assert any(line.startswith("fe: FE_JWT_KEYS: should be at least") for line in served.lines)
        assert httpx.get(f"{served.url}/readyz", timeout=PATIENCE).status_code == 200


def test_reload_loses_no_request_of_clients_that_ask_all_the_time(fe: Fe, tmp_path: Path) -> None:
    """One keeps its connection, the other opens one for each request."""
    failures: list[str] = []
    answered, over = Counter[bool](), threading.Event()

    def ask(url: str, kept_open: bool) -> None:
        client = httpx.Client(timeout=PATIENCE, trust_env=False)
        headers = {} if kept_open else {"Connection": "close"}
        with client:
            while not over.is_set():
                try:
                    status = client.get(f"{url}/healthz", headers=headers).status_code
                except httpx.TransportError as lost:
                    failures.append(repr(lost))
                else:
                    answered[kept_open] += 1
                    if status != 200:
                        failures.append(str(status))
                time.sleep(0.005)  # the processes that are replaced need the cores, too

    with running(fe, tmp_path) as served:
        clients = [threading.Thread(target=ask, args=(served.url, kept_open)) for kept_open in (False, True)]
        for one in clients:
            one.start()
        try:
            served.process.send_signal(signal.SIGHUP)
            served.await_lines('"a process was replaced"', 2)
        finally:
            over.set()
            for one in clients:
                one.join()

    assert failures == []
    assert min(answered[False], answered[True]) > 50
    assert len({line for line in served.lines if '"serving"' in line}) == 4


def test_parent_of_a_front_has_a_tenth_of_its_memory_and_no_secret_in_it(fe: Fe, tmp_path: Path) -> None:
    with running(fe, tmp_path, processes=1) as served:
        status = Path(f"/proc/{served.process.pid}/status").read_text()
        environ = Path(f"/proc/{served.process.pid}/environ").read_bytes() if os.geteuid() == 0 else b""

    (kilobytes,) = re.findall(r"VmRSS:\s+(\d+) kB", status)
    assert int(kilobytes) < 30_000
    assert KEYS[0].encode() not in environ
