"""The way through what comes between pages: forms that are refused, what is shown once, and single things."""

import time
from collections.abc import Iterator
from pathlib import Path

import pyotp

from tests.mail.relay import taken_in
from tests.portal.browser.installation import Installation
from tests.portal.browser.looking import Seen
from tests.waiting import PATIENCE

PASSWORD = "caballo correcto pila grapa"


def between(installation: Installation, owner: Seen, operator: Seen, stranger: Seen) -> Iterator[tuple[str, Seen]]:
    """Go there; each step is the name of what is shown now, and in which window."""
    company = f"/companies/{installation.company}"
    yield from _configuring(installation, owner, company)
    yield from _issuing(installation, owner, company)
    yield from _arriving(installation, owner, stranger, company)
    yield from _operating(operator, installation)


def _configuring(installation: Installation, owner: Seen, company: str) -> Iterator[tuple[str, Seen]]:
    owner.open("/again")
    owner.send("/again", password="no es esta")
    yield "again, refused", owner

    owner.open(f"{company}/keys/new")
    owner.send("/keys/new")
    yield "key, refused", owner
    owner.page.locator("[name=scope]").first.check()
    owner.send("/keys/new", name="caja 9")
    yield "key, made", owner
    owner.open(f"{company}/keys")
    owner.page.locator("td a").first.click()
    yield "one key", owner

    owner.open(f"{company}/users/new")
    owner.send("/users/new", email="nobody")
    yield "user, refused", owner
    owner.send("/users/new", email="a@sucursal.example")
    owner.page.locator("main table").get_by_text("a@sucursal.example").click()
    owner.page.locator('main form[action$="/remove"]').wait_for()
    yield "one user", owner

    owner.open(f"{company}/certificates")
    owner.page.locator("main table a").first.click()
    yield "one certificate", owner
    owner.open(f"{company}/certificates/new")
    owner.page.set_input_files(
        "[name=file]", {"name": "a.p12", "mimeType": "application/x-pkcs12", "buffer": b"no es uno"}
    )
    owner.send("/certificates/new", passphrase="otra")
    yield "certificate, refused", owner

    hooks = f"{company}/{installation.environment}/webhooks"
    owner.open(hooks)
    owner.send("/webhooks", url="ftp://example.com/")
    yield "webhook, refused", owner
    owner.open(hooks)
    owner.send("/webhooks", url="http://127.0.0.1:9/")
    yield "webhook, set", owner
    owner.open(hooks)
    owner.send("/webhooks/test")
    owner.page.wait_for_url("**/deliveries/*")
    yield "one delivery", owner
    owner.open(f"{hooks}/secret")
    yield "webhook's secret", owner


def _issuing(installation: Installation, owner: Seen, company: str) -> Iterator[tuple[str, Seen]]:
    here = f"{company}/{installation.environment}"
    owner.open(f"{here}/sequences/E34")
    owner.send("/sequences/E34", maximum="0")
    yield "sequence, refused", owner
    owner.open(f"{here}/sequences/E34")
    owner.send("/sequences/E34", following="400")
    yield "sequence, asked back", owner
    owner.open(f"{here}/new/31")
    owner.page.locator("main button[value=check]:visible").first.click()
    owner.page.locator(".problem, .problems").first.wait_for()
    yield "receipt, refused", owner
    owner.page.goto(f"{owner.url}{here}/submissions?buyer=nadie")
    yield "receipts, a filter refused", owner


def _arriving(installation: Installation, owner: Seen, stranger: Seen, company: str) -> Iterator[tuple[str, Seen]]:
    owner.open(f"{company}/people/invite")
    owner.send("/people/invite", email="nobody")
    yield "invitation, refused", owner
    email = "n@nueva.example"
    owner.send("/people/invite", email=email)
    yield "invitation, made", owner
    link = owner.page.locator(".secret code").inner_text()
    owner.open(f"{company}/people")
    yield "people, one invited", owner

    page = stranger.page
    stranger.open("/sign-in")
    stranger.send("/sign-in", email=email, password="no es esta")
    yield "signing in, refused", stranger
    page.goto(link)
    yield "invitation", stranger
    stranger.send(link.rpartition("/")[2], name="Rosa", new="corta", repeated="corta")
    yield "password, refused", stranger
    stranger.send(link.rpartition("/")[2], name="Rosa", new=PASSWORD, repeated=PASSWORD)
    page.wait_for_url("**/companies/*")
    stranger.speak("es")
    stranger.open("/account/password")
    stranger.send("/account/password", present="no es esta", new=PASSWORD, repeated=PASSWORD)
    yield "new password, refused", stranger
    stranger.open("/account/second-factor")
    stranger.send("/second-factor/begin")
    page.locator(".qr").wait_for()
    yield "second factor, begun", stranger
    device = pyotp.TOTP(page.locator(".secret code").inner_text())
    stranger.send("/second-factor/confirm", code="000000")
    yield "second factor, refused", stranger
    stranger.send("/second-factor/confirm", code=device.at(int(time.time())))
    page.locator("#codes").wait_for()
    yield "recovery codes", stranger
    stranger.open("/account/second-factor")
    yield "second factor", stranger
    stranger.open(f"{company}/keys")
    yield "keys, for who may not make one", stranger
    stranger.open(f"{company}/ecf/new/31")
    page.context.clear_cookies()
    stranger.page.locator("main button[value=check]:visible").first.click()
    page.locator('main a[href="/sign-in"]').wait_for()
    yield "a form of a session that has ended", stranger

    stranger.open("/forgotten")
    stranger.send("/forgotten", email=email)
    page.wait_for_url("**/forgotten?asked=1")
    yield "forgotten password, asked", stranger
    link = _link_mailed(Path(installation.relay), email, "/reset/")
    page.goto(link)
    yield "new password by a link", stranger
    stranger.send(link.rpartition("/")[2], new="corta", repeated="corta")
    page.locator(".problem").wait_for()
    yield "new password by a link, refused", stranger


def _link_mailed(relay: Path, to: str, part: str) -> str:
    """Return the link that the relay took for someone; the portal mails after it has answered."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        for about, message in taken_in(relay):
            link = str(message.get_content()).strip().splitlines()[-1]
            if about["to"] == to and part in link:
                return link
        time.sleep(0.1)
    raise AssertionError(f"no mail to {to} has a link with {part}")


def _operating(operator: Seen, installation: Installation) -> Iterator[tuple[str, Seen]]:
    page = operator.page
    operator.open("/operators/dead-letters")
    page.locator("tbody th a").first.click()
    page.wait_for_url("**/dead-letters/*")
    yield "one dead letter", operator
    operator.open("/operators/dead-letters")
    page.locator("tbody [name=id]").first.check()
    page.locator('button[name=which][value=chosen], form[action$="/review"] button').first.click()
    page.locator('form[action$="/replay"]').wait_for()
    yield "review", operator
    operator.send("/dead-letters/replay", per_second="deprisa", reason="porque sí")
    yield "review, refused", operator
    operator.open("/operators/pauses")
    operator.send("/operators/pauses", tenant="nadie", reason="porque sí")
    yield "pause, refused", operator
    operator.open("/operators/lockouts")
    operator.send("/operators/lockouts", who="nadie", reason="porque sí")
    yield "lockout, refused", operator
    operator.open("/operators/companies/new")
    operator.send("/operators/companies/new", name="", RNCEmisor="1", reason="porque sí")
    yield "company, refused", operator
    operator.open(f"/operators/companies/{installation.company}")
    operator.send("/terms", price="mucho", reason="porque sí")
    yield "terms, refused", operator
