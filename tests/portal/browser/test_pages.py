"""How every page looks and behaves in a real browser: on a desk and on a phone, by day and by night.

`KEEP_PICTURES=docs/portal .venv/bin/pytest tests/portal/browser/test_pages.py` makes those that the repository has.
"""

import os
import shutil
import subprocess
import time
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import FilePayload

from tests.portal.browser.between import between
from tests.portal.browser.installation import Installation
from tests.portal.browser.languages import foreign
from tests.portal.browser.looking import SCREENS, Looker, Seen, shrunk
from tests.waiting import PATIENCE

PICTURES = Path(__file__).resolve().parents[3] / "docs" / "portal"
#: Bytes of all pictures together.
LARGEST = 5_000_000


#: Chromium's own viewer of PDFs.
_VIEWER = "chrome-extension://"


class View(NamedTuple):
    """A page: who looks at it, where it is, and which pictures of it the repository keeps."""

    address: str
    who: str = "owner"
    day: bool = False
    night: bool = False
    #: By day, of a phone alone.
    phone: bool = False

    def is_kept(self, screen: str, *, dark: bool) -> bool:
        """Whether the repository keeps its picture."""
        return self.night if dark else self.day or (self.phone and screen == "phone")


VIEWS = {
    "sign-in": View("/sign-in", "nobody", day=True),
    "forgotten": View("/forgotten", "nobody"),
    "account": View("/account"),
    "second-factor": View("/account/second-factor"),
    "overview": View("{company}", day=True, night=True),
    "receipts": View("{company}/{environment}/submissions", day=True, night=True),
    "receipt": View("{company}/{environment}/submissions/{accepted}", day=True),
    "rejected": View("{company}/{environment}/submissions/{rejected}", day=True),
    "share": View("{company}/{environment}/submissions/{accepted}#share", day=True),
    "buyer": View("{shared}", "nobody", day=True),
    "buyer-signature": View("{shared}/signature", "nobody", day=True),
    "new": View("{company}/{environment}/new?types", day=True),
    "new-31": View("{company}/{environment}/new/31", day=True),
    "new-32": View("{company}/{environment}/new/32", phone=True),
    "return": View("{company}/{environment}/new/return?from={accepted}"),
    "imports": View("{company}/{environment}/imports", day=True),
    "recurring": View("{company}/{environment}/recurring"),
    "recurring-new": View("{company}/{environment}/recurring/new?from={accepted}"),
    "received": View("{company}/{environment}/received", phone=True),
    "customers": View("{company}/customers?environment={environment}", day=True),
    "products": View("{company}/products?environment={environment}", day=True),
    "customer": View("{company}/customers/new"),
    "product": View("{company}/products/new"),
    "products-import": View("{company}/products/import"),
    "sequences": View("{company}/{environment}/sequences", day=True),
    "sequence": View("{company}/{environment}/sequences/E31"),
    "usage": View("{company}/{environment}/usage", day=True),
    "archive": View("{company}/{environment}/archive", phone=True),
    "webhooks": View("{company}/{environment}/webhooks", day=True),
    "requests": View("{company}/{environment}/requests"),
    "deliveries": View("{company}/{environment}/webhooks/deliveries"),
    "settings": View("{company}/settings"),
    "mail": View("{company}/mail", day=True),
    "users": View("{company}/users"),
    "printing": View("{company}/printing", day=True),
    "certificates": View("{company}/certificates", day=True),
    "certification": View("{company}/certification?step=2"),
    "going-live": View("{company}/certification/live"),
    "certificate-new": View("{company}/certificates/new"),
    "keys": View("{company}/keys", day=True),
    "key-new": View("{company}/keys/new"),
    "people": View("{company}/people"),
    "invite": View("{company}/people/invite"),
    "billing": View("{company}/billing"),
    "changes": View("{company}/changes"),
    "companies": View("/", "accountant", day=True),
    "no-company": View("/", "operator"),
    "switch": View("/switch?to=people", "accountant"),
    "months": View("/months", "accountant", phone=True),
    "day": View("{company}/{environment}/days", day=True),
    "month": View("{company}/{environment}/months/2026-11", phone=True),
    "installation": View("/operators", "operator", day=True, night=True),
    "dead-letters": View("/operators/dead-letters", "operator", day=True),
    "replays": View("/operators/replays", "operator"),
    "in-doubt": View("/operators/in-doubt", "operator"),
    "pauses": View("/operators/pauses", "operator"),
    "operators-companies": View("/operators/companies", "operator"),
    "operators-company": View("/operators/companies/{number}", "operator", day=True),
    "operators-company-new": View("/operators/companies/new", "operator"),
    "lockouts": View("/operators/lockouts", "operator"),
    "operator-keys": View("/operators/keys", "operator"),
    "runbook": View("/operators/runbooks/database", "operator"),
    "approvals": View("/operators/approvals", "operator"),
    "actions": View("/operators/actions", "operator"),
}


def address(view: View, installation: Installation) -> str:
    return view.address.format(
        company=f"/companies/{installation.company}",
        number=installation.company,
        environment=installation.environment,
        accepted=installation.accepted,
        rejected=installation.rejected,
        shared=installation.shared,
    )


#: Each theme and, but for pictures, each language once; pictures are of all four.
LOOKS = list(product(SCREENS, (False, True))) if os.environ.get("KEEP_PICTURES") else [("desk", False), ("phone", True)]


@pytest.mark.parametrize(("screen", "dark"), LOOKS)
def test_every_page_is_right_in_a_browser_and_in_one_language(
    look: Looker,
    installation: Installation,
    owner_state: str,
    accountant_state: str,
    operator_state: str,
    screen: str,
    dark: bool,
) -> None:
    states = {"nobody": "", "owner": owner_state, "accountant": accountant_state, "operator": operator_state}
    spoken = "en" if screen == "desk" and "KEEP_PICTURES" not in os.environ else "es"
    wrong: list[object] = []
    windows = {
        who: look.window(screen, dark=dark, language=spoken, state=state, axe=True) for who, state in states.items()
    }
    for who in ("owner", "accountant", "operator"):  # who is logged in keeps the language
        windows[who].speak(spoken)
    for name, view in VIEWS.items():
        seen = windows[view.who]
        seen.open(address(view, installation))
        wrong += [(name, *found) for found in (*seen.findings(), *foreign(seen, spoken))]
        folder = os.environ.get("KEEP_PICTURES")
        if folder and (view.is_kept(screen, dark=dark) or folder != "docs/portal"):
            seen.page.locator("main [aria-busy=true]").wait_for(state="detached")
            seen.page.wait_for_timeout(1000)  # a PDF is drawn
            picture = shrunk(seen.page.screenshot(full_page=folder != "docs/portal"))
            (Path(folder) / f"{name}-{screen}{'-dark' if dark else ''}.png").write_bytes(picture)
        for other in sorted(SCREENS, key=screen.__eq__):  # its own comes last
            if (width := seen.width_on(other)) > SCREENS[other][0]:
                wrong.append((name, f"is wider than a {other}", width))
    owner = windows["owner"]
    owner.open(f"/companies/{installation.company}/people/invite")
    owner.send("/people/invite", email="nobody")
    owner.page.locator(".problem").wait_for()
    wrong += [("a form that is refused", *found) for found in foreign(owner, spoken)]
    assert not wrong, "\n".join(map(str, wrong))


def test_the_pictures_that_are_kept_are_small() -> None:
    wanted = {
        f"{name}-{screen}{'-dark' if dark else ''}.png"
        for name, view in VIEWS.items()
        for screen in SCREENS
        for dark in (False, True)
        if view.is_kept(screen, dark=dark)
    }

    assert {file.name for file in PICTURES.iterdir()} == wanted
    assert sum(file.stat().st_size for file in PICTURES.iterdir()) < LARGEST


def test_what_comes_between_pages_is_right_too(
    look: Looker, installation: Installation, owner_state: str, operator_state: str
) -> None:
    """Refused forms, what is shown once, and pages of single things: for axe, and without a word of English."""
    owner, operator = (look.window(state=state, axe=True) for state in (owner_state, operator_state))
    for window in (owner, operator):
        window.speak("es")
    stranger = look.window(axe=True)
    wrong: list[object] = []
    for name, window in between(installation, owner, operator, stranger):
        wrong += [(name, *finding) for finding in window.findings()]
        wrong += [(name, *found) for found in foreign(window, "es")]
    assert not wrong, "\n".join(map(str, wrong))


def test_preview_and_pdf_of_a_receipt_are_shown_under_the_policy(
    look_at_pdfs: Looker, installation: Installation, owner_state: str
) -> None:
    seen = look_at_pdfs.window(state=owner_state)
    seen.open(address(VIEWS["printing"], installation))
    preview = seen.page.frame_locator("#preview")
    seen.page.locator("#preview[aria-busy=false]").wait_for()
    _await_viewer(seen)

    bad: list[FilePayload] = [{"name": "logo.png", "mimeType": "image/png", "buffer": b"no logo"}]
    seen.page.set_input_files("[name=logo]", bad)
    assert "Logo" in preview.locator(".problem").inner_text()

    seen.open(address(VIEWS["receipt"], installation))
    seen.page.locator("a[href$='/pdf']").click()
    seen.page.wait_for_url("**/pdf")
    _await_viewer(seen)


def _await_viewer(seen: Seen) -> None:
    until = time.monotonic() + PATIENCE
    while not any(frame.url.startswith(_VIEWER) for frame in seen.page.frames):
        assert time.monotonic() < until
        seen.page.wait_for_timeout(100)


def test_a_receipt_on_paper_is_no_wider_than_the_paper_and_says_that_it_is_a_trial(
    look: Looker, installation: Installation, owner_state: str
) -> None:
    seen = look.window(state=owner_state)
    seen.speak("es")
    seen.page.set_viewport_size({"width": 720, "height": 960})  # a letter, within its margins
    seen.page.emulate_media(media="print")
    seen.open(address(VIEWS["receipt"], installation))

    assert seen.width() <= 720
    printed = seen.page.locator("body").inner_text()
    assert "SignatureValue" not in printed, "the XML is folded"
    assert "de prueba, sin valor fiscal" in printed


def test_filters_are_folded_on_a_phone_and_open_on_a_desk(
    look: Looker, installation: Installation, owner_state: str
) -> None:
    receipts = f"/companies/{installation.company}/{installation.environment}/submissions"
    desk, phone = look.window(state=owner_state), look.window("phone", state=owner_state)
    for seen, is_folded in ((desk, False), (phone, True)):
        seen.open(receipts)
        assert seen.page.locator("[name=buyer]").is_visible() != is_folded
        assert seen.page.locator(".fold > summary").is_visible() == is_folded
        assert seen.page.locator("[name=q]").is_visible()

    phone.page.locator(".fold > summary").tap()
    phone.page.fill("[name=buyer]", "131880681")
    phone.page.locator(".fold button").tap()
    phone.page.wait_for_url("**buyer=131880681**")
    assert phone.page.locator("[name=buyer]").is_visible(), "what is chosen is seen"


def test_list_keeps_its_filters_until_they_are_removed_or_someone_signs_in(
    look: Looker, installation: Installation, owner_state: str
) -> None:
    company = f"/companies/{installation.company}"
    receipts = f"{company}/{installation.environment}/submissions"
    seen = look.window(state=owner_state)
    page, at = seen.page, seen.url + receipts
    in_menu = f".side a[href*='/{installation.environment}/submissions']"
    seen.open(receipts)
    page.select_option("[name=state]", "rejected")
    page.locator(".filters:has([name=state]) button").click()
    page.locator("td a").first.click()
    page.locator("p.crumb a").click()
    page.wait_for_url(f"{at}?state=rejected")
    seen.open(f"{company}?environment={installation.environment}")
    page.locator(in_menu).first.click()
    page.wait_for_url(f"{at}?state=rejected")

    page.locator(".filters a").click()
    page.wait_for_url(at)
    page.locator(in_menu).first.click()
    page.wait_for_url(at)

    seen.open(f"{receipts}?state=rejected")
    page.evaluate("sessionStorage.length || (() => { throw new Error('nothing is kept'); })()")
    page.context.clear_cookies()
    seen.open("/sign-in")
    assert page.evaluate("sessionStorage.length") == 0


def read_qr(seen: Seen, picture: Path) -> str:
    """Decode the QR code that the page shows, as a phone's camera does: from its pixels."""
    if shutil.which("zbarimg") is None:
        pytest.skip("NOT PROVED HERE: there is no zbarimg on this machine (.ci/servers installs zbar-tools)")
    seen.page.locator("figure.qr").screenshot(path=picture)
    read = subprocess.run(["zbarimg", "--quiet", "--raw", picture], capture_output=True, text=True, check=False)
    return read.stdout.strip()


@pytest.mark.parametrize(("screen", "dark"), LOOKS)
def test_receipt_qr_decoded_from_a_screenshot_is_the_address_at_the_authority(
    look: Looker, installation: Installation, owner_state: str, tmp_path: Path, screen: str, dark: bool
) -> None:
    seen = look.window(screen, dark=dark, state=owner_state)
    seen.open(address(VIEWS["receipt"], installation))

    assert read_qr(seen, tmp_path / "qr.png") == seen.page.locator("figure.qr a").get_attribute("href")


@pytest.mark.parametrize(("screen", "dark"), LOOKS)
def test_second_factor_qr_decoded_from_a_screenshot_has_the_secret_shown(
    look: Looker, installation: Installation, owner_state: str, tmp_path: Path, screen: str, dark: bool
) -> None:
    seen = look.window(screen, dark=dark, state=owner_state)
    seen.open("/account/second-factor")
    seen.send("/second-factor/begin")
    seen.page.locator(".qr").wait_for()

    read = read_qr(seen, tmp_path / "qr.png")

    assert read.startswith("otpauth://totp/")
    assert seen.page.locator(".secret code").inner_text() in read
