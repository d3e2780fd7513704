"""The certification of a fresh company in a browser, and the counters of the simulated authority beside it."""

import time
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from playwright.sync_api import FilePayload

from fe.ecf.catalogue import PREFIXES
from fe.ecf.dates import show_moment
from fe.ecf.signature import verify_portal_file
from tests.certification.sets import RNC, approvals, sheets, xlsx
from tests.certification.test_page import APPLICATION, DECLARATION
from tests.certification.test_runs import SMALL_SET
from tests.portal.browser.installation import Installation
from tests.portal.browser.looking import Seen
from tests.waiting import PATIENCE

_LAST = 10_000_000
#: Numbers that no sequence reaches.
_BEYOND = 9_000_000_000


@dataclass
class Certifying:
    """A company in the portal without scripts, and what the authority's own portal shows of it."""

    seen: Seen
    installation: Installation
    #: `own` or `provider`.
    path: str

    @property
    def rnc(self) -> str:
        return self.installation.fresh[self.path][0]

    @property
    def company(self) -> str:
        return f"/companies/{self.installation.fresh[self.path][1]}"

    def press(self, words: str) -> None:
        """Press the button, or follow the link, that says so."""
        found = self.seen.page.locator("main").locator("button, a").filter(has_text=words).filter(visible=True)
        found.first.click()

    def at_step(self, step: int) -> None:
        self.seen.open(f"{self.company}/certification?step={step}")

    def act(self, step: int, action: str) -> None:
        """Press the button of a form of a step, which is opened first."""
        self.at_step(step)
        form = self.seen.page.locator(f'#step-{step} form[action$="/{action}"]')
        if not form.is_visible():
            form.locator("xpath=ancestor::details[1]/summary").click()
        for box in form.locator("[name=replace]").all():
            box.check()
        form.locator("button").click()

    def upload(self, step: int, name: str, content: bytes) -> None:
        """Choose a file in the form of a step, and send it."""
        self.at_step(step)
        form = self.seen.page.locator(f"#step-{step} form[enctype]")
        form.locator("[type=file]").set_input_files(FilePayload(name=name, mimeType="application/xml", buffer=content))
        form.locator("button").click()

    def until_shown(self, text: str, where: str) -> None:
        """Open the page again until it says so."""
        until = time.monotonic() + PATIENCE
        while text not in (said := " ".join(self.seen.page.locator(where).all_inner_texts())):
            assert time.monotonic() < until, f"{self.seen.page.url} never said {text!r}: {said}"
            self.seen.page.wait_for_timeout(200)
            self.seen.page.reload()

    def choose_path(self) -> None:
        self.seen.open(f"{self.company}/certification")
        self.seen.page.locator(f"[name=path][value={self.path}]").check()
        self.press("Elegir")

    def sign(self, step: int, name: str, content: str) -> None:
        """Have a file of the authority's portal signed, and tick its step off."""
        self.upload(step, name, content.encode())
        self.until_shown("descargar firmado", f"#step-{step}")
        with self.seen.page.expect_download() as signed:
            self.seen.page.locator(f"#step-{step} a[download]").click()
        assert name.startswith(str(verify_portal_file(signed.value.path().read_bytes()).root.tag)[:9])
        self.act(step, f"steps/{step}")

    def apply(self) -> None:
        application = APPLICATION.format(holder=self.installation.holder_id).replace(RNC, self.rnc)
        self.sign(1, "Postulacion.xml", application)

    def send_sets(self) -> None:
        """Steps 2 and 3: the workbooks of the authority's portal."""
        moment = show_moment(datetime.now(UTC) - timedelta(minutes=5))
        for step, made in ((2, sheets(only=SMALL_SET)), (3, approvals(moment=moment))):
            self.upload(step, "set.xlsx", xlsx(self._mine(made)))
            self.act(step, f"steps/{step}/check")
            self.until_shown("sin errores", f"#step-{step}")
            self.act(step, f"steps/{step}/send")
            self.until_shown("Enviado y aceptado", f"#step-{step}")
            self.act(step, f"steps/{step}")

    def _mine(self, made: Mapping[str, list[list[Any]]]) -> dict[str, list[list[Any]]]:
        """The sheets of another company, for this one."""
        return {
            name: [[one.replace(RNC, self.rnc) if isinstance(one, str) else one for one in row] for row in rows]
            for name, rows in made.items()
        }

    def register_ranges(self) -> None:
        """Register a range of each type, once the plan has been refused for the want of them."""
        self.act(4, "certification/plan")
        refused = self.seen.page.locator("#step-4 .problem").inner_text()
        assert "no hay suficientes números de E31, E32, E41" in refused
        assert "Registre un rango de cada uno" in refused
        page = self.seen.page
        for prefix in PREFIXES:
            self.seen.open(f"{self.company}/certecf/sequences")
            page.select_option("[name=prefix]", prefix)
            page.fill("[name=minimum]", "1")
            page.fill("[name=maximum]", str(_LAST))
            page.fill("[name=expires]", "" if prefix in ("E32", "E34") else "2028-12-31")
            self.press("Crear")

    def simulate(self, number: int) -> None:
        """Plan the simulation, in place of one before, and send it."""
        self.act(4, "certification/plan")
        self.act(4, "steps/4/send")
        self.until_shown(f"Enviado y aceptado {number} de {number}", "#step-4")

    def issue(self, environment: str, verdict: str) -> None:
        """Issue a small sale by hand."""
        page = self.seen.page
        self.seen.open(f"{self.company}/{environment}/new/32")
        page.locator('[name="item.NombreItem"]').first.fill("Cinta métrica")
        page.locator('[name="item.PrecioUnitarioItem"]').first.fill("250")
        self.press("Emitir")
        if environment == "ecf":  # production asks once more
            self.press("Emitir")
        self.until_shown(verdict, "h1 .badge")

    def have_one_rejected(self) -> None:
        """Issue a receipt by hand, outside of any plan, whose number the authority did not give."""
        self._grant("E32", _BEYOND)
        self.issue("certecf", "Rechazado")
        for prefix in PREFIXES:
            self._grant(prefix, 1)

    def _grant(self, prefix: str, first: int) -> None:
        """Have the authority give a range; from the first one on it rejects other numbers of the company."""
        granted = {"issuer": self.rnc, "type": prefix, "from": first, "to": first + _LAST, "expires": "2028-12-31"}
        answer = httpx.post(
            f"{self.installation.management}/ranges", json=granted | {"environment": "certecf"}, trust_env=False
        )
        assert answer.is_success, answer.text

    def counters(self) -> tuple[dict[str, int], int]:
        """Counters of the authority's portal by type of document, and the number of resets."""
        found = httpx.get(
            f"{self.installation.management}/certification", params={"issuer": self.rnc}, trust_env=False
        ).json()
        return {name: number for name, number in found["counters"].items() if number}, found["resets"]

    def finish(self, steps: range) -> None:
        """Fetch the PDFs, tick off what a person does, and have the declaration signed."""
        page = self.seen.page
        self.at_step(5)
        with page.expect_download() as pdfs:
            page.locator("#step-5 a[download]").click()
        with zipfile.ZipFile(pdfs.value.path()) as archive:
            assert len(archive.namelist()) == 11
        for step in steps:
            if page.locator(f"#step-{step}").count():
                self.act(step, f"steps/{step}")
        self.sign(13, "Declaracion.xml", DECLARATION)
        self.act(14, "steps/14")
        assert "Todos los pasos están hechos" in page.locator("main").inner_text()

    def go_live(self) -> None:
        """Register a sequence of production, tick the delegation off, and issue the first receipt."""
        page = self.seen.page
        self.seen.open(f"{self.company}/ecf/sequences")
        page.select_option("[name=prefix]", "E32")
        page.fill("[name=minimum]", "1")
        page.fill("[name=maximum]", "500")
        self.press("Crear")
        self.seen.open(f"{self.company}/certification/live")
        assert "todavía no emite" in page.locator("main").inner_text()
        self.press("Marcar como hecha")
        self.issue("ecf", "Aceptado")
        self.seen.open(f"{self.company}/certification/live")
        assert "La empresa emite en producción." in page.locator("main").inner_text()
