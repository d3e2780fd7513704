"""People's ways through the portal in a real browser, over a whole installation: pages, actors, simulated authority."""

import re
import time
from base64 import b64decode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, HTTPServer
from io import BytesIO
from random import Random
from threading import Thread
from typing import Any
from zipfile import ZipFile

import pyotp
import pytest
from lxml import etree
from playwright.sync_api import Locator, expect
from python_calamine import CalamineWorkbook

from fe.ecf.catalogue import EcfType, Root
from fe.ecf.currency import header_amounts
from fe.ecf.dates import local
from fe.ecf.document import Document
from fe.ecf.money import exact
from fe.ecf.totals import totals
from fe.month.period import YearMonth
from fe.portal.receipt.view import vat_of
from tests.certification.test_runs import ALL_COUNTED, SMALL_SET
from tests.portal.browser.certifying import Certifying
from tests.portal.browser.installation import BOOKS, RECEIVED, Installation
from tests.portal.browser.looking import Looker, Seen
from tests.waiting import PATIENCE

PASSWORD = "caballo correcto pila grapa"
NEW_OWNER = "rosa@yaque.example"
#: Counters of the simulation's documents.
_COUNTED = {"own": ALL_COUNTED, "provider": dict.fromkeys(ALL_COUNTED, 1)}


def until_shown(seen: Seen, text: str, where: str = "main") -> None:
    """Open the page again until it says so: what happens behind it takes its time."""
    until = time.monotonic() + PATIENCE
    while text not in " ".join(seen.page.locator(where).all_inner_texts()):
        assert time.monotonic() < until, f"{seen.page.url} never said {text!r}"
        seen.page.wait_for_timeout(200)
        seen.page.reload()


def press(seen: Seen, words: str) -> None:
    """Press the button, or follow the link, that says so."""
    found = seen.page.locator("main").locator("button, a").filter(has_text=words).filter(visible=True)
    found.first.click()


def invite(look: Looker, installation: Installation, operator_state: str) -> str:
    """As the operator: make a company, and invite its owner. Returns the link."""
    operator = look.window(state=operator_state)
    operator.open("/operators/companies/new")
    for name, value in {
        "name": "Hotel Brisas",
        "RNCEmisor": installation.new_rnc,
        "RazonSocialEmisor": "Hotel Brisas del Yaque SRL",
        "DireccionEmisor": "Avenida Las Carreras 77, Santiago",
        "reason": "contrato 118",
    }.items():
        operator.page.fill(f"main [name={name}]", value)
    press(operator, "Crear")
    owners = operator.page.locator('form[action$="/owners"]')
    owners.locator("[name=email]").fill(NEW_OWNER)
    owners.locator("[name=reason]").fill("contrato 118")
    owners.locator("button").click()
    link = operator.page.locator(".secret code").first.inner_text()
    return link.removeprefix(installation.url)


def test_from_an_invitation_to_the_verdict_of_a_first_receipt(
    look: Looker, installation: Installation, operator_state: str
) -> None:
    look.allowed.append(installation.provider)
    seen = look.window()
    page = seen.page

    seen.open(invite(look, installation, operator_state))
    page.fill("[name=name]", "Rosa Peralta")
    page.fill("[name=new]", PASSWORD)
    page.fill("[name=repeated]", PASSWORD)
    press(seen, "Aceptar")
    page.wait_for_url("**/companies/*")
    company = page.url.removeprefix(installation.url)

    seen.open(f"{company}/certificates/new")
    file = {"name": "rosa.p12", "mimeType": "application/x-pkcs12", "buffer": b64decode(installation.p12)}
    page.set_input_files("[name=file]", file)  # type: ignore[arg-type]  # its own name for such a dict is not public
    page.fill("[name=passphrase]", "otra")
    press(seen, "Subir")
    expect(page.locator(".problem")).to_be_visible()
    page.set_input_files("[name=file]", file)  # type: ignore[arg-type]  # as above
    page.fill("[name=passphrase]", installation.passphrase)
    press(seen, "Subir")
    expect(page.locator(".badge.ok").first).to_be_visible()

    seen.open(f"{company}/{installation.environment}/sequences")
    page.select_option("[name=prefix]", "E32")
    page.fill("[name=minimum]", "1")
    page.fill("[name=maximum]", "500")
    press(seen, "Crear")
    expect(page.locator(".notice")).to_be_visible()

    seen.open(f"{company}/keys/new")
    page.fill("[name=name]", "caja 1")
    page.select_option("[name=environment]", installation.environment)
    page.locator("[name=scope]").first.check()
    press(seen, "Crear la clave")
    assert len(page.locator("#key-secret").inner_text()) > 20

    seen.open(f"{company}/{installation.environment}/new/32")
    page.locator('[name="item.NombreItem"]').first.fill("Habitación doble")
    page.locator('[name="item.PrecioUnitarioItem"]').first.fill("4800")
    press(seen, "Revisar")
    expect(page.locator("#checked")).to_be_visible()
    press(seen, "Emitir")
    page.wait_for_url("**/submissions/*")
    until_shown(seen, "Aceptado", "h1 .badge")
    assert "E320000000001" in page.locator("h1").inner_text()

    openid(seen)
    second_factor(seen)


def second_factor(seen: Seen) -> None:
    """Set one-time passwords up, and log in with one."""
    page = seen.page
    seen.open("/account/second-factor")
    press(seen, "Configurarlo")
    device = pyotp.TOTP(page.locator(".secret code").inner_text())
    page.fill("[name=code]", device.now())
    press(seen, "Activarlo")
    assert len(page.locator("pre.secret").inner_text().split()) == 10

    page.locator("header .leave button").click()
    seen.sign_in(NEW_OWNER, PASSWORD)
    page.fill("[name=code]", "000000")
    press(seen, "Continuar")
    expect(page.locator(".problem")).to_be_visible()
    # Each code is good once: the next one already is, as clocks of devices may be ahead.
    page.fill("[name=code]", device.at(int(time.time()) + 30))
    press(seen, "Continuar")
    page.wait_for_url("**/companies/*")


def openid(seen: Seen) -> None:
    """Link the account with one elsewhere, and log in by it."""
    page = seen.page
    seen.open("/account")
    press(seen, "Vincular esta cuenta")
    press(seen, "Continuar en")
    expect(page.locator("main")).to_contain_text("vinculada desde el")
    page.locator("header .leave button").click()
    press(seen, "Iniciar sesión con Acme")
    page.wait_for_url("**/companies/*")


class _Program(BaseHTTPRequestHandler):
    """A receiver of webhooks that accepts events or answers with an error."""

    answer = 500

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(type(self).answer)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Be silent."""


@contextmanager
def a_program() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _Program) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        thread.join()


def test_a_webhook_is_set_up_fails_and_is_delivered_again(
    look: Looker, installation: Installation, owner_state: str
) -> None:
    seen = look.window(state=owner_state)
    with a_program() as url:
        seen.open(f"/companies/{installation.company}/{installation.environment}/webhooks")
        seen.page.fill("[name=url]", url)
        press(seen, "Guardar")
        expect(seen.page.locator(".secret code")).to_be_visible()
        seen.open(f"/companies/{installation.company}/{installation.environment}/webhooks")
        press(seen, "Enviar un evento de prueba")
        seen.page.wait_for_url("**/deliveries/*")
        until_shown(seen, "500", ".timeline .badge.bad")

        _Program.answer = 204
        press(seen, "Entregarla de nuevo")
        until_shown(seen, "204", ".timeline .badge.ok")


def test_a_dead_letter_is_replayed(look: Looker, installation: Installation, operator_state: str) -> None:
    seen = look.window(state=operator_state)
    page = seen.page
    seen.open("/operators/dead-letters")
    chosen = page.locator("form tbody tr").first.locator("th a").inner_text()
    page.locator("tbody [name=id]").first.check()
    press(seen, "Revisar los elegidos")
    replay = page.locator('form[action$="/replay"]')
    replay.locator("[name=reason]").fill("la DGII responde de nuevo")
    replay.locator("button").click()
    expect(page.locator("h1")).to_be_visible()
    seen.open("/operators/dead-letters")
    until = time.monotonic() + PATIENCE
    while chosen in page.locator("main").inner_text():
        assert time.monotonic() < until
        page.wait_for_timeout(200)
        page.reload()


def test_the_other_language_is_a_click_away(look: Looker) -> None:
    seen = look.window(language="es")
    seen.open("/sign-in")
    assert (seen.page.locator("html").get_attribute("lang"), seen.page.locator("h1").inner_text()) == (
        "es",
        "Iniciar sesión",
    )
    seen.page.locator("header button").first.click()
    expect(seen.page.locator("h1")).to_have_text("Sign in")
    assert seen.page.locator("html").get_attribute("lang") == "en"


def tab_to(seen: Seen, selector: str) -> None:
    """Press Tab until this has the focus, which every step shows."""
    for _ in range(100):
        seen.page.keyboard.press("Tab")
        if seen.page.evaluate("(wanted) => document.activeElement.matches(wanted)", selector):
            return
    raise AssertionError(f"Tab never comes to {selector}")


def test_a_keyboard_is_enough(look: Looker, installation: Installation) -> None:
    seen = look.window()
    keyboard = seen.page.keyboard
    seen.open("/sign-in")
    keyboard.press("Tab")
    expect(seen.page.locator(".skip")).to_be_focused()
    keyboard.press("Enter")
    keyboard.press("Tab")
    expect(seen.page.locator("[name=email]")).to_be_focused()
    keyboard.type(installation.owner)
    keyboard.press("Tab")
    keyboard.type(installation.owner_password)
    keyboard.press("Enter")
    seen.page.wait_for_url("**/companies/*")

    tab_to(seen, '.side a[href*="/keys"]')
    keyboard.press("Enter")
    seen.page.wait_for_url("**/keys*")
    tab_to(seen, 'main a[href*="/keys/new"]')
    keyboard.press("Enter")
    seen.page.wait_for_url("**/keys/new*")
    tab_to(seen, "[name=name]")
    keyboard.type("por teclado")
    tab_to(seen, "[name=scope]")
    keyboard.press("Space")
    tab_to(seen, "main form .actions button")
    keyboard.press("Enter")
    expect(seen.page.locator("#key-secret")).to_be_visible()
    seen.open(f"/companies/{installation.company}/keys")
    tab_to(seen, "td a")
    keyboard.press("Enter")
    seen.page.wait_for_url("**/keys/*")

    tab_to(seen, "main button.danger")
    keyboard.press("Enter")
    expect(seen.page.locator("dialog button").first).to_be_focused()
    keyboard.press("Escape")
    expect(seen.page.locator("dialog")).to_have_count(0)
    keyboard.press("Enter")
    tab_to(seen, "dialog button.danger")
    keyboard.press("Enter")
    expect(seen.page.locator("main button.danger")).to_have_count(0)


def test_a_phone_has_a_menu_that_opens_without_script(
    look: Looker, installation: Installation, owner_state: str
) -> None:
    seen = look.window("phone", state=owner_state, script=False)
    seen.open(f"/companies/{installation.company}")
    link = seen.page.locator('.side a[href$="/certificates"]')
    expect(link).not_to_be_visible()
    seen.page.locator(".menu > summary").tap()
    link.tap()
    expect(seen.page.locator("h1")).to_have_text("Certificados")


def test_field_reached_by_tab_is_not_under_the_bar_of_buttons(
    look: Looker, installation: Installation, owner_state: str
) -> None:
    seen = look.window(state=owner_state)
    seen.open(f"/companies/{installation.company}/{installation.environment}/new/31")
    hidden = """() => {
        const one = document.activeElement, bar = document.querySelector(".receipt > .actions");
        if (!one.closest("form.receipt") || one.closest(".actions")) return "";
        return one.getBoundingClientRect().bottom > bar.getBoundingClientRect().top ? one.id || one.textContent : "";
    }"""
    for _ in range(60):
        seen.page.keyboard.press("Tab")
        assert seen.page.evaluate(hidden) == ""


def test_walk_in_sale_takes_three_taps_or_eight_keys(
    look: Looker, installation: Installation, owner_state: str
) -> None:
    """The first sale is typed, and its draft kept over a reload; the product is known from then on."""
    desk = look.window(state=owner_state)
    page, keys = desk.page, desk.page.keyboard
    new = f"/companies/{installation.company}/{installation.environment}/new/32"
    desk.open(new)
    expect(page.locator('[name="item.NombreItem"]').first).to_be_focused()
    # The draft is saved while one types: wait until the whole name is in it.
    with page.expect_response(lambda answer: answer.status == 204 and "molido" in (answer.request.post_data or "")):
        keys.type("Café molido")
    page.reload()
    expect(page.locator('[name="item.NombreItem"]').first).to_have_value("Café molido")
    page.locator('[name="item.NombreItem"]').first.press("Enter")
    keys.type("2")
    keys.press("Enter")
    keys.type("1,234.50")
    page.fill("[name=paid]", "3000")
    expect(page.locator("[data-sum]")).to_have_text(" · RD$ 2,913.42", use_inner_text=False)
    expect(page.locator("[data-change]")).to_have_text("86.58")
    press(desk, "Emitir")
    page.wait_for_url("**/submissions/*")
    page.go_back()
    page.wait_for_url("**/submissions/*")

    desk.open(new)
    pressed = ["c", "a", "f", "ArrowDown", "Enter", "Control+Enter"]
    for key in pressed:
        keys.press(key)
        if key == "f":
            page.locator("[role=option]").wait_for()
    page.wait_for_url("**/submissions/*")
    assert len(pressed) <= 8
    expect(page.locator(".lead")).to_contain_text("RD$ 1,456.71")

    phone = look.window("phone", state=owner_state)
    phone.open(new)
    taps = ["button[data-fills]", "button[value=issue]"]
    for tap in taps:
        phone.page.locator(tap).filter(has_text=re.compile("Café molido|1,456.71")).tap()
    phone.page.wait_for_url("**/submissions/*")
    assert len(taps) <= 3


_RATES = {EcfType.CONSUMER: ("0", "1", "2", "3", "4"), EcfType.MINOR_EXPENSES: ("4",), EcfType.EXPORTS: ("3",)}


def made_up(chance: Random, of: EcfType) -> dict[str, Any]:
    """A receipt with amounts at which rounding decides."""
    items = [
        {
            "PrecioUnitarioItem": f"{chance.randrange(10 ** chance.choice((3, 9)))}.{chance.randrange(10**4):04}",
            "CantidadItem": f"{chance.randrange(1, 20)}.{chance.choice(('00', '5', '33', '125'))}",
            "DescuentoMonto": chance.choice(("0", "0.01", "2.50")),
            "IndicadorFacturacion": chance.choice(_RATES[of]),
        }
        for _ in range(chance.randrange(1, 9))
    ]
    adjustments = [
        {
            "TipoAjuste": chance.choice("DR"),
            "TipoValor": "%",
            "ValorDescuentooRecargo": f"{chance.randrange(1, 40)}.5",
            **chance.choice(({}, {"MontoDescuentooRecargo": "12.34"})),
            **chance.choice(({}, {"IndicadorFacturacionDescuentooRecargo": chance.choice("1234")})),
        }
        for _ in range(chance.randrange(3))
    ]
    included = {"IndicadorMontoGravado": chance.choice("01")}
    rate = f"{chance.randrange(1, 90)}.{chance.randrange(10**4):04}"
    return {
        "Encabezado": {"IdDoc": {"TipoeCF": of.value, **included}, "OtraMoneda": {"TipoCambio": rate}},
        "DetallesItems": {"Item": items},
        "DescuentosORecargos": {"DescuentoORecargo": adjustments},
    }


_COMPUTE = """(receipts) => receipts.map(({payload, vat}) => {
    const read = (text) => text === undefined ? null : readAmount(text);
    const lines = payload.DetallesItems.Item.map((one) => ({
        price: read(one.PrecioUnitarioItem), quantity: read(one.CantidadItem), discount: read(one.DescuentoMonto),
        rate: Number(one.IndicadorFacturacion)}));
    const adjustments = payload.DescuentosORecargos.DescuentoORecargo.map((one) => ({
        sign: one.TipoAjuste === "R" ? 1n : -1n, amount: read(one.MontoDescuentooRecargo),
        percent: read(one.ValorDescuentooRecargo), rate: Number(one.IndicadorFacturacionDescuentooRecargo) || null}));
    const sum = totalOf(lines, adjustments, payload.Encabezado.IdDoc.IndicadorMontoGravado === "1", vat);
    const rate = readAmount(payload.Encabezado.OtraMoneda.TipoCambio);
    return [sum.total, sum.tax, inOther(sum.total, rate)].map(showAmount);
})"""


def test_twenty_received_receipts_are_approved_with_three_clicks(
    look: Looker, installation: Installation, owner_state: str
) -> None:
    seen = look.window(state=owner_state, axe=True)
    waiting = seen.page.locator("section[aria-labelledby=waiting]")
    seen.open(f"/companies/{installation.company}/{installation.environment}/received")
    clicks = 0

    def click(what: Locator) -> None:
        nonlocal clicks
        clicks += 1
        what.click()

    click(waiting.locator("[data-check-all]"))
    click(waiting.locator("button[value=approve]"))
    assert "20 · RD$ 2,360.00" in seen.page.locator(".lead").inner_text()
    assert seen.findings() == []
    click(seen.page.locator("main form button"))

    assert clicks == 3
    assert "20 · RD$ 2,360.00" in seen.page.locator(".lead").inner_text()
    assert seen.page.locator("tbody .badge.ok").count() == RECEIVED
    assert seen.findings() == []
    seen.page.reload()
    expect(seen.page.locator("tbody")).to_contain_text("usted")
    assert seen.page.locator("tbody .badge.ok").count() == 0
    seen.open(f"/companies/{installation.company}/{installation.environment}/received")
    assert waiting.count() == 0


@pytest.mark.parametrize("path", [pytest.param("own", marks=pytest.mark.drill), "provider"])
def test_fresh_company_is_certified_and_goes_live(look: Looker, installation: Installation, path: str) -> None:
    """From a certificate alone. In step 4 a receipt outside of the runs puts the authority's counters to 0."""
    walk = Certifying(look.window(script=False), installation, path)
    walk.seen.sign_in(installation.applicant, installation.applicant_password)
    walk.choose_path()
    walk.apply()
    if path == "own":
        walk.send_sets()
    walk.register_ranges()
    if path == "provider":
        walk.simulate(11)
    counted, resets = walk.counters()
    assert (sum(counted.values()), resets) == ({"own": len(SMALL_SET), "provider": 11}[path], 0)
    walk.have_one_rejected()
    assert walk.counters() == ({}, 1)
    walk.simulate(sum(_COUNTED[path].values()))
    assert walk.counters() == (_COUNTED[path], 1)
    walk.finish(range(4, 13))
    walk.go_live()


def test_totals_computed_by_the_script_are_those_of_the_service(
    look: Looker, installation: Installation, owner_state: str
) -> None:
    chance = Random(32)
    receipts = [(of, made_up(chance, of)) for of in _RATES for _ in range(400)]
    expected = []
    for of, payload in receipts:
        found = totals(Document(Root.ECF, of, payload))
        with exact():
            other = header_amounts(found, Decimal(payload["Encabezado"]["OtraMoneda"]["TipoCambio"]))
        amounts = (found["MontoTotal"], found.get("TotalITBIS", Decimal("0.00")), other["MontoTotalOtraMoneda"])
        expected.append([f"{one:,}" for one in amounts])
    seen = look.window(state=owner_state)
    seen.open(f"/companies/{installation.company}/{installation.environment}/new/32")

    computed = seen.page.evaluate(_COMPUTE, [{"payload": one, "vat": vat_of(of)} for of, one in receipts])

    wrong = [case for case in zip(receipts, computed, expected, strict=True) if case[1] != case[2]]
    assert wrong == []

    page = seen.page
    captions = page.locator('[data-rows="item"] summary small')
    page.locator('[name="item.IndicadorFacturacion"]').first.select_option("4", force=True)
    page.locator('[data-add="item"]').click()
    expect(captions).to_have_text([re.compile("^Exento"), re.compile("^Exento")])
    page.locator("[data-remove]").last.click()
    page.locator('[name="item.IndicadorFacturacion"]').first.select_option("1", force=True)
    expect(captions).to_have_text([re.compile("^ITBIS 18%")])
    page.locator('[name="item.NombreItem"]').first.fill("Almuerzo")
    page.locator('[name="item.OtraMonedaDetalle.PrecioOtraMoneda"]').first.evaluate(
        "(field) => { field.value = '8.50'; }"
    )
    page.locator("#options > summary").click()
    page.locator('[name="Encabezado.OtraMoneda.TipoMoneda"]').select_option("USD")
    page.locator('[name="Encabezado.OtraMoneda.TipoCambio"]').fill("60.5")
    expect(page.locator("[data-sum]")).to_contain_text("RD$ 606.82")
    expect(page.locator("[data-other-sum]")).to_have_text("USD 10.03")
    tip = "TablaImpuestoAdicional.ImpuestoAdicional[1].TipoImpuesto=001"
    page.locator('[name="item.more"]').first.evaluate("(field, tip) => { field.value = tip; }", tip)
    page.locator('[name="Encabezado.OtraMoneda.TipoCambio"]').fill("60")
    expect(page.locator("[data-sum]")).to_contain_text("RD$ 652.80")
    expect(page.locator("[data-other-sum]")).to_have_text("USD 10.88")


def test_form_works_without_script_and_so_does_the_switch_of_the_language(
    look: Looker, installation: Installation, owner_state: str
) -> None:
    seen = look.window(state=owner_state, script=False)
    page = seen.page
    seen.open(f"/companies/{installation.company}/{installation.environment}/new/32")
    page.locator('[name="item.NombreItem"]').first.fill("Café molido")
    page.locator('[name="item.PrecioUnitarioItem"]').first.fill("25")
    page.locator("header button[lang]").click()
    expect(page.locator('[name="item.NombreItem"]').first).to_have_value("Café molido")
    page.locator("header button[lang]").click()
    page.locator('[name="item.NombreItem"]').first.press("Enter")
    expect(page.locator("#checked")).to_be_visible()
    press(seen, "Emitir")
    page.wait_for_url("**/submissions/*")
    expect(page.locator("h1 .badge")).to_have_text("Aceptado", timeout=30_000)


class Counted:
    """A window whose taps and pressed keys are counted."""

    def __init__(self, look: Looker, screen: str, language: str, state: str, *, script: bool) -> None:
        self.seen = look.window(screen, language=language, state=state, script=script)
        self.seen.speak(language)
        self.page = self.seen.page
        self.has_script = script
        self.is_phone = screen == "phone"
        self.taps = self.keys = 0

    def tap(self, what: str | Locator) -> None:
        found = self.page.locator(what) if isinstance(what, str) else what
        found.filter(visible=True).first.click()
        self.taps += 1

    def choose(self, what: str, value: str) -> None:
        """Open a list, and tap one of its choices."""
        self.page.locator(what).select_option(value)
        self.taps += 2

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)
        self.keys += len(text)

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)
        self.keys += 1

    def go(self, section: str) -> None:
        """Go to a section of the company by the navigation, which a phone has folded."""
        if self.is_phone:
            self.tap(".menu > summary")
        self.tap(f".side > a[href$='/{section}']")

    def download(self, what: str) -> bytes:
        with self.page.expect_download() as made:
            self.tap(what)
        return made.value.path().read_bytes()


class ShopsDay(Counted):
    """The day of a shop. Without script a product is called by its code or by its button, and a customer by the RNC."""

    def sell_typed(self, start: str, code: str, name: str) -> None:
        """Put a product that was not sold lately into the open form."""
        self.tap('[name="item.NombreItem"]')
        if self.has_script:
            self.type(start)
            self.tap("[role=option]")
        else:
            self.type(code)
            self.press("Enter")
        expect(self.page.locator('[name="item.NombreItem"]').first).to_have_value(name)

    def add(self, product: str) -> None:
        """Add a product that was sold lately."""
        self.tap(self.page.locator("button[data-fills]").filter(has_text=product))
        expect(self.page.locator('[name="item.NombreItem"]').last).to_have_value(product)

    def issue(self) -> None:
        self.tap("button[value=issue]")
        self.page.wait_for_url("**/submissions/*")

    def sell(self, *products: str) -> None:
        self.tap("#next")
        for product in products:
            self.add(product)
        self.issue()

    def until_accepted(self) -> None:
        """Wait as a person does: the page shows the verdict by itself, without script within five seconds."""
        expect(self.page.locator("h1 .badge.ok")).to_be_visible(timeout=30_000)

    def sold(self) -> Decimal:
        """The sum that the close of the day shows."""
        return Decimal(self.page.locator("#sold").inner_text().removeprefix("RD$ ").replace(",", ""))


_HAMMER, _PAINT = "Martillo de uña 16 oz", "Pintura blanca, galón"


@pytest.mark.drill
@pytest.mark.parametrize(
    ("screen", "language", "script"), [("desk", "en", False), ("phone", "es", True)], ids=["desk-en-plain", "phone-es"]
)
def test_shops_day_takes_four_taps_a_receipt(
    look: Looker, installation: Installation, owner_state: str, screen: str, language: str, script: bool
) -> None:
    """Open, ten sales, a return of one of two products, one business customer, and the close of the day."""
    day = ShopsDay(look, screen, language, owner_state, script=script)
    here = f"/companies/{installation.company}/{installation.environment}"
    day.seen.open(f"{here}/days")
    before = day.sold()
    day.seen.open(f"{here}/new/32")

    day.sell_typed("mar", "MAR-16", _HAMMER)
    day.tap('.chip:has([value="1-1"])')
    day.issue()
    day.tap("#next")
    day.sell_typed("pin", "PIN-01", _PAINT)
    day.issue()
    for _ in range(7):
        day.sell(_HAMMER)
    day.sell(_HAMMER, _PAINT)

    day.until_accepted()
    day.tap("main a[href*='/new/return']")
    day.tap(day.page.locator("label.check").filter(has_text=_PAINT))
    day.tap("button[value=chosen]")
    day.issue()
    assert "E34" in day.page.locator("h1").inner_text()

    day.tap("#next")
    day.page.wait_for_url("**/new/32")
    day.tap("button[value='type:31']")
    day.page.wait_for_url("**/new/31/*")
    day.add(_HAMMER)
    day.tap('[name="Encabezado.Comprador.RNCComprador"]')
    day.type("131880657")
    if script:
        day.tap("[role=option]")
    else:
        day.press("Enter")
    expect(day.page.locator('[name="Encabezado.Comprador.RazonSocialComprador"]')).to_have_value(
        "Ferretería El Sol, SRL"
    )
    day.issue()
    day.until_accepted()

    day.go("submissions")
    day.tap("main a[href$='/days']")
    # Nine hammers and a paint were sold to consumers and not brought back, and one hammer to the business.
    total = before + 10 * Decimal("495.00") + Decimal("1350.00")
    until_shown(day.seen, f"RD$ {total:,.2f}", "#sold")
    main = day.page.locator("main")
    expect(main).to_contain_text("E34")
    expect(main).to_contain_text("Efectivo" if language == "es" else "Cash")
    assert (day.taps <= 4 * 12, day.keys <= 24) == (True, True), (day.taps, day.keys)


class MonthEnd(Counted):
    """The end of a month at an accountant's. Without script a link checks all boxes of a list."""

    def approve_all(self, many: int) -> None:
        self.tap("[data-check-all]" if self.has_script else "a[href*='chosen=all']")
        expect(self.page.locator("[name=id]:checked")).to_have_count(many)
        self.tap("button[value=approve]")
        self.tap("form[action$='/received/decide'] button")
        expect(self.page.locator("tbody .badge.ok")).to_have_count(many)

    def reject_one(self, reason: str) -> None:
        self.tap("[name=id]")
        self.tap("button[value=reject]")
        self.tap("[name=reason]")
        self.type(reason)
        self.tap("form[action$='/received/decide'] button")
        expect(self.page.locator("tbody .badge.ok")).to_have_count(1)
        self.tap("main .actions a[href$='/received']")

    def switch(self, typed: str) -> None:
        """Go to the same section of another company by a part of its name."""
        self.tap("[data-switch]")
        expect(self.page.locator("[type=search]:focus")).to_be_visible()
        self.type(typed)
        self.press("Enter")

    def report(self, name: str) -> dict[str, bytes]:
        """Say what the supplier's purchases are, and fetch all files of last month."""
        self.tap("header .brand")
        self.tap("main a[href='/months']")
        self.tap(self.page.locator("tbody tr").filter(has_text=name).locator("a[href$='/606']"))
        self.tap("main ul.plain a")
        self.choose("[name=kind]", "09")
        self.tap("main form[action*='/606/'] button")
        files = {"606": self.download("a[href$='606.txt']")}
        self.tap("main .crumb a")
        return files | {kind: self.download(f"main a[href$='/{kind}']") for kind in ("xlsx", "csv", "zip", "608.txt")}


def check_files(files: Mapping[str, bytes], rnc: str, received: int, rejected: int) -> None:
    """Open the files of a month: one receipt was issued in it, some were received, and some of these rejected."""
    month = YearMonth.of(local(datetime.now(UTC)).date()).before.compact
    purchases = files["606"].decode("ascii").split("\r\n")
    assert purchases[0] == f"606|{rnc}|{month}|{received - rejected}"
    assert [line.split("|")[2] for line in purchases[1:]] == ["09"] * (received - rejected)
    assert files["608.txt"].decode("ascii") == f"608|{rnc}|{month}|0"
    sheets = CalamineWorkbook.from_filelike(BytesIO(files["xlsx"]))
    lists = [name for name in sheets.sheet_names if name in ("Issued", "Emitidos", "Received", "Recibidos")]
    rows = [row for name in lists for row in sheets.get_sheet_by_name(name).to_python()]
    assert sum(str(row[2]).startswith("E31") for row in rows) == 1 + received
    assert files["csv"].decode("utf-8-sig").count("E310000000001") == 1
    with ZipFile(BytesIO(files["zip"])) as archive:
        assert archive.testzip() is None
        papers = [archive.read(name) for name in archive.namelist() if name.endswith(".pdf")]
        documents = [etree.fromstring(archive.read(name)) for name in archive.namelist() if name.endswith(".xml")]
    assert (len(papers), len(documents)) == (1 + received, 1 + received)
    assert all(paper.startswith(b"%PDF-") for paper in papers)
    assert {document.tag for document in documents} == {"ECF"}


@pytest.mark.drill
@pytest.mark.parametrize(
    ("screen", "language", "script", "companies"),
    [
        ("phone", "en", True, ("Almacenes Cibao", "Botica Duarte")),
        ("desk", "es", False, ("Colmado Higuamo", "Depósito Enriquillo")),
    ],
    ids=["phone-en", "desk-es-plain"],
)
def test_accountants_month_end_takes_twenty_taps_a_company(
    look: Looker,
    installation: Installation,
    accountant_state: str,
    screen: str,
    language: str,
    script: bool,
    companies: tuple[str, str],
) -> None:
    """One inbox: receipts answered, one of them with a no, the next company by typing; then each one's month."""
    month = MonthEnd(look, screen, language, accountant_state, script=script)
    first, second = companies
    (_, many), (_, few) = BOOKS[first], BOOKS[second]
    month.seen.open("/")
    month.tap(month.page.locator(".attention li").filter(has_text=first).locator("a[href$='/received']"))
    month.reject_one("No hicimos este pedido" if language == "es" else "We did not order this")
    month.approve_all(many - 1)
    month.switch(second.split()[1].lower())
    month.page.wait_for_url(f"**/companies/{installation.books[second]}/ecf/received")
    month.approve_all(few)

    check_files(month.report(first), BOOKS[first][0], many, 1)
    check_files(month.report(second), BOOKS[second][0], few, 0)

    month.seen.open("/")
    waiting = month.page.locator(".attention li").filter(has_text=re.compile("|".join(companies)))
    expect(waiting.locator("a[href$='/received'], a[href$='/606']")).to_have_count(0)
    assert (month.taps <= 2 * 20, month.keys <= 40) == (True, True), (month.taps, month.keys)
