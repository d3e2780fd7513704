"""Clients that the registries' own generators make of the description: made without a warning, checked by the compilers
of their languages, and walked from the login to a verdict. And the collection, read by Postman's own library.

What is of npm is installed into a temporary folder from its lock. Where there is no node, npm or registry, the tests
that want it say loudly that they proved nothing.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import trio

from fe.accounts.provision import create_key
from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.json_text import write_json
from fe.ecf.signature import verify
from fe.http.app import PREFIX
from fe.http.openapi.collection import collection
from fe.http.openapi.served import description
from fe.workbooks.report import XLSX
from tests.clients.npm import install
from tests.clients.receipts import of_type
from tests.system.stack import Stack, running_stack

HERE = Path(__file__).parent
#: Media types that its Python generator does not know: docs/api/README.md says so.
FILES = ("application/pdf", "application/xml", "application/zip", "text/plain", "image/png", "image/svg+xml", XLSX)
#: Not a measure: what hangs is ended.
LONG = 300
#: A stack that is cancelled in the middle of what it does leaves things to the garbage collector.
pytestmark = [
    pytest.mark.drill,
    pytest.mark.timeout(1500),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def run(*command: str, cwd: Path) -> str:
    """Run a program to a good end, and give what it said."""
    ended: subprocess.CompletedProcess[str] = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=LONG
    )
    assert ended.returncode == 0, f"{command}: {ended.stdout[-4000:]}\n{ended.stderr[-4000:]}"
    return ended.stdout + ended.stderr


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The description, as a file."""
    file = tmp_path_factory.mktemp("described") / "openapi.json"
    file.write_bytes(write_json(description()))
    return file


@pytest.fixture(scope="module")
def python_client(described: Path) -> Path:
    """A folder with the package `generated` and the walk beside it."""
    folder = described.parent / "python"
    # Its output is formatted by ruff otherwise, which changes nothing that is looked at here.
    config = described.parent / "generator.yaml"
    overrides = "".join(f"  {kind}: application/octet-stream\n" for kind in FILES)
    config.write_text(f"post_hooks: []\npackage_name_override: generated\ncontent_type_overrides:\n{overrides}")
    command = ("openapi_python_client", "generate", "--path", str(described), "--output-path", str(folder))
    said = run(sys.executable, "-m", *command, "--config", str(config), "--fail-on-warning", cwd=described.parent)
    assert "arning" not in said, said
    shutil.copy(HERE / "walk_python" / "walk.py", folder)
    return folder


@pytest.fixture(scope="module")
def node_packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what `walk_typescript/package-lock.json` names, and the walk."""
    folder = tmp_path_factory.mktemp("npm") / "walk"
    shutil.copytree(HERE / "walk_typescript", folder)
    install(folder, "ci")
    return folder


@pytest.fixture(scope="module")
def typescript_client(described: Path, node_packages: Path) -> Path:
    """The folder with the compiled walk; compiling checks the types."""
    said = run("node_modules/.bin/openapi-typescript", str(described), "-o", "description.ts", cwd=node_packages)
    assert "arning" not in said, said
    said = run("node_modules/.bin/tsc", "--project", ".", cwd=node_packages)
    assert not said, said
    return node_packages


def test_the_python_client_has_the_types_it_says(python_client: Path) -> None:
    said = run(
        *(sys.executable, "-m", "mypy", "--strict", "--config-file", "/dev/null"),
        *("--cache-dir", str(python_client / "cache"), "generated", "walk.py"),
        cwd=python_client,
    )

    assert "Success" in said


def test_python_client_has_every_operation(python_client: Path) -> None:
    modules = {file.stem for file in (python_client / "generated" / "api").rglob("*.py") if file.stem != "__init__"}

    assert modules == {re.sub(r"(?=[A-Z0-9])(?<![0-9])", "_", one).lower() for one in _operations()}


def test_typescript_client_has_every_operation(typescript_client: Path) -> None:
    text = (typescript_client / "description.ts").read_text(encoding="utf-8")

    assert [one for one in _operations() if f"\n    {one}: {{\n        parameters" not in text] == []


#: Other generators of TypeScript: the options of each, and the file that has the functions.
MORE_TYPESCRIPT = {
    "openapi-ts": (("--input", "openapi.json", "--output", "hey"), "hey/sdk.gen.ts"),  # of Hey API
    "orval": (("--input", "./openapi.json", "--output", "./orval.ts"), "orval.ts"),
}


@pytest.fixture(scope="module")
def more_packages(described: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the description, and what `more_typescript/package-lock.json` names."""
    folder = tmp_path_factory.mktemp("npm") / "more"
    shutil.copytree(HERE / "more_typescript", folder)
    shutil.copy(described, folder)
    install(folder, "ci")
    return folder


@pytest.mark.parametrize("generator", MORE_TYPESCRIPT)
def test_client_of_another_generator_has_every_operation(generator: str, more_packages: Path) -> None:
    options, made = MORE_TYPESCRIPT[generator]
    run(f"node_modules/.bin/{generator}", *options, cwd=more_packages)
    text = (more_packages / made).read_text(encoding="utf-8")

    assert [one for one in _operations() if f"export const {one} = " not in text] == []
    sys.stdout.write(f"{generator}: {len(_operations())} operations\n")


def _operations() -> list[str]:
    return [each["operationId"] for path in description()["paths"].values() for each in path.values()]


async def test_both_walk_from_the_login_to_ten_verdicts_and_understand_a_refusal(
    python_client: Path, dsn: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    try:
        typescript: Path | None = request.getfixturevalue("typescript_client")
        missing = ""
    except pytest.skip.Exception as skipped:  # what needs no npm is proved all the same
        typescript, missing = None, str(skipped)
    async with running_stack(dsn, tmp_path) as stack:
        credentials = await _credentials(stack)
        seen = json.loads(await _walk(python_client, sys.executable, "walk.py", *credentials))
        _look_at(seen, 1)
        if typescript is not None:
            seen = json.loads(await _walk(typescript, "node", "out/walk.js", *credentials))
            _look_at(seen, 3)  # one more was among those of every type
    if missing:
        pytest.skip(missing)


async def _credentials(stack: Stack) -> tuple[str, str, str]:
    """Where the service is, and a key of its own."""
    assert stack.settings.api_key_pepper is not None
    pepper = bytes.fromhex(stack.settings.api_key_pepper.get_secret_value())
    key = await stack.db.transact(create_key, stack.tenant, Environment.TESTECF, pepper=pepper)
    return stack.base_url.removesuffix(PREFIX), key.record.api_key_id, key.secret


async def _walk(folder: Path, *command: str) -> bytes:
    bodies = [{"format": "structured", "payload": of_type(ecf_type)} for ecf_type in EcfType]
    ended = await trio.run_process(
        command,
        cwd=folder,
        stdin=write_json(bodies),
        capture_stdout=True,
        capture_stderr=True,
        check=False,
        env=_without_proxies(),
    )
    assert ended.returncode == 0, (ended.stdout, ended.stderr)
    return ended.stdout


def _without_proxies() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}


def _look_at(seen: dict[str, Any], number: int) -> None:
    assert seen["environment"] == "testecf"
    assert seen["sequence"] in seen["prefixes"]
    assert seen["eNCF"] == f"E31{number:010}"
    assert seen["status"] == "Aceptado"
    assert seen["listed"][0] == seen["taxLogId"]
    assert verify(seen["xml"].encode()).security_code == seen["securityCode"]
    assert seen["refused"] is True
    assert "DetallesItems.Item[1].PrecioUnitarioItem" in seen["problems"]
    assert seen["valid"] is False
    assert [(e_ncf[:3], status) for e_ncf, status in seen["more"]] == [
        (ecf_type.prefix, "Aceptado") for ecf_type in EcfType
    ]


READ = """
const { Collection } = require("postman-collection");
const collection = new Collection(JSON.parse(require("fs").readFileSync(process.argv[1], "utf8")));
const seen = [];
collection.forEachItem((item) => seen.push({
  id: item.id,
  name: item.name,
  method: item.request.method,
  path: item.request.url.getPath({ unresolved: true }),
  host: item.request.url.getHost(),
  body: item.request.body ? JSON.parse(item.request.body.raw) : null,
  auth: item.request.auth ? item.request.auth.type : item.getAuth().type,
  responses: item.responses.map((response) => ({ code: response.code, body: response.body ? response.json() : null })),
}));
console.log(JSON.stringify(seen));
"""


def test_postmans_library_reads_the_collection_and_finds_every_operation_with_its_examples(
    node_packages: Path,
) -> None:
    made = description()
    file = node_packages / "collection.json"
    file.write_text(json.dumps(collection(made)))

    seen = json.loads(run("node", "-e", READ, str(file), cwd=node_packages))

    assert {item["host"] for item in seen} == {"{{FE_URL}}"}
    wanted = {
        operation["operationId"]: (path, method.upper(), operation)
        for path, operations in made["paths"].items()
        for method, operation in operations.items()
    }
    assert {item["id"].partition("-")[0] for item in seen} == wanted.keys()
    for item in seen:
        path, method, operation = wanted[item["id"].partition("-")[0]]
        assert (item["method"], PREFIX + item["path"]) == (method, path.replace("{", ":").replace("}", ""))
        assert item["auth"] == ("bearer" if operation.get("security") else "noauth")
        assert (item["body"] is None) == ("requestBody" not in operation)
        assert {str(response["code"]) for response in item["responses"]} == set(operation["responses"])


#: Operations whose request may be skipped: a fresh company has no data for them.
NOT_YET = {
    "getDelivery",
    "getImport",
    "getImportWorkbook",
    "getPaperReceipt",
    "getReceived",
    "getReceivedPdf",
    "getReceivedQrPng",
    "getReceivedQrSvg",
    "getReceivedTicket",
    "getReceivedXml",
    "getVoiding",
    "getVoidingXml",
}


async def test_collection_run_by_a_fresh_company_answers_everywhere_and_changes_no_setting(
    node_packages: Path, dsn: str, tmp_path: Path
) -> None:
    made = collection(description())
    async with running_stack(dsn, tmp_path / "data", authority_simulated=True) as stack:
        for ecf_type in EcfType:
            assert (await stack.client.delete(f"/ncf/{ecf_type.prefix}")).status_code == 200
        await stack.client.put("/webhooks", json={"url": "https://example.com/hook", "headers": {"X-Mine": "1"}})
        webhooks, sequences = await _settings(stack)
        _, key, secret = await _credentials(stack)
        run_of = await _newman(stack, node_packages, made, key, secret)
        again = await stack.client.post("/login", json={"apiKeyId": key, "apiSecret": secret})
        after = await _settings(stack)

    assert again.status_code == 200  # the key is as good as before
    assert sequences == []
    assert after == (webhooks, [ecf_type.prefix for ecf_type in EcfType])
    folders = {folder["name"]: {item["id"] for item in folder["item"]} for folder in made["item"]}
    sent = {each["item"]["id"] for each in run_of["executions"] if "response" in each}
    story, types, outcomes, reading, changes = folders.values()
    assert story | types | outcomes <= sent
    assert changes.isdisjoint(sent)
    assert {name.partition("-")[0] for name in reading - sent} <= NOT_YET
    # Every request that was sent has its check, and none was sent twice.
    assert run_of["stats"]["requests"]["total"] == run_of["stats"]["assertions"]["total"] == len(sent)


async def test_collection_run_with_a_key_of_production_issues_nothing(
    node_packages: Path, dsn: str, tmp_path: Path
) -> None:
    made = collection(description())
    async with running_stack(dsn, tmp_path / "data", environment=Environment.ECF, authority_simulated=True) as stack:
        for ecf_type in EcfType:
            assert (await stack.client.delete(f"/ncf/{ecf_type.prefix}")).status_code == 200
        run_of = await _newman(stack, node_packages, made, *stack.key)
        _, sequences = await _settings(stack)
        listed = (await stack.client.get("/invoices")).json()

    sent = {each["item"]["id"].partition("-")[0] for each in run_of["executions"] if "response" in each}
    assert {"login", "validateInvoice", "listInvoices", "getUsage"} <= sent
    assert sent.isdisjoint({"putSequence", "submitInvoice", "submitInvoiceBatch"})
    assert sequences == []
    assert listed["items"] == []


async def _newman(stack: Stack, packages: Path, made: dict[str, Any], key: str, secret: str) -> Any:
    """Run the collection to its end without a failure, and return newman's report."""
    file, report = packages / "collection.json", packages / "report.json"
    file.write_text(json.dumps(made))
    names = {"FE_URL": stack.base_url, "FE_API_KEY_ID": key, "FE_API_SECRET": secret}
    ended = await trio.run_process(
        [
            "node_modules/.bin/newman",
            *("run", str(file), "--reporters", "json", "--reporter-json-export", str(report)),
            *(word for name, value in names.items() for word in ("--env-var", f"{name}={value}")),
        ],
        cwd=packages,
        capture_stdout=True,
        capture_stderr=True,
        check=False,
        env=_without_proxies(),
    )
    run_of = json.loads(report.read_text())["run"]
    failures = [(failure["source"]["name"], failure["error"]["message"]) for failure in run_of["failures"]]
    assert ended.returncode == 0, failures
    return run_of


async def _settings(stack: Stack) -> tuple[Any, list[str]]:
    """The settings that an accident would change: the webhooks, and the sequences, by their prefixes."""
    sequences = (await stack.client.get("/ncf")).json()["items"]
    return (await stack.client.get("/webhooks")).json(), [one["prefix"] for one in sequences]
