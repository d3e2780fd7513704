"""How the pages look in a real browser: on a desk and on a phone, by day and by night.

`KEEP_PICTURES=docs/api/pictures .venv/bin/pytest -n 0 tests/http/test_pictures.py` makes those that the repository has.
"""

import os
from pathlib import Path
from typing import NamedTuple

import pytest
import trio

from fe.http.app import PREFIX
from tests.http.browser import CHROMIUM, Look, NoBrowser, chromium
from tests.http.front import Running

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="NOT PROVED HERE: there is no chromium on this machine (.ci/servers installs it)"
)

PICTURES = Path(__file__).resolve().parents[2] / "docs" / "api" / "pictures"
LARGEST = 150_000
SCREENS = {"desk": (1280, 900), "phone": (390, 844)}


class View(NamedTuple):
    """A page to look at, and whether the repository keeps a picture of it by day and by night."""

    address: str
    day: bool = False
    night: bool = False


VIEWS = {
    "home": View("/"),
    "reference": View(f"{PREFIX}/docs", day=True),
    "guide": View(f"{PREFIX}/docs/es/guide/errors"),
    "languages": View(f"{PREFIX}/docs/es/guide/languages"),
    "index": View(f"{PREFIX}/docs/es/fields", day=True),
    "fields": View(f"{PREFIX}/docs/es/fields/31", day=True, night=True),
    "element": View(f"{PREFIX}/docs/es/fields/31#Encabezado.IdDoc", day=True),
    "codes": View(f"{PREFIX}/docs/en/fields/codes"),
    "search": View(f"{PREFIX}/docs/es/fields?q=cheque", night=True),
}


async def test_every_page_fits_its_screen_and_loads_nothing_it_may_not(front: Running, tmp_path: Path) -> None:
    root = front.base_url.removesuffix(PREFIX)
    looks: dict[tuple[str, str, bool], Look] = {}

    def look() -> None:
        with chromium(tmp_path) as browser:
            for name, view in VIEWS.items():
                for screen, (width, height) in SCREENS.items():
                    for dark in (False, True):
                        looks[name, screen, dark] = browser.look(
                            root + view.address, width=width, height=height, dark=dark
                        )

    try:
        await trio.to_thread.run_sync(look)
    except NoBrowser as reason:
        pytest.skip(f"NOT PROVED HERE: chromium does not run on this machine: {reason}")

    if folder := os.environ.get("KEEP_PICTURES"):
        for (name, screen, dark), seen in looks.items():
            if (VIEWS[name].night if dark else VIEWS[name].day) or folder != "docs/api/pictures":
                (Path(folder) / f"{name}-{screen}{'-dark' if dark else ''}.png").write_bytes(seen.picture)
    for (name, screen, _dark), seen in looks.items():
        assert seen.width <= SCREENS[screen][0], f"{name} is wider than a {screen}"
        # A browser asks for a site's icon by itself.
        assert [one for one in seen.complaints if "favicon" not in one and "404" not in one] == [], name
    assert all(looks[name, screen, False].picture != looks[name, screen, True].picture for name, screen, _ in looks)


def test_the_pictures_that_are_kept_are_small() -> None:
    wanted = {
        f"{name}-{screen}{night}.png"
        for name, view in VIEWS.items()
        for screen in SCREENS
        for night in [*([""] if view.day else []), *(["-dark"] if view.night else [])]
    }

    assert {file.name for file in PICTURES.iterdir()} == wanted
    assert [file.name for file in PICTURES.iterdir() if file.stat().st_size > LARGEST] == []
