"""Debian's Chromium without a window, spoken to over two pipes: no port, no driver, no script in the page."""

import base64
import json
import os
import select
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.waiting import PATIENCE

CHROMIUM = shutil.which("chromium")
_ARGUMENTS = (
    *(
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--hide-scrollbars",
    ),
    *("--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--no-proxy-server", "--remote-debugging-pipe", "about:blank"),
)


class NoBrowser(Exception):
    """The browser does not run here: no fault of a page."""


@dataclass
class Look:
    """How a page looks: a picture as PNG, how wide it is, and what the browser complained of."""

    picture: bytes
    width: int
    complaints: list[str]


@dataclass
class Browser:
    """One page of one browser. It answers commands in order."""

    to_browser: int
    from_browser: int
    session: str = ""
    events: list[dict[str, Any]] = field(default_factory=list)
    _last: int = 0
    _buffer: bytearray = field(default_factory=bytearray)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        self._last += 1
        message = {"id": self._last, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        rest = json.dumps(message).encode() + b"\0"
        try:
            while rest:
                rest = rest[os.write(self.to_browser, rest) :]
        except BrokenPipeError:
            raise NoBrowser("it ended") from None
        while True:
            answer = self._read()
            if answer.get("id") == self._last:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def until(self, event: str) -> None:
        while not any(seen.get("method") == event for seen in self.events):
            self.events.append(self._read())

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            readable, _, _ = select.select([self.from_browser], [], [], PATIENCE)
            chunk = os.read(self.from_browser, 65536) if readable else b""
            if not chunk:
                raise NoBrowser("it ended" if readable else "it says nothing any more")
            self._buffer += chunk
        message, _, rest = bytes(self._buffer).partition(b"\0")
        self._buffer = bytearray(rest)
        read: dict[str, Any] = json.loads(message)
        return read

    def _open(self, url: str) -> None:
        self.events.clear()
        self.call("Page.navigate", url=url)
        self.until("Page.loadEventFired")

    def look(self, url: str, *, width: int, height: int, dark: bool, language: str = "es") -> Look:
        """Open an address on a screen of that size."""
        # From elsewhere: to another place of the same page nothing would be loaded.
        self._open("about:blank")
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Network.setExtraHTTPHeaders", headers={"Accept-Language": language})
        self._open(url)
        metrics = self.call("Page.getLayoutMetrics")
        picture = self.call("Page.captureScreenshot", format="png", optimizeForSpeed=False)["data"]
        complaints = [
            f"{entry['params']['entry']['level']}: {entry['params']['entry']['text']}"
            for entry in self.events
            if entry.get("method") == "Log.entryAdded"
        ]
        return Look(base64.b64decode(picture), int(metrics["cssContentSize"]["width"]), complaints)


@contextmanager
def chromium(folder: Path) -> Iterator[Browser]:
    """A browser with nothing in it, for as long as the block lasts."""
    assert CHROMIUM is not None
    its_in, to_browser = os.pipe()
    from_browser, its_out = os.pipe()
    # It reads what it is told from 3 and answers on 4.
    wired = f'exec "$0" "$@" 3<&{its_in} 4>&{its_out}'
    process = subprocess.Popen(
        ["bash", "-c", wired, CHROMIUM, f"--user-data-dir={folder}", *_ARGUMENTS],
        env={**os.environ, "HOME": str(folder)},
        pass_fds=(its_in, its_out),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(its_in)
    os.close(its_out)
    try:
        browser = Browser(to_browser, from_browser)
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        browser.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Log", "Network"):
            browser.call(f"{domain}.enable")
        yield browser
    finally:
        # It takes its own processes with it when it is asked to end, and only then.
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(to_browser)
        os.close(from_browser)
