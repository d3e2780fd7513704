"""Certificates by a form: what is put in is looked at first, is never given out, and says in time that it ends."""

import io
import os
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from fe.accounts.expiry import within
from fe.ecf.catalogue import Environment
from fe.ecf.selfmade import self_made, to_p12
from fe.identifiers import CertificateId, TenantId, UserId
from fe.secrets.vault import P12_PURPOSE, Belongs
from fe.store.portal import changes
from fe.store.portal.people import PortalRole
from fe.store.records import certificates, receivers, tenants
from fe.store.records.certificates import CertificateRecord
from fe.store.records.receivers import Receiver
from fe.store.records.tenants import User
from tests.factories import certificates as made
from tests.factories.certificates import HOLDER, rsa_key
from tests.factories.companies import VAULT, make_certificate
from tests.factories.tenants import make_submission
from tests.http.front import make_tenant
from tests.portal.running import Browser, Running, hidden_fields

DAY = timedelta(days=1)
PASSPHRASE = "  una clave ñ "


def p12(days: int = 300, passphrase: str = PASSPHRASE, since: int = -400) -> bytes:
    now = datetime.now(UTC)
    credential = self_made(
        rsa_key("portal"),
        holder=HOLDER,
        holder_id=made.HOLDER_ID,
        not_before=now + since * DAY,
        not_after=now + days * DAY,
    )
    return to_p12(credential, passphrase)


async def upload(
    browser: Browser, tenant: TenantId, content: bytes, passphrase: str = PASSPHRASE, **fields: Any
) -> httpx.Response:
    action = f"/companies/{tenant}/certificates/new"
    await browser.get(action)
    return await browser.send(
        action,
        {"passphrase": passphrase, "user": "", **fields},
        {"file": ("firma.p12", content, "application/x-pkcs12")},
    )


async def make_user(portal: Running, tenant: TenantId, email: str) -> User:
    user = await portal.db.run(tenants.create_user, tenant, UserId(uuid4()), email, None)
    assert user is not None
    return user


async def in_use(portal: Running, tenant: TenantId) -> list[CertificateRecord]:
    return await portal.db.run(certificates.in_use, tenant)


async def test_a_certificate_is_stored_encrypted_seen_and_never_given_out(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    content = p12()

    page = await upload(owner, tenant, content)

    assert (page.status_code, page.url.path) == (200, f"/companies/{tenant}/certificates")
    assert "signs from now on" in page.text
    assert "self-signed" in page.text, "said at once"
    (kept,) = await in_use(portal, tenant)
    for seen in (HOLDER, kept.serial_number, "in use", "names no user"):
        assert seen in page.text
    encrypted = await portal.db.run(certificates.encrypted, tenant, kept.certificate_id)
    assert encrypted is not None
    assert VAULT.decrypt(encrypted.p12, Belongs(tenant, str(kept.certificate_id), P12_PURPOSE)) == content
    (change,) = await portal.db.run(changes.latest, tenant, limit=9)
    assert (change.action, change.subject) == ("certificate added", kept.serial_number)
    assert PASSPHRASE.strip() not in str(change)
    for path in ("certificates", f"certificates/{kept.certificate_id}", "changes", "changes/export"):
        page = await owner.get(f"/companies/{tenant}/{path}")
        assert page.status_code == 200
        assert PASSPHRASE.strip() not in page.text


async def test_the_next_one_takes_the_place_of_the_one_before(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    await upload(owner, tenant, p12())
    (first,) = await in_use(portal, tenant)
    user = await make_user(portal, tenant, "santiago@example.do")

    await upload(owner, tenant, p12(), user=str(user.user_id))
    page = await upload(owner, tenant, p12())

    (second, of_user) = await in_use(portal, tenant)
    assert second.certificate_id != first.certificate_id
    assert of_user.user_id == user.user_id
    assert "retired" in page.text
    latest = (await portal.db.run(changes.latest, tenant, limit=9))[0]
    assert latest.before is not None
    assert latest.before["certificateId"] == str(first.certificate_id)


def zipped() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("firma.p12", p12())
    return out.getvalue()


HOSTILE: Mapping[str, tuple[bytes, str, str]] = {
    "wrong passphrase": (p12(), "otra", "The passphrase does not open the .p12 file"),
    "without its blanks": (p12(), PASSPHRASE.strip(), "The passphrase does not open the .p12 file"),
    "no passphrase": (p12(), "", "The passphrase of the .p12 file is missing"),
    "expired": (p12(days=-1), PASSPHRASE, "the certificate expired on"),
    "bomb": (
        made.p12_of(made.plain_part(made.shrouded_key_bag(made.pbes2(2**31 - 1)))),
        PASSPHRASE,
        "asks for an absurd amount of computing",
    ),
    "bomb of parts": (
        made.p12_of(*[made.encrypted_part(made.pbes2(100_000), b"")] * 40),
        PASSPHRASE,
        "asks for an absurd amount of computing",
    ),
    "random": (os.urandom(5000), PASSPHRASE, "is not a .p12 (PKCS#12) file"),
    "PEM": (made.default_credential().certificate.public_bytes(Encoding.PEM), PASSPHRASE, "is not a .p12"),
    "zip": (zipped(), PASSPHRASE, "is not a .p12 (PKCS#12) file"),
    "cut off": (p12()[:-50], PASSPHRASE, "is not a .p12 (PKCS#12) file"),
    "900 KB": (bytes(900_000), PASSPHRASE, "larger than 64 KiB"),
    "nothing": (b"", PASSPHRASE, "Choose the .p12 or .pfx file"),
    "another's key": (
        made.make_p12(rsa_key("stranger"), None, PASSPHRASE, others=[made.default_credential().certificate]),
        PASSPHRASE,
        "does not belong to its certificate",
    ),
}


@pytest.mark.parametrize("what", HOSTILE)
async def test_what_cannot_be_used_is_refused_in_words_and_nothing_is_stored(
    portal: Running, owner: Browser, tenant: TenantId, what: str
) -> None:
    content, passphrase, said = HOSTILE[what]

    page = await upload(owner, tenant, content, passphrase)

    assert page.status_code == 400
    assert said in page.text
    assert 'name="file"' in page.text, "the form is there to be tried again"
    assert await in_use(portal, tenant) == []
    assert await portal.db.run(changes.latest, tenant, limit=9) == []


async def test_certificates_page_stores_a_renewal_that_waits_beside_the_one_in_use(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    await upload(owner, tenant, p12())
    (before,) = await in_use(portal, tenant)

    page = await upload(owner, tenant, p12(since=3, days=600))

    assert page.status_code == 200
    assert "signs from the first day of its validity" in page.text
    assert "not valid yet" in page.text
    kept, renewed = await in_use(portal, tenant)
    assert kept == before
    await upload(owner, tenant, p12(since=4, days=700))
    kept, waiting = await in_use(portal, tenant)
    assert kept == before
    assert waiting.certificate_id != renewed.certificate_id
    await upload(owner, tenant, p12(days=800))
    (last,) = await in_use(portal, tenant)
    assert last.certificate_id not in (before.certificate_id, renewed.certificate_id)


async def test_certificate_of_the_wrong_usage_is_refused_and_the_good_one_stays(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    await upload(owner, tenant, p12())
    before = await in_use(portal, tenant)
    wrong = made.make_credential(usage=made.key_usage(), not_after=datetime.now(UTC) + 300 * DAY)

    page = await upload(owner, tenant, made.make_p12(wrong.key, wrong.certificate, PASSPHRASE))

    assert page.status_code == 400
    assert "not meant for signing documents" in page.text
    assert await in_use(portal, tenant) == before


async def test_more_than_a_megabyte_is_not_read(portal: Running, owner: Browser, tenant: TenantId) -> None:
    page = await upload(owner, tenant, bytes(1_100_000))

    assert page.status_code == 413
    assert "too large" in page.text
    assert await in_use(portal, tenant) == []


async def test_a_wrong_passphrase_is_said_in_spanish_too(portal: Running, tenant: TenantId) -> None:
    async with portal.browser(await portal.person(tenant, language="es"), "es") as browser:
        page = await upload(browser, tenant, p12(), "otra")

    assert "La contraseña no abre el archivo .p12" in page.text


async def test_a_form_sent_twice_stores_one(portal: Running, owner: Browser, tenant: TenantId) -> None:
    action = f"/companies/{tenant}/certificates/new"
    page = await owner.get(action)
    fields = hidden_fields(page.text, action) | {"passphrase": PASSPHRASE, "user": ""}
    files = {"file": ("firma.p12", p12(), "application/x-pkcs12")}

    answers = [(await owner.client.post(action, data=fields, files=files)).status_code for _ in range(2)]

    assert answers == [303, 409]
    assert len(await portal.db.run(certificates.every, tenant)) == 1


async def test_which_signs_what_is_what_the_rule_says(portal: Running, owner: Browser, tenant: TenantId) -> None:
    user = await make_user(portal, tenant, "santiago@example.do")
    path = f"/companies/{tenant}/certificates"
    assert (await owner.get(path)).text.count("no certificate available") == 2

    await make_certificate(portal.db, tenant, user_id=user.user_id)
    page = await owner.get(path)
    assert "that of its only user signs" in page.text
    assert "their own certificate signs" in page.text

    other = await make_user(portal, tenant, "moca@example.do")
    await make_certificate(portal.db, tenant, user_id=other.user_id)
    assert "several user certificates are available" in (await owner.get(path)).text

    await make_certificate(portal.db, tenant, not_after=portal.clock() - DAY)
    page = await owner.get(path)
    assert "the certificate has expired" in page.text, "an expired one is not replaced in silence"


@pytest.mark.parametrize(
    ("left", "days"),
    [
        (timedelta(days=61), None),
        (timedelta(days=60), 60),
        (timedelta(days=30, seconds=1), 60),
        (timedelta(days=30), 30),
        (timedelta(days=7), 7),
        (timedelta(hours=30), 7),
        (timedelta(days=1), 1),
        (timedelta(seconds=1), 1),
        (timedelta(0), 0),
        (timedelta(days=-9), 0),
    ],
)
def test_it_is_said_at_60_30_7_and_1_days(left: timedelta, days: int | None) -> None:
    now = datetime(2026, 11, 6, 12, tzinfo=UTC)
    record = CertificateRecord(TenantId(1), CertificateId(uuid4()), None, "X", None, "1", now - 400 * DAY, now + left)

    assert within(record, now) == days


async def test_warnings_are_on_the_page(portal: Running, owner: Browser, tenant: TenantId) -> None:
    await make_certificate(portal.db, tenant, not_after=portal.clock() + 6 * DAY)

    page = await owner.get(f"/companies/{tenant}/certificates")

    assert "expires within 7 days" in page.text
    portal.clock.ahead = timedelta(hours=0)


async def test_a_certificate_is_retired_or_it_is_said_why_not(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    certificate = await make_certificate(portal.db, tenant)
    waiting = await make_submission(portal.db, tenant)
    page = f"/companies/{tenant}/certificates/{certificate}"

    await owner.get(page)
    refused = await owner.send(f"{page}/retire")
    assert refused.status_code == 409
    assert "1 document waits to be signed with it" in refused.text

    async def gone(conn: Any) -> None:
        await conn.execute("DELETE FROM outbox WHERE subject = %s", (waiting,))

    await portal.db.run(gone)
    await portal.db.run(receivers.open_reception, Receiver(tenant, Environment.ECF, "131880681", False))
    refused = await owner.send(f"{page}/retire")
    assert "it signs acknowledgements to suppliers" in refused.text
    await portal.db.run(receivers.close_reception, tenant, Environment.ECF, "131880681")

    done = await owner.send(f"{page}/retire")

    assert (done.status_code, "is retired" in done.text) == (200, True)
    assert await in_use(portal, tenant) == []
    assert (await portal.db.run(changes.latest, tenant, limit=1))[0].action == "certificate retired"


async def test_only_an_owner_who_has_shown_who_it_is_changes_them(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    certificate = await make_certificate(portal.db, tenant)
    base = f"/companies/{tenant}/certificates"
    for role in (PortalRole.MEMBER, PortalRole.ACCOUNTANT):
        async with portal.browser(await portal.person(tenant, role, email=f"{role}@example.do")) as browser:
            page = await browser.get(f"{base}/{certificate}")
            assert "Retire this certificate" not in page.text
            assert (await browser.get(f"{base}/new")).status_code == 403
            proof = hidden_fields(page.text, "/sign-out")
            assert (await browser.client.post(f"{base}/new", data=proof)).status_code == 403
            assert (await browser.client.post(f"{base}/{certificate}/retire", data=proof)).status_code == 403
    portal.clock.ahead = timedelta(minutes=11)
    asked = await owner.client.get(f"{base}/new")
    assert (asked.status_code, asked.headers["location"].partition("?")[0]) == (303, "/again")


async def test_another_companys_are_not_there(portal: Running, owner: Browser, tenant: TenantId) -> None:
    stranger = await make_tenant(portal.db, "Otra SRL")
    theirs = await make_certificate(portal.db, stranger)
    user = await make_user(portal, stranger, "otra@example.do")
    base = f"/companies/{tenant}/certificates"

    assert (await owner.get(f"{base}/{theirs}")).status_code == 404
    await owner.get(base)
    assert owner.page is not None
    proof = hidden_fields(owner.page.text, "/sign-out") | {"form": str(uuid4())}
    assert (await owner.client.post(f"{base}/{theirs}/retire", data=proof)).status_code == 404
    assert (await upload(owner, tenant, p12(), user=str(user.user_id))).status_code == 404
    assert (await upload(owner, tenant, p12(), user="' OR 1=1")).status_code == 404
    assert len(await in_use(portal, stranger)) == 1
