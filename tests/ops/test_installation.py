"""Run docs/deployment.md and docs/operations.md on an empty machine, from the first command to the first receipt.

The machine is an overlay over this one's root, in namespaces of its own: users, /etc and /opt that the pages write
vanish with it, and every port is free. It has no systemd: a script stands for `systemctl` and starts what the installed
units name, as the users that they name. Postgres runs outside; the authority is `fe authority simulate`.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from fe.ecf.selfmade import to_p12
from tests.factories.companies import credential_of_today
from tests.ops.material import ROOT
from tests.servers import start_server
from tests.system.test_road import invoice
from tests.test_wheel import wheel

__all__ = ["wheel"]

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

#: Builds the machine in the folder $1 (with $2, the folder of Postgres) and lives until standard input ends.
MAKE = """
mount -t tmpfs machine "$1"
cd "$1"
mkdir upper work root
mount -t overlay machine -o lowerdir=/,upperdir=upper,workdir=work root
mount -t proc proc root/proc
mount --rbind /dev root/dev
mount -t tmpfs machine root/run
mkdir -p "root$2"
mount --bind "$2" "root$2"
ip link set lo up
echo made
exec cat
"""

#: Stands for systemctl: what `systemctl start` and `enable --now` do with a unit's User and ExecStart.
SYSTEMCTL = """#!/bin/sh -eu
cd /
[ "$1" != daemon-reload ] || exit 0
[ "$1" != enable ] || shift
shift
for unit; do
    file=/etc/systemd/system/$unit.service
    user=$(sed -n 's/^User=//p' "$file")
    command=$(sed -n 's/^ExecStart=//p' "$file")
    if grep -q '^Type=oneshot' "$file"; then
        runuser -u "$user" -- $command
    else
        runuser -u "$user" -- $command >"/var/log/$unit.log" 2>&1 </dev/null &
    fi
done
"""

#: A tenant's program: sends the receipt of standard input, waits for its verdict and prints it.
CLIENT = """
import json, sys, time, urllib.request

def call(method, path, body=None, token=None):
    request = urllib.request.Request("http://127.0.0.1:8080/api/v1/fe" + path, method=method)
    request.add_header("Content-Type", "application/json")
    if token:
        request.add_header("Authorization", "Bearer " + token)
    return json.load(urllib.request.urlopen(request, None if body is None else json.dumps(body).encode()))

end = time.monotonic() + 60
while True:
    try:
        login = call("POST", "/login", {"apiKeyId": sys.argv[1], "apiSecret": sys.argv[2]})
        break
    except OSError:
        if time.monotonic() > end:
            raise
        time.sleep(0.2)
token = login["accessToken"]
taken = call("POST", "/invoices", {"format": "structured", "payload": json.load(sys.stdin)}, token)
found = {"status": "queued"}
while found["status"] in ("queued", "En Proceso") and time.monotonic() < end:
    found = call("GET", "/invoices/" + taken["taxLogId"] + "?wait=20", token=token)
print(found["status"], found)
"""


class Machine:
    """An empty machine; `run` runs a script on it as root."""

    def __init__(self, folder: Path, postgres: Path) -> None:
        self.folder = folder
        namespaces = ("--mount", "--pid", "--net", "--fork", "--kill-child", "--propagation", "private")
        self.holder = subprocess.Popen(
            ["unshare", *namespaces, "sh", "-euc", MAKE, "sh", folder, postgres],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self.holder.stdout is not None
        said = self.holder.stdout.readline()
        if said != "made\n":
            said += self.end()
            pytest.skip(f"NOT PROVED HERE: the installation pages (no overlay in namespaces: {said.strip()})")
        children = Path(f"/proc/{self.holder.pid}/task/{self.holder.pid}/children").read_text(encoding="utf-8")
        self.init = children.split()[0]

    def run(self, script: str, *args: str, typed: str = "", online: bool = False) -> str:
        """Run a script, which must succeed. `online`: on the network of the real machine, for pip."""
        spaces = ["--mount", "--pid"] if online else ["--mount", "--pid", "--net"]
        pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_") or "proxy" in name.lower()}
        ended = subprocess.run(
            [
                *("nsenter", f"--target={self.init}", *spaces, "chroot", f"{self.folder}/root"),
                *("sh", "-c", 'cd /root && exec sh -eu -c "$0" sh "$@"', script, *args),
            ],
            input=typed,
            env={"PATH": PATH, "HOME": "/root", "LANG": "C.UTF-8", **(pip if online else {})},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert ended.returncode == 0, f"{script}\n{ended.stdout}{ended.stderr}"
        return ended.stdout

    def write(self, path: str, content: bytes | str, mode: int = 0o644) -> None:
        """Write a file of the machine."""
        file = Path(f"/proc/{self.init}/root{self.folder}/root{path}")
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        file.chmod(mode)

    def end(self) -> str:
        """End every process of the machine; return what building it printed."""
        return self.holder.communicate(timeout=60)[0]


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[tuple[Machine, str]]:
    """An empty machine, and the DSN of a Postgres that it reaches."""
    missing = [tool for tool in ("unshare", "nsenter", "chroot", "ip", "openssl", "runuser") if not shutil.which(tool)]
    if sys.platform != "linux" or os.geteuid() != 0 or missing:
        pytest.skip(f"NOT PROVED HERE: the installation pages (they need root on Linux; missing: {missing})")
    python = subprocess.run(
        ["python3", "-c", "import ensurepip, venv, sys; sys.exit(sys.version_info < (3, 11))"],
        env={"PATH": PATH},
        capture_output=True,
    )
    if python.returncode != 0:
        pytest.skip("NOT PROVED HERE: the installation pages (no Python 3.11 of the system with venv)")
    with tempfile.TemporaryDirectory(prefix="fe-tests-") as data:
        Path(data).chmod(0o755)
        server = start_server(Path(data))
        (Path(data) / "data").chmod(0o711)  # its socket is in there, and users of the units must reach it
        made = Machine(tmp_path, Path(data))
        try:
            yield made, server
        finally:
            made.end()


def blocks(page: str, language: str = "sh") -> list[str]:
    """The blocks of a page in its order, without their indent."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    found = re.findall(rf"^( *)```{language}\n(.*?)^\1```", text, re.DOTALL | re.MULTILINE)
    return [re.sub(rf"^{indent}", "", block, flags=re.MULTILINE) for indent, block in found]


def block(name: str) -> str:
    """The block of docs/deployment.md that begins with this comment."""
    (found,) = (one for one in blocks("deployment.md") if one.startswith(f"# {name}\n"))
    return found


@pytest.mark.drill
@pytest.mark.timeout(600)
def test_empty_machine_installed_as_the_pages_say_issues_its_first_receipt(
    machine: tuple[Machine, str], wheel: Path
) -> None:
    host, server = machine
    host.write("/usr/local/bin/systemctl", SYSTEMCTL, 0o755)
    host.write(f"/root/{wheel.name}", wheel.read_bytes())
    host.write("/root/run.lock", (ROOT / "requirements" / "run.lock").read_bytes())
    assert host.run(block("install a release"), online=True).splitlines()[-1].startswith("fe")
    host.run(block("users and units"))

    where = conninfo_to_dict(server)
    address = quote(str(where["host"]), safe="") + (f":{where['port']}" if where.get("port") else "")
    for database, statements in zip(("postgres", "fe"), blocks("operations.md", "sql"), strict=True):
        with psycopg.connect(make_conninfo(server, dbname=database), autocommit=True) as admin:
            for statement in statements.split(";\n"):
                if statement.strip():
                    admin.execute(statement.encode())
    of_operations = blocks("operations.md")
    (files,) = (one for one in of_operations if "cat > http.env" in one)
    tenant = [one for one in of_operations if "--env-file /etc/fe/operator.env" in one]
    assert len(tenant) == 4
    host.run(files.replace("db.internal/fe", f"{address}/fe"))

    # The authority is simulated, on ports of this machine alone, and only development may name such hosts.
    ports = {"ECF": 8090, "FC": 8092, "STATUS": 8093}
    simulate = "fe authority simulate --summary-port 8092 --status-port 8093"
    host.run(f"FE_DEVELOPMENT=1 {simulate} >/var/log/authority 2>&1 &")
    hosts = "".join(f"FE_AUTHORITY_{name}_URL=http://127.0.0.1:{port}\n" for name, port in ports.items())
    host.run("cd /etc/fe; tee -a actors.env >>operator.env", typed=f"FE_DEVELOPMENT=1\n{hosts}")
    host.run("install -d -o fe-actors /var/fe; echo FE_DATA_DIR=/var/fe >>/etc/fe/actors.env")

    host.run(block("start"))
    host.write("/root/signer.p12", to_p12(credential_of_today(), "of the signer"))
    host.write("/root/passphrase", "of the signer\n", 0o600)
    said = "".join(host.run(one) for one in tenant)
    (key,) = re.findall(r"^apiKeyId +(fak_\w+)$", said, re.MULTILINE)
    (secret,) = re.findall(r"^apiSecret +([0-9a-f]{64})$", said, re.MULTILINE)

    host.write("/root/client.py", CLIENT)
    verdict = host.run('python3 client.py "$@"', key, secret, typed=json.dumps(invoice(1)))
    log = host.run("cat /var/log/fe-*.log /var/log/authority")
    assert verdict.startswith("Aceptado "), verdict + log
    users = host.run("ps -eo user:20=,args= | grep '[/]opt/fe/bin/fe'")
    assert {"fe-http", "fe-actors"} <= set(users.split()), users
