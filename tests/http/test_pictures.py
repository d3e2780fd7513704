"""How the pages look in a real browser: on a desk and on a phone, by day and by night.

`KEEP_PICTURES=docs/api/pictures .venv/bin/pytest -n 0 tests/http/test_pictures.py` makes those that the repository has.
"""

import os
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import trio

from fe.http.app import PREFIX
from fe.store.postgres.db import Database
from tests.factories.tenants import rows
from tests.http.browser import CHROMIUM, Look, NoBrowser, chromium
from tests.http.front import Running
from tests.portal.browser.looking import GRAVE, RUN_AXE

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
    "status": View(f"{PREFIX}/docs/es/status", day=True),
    "codes": View(f"{PREFIX}/docs/en/fields/codes"),
    "search": View(f"{PREFIX}/docs/es/fields?q=cheque", night=True),
}

#: Seventy days of a service that was slow, down and not measured for a while.
MEASURED = """
    INSERT INTO service_states (part, began_at, seen_at, severity)
    SELECT p.part, now() - make_interval(mins => s.began), now() - make_interval(mins => s.ended), s.severity
      FROM unnest(ARRAY['accepting', 'signing', 'sending', 'verdicts', 'webhooks', 'receiving']) AS p (part)
     CROSS JOIN (VALUES ('', 100000, 52000, 0), ('', 51950, 0, 0), ('sending', 30000, 29950, 2),
                        ('sending', 29950, 29930, 3), ('webhooks', 9000, 8800, 2),
                        ('verdicts', 20, 0, 1)) AS s (of_part, began, ended, severity)
     WHERE s.of_part IN ('', p.part)
    RETURNING part
"""


async def test_every_page_fits_its_screen_and_loads_nothing_it_may_not(
    front: Running, db: Database, tmp_path: Path
) -> None:
    await rows(db, MEASURED)
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


async def test_the_status_has_no_grave_finding_of_axe(front: Running, db: Database, tmp_path: Path) -> None:
    await rows(db, MEASURED)
    axe = files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = []

    def look() -> None:
        with chromium(tmp_path) as browser:
            for dark in (False, True):
                browser.look(f"{front.base_url}/docs/es/status", width=1280, height=900, dark=dark)
                browser.call("Runtime.evaluate", expression=axe)
                ran = browser.call(
                    "Runtime.evaluate", expression=f"({RUN_AXE.strip()})()", awaitPromise=True, returnByValue=True
                )
                found.append(ran["result"]["value"])

    try:
        await trio.to_thread.run_sync(look)
    except NoBrowser as reason:
        pytest.skip(f"NOT PROVED HERE: chromium does not run on this machine: {reason}")

    assert [wrong for one in found for wrong in one["wrong"] if wrong[0] in GRAVE] == []
    assert min(one["looked"] for one in found) > 10
