"""The WooCommerce plugin as its ZIP has it, on WordPress's own hooks, in a shop of stand-ins for WooCommerce's classes.

WordPress is Debian's, unpacked. WooCommerce is not to be had there: woocommerce/shop.php says what stands in for it.
"""

import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import trio
from standardwebhooks import Webhook

import fe
from connectors.build import PLUGIN, TEMPLATE, WOOCOMMERCE, template, texts, translations
from fe.ecf.signature import verify
from tests.clients.hostile import Hostile, lost, say
from tests.clients.speaker import Speaker
from tests.ports import free_port
from tests.system.stack import Stack, running_stack
from tests.waiting import PATIENCE
from tests.webhooks.vectors import SECRET

# As in tests/system/test_road.py.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

DRIVER = Path(__file__).parent / "woocommerce" / "driver.php"
WORDPRESS = [Path(folder) for folder in ("/usr/share/wordpress", "/usr/local/share/wordpress")]
HTML_MAIL = "woocommerce_email_after_order_table"
#: ITBIS of 18 and 16 per cent, by the ids of the shop's rates.
TAXES = [{"type": "tax", "rate_id": 1, "percent": 18}, {"type": "tax", "rate_id": 2, "percent": 16}]


class Shop:
    """A process that is a shop. Each call is a command of driver.php."""

    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker

    def say(self, command: str, *arguments: object) -> Any:
        told = self._speaker.ask([command, arguments])
        assert told.error is None, told.error
        return told.result

    async def do(self, command: str, *arguments: object) -> Any:
        return await trio.to_thread.run_sync(self.say, command, *arguments)

    async def until(self, order: int, **wanted: object) -> Any:
        """Run what is due until the order stands as wanted."""
        with trio.fail_after(PATIENCE):
            while True:
                seen = await self.do("see", order)
                if all(seen.get(name) == value for name, value in wanted.items()):
                    return seen
                await self.do("work")


@pytest.fixture(scope="module")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wp-content") / "plugins"
    command = [sys.executable, "-m", "connectors.build", str(folder.parent)]
    built = subprocess.run(command, capture_output=True, text=True, check=True, cwd=WOOCOMMERCE.parent.parent)
    with zipfile.ZipFile(built.stdout.strip()) as made:
        made.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def shop(plugins: Path) -> Iterator[Shop]:
    php = shutil.which("php")
    wordpress = next((folder for folder in WORDPRESS if (folder / "wp-includes" / "plugin.php").exists()), None)
    if php is None or wordpress is None:
        pytest.skip("NOT PROVED HERE: there is no PHP, or no WordPress (.ci/servers unpacks it)")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("TMPDIR", str(plugins.parent))  # the client keeps its token there
        speaker = Speaker(php, "-d", "display_errors=stderr", str(DRIVER), str(wordpress), str(plugins), str(plugins))
    with speaker:
        yield Shop(speaker)


def product(name: str, quantity: str, total: str, tax: dict[int, str] | None, **more: object) -> dict[str, object]:
    return {"type": "line_item", "name": name, "quantity": quantity, "total": total, "taxes": tax or {}, **more}


async def document(stack: Stack, seen: Any) -> Any:
    signed = (await stack.client.get(f"/invoices/{seen['track']}/xml")).json()["xml"]
    return verify(signed.encode()).root


def written(root: Any, names: str) -> list[str | None]:
    return [root.findtext(f".//{name}") for name in names.split()]


async def test_shop_issues_orders_and_refunds_once_and_says_what_became_of_them(
    shop: Shop, dsn: str, tmp_path: Path
) -> None:
    async with running_stack(dsn, tmp_path, authority_simulated=True, share_url="https://facturas.example.do") as stack:
        settings = {"url": stack.base_url, "key": stack.key[0], "secret": stack.key[1], "webhook": SECRET}
        await shop.do("settings", settings)
        assert await shop.do("check") == "Connected. Environment: testecf."
        first = await _consumer(shop, stack)
        await _with_rnc(shop, stack)
        await _mixed(shop, stack)
        await _without_the_service(shop, stack, settings)
        await _rejected(shop, stack)
        await _restored(shop, stack, first)
        await _called(shop, stack)
        listed = (await stack.client.get("/invoices?limit=200")).json()["items"]
        ids = [item["clientRequestId"] for item in listed]
        assert len(ids) == len(set(ids)) == 12


async def _consumer(shop: Shop, stack: Stack) -> int:
    """Prices with ITBIS inside, the hook fired three times: one 32, whose PDF its owner sees."""
    items = [product("Café de <b>Jarabacoa</b>", "3", "254.24", {1: "45.76"}), TAXES[0]]
    order: int = await shop.do("order", {"total": "300.00", "included": True, "items": items, "customer": 7})
    for status in ("processing", "processing", "completed"):
        await shop.do("status", order, status)
    assert [job[:2] for job in await shop.do("jobs") if job[0] == "fe_ecf_issue"] == [["fe_ecf_issue", [order]]]
    assert (await shop.do("see", order))["notes"] == []

    seen = await shop.until(order, open="no")
    assert (seen["status"], seen["number"][:3], seen["total"]) == ("Aceptado", "E32", "300.00")
    assert "ConsultaTimbre" in seen["qr"]
    assert len(seen["notes"]) == 1
    assert seen["number"] in seen["notes"][0]
    assert seen["code"] in seen["notes"][0]
    root = await document(stack, seen)
    names = "TipoeCF IndicadorMontoGravado MontoTotal TotalITBIS PrecioUnitarioItem NombreItem FormaPago"
    assert written(root, names) == ["32", "1", "300.00", "45.76", "100.0000", "Café de Jarabacoa", "1"]

    await shop.do("status", order, "completed")
    assert await shop.do("work") == 0
    # Its first print has a process started, which takes a busy machine longer than the plugin waits.
    assert (await stack.client.get(f"/invoices/{seen['track']}/pdf")).status_code == 200
    await _shown(shop, order, seen)
    return order


async def _shown(shop: Shop, order: int, seen: Any) -> None:
    for person, key, may in ((7, "", True), (8, "", False), (0, "", False), ("staff", "", True)):
        await shop.do("person", person)
        assert (await shop.do("pdf", order, key)).startswith(b"%PDF".hex()) is may, person
    await shop.do("person", 0)
    assert await shop.do("pdf", order, f"wc_order_key{order + 1}") == ""
    assert (await shop.do("pdf", order, f"wc_order_key{order}")).startswith(b"%PDF".hex())
    for hook in (HTML_MAIL, "woocommerce_order_details_after_order_table"):
        html = await shop.do("shown", hook, order)
        assert seen["number"] in html
        assert f"order={order}&#038;key=wc_order_key{order}" in html
        assert seen["link"] in html
        assert "without fiscal value" in html


async def _with_rnc(shop: Shop, stack: Stack) -> None:
    """An RNC: a 31, with prices without ITBIS, paid by card; refunded whole, without lines: a 34 that cancels it."""
    items = [product("Taladro", "1", "1000.00", {1: "180.00"}, virtual=True), TAXES[0]]
    data = {"total": "1180.00", "items": items, "payment": "azul_card", "company": "Cliente SRL"}
    order = await shop.do("order", {**data, "meta": {"_billing_rnc": "131-88065-7"}})
    await shop.do("status", order, "processing")
    refund = await shop.do("refund", order, "1180.00", {}, "Devuelto")
    await shop.do("job", refund)
    await shop.do("job", refund)
    assert [("waits" in note) for note in (await shop.do("see", order))["notes"]] == [True]
    assert (await shop.do("see", refund))["open"] == "yes"
    seen = await shop.until(order, open="no")
    assert (seen["status"], seen["number"][:3]) == ("Aceptado", "E31")
    root = await document(stack, seen)
    names = "RNCComprador RazonSocialComprador MontoTotal FormaPago IndicadorBienoServicio"
    assert written(root, names) == ["131880657", "Cliente SRL", "1180.00", "3", "2"]

    note = await shop.until(refund, open="no")
    assert (note["status"], note["number"][:3]) == ("Aceptado", "E34")
    root = await document(stack, note)
    names = "NCFModificado CodigoModificacion RazonModificacion RNCComprador MontoTotal NombreItem"
    assert written(root, names) == [seen["number"], "1", "Devuelto", "131880657", "1180.00", "Taladro"]


async def _mixed(shop: Shop, stack: Stack) -> None:
    """18 %, 16 % and exempt, a coupon, shipping, a fee that takes off; then a refund by lines, and one by amount."""
    items = [
        product("Martillo", "3", "900.00", {1: "162.00"}, subtotal="1000.00", subtotal_tax="180.00"),
        product("Yogur", "2", "100.01", {2: "16.00"}),
        product("Arroz", "0.125", "75.00", None),
        {"type": "shipping", "name": "Envío", "total": "200.00", "taxes": {1: "36.00"}},
        {"type": "fee", "name": "Cliente fiel", "total": "-50.00", "taxes": {1: "-9.00"}},
        *TAXES,
    ]
    order = await shop.do("order", {"total": "1430.01", "items": items, "payment": "bacs"})
    await shop.do("status", order, "completed")
    seen = await shop.until(order, open="no")
    assert seen["status"] == "Aceptado", seen
    root = await document(stack, seen)
    names = "TipoeCF MontoGravadoI1 MontoGravadoI2 MontoExento TotalITBIS1 TotalITBIS2 MontoTotal"
    assert written(root, names) == ["32", "1050.00", "100.01", "75.00", "189.00", "16.00", "1430.01"]
    assert written(root, "DescuentoMonto FormaPago") == ["100.00", "2"]

    lines = {
        "1": {"quantity": 1, "total": "300.00", "taxes": {1: "54.00"}},
        "4": {"total": "200.00", "taxes": {1: "36.00"}},
    }
    by_lines = await shop.until(await shop.do("refund", order, "590.00", lines), open="no")
    assert (by_lines["status"], by_lines["number"][:3]) == ("Aceptado", "E34")
    root = await document(stack, by_lines)
    assert [item.findtext("NombreItem") for item in root.iterfind(".//Item")] == ["Martillo", "Envío"]
    names = "NCFModificado CodigoModificacion MontoTotal TotalITBIS CantidadItem"
    assert written(root, names) == [seen["number"], "3", "590.00", "90.00", "1.00"]

    by_amount = await shop.until(await shop.do("refund", order, "100.00", {}), open="no")
    assert by_amount["status"] == "Aceptado", by_amount
    root = await document(stack, by_amount)
    amounts = [item.findtext("MontoItem") for item in root.iterfind(".//Item")]
    assert sum(map(Decimal, amounts)) == Decimal(written(root, "MontoTotal")[0] or 0) == 100

    missed = await shop.do("refund", order, "50.00", {}, "", True)  # the process died before the hook
    await shop.do("work", "fe_ecf_sweep")
    assert (await shop.until(missed, open="no"))["status"] == "Aceptado"
    assert len(amounts) == 3


async def _without_the_service(shop: Shop, stack: Stack, settings: dict[str, str]) -> None:
    """No line: repeated later, and noted once. Then a process that dies with the answer: still one receipt."""
    await shop.do("settings", {**settings, "url": f"http://127.0.0.1:{free_port()}"})
    order = await shop.do("order", {"total": "50.00", "items": [product("Pan", "1", "50.00", None)]})
    await shop.do("status", order, "processing")
    pauses = []
    for _ in range(2):
        await shop.do("work")
        ((_, _, pause),) = [job for job in await shop.do("jobs") if job[1] == [order]]
        pauses.append(pause)
    assert 25 < pauses[0] < pauses[1] < 3600
    seen = await shop.do("see", order)
    assert (seen["open"], len(seen["notes"])) == ("yes", 1)
    assert "asked again" in seen["notes"][0]
    await shop.do("settings", settings)
    await shop.do("job", order, "before")
    assert "track" not in await shop.do("see", order)
    await shop.do("work", "fe_ecf_sweep")
    assert (await shop.until(order, open="no"))["status"] == "Aceptado"


async def _rejected(shop: Shop, stack: Stack) -> None:
    """A rejection is explained in the site's language, and is issued again under a new id when a person says so."""
    await shop.do("locale", "es_DO")
    await shop.do("simulate", {"outcome": "rejected", "code": 4})
    order = await shop.do("order", {"total": "50.00", "items": [product("Pan", "1", "50.00", None)]})
    await shop.do("status", order, "processing")
    seen = await shop.until(order, open="no")
    assert seen["status"] == "Rechazado"
    assert seen["notes"][0].startswith(f"La DGII rechazó el e-CF {seen['number']}, que no tiene valor fiscal. 4: ")
    assert "secuencia" in seen["notes"][0]
    refund = await shop.do("refund", order, "20.00", {})
    waiting = await shop.until(refund, open="no")
    assert "track" not in waiting
    await shop.do("simulate", None)
    await shop.do("again", order)
    await shop.do("again", order)
    again = await shop.until(order, open="no")
    assert (again["status"], again["number"], again["id"]) == ("Aceptado", seen["number"], f"{seen['id']}-2")
    assert (await shop.until(refund, open="no"))["status"] == "Aceptado"

    await shop.do("locale", "en_US")
    wrong = [product("Cena", "1", "100.00", {3: "10.00"}), {"type": "tax", "rate_id": 3, "percent": 10}]
    order = await shop.do("order", {"total": "110.00", "items": wrong})
    await shop.do("status", order, "processing")
    refused = await shop.until(order, open="no")
    assert "track" not in refused
    assert '"Cena" has taxes of 10.00 %' in refused["notes"][0]
    large = await shop.do("order", {"total": "300000.00", "items": [product("Oro", "1", "300000.00", None)]})
    await shop.do("status", large, "processing")
    refused = await shop.until(large, open="no")
    assert "track" not in refused
    assert "Comprador" in refused["notes"][0]


async def _restored(shop: Shop, stack: Stack, first: int) -> None:
    """A shop restored from a copy finds its receipts again."""
    before = await shop.do("see", first)
    await shop.do("restore", first)
    await shop.do("work", "fe_ecf_sweep")
    await shop.do("status", first, "completed")
    after = await shop.until(first, open="no")
    assert (after["track"], after["number"]) == (before["track"], before["number"])


async def _called(shop: Shop, stack: Stack) -> None:
    """A webhook brings the verdict at once, once, if its signature fits. The total is a centavo over 18 %."""
    items = [product(name, "1", "10.03", {1: "1.81"}) for name in ("Lápiz", "Goma")]
    order = await shop.do("order", {"total": "23.68", "items": [*items, TAXES[0]]})
    await shop.do("status", order, "processing")
    await shop.do("job", order, "after")
    seen = await shop.do("see", order)
    assert seen["open"] == "yes"
    final = await stack.until_final(seen["track"])
    summary = {name: final.get(name) for name in ("taxLogId", "clientRequestId", "status", "eNCF")}
    body = json.dumps({"event": "submission.accepted", "sentAt": "2026-11-06T14:15:30.000Z", "submission": summary})
    at = datetime.now(UTC)
    headers = {"webhook-id": "d-1", "webhook-timestamp": str(int(at.timestamp()))}
    good = {**headers, "webhook-signature": Webhook(SECRET).sign("d-1", at, body)}
    assert await shop.do("webhook", good, body + " ") == 401
    assert await shop.do("webhook", headers, body) == 401
    assert (await shop.do("see", order))["open"] == "yes"
    assert [await shop.do("webhook", good, body) for _ in range(2)] == [204, 204]
    seen = await shop.do("see", order)
    assert (seen["open"], seen["status"], len(seen["notes"])) == ("no", "Aceptado", 1)
    assert written(await document(stack, seen), "TotalITBIS MontoTotal") == ["3.61", "23.68"]


def test_shop_repeats_the_same_later_when_the_service_is_busy_or_the_answer_is_lost(shop: Shop) -> None:
    busy = [say(503, {"message": "later", "statusCode": 503}, Retry_After="120")]
    busy += [say(429, {"message": "too many", "statusCode": 429}, Retry_After="7200"), lost, lost]
    status = {"taxLogId": "t-1", "status": "Aceptado", "eNCF": "E320000000009", "montoTotal": "50.00"}
    good = [say(202, status), say(200, status), say(409, {"message": "no page", "statusCode": 409})]
    with Hostile(deque([*busy, *good])) as server:
        server.open()
        shop.say("settings", {"url": server.url.removesuffix("/api/v1/fe"), "key": "fak_1", "secret": "x"})
        order = shop.say("order", {"total": "50.00", "items": [product("Pan", "1", "50.00", None)]})
        shop.say("status", order, "processing")
        for least, most in ((120, 121), (7200, 7201), (119, 121)):
            shop.say("work")
            ((_, _, pause),) = [job for job in shop.say("jobs") if job[1] == [order]]
            assert least <= pause <= most
        shop.say("work")
        seen = shop.say("see", order)
        assert (seen["status"], seen["open"], len(seen["notes"])) == ("Aceptado", "no", 4), seen
        submitted = [call.body for call in server.calls if call.method == "POST" and call.target.endswith("/invoices")]
        assert len(submitted) == 5
        assert len(set(submitted)) == 1


def test_checkout_takes_only_what_has_a_right_check_digit(shop: Shop) -> None:
    for good in ("", "131-88065-7", "131880657", "001-1391820-5"):
        assert shop.say("typed", good, "100.00") == [[], None], good
    for wrong in ("131880658", "12345", "x", "00113918204"):
        assert [len(shop.say("typed", wrong, "100.00")[0]), bool(shop.say("typed", wrong, "100.00")[1])] == [1, True]
    assert "RD$250,000" in shop.say("typed", "", "250000.00")[0][0]


def test_settings_page_shows_no_secret_and_keeps_it(shop: Shop) -> None:
    kept = shop.say(
        "settings", {"url": "https://fe.example.do/", "key": "fak_1", "secret": "s3cr<e>t", "webhook": SECRET}
    )
    assert (kept["url"], kept["secret"]) == ("https://fe.example.do", "s3cr<e>t")
    page = shop.say("page")
    assert "fak_1" in page
    assert "s3cr" not in page
    assert SECRET not in page
    kept = shop.say("settings", {"url": "http://fe.example.do", "key": "fak_2", "secret": "", "mail": "yes"})
    assert kept == {**kept, "url": "https://fe.example.do", "key": "fak_2", "secret": "s3cr<e>t", "mail": "yes"}
    moved = shop.say("settings", {"url": "https://other.example", "key": "fak_3", "secret": ""})
    assert (moved["url"], moved["key"]) == ("https://fe.example.do", "fak_3"), "the secret is for that address alone"
    moved = shop.say("settings", {"url": "https://other.example", "key": "fak_3", "secret": "new"})
    assert (moved["url"], moved["secret"]) == ("https://other.example", "new")


def test_plugin_compiles_and_its_texts_are_translated(plugins: Path) -> None:
    php = shutil.which("php")
    files = [*(plugins / PLUGIN).glob("*.php"), *(plugins / PLUGIN / "includes").glob("*.php")]
    for file in files if php else []:
        checked = subprocess.run([str(php), "-l", str(file)], capture_output=True, text=True)
        assert checked.returncode == 0, checked.stdout
    header = (plugins / PLUGIN / f"{PLUGIN}.php").read_text(encoding="utf-8")
    assert f"\n * Version: {fe.RELEASE}\n" in header
    assert TEMPLATE.read_text(encoding="utf-8") == template(), "run: python -m connectors.build --texts"
    spanish = translations((WOOCOMMERCE / "languages" / f"{PLUGIN}-es.po").read_text(encoding="utf-8"))
    assert list(spanish) == texts()
    for text, translated in spanish.items():
        assert translated
        assert sorted(re.findall(r"%(?:\d\$)?s", text)) == sorted(re.findall(r"%(?:\d\$)?s", translated)), text
