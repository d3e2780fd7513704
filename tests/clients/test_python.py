"""The Python client as it is published: its core, its version, what is in its wheel, and its check of webhooks."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import fe_client
import httpx
import pytest
from fe_client import WebhookRefusedError, verify_service_signature, verify_webhook
from fe_client.plans import written
from packaging.version import Version

import fe
from clients.generate import PYTHON_CORE, TYPESCRIPT, python_core
from clients.python_models import python_models
from fe.http.app import PREFIX
from fe.http.openapi.served import description
from tests.clients.snippets import CLIENTS
from tests.test_wheel import BUILD
from tests.webhooks.vectors import SECRET, VECTORS, Vector

PACKAGE = CLIENTS / "python"


def test_the_core_is_what_is_made_of_the_description() -> None:
    assert PYTHON_CORE.read_text(encoding="utf-8") == python_core(description()), "run: python -m clients.generate"


def test_the_types_of_schemas_are_those_of_their_values() -> None:
    amount = {"anyOf": [{"type": "number"}, {"type": "string"}]}
    schemas: dict[str, dict[str, Any]] = {
        "Either": {"oneOf": [{"$ref": "#/x/Report"}, {"$ref": "#/x/Later"}]},
        "Later": {"properties": {"amount": amount, "code": {"enum": ["1", None]}}, "required": ["amount"]},
        "Report": {
            "properties": {
                "from": {"type": ["string", "null"]},
                "rows": {"type": "array", "items": {"type": "object"}},
            },
            "required": ["from"],
        },
    }
    made: dict[str, Any] = {}
    exec(python_models(schemas), made)

    later, report = made["Later"], made["Report"]
    assert (later.__required_keys__, later.__optional_keys__) == ({"amount"}, {"code"})
    assert later.__annotations__["amount"] == made["Number"] | str
    assert made["Number"] == int | Decimal
    assert (report.__required_keys__, report.__optional_keys__) == ({"from"}, {"rows"})
    assert made["Either"] == "Report | Later"


def test_all_have_the_version_of_the_api() -> None:
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    package = json.loads((TYPESCRIPT / "package.json").read_text(encoding="utf-8"))
    locked = json.loads((TYPESCRIPT / "package-lock.json").read_text(encoding="utf-8"))
    index = (TYPESCRIPT / "src" / "index.ts").read_text(encoding="utf-8")

    told = {project["version"], fe_client.__version__, package["version"], locked["version"]}
    told |= {locked["packages"][""]["version"], description()["info"]["version"]}
    assert told == {fe.RELEASE, Version(fe.__version__).base_version}
    assert f"export const version = '{fe.RELEASE}';" in index


def test_the_lock_of_npm_says_what_by_its_hash_and_not_where_from() -> None:
    locked = json.loads((TYPESCRIPT / "package-lock.json").read_text(encoding="utf-8"))["packages"]

    installed = {name: each for name, each in locked.items() if name}
    assert [name for name, each in installed.items() if "integrity" not in each or "resolved" in each] == []
    assert all(each["dev"] for each in installed.values()), "nothing comes with the client"


@pytest.mark.parametrize("package", ["csharp", "java", "php", "python", "typescript"])
def test_the_licence_is_that_of_the_service(package: str) -> None:
    assert (CLIENTS / package / "LICENSE").read_bytes() == (CLIENTS.parent / "LICENSE").read_bytes()


def test_every_path_that_is_described_is_called_by_both_clients() -> None:
    described = {path.removeprefix(PREFIX).partition("{")[0] for path in description()["paths"]}
    for source in (PACKAGE / "fe_client", TYPESCRIPT / "src"):
        text = "".join(file.read_text(encoding="utf-8") for file in source.iterdir() if file.suffix in (".py", ".ts"))
        # The clients build this path from that of an endpoint.
        assert {path for path in described if path not in text} == {"/webhooks/rotate"}


def test_both_clients_have_the_same_calls() -> None:
    def calls(client: type) -> set[str]:
        return {name for name in vars(client) if not name.startswith("_")} - {"close", "aclose", "carry_out"}

    text = (TYPESCRIPT / "src" / "fe.ts").read_text(encoding="utf-8")
    names = {
        name: "".join(word.title() if nth else word for nth, word in enumerate(name.split("_")))
        for name in calls(fe_client.Fe)
    }
    assert calls(fe_client.AsyncFe) == calls(fe_client.Fe)
    assert {camel for camel in names.values() if f"  {camel}(" not in text and f"  async {camel}(" not in text} == set()


def test_a_wheel_holds_the_modules_and_their_types(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "from", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build"))
    built = subprocess.run(
        [sys.executable, *BUILD, "--wheel-dir", str(tmp_path), "."],
        cwd=tmp_path / "from",
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("fe_client-*.whl")

    with ZipFile(wheel) as archive:
        held = set(archive.namelist())
        (metadata,) = (archive.read(name).decode() for name in held if name.endswith("/METADATA"))
    assert {name for name in held if ".dist-info/" not in name} == {
        f"fe_client/{path.name}" for path in (PACKAGE / "fe_client").iterdir() if path.suffix == ".py"
    } | {"fe_client/py.typed"}
    assert any(name.endswith("/licenses/LICENSE") for name in held)
    needed = {line.split()[1].partition(">")[0] for line in metadata.splitlines() if line.startswith("Requires-Dist: ")}
    assert needed == {"anyio", "httpx"}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.name)
def test_a_webhook_is_judged_as_the_vectors_say(vector: Vector) -> None:
    if vector.valid:
        assert verify_webhook(SECRET, vector.headers, vector.body, now=vector.now)["event"] == "received_ecf"
    else:
        with pytest.raises(WebhookRefusedError):
            verify_webhook(SECRET, vector.headers, vector.body, now=vector.now)


def test_the_other_header_says_whether_the_body_is_the_one_that_was_signed() -> None:
    first = VECTORS[0]

    event = verify_service_signature(SECRET, first.headers, first.body)
    assert event["event"] == "received_ecf"
    assert event["receivedEcf"]["montoTotal"] == Decimal("1180.00")
    for body, secret in ((first.body + b" ", SECRET), (first.body, "whsec_" + "A" * 32)):
        with pytest.raises(WebhookRefusedError):
            verify_service_signature(secret, first.headers, body)


def test_amounts_are_written_with_every_digit_they_have() -> None:
    assert (
        written({"a": Decimal("118.50"), "b": Decimal("1E+3"), "c": "ñ"})
        == '{"a": "118.50", "b": "1000", "c": "ñ"}'.encode()
    )
    with pytest.raises(TypeError):
        written({"a": object()})
    with pytest.raises(ValueError, match="JSON"):
        written({"a": float("nan")})


class Service:
    """A service that takes in whatever it is sent, and keeps it."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.client = httpx.Client(transport=httpx.MockTransport(self.answer))

    def answer(self, request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/login"):
            return httpx.Response(200, json={"accessToken": "t", "expiresIn": 3600})
        self.sent.append(json.loads(request.content))
        items = [{"statusCode": 202} for _ in self.sent[-1].get("items", [])]
        return httpx.Response(202, json={"taxLogId": "1", "items": items})

    def fe(self, **options: Any) -> fe_client.Fe:
        return fe_client.Fe("http://service", "fak_0", "secret", http=self.client, **options)


def test_receipts_are_handed_in_strictly_unless_switched_off() -> None:
    service = Service()
    strict, lenient = service.fe(), service.fe(strict=False)

    strict.submit({})
    strict.submit({}, strict=False)
    lenient.submit({})
    lenient.batch([{"format": "structured", "payload": {}}], strict=True)

    assert [body["strict"] for body in service.sent] == [True, False, False, True]


def test_batch_is_cut_by_count_and_by_bytes() -> None:
    service = Service()
    small = [{"format": "structured", "payload": {}} for _ in range(1001)]
    large = [{"format": "xml", "xml": "x" * 400_000} for _ in range(5)]

    answers = service.fe().batch([*small, *large])

    assert [len(body["items"]) for body in service.sent] == [500, 500, 3, 2, 1]
    assert len(answers) == 1006


def test_unknown_options_and_members_raise() -> None:
    client = Service().fe()

    for call, said in (
        (lambda: client.submit({}, clientRequestID="x"), "clientRequestID"),  # type: ignore[call-arg]  # the point
        (lambda: client.batch([{"format": "xml", "client_request_id": "x"}]), "did you mean clientRequestId?"),
        (lambda: client.put_ncf({"prefix": "E31", "from": 1}), "put_ncf: there is no from"),  # type: ignore[typeddict-unknown-key]  # the point
        (lambda: client.change_ncf("E31", {"currentsequence": 5}), "currentSequence"),  # type: ignore[typeddict-unknown-key]  # the point
        (lambda: client.set_webhook({"url": "u", "event": []}), "did you mean events?"),  # type: ignore[typeddict-unknown-key]  # the point
        (lambda: Service().fe(Strict=True), "Strict"),
    ):
        with pytest.raises(TypeError, match=re.escape(said)):
            call()
