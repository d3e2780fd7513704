"""The TypeScript client: built as it is published, in trouble, and its core compared with the description."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import trio

from clients.generate import TYPESCRIPT, TYPESCRIPT_CORE, typescript_core
from fe.ecf.catalogue import EcfType
from fe.ecf.signature import verify
from fe.http.openapi.served import description
from tests.clients.package import built
from tests.clients.receipts import PRINTS, of_days_before, of_type
from tests.clients.snippets import environment
from tests.clients.speaker import Speaker, assert_judged_as_the_vectors_say
from tests.clients.troubles import TROUBLES, Trouble, play
from tests.system.stack import running_stack
from tests.webhooks.vectors import VECTORS

DRIVER = Path(__file__).with_name("driver.mjs")
ROAD = Path(__file__).with_name("road.mjs")
#: Public address of the buyers' page.
BUYERS = "https://facturas.example.do"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("npm"))


def speaker(package: Path, *more: str) -> Speaker:
    return Speaker("node", str(DRIVER), str(package / "dist" / "index.js"), *more)


@pytest.fixture(scope="module")
def node(package: Path) -> Iterator[Speaker]:
    with speaker(package) as node:
        yield node


@pytest.mark.parametrize(
    "trouble", [each for each in TROUBLES if "typescript" not in each.not_of], ids=lambda trouble: trouble.name
)
def test_a_trouble_is_borne_or_told_as_what_it_is(trouble: Trouble, node: Speaker) -> None:
    play(trouble, node.drive)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # as in tests/system/test_road.py
async def test_the_client_goes_from_nothing_to_ten_verdicts_and_a_refusal(
    package: Path, dsn: str, tmp_path: Path
) -> None:
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "fe-client").symlink_to(package)
    shutil.copy(ROAD, tmp_path)
    receipts = {ecf_type.prefix: of_type(ecf_type) for ecf_type in EcfType}
    began = datetime.now(UTC)
    async with running_stack(dsn, tmp_path / "data", authority_simulated=True, share_url=BUYERS) as stack:
        ended = await trio.run_process(
            ["node", ROAD.name],
            stdin=json.dumps(receipts).encode(),
            cwd=tmp_path,
            env=environment(stack.base_url, stack.key),
            capture_stdout=True,
            capture_stderr=True,
            check=False,
        )
    assert ended.returncode == 0, ended.stderr.decode()
    _walked(json.loads(ended.stdout), began)


def _walked(road: dict[str, Any], began: datetime) -> None:
    verdicts = road["verdicts"]
    refused = verdicts.pop("refused")
    assert refused["status"] == "Rechazado"
    assert [(said["codigo"], bool(said["action"])) for said in refused["explained"]] == [("4", True)]
    assert {name: (verdict["status"], verdict["eNCF"][:3]) for name, verdict in verdicts.items()} == {
        ecf_type.prefix: ("Aceptado", ecf_type.prefix) for ecf_type in EcfType
    }
    assert set(road["listed"]) >= {*verdicts, "refused"}
    assert len(road["listed"]) == len(set(road["listed"]))
    signed = verify(road["proof"]["xml"].encode()).root
    assert signed.findtext("Encabezado/IdDoc/eNCF") == verdicts["E31"]["eNCF"]
    assert road["events"] > 3
    assert road["recurring"] == [1, 1, "R-1", "skipped", 1, True]
    assert road["catalogue"] == ["Ana", 5.5, 1, "P-1", True, True]
    assert road["replyTo"] == "ventas@ozama.do"
    assert road["imports"] == ["InvalidError", 2, "ConflictError", True]
    assert road["month"] == ["PK", 0, 0, "advance", "NotThereError"]
    assert road["previewed"]
    assert (road["footer"], [bytes.fromhex(begin) for begin in road["printed"]]) == ("Gracias", PRINTS)
    assert (road["ended"], road["put"], road["changed"]) == ("AbortError", "5000", False)
    assert road["deleted"] == ["E47", "NotThereError"]
    assert road["archived"] == [b"PK\x03\x04".hex(), 0, "NotThereError"]
    assert (road["found"], road["decided"]) == ([], ["NotThereError"] * 2)
    url, revoked = road["shared"]
    assert (url.startswith(f"{BUYERS}/"), revoked) == (True, True)
    assert (road["received"], road["billing"]) == ({"done": True}, 0)
    assert of_days_before(began, road["usage"]) == []
    deliveries, test, event = road["deliveries"]
    assert (deliveries, event) == ([test], "test")
    assert (road["webhooks"], road["recovered"]) == ([1, True], True)


@pytest.mark.parametrize("more", [(), ("as-node-18",)], ids=["", "as Node 18"])
def test_webhooks_are_judged_as_the_vectors_say(package: Path, more: tuple[str, ...]) -> None:
    with speaker(package, *more) as node:
        judged = node.judge_webhooks()

    assert_judged_as_the_vectors_say([valid for valid, _ in judged])
    by_header = {each.name for each, (_, valid) in zip(VECTORS, judged, strict=True) if not valid}
    assert by_header == SIGNED_OTHERWISE


_STRICT_AND_CUT = """
import { Fe } from './dist/index.js';
const sent = [];
const fetch = async (url, { body }) => {
  if (url.endsWith('/login')) return Response.json({ accessToken: 't', expiresIn: 3600 });
  sent.push(JSON.parse(body));
  return Response.json({ taxLogId: '1', items: (sent.at(-1).items ?? []).map(() => ({ statusCode: 202 })) });
};
const strict = new Fe('http://service', 'fak_0', 's', { fetch });
const lenient = new Fe('http://service', 'fak_0', 's', { fetch, strict: false });
await strict.submit({});
await strict.submit({}, { strict: false });
await lenient.submit({});
const small = Array.from({ length: 1001 }, () => ({ format: 'structured', payload: {} }));
const large = Array.from({ length: 5 }, () => ({ format: 'xml', xml: 'x'.repeat(400000) }));
const answers = await strict.batch([...small, ...large]);
const refused = [];
for (const call of [
  () => strict.submit({}, { clientRequestID: 'x' }),
  () => strict.batch([{ format: 'xml', client_request_id: 'x' }]),
  () => strict.putNcf({ prefix: 'E31', from: 1 }),
  () => strict.setWebhook({ url: 'u', event: [] }),
  () => new Fe('http://service', 'fak_0', 's', { Strict: true }),
  () => new Fe(undefined, 'fak_0', 's'),
]) {
  try { await call(); refused.push(null); } catch (error) { refused.push(`${error.name}: ${error.message}`); }
}
const parts = sent.slice(3).map(({ items }) => items.length);
console.log(JSON.stringify([sent.slice(0, 3).map(({ strict }) => strict), parts, answers.length, refused]));
"""


def test_client_is_strict_cuts_batches_and_refuses_unknown_options(package: Path) -> None:
    ran = subprocess.run(
        ["node", "--input-type=module", "-e", _STRICT_AND_CUT], cwd=package, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    strict, parts, answered, refused = json.loads(ran.stdout)

    assert (strict, parts, answered) == ([True, False, False], [500, 500, 3, 2, 1], 1006)
    assert refused == [
        "TypeError: submit: there is no clientRequestID; did you mean clientRequestId?",
        "TypeError: batch: there is no client_request_id; did you mean clientRequestId?",
        "TypeError: putNcf: there is no from; there are prefix, name, minSequence, maxSequence, expireAt, isActive, "
        "users, agentId",
        "TypeError: setWebhook: there is no event; there are url, enabled, events, headers",
        "TypeError: Fe: there is no Strict; did you mean strict?",
        "TypeError: Fe: the base URL is missing, such as https://fe.example.com",
    ]


#: The vectors whose body was not signed by the secret as X-Service-Signature says; the rest differ in other headers.
SIGNED_OTHERWISE = {
    "one character of the body was changed",
    "parsed and written again: the same JSON, other bytes",
    "signed by another secret",
}


def test_the_core_is_what_is_made_of_the_description(package: Path) -> None:
    assert (TYPESCRIPT / TYPESCRIPT_CORE).read_text(encoding="utf-8") == typescript_core(description(), package), (
        "run: npm ci in clients/typescript, then python -m clients.generate"
    )


def test_what_is_published_is_what_is_needed_and_no_more(package: Path) -> None:
    packed = subprocess.run(
        ["npm", "pack", "--dry-run", "--json", "--ignore-scripts"], cwd=package, capture_output=True, text=True
    )

    assert packed.returncode == 0, packed.stderr
    (told,) = json.loads(packed.stdout)
    modules = {path.stem for path in (TYPESCRIPT / "src").glob("*.ts")}
    built_files = {f"dist/{module}{ending}" for module in modules for ending in (".js", ".d.ts")}
    assert {file["path"] for file in told["files"]} == built_files | {
        "package.json",
        "README.md",
        "README.es.md",
        "LICENSE",
    }
    assert json.loads((package / "package.json").read_text(encoding="utf-8")).get("dependencies") is None
