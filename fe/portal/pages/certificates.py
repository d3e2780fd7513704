"""Pages of a company's certificates: add, list and retire them. Their keys never leave the service."""

from uuid import UUID

import trio

from fe.accounts import audited_changes
from fe.accounts.certifiers import ExaminedP12, examine, read_certifiers
from fe.accounts.expiry import warnings, within
from fe.accounts.provision import ProvisioningRefused
from fe.ecf.certificate import MAX_BYTES, CertificateError
from fe.ecf.texts import Text
from fe.identifiers import CertificateId, TenantId
from fe.issuing.certificate_choice import who_signs
from fe.portal.deps import Portal
from fe.portal.page_types import Needs, Page
from fe.portal.replies import Reply, not_found
from fe.portal.visit import Visit
from fe.store.postgres.db import Conn
from fe.store.records import certificates, tenants
from fe.store.records.certificates import CertificateRecord, one_per_holder
from fe.store.records.tenants import User

#: A file larger than any .p12 is still read up to here, so that the error appears in the form.
_MAX_BODY_BYTES = 1024 * 1024
#: Files opened at once per process: each takes up to half a second of CPU, and may query revocation.
_AT_ONCE = trio.CapacityLimiter(2)

_NO_FILE = Text("Choose the .p12 or .pfx file.", "Elija el archivo .p12 o .pfx.")
_STORED = Text("The certificate is stored and signs from now on.", "El certificado está guardado y firma desde ahora.")
_WAITS = Text(
    "The certificate is stored and signs from the first day of its validity; the one in use signs until then.",
    "El certificado está guardado y firma desde el primer día de su vigencia; hasta entonces firma el que está en uso.",
)
_RETIRED = Text(
    "The certificate is retired: nothing new is signed with it.",
    "El certificado está retirado: no se firma nada nuevo con él.",
)


async def listed(visit: Visit) -> Reply:
    """List certificates with their states, and which signs what."""
    records, users = await visit.read(certificates.every), await visit.read(tenants.users_of)
    return visit.page(
        "company/certificates.html",
        records=records,
        current=one_per_holder([one for one in records if one.retired_at is None], visit.now),
        emails={user.user_id: user.email for user in users},
        warnings=warnings(records, visit.now),
        within=lambda record: within(record, visit.now),
        signs=who_signs(records, users, visit.now),
        now=visit.now,
    )


async def new(visit: Visit) -> Reply:
    """Ask for a file and its passphrase."""
    return await _form(visit, visit.query.get("user", ""))


async def add(visit: Visit) -> Reply:
    """Look at a file, and sign with it from now on; one that cannot be used leaves nothing behind."""
    upload, owner = visit.form.files.get("file"), visit.form.get("user")
    user = await _user(visit, owner) if owner else None
    if upload is None or not upload.content:
        return await _form(visit, owner, _NO_FILE)
    passphrase = visit.form.verbatim("passphrase")
    try:
        examined = await examine_p12(visit.portal, upload.content, passphrase)
        await visit.change(_put, visit, user, upload.content, passphrase, examined)
    except CertificateError as refused:
        return await _form(visit, owner, Text(refused.message, refused.message_es))
    except ProvisioningRefused as refused:
        return await _form(visit, owner, refused.text)
    said = _STORED if examined.opened.not_before <= visit.now else _WAITS
    return await visit.go(visit.at("certificates"), _with(said, examined))


async def examine_p12(portal: Portal, p12: bytes, passphrase: str) -> ExaminedP12:
    """Examine a file in a thread. Raises CertificateError, or ProvisioningRefused for a revoked certificate."""

    def work() -> ExaminedP12:
        certifiers = read_certifiers(portal.settings.certifiers_file)
        return examine(p12, passphrase, certifiers, portal.settings.hosts_of_revocation(), now=portal.clock())

    return await trio.to_thread.run_sync(work, limiter=_AT_ONCE)


async def _put(
    conn: Conn, visit: Visit, user: User | None, p12: bytes, passphrase: str, examined: ExaminedP12
) -> CertificateRecord:
    tenant = await visit.locked_tenant(conn)
    return await audited_changes.add_certificate(
        conn,
        visit.author,
        visit.portal.vault,
        tenant,
        user,
        p12=p12,
        passphrase=passphrase,
        opened=examined.opened,
    )


def _with(said: Text, examined: ExaminedP12) -> Text:
    """Show the warnings about the certificate."""
    if not examined.remarks:
        return said
    remarks = Text("; ".join(one.en for one in examined.remarks), "; ".join(one.es for one in examined.remarks))
    return Text(f"{said.en} Note: {remarks.en}.", f"{said.es} Tenga en cuenta: {remarks.es}.")


async def certificate(visit: Visit) -> Reply:
    """Show a certificate, and ask back before it is retired."""
    return _one(visit, await visit.read(_find, visit.params["certificate"]))


async def retire(visit: Visit) -> Reply:
    """Sign nothing new with a certificate."""
    found = await visit.read(_find, visit.params["certificate"])

    async def work(conn: Conn) -> None:
        tenant = await visit.locked_tenant(conn)
        await audited_changes.retire_certificate(conn, visit.author, tenant, found.certificate_id)

    try:
        await visit.change(work)
    except ProvisioningRefused as refused:
        return _one(visit, found, refused.text)
    return await visit.go(visit.at("certificates"), _RETIRED)


async def _find(conn: Conn, tenant_id: TenantId, certificate_id: CertificateId) -> CertificateRecord:
    for found in await certificates.every(conn, tenant_id):
        if found.certificate_id == certificate_id:
            return found
    raise not_found()


async def _user(visit: Visit, user_id: str) -> User:
    try:
        wanted = UUID(user_id)
    except ValueError:
        raise not_found() from None
    for user in await visit.read(tenants.users_of):
        if user.user_id == wanted:
            return user
    raise not_found()


async def _form(visit: Visit, owner: str, problem: Text | None = None) -> Reply:
    return visit.page(
        "company/certificate_new.html",
        200 if problem is None else 400,
        users=await visit.read(tenants.users_of),
        owner=owner,
        problem=problem,
        largest_kib=MAX_BYTES // 1024,
    )


def _one(visit: Visit, found: CertificateRecord, problem: Text | None = None) -> Reply:
    status = 200 if problem is None else 409
    return visit.page("company/certificate.html", status, record=found, problem=problem, now=visit.now)


PAGES = (
    Page("GET", "/companies/<int:company>/certificates", Needs.READ, listed),
    Page("GET", "/companies/<int:company>/certificates/new", Needs.OWN, new, fresh=True),
    Page(
        "POST",
        "/companies/<int:company>/certificates/new",
        Needs.OWN,
        add,
        fresh=True,
        max_body_bytes=_MAX_BODY_BYTES,
    ),
    Page("GET", "/companies/<int:company>/certificates/<uuid:certificate>", Needs.READ, certificate),
    Page("POST", "/companies/<int:company>/certificates/<uuid:certificate>/retire", Needs.OWN, retire, fresh=True),
)
