"""docs/webhooks.md: its recipes are run as they stand there, over every call of the fixed vectors."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, tzinfo
from pathlib import Path

import httpx
import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from fe.integrator.webhook.verify import check
from tests.ports import free_port
from tests.waiting import PATIENCE
from tests.webhooks.vectors import FILE, PAGE, SECRET, VECTORS, Vector

_NOT_HERE = "NOT PROVED HERE: there is no {} on this machine"
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason=_NOT_HERE.format("node"))
needs_php = pytest.mark.skipif(shutil.which("php") is None, reason=_NOT_HERE.format("php"))

#: By language: the file, what runs it, and a program that judges the vectors with the recipe's own check.
_PYTHON_JUDGE = """
import json, sys
from consumer import is_ours
given = json.load(open(sys.argv[1], encoding="utf-8"))
print(json.dumps([
    is_ours(given["secret"], {k.lower(): v for k, v in c["headers"].items()}, c["body"].encode(), c["now"])
    for c in given["calls"]
]))
"""
_NODE_JUDGE = """
const { isOurs } = require('./consumer.js');
const given = JSON.parse(require('fs').readFileSync(process.argv[2], 'utf8'));
const lower = (headers) => Object.fromEntries(Object.entries(headers).map(([k, v]) => [k.toLowerCase(), v]));
console.log(JSON.stringify(given.calls.map((c) => isOurs(given.secret, lower(c.headers), Buffer.from(c.body), c.now))));
"""
_PHP_JUDGE = """<?php
require 'consumer.php';
$given = json_decode(file_get_contents($argv[1]), true);
$judge = fn($c) => is_ours($given['secret'], array_change_key_case($c['headers']), $c['body'], $c['now']);
echo json_encode(array_map($judge, $given['calls']));
"""


def recipe(language: str) -> str:
    found: list[str] = re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(
    ("language", "file", "command", "judge"),
    [
        ("python", "consumer.py", [sys.executable, "judge"], _PYTHON_JUDGE),
        pytest.param("js", "consumer.js", ["node", "judge"], _NODE_JUDGE, marks=needs_node),
        pytest.param("php", "consumer.php", ["php", "judge"], _PHP_JUDGE, marks=needs_php),
    ],
)
def test_a_recipe_judges_every_vector_rightly(
    tmp_path: Path, language: str, file: str, command: list[str], judge: str
) -> None:
    (tmp_path / file).write_text(recipe(language), encoding="utf-8")
    (tmp_path / "judge").write_text(judge, encoding="utf-8")

    ended = subprocess.run([*command, str(FILE)], cwd=tmp_path, capture_output=True, text=True, timeout=300)

    assert ended.returncode == 0, ended.stderr
    assert dict(zip([each.name for each in VECTORS], json.loads(ended.stdout), strict=True)) == {
        each.name: each.valid for each in VECTORS
    }


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.name)
def test_the_library_of_standard_webhooks_judges_them_alike(vector: Vector, monkeypatch: pytest.MonkeyPatch) -> None:
    class AsTheVectorSays(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.fromtimestamp(vector.now, tz)

    monkeypatch.setattr("standardwebhooks.webhooks.datetime", AsTheVectorSays)

    if vector.valid:
        assert Webhook(SECRET).verify(vector.body, vector.headers)["event"] == "received_ecf"
    else:
        with pytest.raises((WebhookVerificationError, ValueError)):
            Webhook(SECRET).verify(vector.body, vector.headers)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.name)
def test_fe_webhook_listen_judges_them_alike(vector: Vector) -> None:
    headers = {name.lower(): value for name, value in vector.headers.items()}

    assert check(SECRET, headers, vector.body, datetime.fromtimestamp(vector.now, UTC)).is_valid is vector.valid


def test_the_vector_of_standard_webhooks_itself_is_what_we_call_valid() -> None:
    """From the specification's own libraries, which all carry it."""
    headers = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    at = datetime.fromtimestamp(1614265330, UTC)

    assert check(SECRET, headers, b'{"test": 2432232314}', at).standard is None
    assert check(SECRET, headers, b'{"test": 2432232315}', at).standard is not None


def test_what_the_page_shows_of_the_first_vector_is_what_it_is() -> None:
    page, first = PAGE.read_text(encoding="utf-8"), VECTORS[0]

    shown = dict(re.findall(r"^\| `?([\w-]+)`? \| `([^`]+)` \|$", page, re.M))
    assert shown.pop("secret") == SECRET
    named = {name: value for name, value in first.headers.items() if name.startswith(("webhook-", "X-Service-Sig"))}
    assert {name: shown[name] for name in named} == named


@contextmanager
def consuming(command: list[str], folder: Path) -> Iterator[str]:
    """A recipe that serves: its address."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "WEBHOOK_SECRET": SECRET, "PORT": "0"},
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate(timeout=120)


@pytest.mark.parametrize(
    ("language", "command"),
    [
        ("python", [sys.executable, "consumer"]),
        pytest.param("js", ["node", "consumer"], marks=needs_node),
    ],
)
def test_a_recipe_stores_a_call_once_and_refuses_a_false_one(tmp_path: Path, language: str, command: list[str]) -> None:
    (tmp_path / "consumer").write_text(recipe(language), encoding="utf-8")

    with consuming(command, tmp_path) as url:
        _stores_once(tmp_path, url, "01996f3a-6c00-7000-8000-0000000000d1")


@contextmanager
def serving_php(folder: Path) -> Iterator[str]:
    """The recipe behind the web server that comes with PHP, once it answers: its address."""
    port = free_port()
    command = ["php", "-S", f"127.0.0.1:{port}", "consumer.php"]
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "WEBHOOK_SECRET": SECRET},
    )
    try:
        deadline = time.monotonic() + PATIENCE
        while not _listens(port):
            assert process.poll() is None, "php ended before it answered"
            assert time.monotonic() < deadline, "php does not answer"
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.kill()
        process.wait(timeout=30)


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


@needs_php
def test_the_recipe_of_php_stores_a_call_once_and_refuses_a_false_one(tmp_path: Path) -> None:
    (tmp_path / "consumer.php").write_text(recipe("php"), encoding="utf-8")
    (tmp_path / "inbox").mkdir()
    call = "01996f3a-6c00-7000-8000-0000000000d1"

    with serving_php(tmp_path) as url:
        _stores_once(tmp_path, url, call)
        (tmp_path / "inbox" / f"{call}.json").unlink()
        (tmp_path / "inbox").rmdir()
        body = b'{"event":"received_ecf"}'
        unstored = httpx.post(url, content=body, headers=_signed_now(call, body.decode()), trust_env=False)

    assert unstored.status_code == 500, "what could not be kept is not confirmed"


def _stores_once(folder: Path, url: str, call: str) -> None:
    body = '{"event":"received_ecf","sentAt":"2026-11-06T14:15:30.000Z","receivedEcf":{"montoTotal":1180.00}}'
    headers = _signed_now(call, body)

    answers = [
        httpx.post(url, content=content, headers=headers, trust_env=False, timeout=PATIENCE).status_code
        for content in (body.encode(), body.encode(), body.replace("1180", "1181").encode())
    ]

    assert answers == [204, 204, 401]
    (stored,) = (folder / "inbox").iterdir()
    assert stored.name == f"{call}.json"
    assert stored.read_bytes() == body.encode()


def _signed_now(call: str, body: str) -> dict[str, str]:
    at = datetime.fromtimestamp(int(time.time()), UTC)
    signature = Webhook(SECRET).sign(call, at, body)
    return {"webhook-id": call, "webhook-timestamp": str(int(at.timestamp())), "webhook-signature": signature}
