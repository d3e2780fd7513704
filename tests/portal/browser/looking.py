"""Looking at pages as a person's browser shows them, and what no page may do there."""

import json
import struct
import zlib
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect

from tests.waiting import PATIENCE

SCREENS = {"desk": (1280, 900), "phone": (390, 844)}
expect.set_options(timeout=PATIENCE * 1000)
#: Findings that make a page unusable for some people; the others are advice.
GRAVE = ("serious", "critical")
#: Runs axe, which the page has, over the whole page.
RUN_AXE = """
async () => {
  const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  const found = await axe.run(document, {runOnly: rules, resultTypes: ["violations", "passes"]});
  const where = (one) => one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160));
  return {looked: found.passes.length, wrong: found.violations.map((one) => [one.impact, one.id, where(one)])};
}
"""


@dataclass
class Seen:
    """A window of a browser."""

    page: Page
    url: str

    def open(self, path: str) -> None:
        """Open a page of the portal, or one of another host by its whole address."""
        answer = self.page.goto(path if path.startswith("http") else self.url + path)
        assert answer is not None
        assert answer.ok, f"{path}: {answer.status}"

    def sign_in(self, email: str, password: str) -> None:
        self.open("/sign-in")
        self.page.locator("[name=email]").fill(email)
        self.page.locator("[name=password]").fill(password)
        self.page.locator("main form button").first.click()

    def speak(self, language: str) -> None:
        """Switch the page to a language with the button at the top, if needed."""
        self.open("/account")
        if self.page.locator("html").get_attribute("lang") != language:
            self.page.locator(f"header button[lang={language}]").click()
            expect(self.page.locator(f"html[lang={language}]")).to_have_count(1)

    def send(self, action: str, **fields: str) -> None:
        """Fill in the form that goes to an address ending so, and send it whatever the browser says of it."""
        form = self.page.locator(f'main form[action$="{action}"][method=post]').first
        for name, value in fields.items():
            form.locator(f"[name={name}]").first.fill(value)
        form.evaluate("(form) => { form.noValidate = true; delete form.dataset.confirm; }")
        form.locator("button:not([type=button]):not([hidden])").first.click()

    def width(self) -> int:
        return int(self.page.evaluate("document.documentElement.scrollWidth"))

    def width_on(self, screen: str) -> int:
        """Make the window as large as a screen; return how wide the page is then."""
        width, height = SCREENS[screen]
        self.page.set_viewport_size({"width": width, "height": height})
        return self.width()

    def findings(self) -> list[Any]:
        """Return axe's serious findings, once the page is there: after a click it may be read half-way."""
        self.page.wait_for_load_state()
        found: dict[str, Any] = self.page.evaluate(RUN_AXE)
        assert found["looked"] > 10, "axe looked at nothing"
        return [one for one in found["wrong"] if one[0] in GRAVE]


@dataclass
class Looker:
    """Opens windows, and hears what browsers complain of: errors of scripts, what the policy stops, foreign hosts."""

    browser: Browser
    url: str
    axe: str
    cleanup: ExitStack
    #: Where pages may send people beside our own.
    allowed: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def window(
        self,
        screen: str = "desk",
        *,
        dark: bool = False,
        language: str = "es",
        state: str = "",
        axe: bool = False,
        script: bool = True,
    ) -> Seen:
        """Open a window; with axe in its pages, which the browser runs whatever their policy says."""
        width, height = SCREENS[screen]
        context = self.browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            locale=f"{language}-DO" if language == "es" else "en-US",
            timezone_id="America/Santo_Domingo",
            is_mobile=screen == "phone",
            has_touch=screen == "phone",
            storage_state=json.loads(state) if state else None,
            java_script_enabled=script,
        )
        context.set_default_timeout(PATIENCE * 1000)
        if axe:
            context.add_init_script(self.axe)
        self.cleanup.callback(context.close)
        page = context.new_page()
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.complaints.append(f"{page.url}: {error}"))
        page.on("request", self._see)
        return Seen(page, self.url)

    def _hear(self, message: ConsoleMessage) -> None:
        # The browser reports the status of a rejected form.
        if message.type in ("error", "warning") and "the server responded with a status of 4" not in message.text:
            self.complaints.append(f"{message.location.get('url')}: {message.text}")

    def _see(self, request: Request) -> None:
        if urlsplit(request.url).scheme in ("chrome", "chrome-extension"):
            return  # of the browser's own PDF viewer
        if urlsplit(request.url).netloc not in {urlsplit(one).netloc for one in (self.url, *self.allowed)}:
            self.complaints.append(f"{request.frame.url} loads {request.url}")


def shrunk(png: bytes) -> bytes:
    """The same picture packed tighter; only what browsers write is read: 8 bits, no interlacing."""
    chunks, at = [], 8
    data = b""
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        kind, body = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        at += 12 + length
        if kind == b"IDAT":
            data += body
        else:
            chunks.append((kind, body))
    packed = zlib.compress(zlib.decompress(data), 9)
    chunks.insert(len(chunks) - 1, (b"IDAT", packed))
    out = png[:8]
    for kind, body in chunks:
        out += struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    return out
