"""Debian's Chromium, driven by Playwright, and the installation that it looks at: one of each for a file of tests.

Not longer: while Playwright is there, an asyncio loop runs in this thread, and other tests want one of their own.
"""

import asyncio
import json
import math
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.resources import files
from pathlib import Path

import pyotp
import pytest
from playwright.sync_api import Browser, Error, Playwright, sync_playwright

from tests.portal.browser.installation import Installation, running_installation
from tests.portal.browser.looking import Looker, Seen

#: The shell draws the same pages for half the CPU, without a browser's own windows and its viewer of PDFs.
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
_NOT_HERE = "NOT PROVED HERE: there is no chromium on this machine (.ci/servers installs it)"
#: After ten minutes the portal asks for the password again before some pages.
_LOGIN_SECONDS = 240.0
_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-proxy-server"]


@pytest.fixture(scope="module")
def playwright() -> Iterator[Playwright]:
    with ExitStack() as cleanup:
        with pytest.MonkeyPatch.context() as patch:
            # trio-asyncio, once imported, makes loops that cannot be gone into as Playwright does.
            patch.setattr(asyncio, "new_event_loop", asyncio.SelectorEventLoop)
            started = cleanup.enter_context(sync_playwright())
        yield started


@pytest.fixture(scope="module")
def chromium(playwright: Playwright, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with _launched(playwright, CHROMIUM, tmp_path_factory.mktemp("chromium")) as browser:
        yield browser


@pytest.fixture(scope="module")
def whole_chromium(playwright: Playwright, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Chromium with its viewer of PDFs."""
    with _launched(playwright, shutil.which("chromium"), tmp_path_factory.mktemp("whole")) as browser:
        yield browser


@contextmanager
def _launched(playwright: Playwright, program: str | None, home: Path) -> Iterator[Browser]:
    if program is None:
        pytest.skip(_NOT_HERE)
    try:
        browser = playwright.chromium.launch(
            executable_path=program, args=_ARGUMENTS, env={**os.environ, "HOME": str(home)}
        )
    except Error as reason:
        pytest.skip(f"NOT PROVED HERE: chromium does not run on this machine: {reason}")
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def installation(chromium: Browser) -> Iterator[Installation]:
    with running_installation() as running:
        yield running


@pytest.fixture(scope="module")
def axe() -> str:
    return files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")


@pytest.fixture
def look(chromium: Browser, installation: Installation, axe: str) -> Iterator[Looker]:
    """Open windows. Complaints of the browser fail the test at its end."""
    with _looking(chromium, installation, axe) as looker:
        yield looker


@pytest.fixture
def look_at_pdfs(whole_chromium: Browser, installation: Installation, axe: str) -> Iterator[Looker]:
    """Open windows that show PDFs, too."""
    with _looking(whole_chromium, installation, axe) as looker:
        yield looker


@contextmanager
def _looking(browser: Browser, installation: Installation, axe: str) -> Iterator[Looker]:
    with ExitStack() as cleanup:
        looker = Looker(browser, installation.url, axe, cleanup, [installation.shared])
        yield looker
        assert looker.complaints == []


@pytest.fixture(scope="module")
def logged_in() -> dict[str, tuple[float, str]]:
    """Moment of the last login and its cookies, by mail address."""
    return {}


@pytest.fixture
def owner_state(chromium: Browser, installation: Installation, logged_in: dict[str, tuple[float, str]]) -> str:
    """The cookies of a browser in which the owner has logged in."""
    return _state(chromium, installation, logged_in, installation.owner, installation.owner_password)


@pytest.fixture
def accountant_state(chromium: Browser, installation: Installation, logged_in: dict[str, tuple[float, str]]) -> str:
    """The cookies of a browser in which the accountant has logged in."""
    return _state(chromium, installation, logged_in, installation.accountant, installation.accountant_password)


@pytest.fixture
def operator_state(chromium: Browser, installation: Installation, logged_in: dict[str, tuple[float, str]]) -> str:
    """The cookies of a browser in which the operator has logged in, with a one-time password."""
    person = installation.operator, installation.operator_password, installation.device_key
    return _state(chromium, installation, logged_in, *person)


def _state(
    chromium: Browser,
    installation: Installation,
    logged_in: dict[str, tuple[float, str]],
    email: str,
    password: str,
    device_key: str = "",
) -> str:
    at, state = logged_in.get(email, (-math.inf, ""))
    if time.monotonic() - at < _LOGIN_SECONDS:
        return state
    with ExitStack() as cleanup:
        seen: Seen = Looker(chromium, installation.url, "", cleanup).window()
        seen.sign_in(email, password)
        if device_key:
            seen.page.locator("[name=code]").fill(pyotp.TOTP(device_key).now())
            seen.page.locator("main form button").first.click()
        seen.page.wait_for_url(lambda url: "/sign-in" not in url)
        state = json.dumps(seen.page.context.storage_state())
    logged_in[email] = time.monotonic(), state
    return state
