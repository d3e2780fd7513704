"""Calls of a provider's program, with an operator's key: they set up companies (docs/providers.md).

Each act and its two records, the tenant's and the operators', are one transaction. A repeated act changes nothing.
"""

from base64 import b64decode
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from fe.accounts import audited_changes, provision, sequences
from fe.accounts.audited_changes import Author, show_certificate, show_key, show_sequence
from fe.accounts.changes import check_name
from fe.accounts.keys import SCOPES
from fe.accounts.provision import BadIssuer, NameTaken, NewKey, ProvisioningRefused
from fe.clock import iso
from fe.ecf.catalogue import Environment
from fe.ecf.certificate import MAX_BYTES, Credential
from fe.ecf.identity import TaxIdKind, tax_id
from fe.ecf.problems import Problem, Severity
from fe.ecf.texts import Language, Text
from fe.http.errors import ApiError
from fe.http.languages import serialize_problems
from fe.http.messages import NOT_FOUND, say
from fe.http.request_bodies import InvalidField, RequestModel, read_body
from fe.identifiers import ApiKeyId, TenantId
from fe.portal.deps import Portal
from fe.portal.first_steps import first_steps, missing
from fe.portal.pages.certificates import examine_p12
from fe.store.portal import standing
from fe.store.portal.operator_keys import OperatorKey
from fe.store.postgres.db import Conn, Database
from fe.store.queue import audit
from fe.store.queue.audit import OperatorAction
from fe.store.records import certificates, keys, tenants
from fe.store.records import sequences as sequence_store
from fe.store.records.certificates import CertificateRecord
from fe.store.records.keys import ApiKey
from fe.store.records.sequences import Sequence, sequence_key
from fe.store.records.tenants import Tenant

#: Companies in one answer.
PAGE = 100
_NO_TENANT = Text("there is no company of that name", "no existe una empresa con ese nombre")
_NO_KEY = Text("the company has no such key", "la empresa no tiene esa clave")
_OTHER_DATA = Text(
    "there is a company {name!r} already, with other data: look at it with GET, or choose another name",
    "ya hay una empresa «{name}», con otros datos: véala con GET o elija otro nombre",
)
_NAMED_KEY = Text(
    "name: a key is told from others by its name, of 1 to 200 characters",
    "name: el nombre distingue la clave de las demás; tiene de 1 a 200 caracteres",
)
_KEY_THERE = Text(
    "there is an active key of that name in {environment}: {key}. Its secret was shown once: revoke it with DELETE, "
    "and create it again",
    "ya hay una clave activa con ese nombre en {environment}: {key}. Su secreto se mostró una vez: revóquela con "
    "DELETE y créela de nuevo",
)
_NOT_BASE64 = Text(
    "p12 must be the file in base64, without line breaks", "p12 debe ser el archivo en base64, sin saltos"
)
_OTHER_HOLDER = Text(
    "the certificate names {found}, not the holderId that you expect", "el certificado es de {found}, no de holderId"
)
_OTHER_COMPANY = Text(
    "the certificate names another company, RNC {found}: the authority refuses what it signs unless this company has "
    "delegated it",
    "el certificado es de otra empresa, RNC {found}: la DGII rechaza lo que firme, salvo que esta empresa lo haya "
    "delegado",
)


class NewCompany(RequestModel):
    """A company to create."""

    name: str
    issuer: dict[str, Any]
    consumerSummary: Literal["automatic", "off"] = "automatic"

    @field_validator("issuer")
    @classmethod
    def _has_texts(cls, value: dict[str, Any]) -> dict[str, Any]:
        try:
            provision.require_texts(value)
        except ProvisioningRefused as refused:
            raise InvalidField(refused.text) from None
        return value


class PutCertificate(RequestModel):
    """A company's certificate. `holderId` refuses a file of another person or company than the one that is meant."""

    p12: Annotated[str, Field(max_length=MAX_BYTES * 2)]
    passphrase: Annotated[str, Field(max_length=1000)]
    holderId: str | None = None


class PutSequence(RequestModel):
    """A number sequence; what is left out takes its default, also when there is a sequence already."""

    minSequence: int = 1
    maxSequence: int = sequences.LARGEST
    expireAt: str | None = None
    isActive: bool = True
    name: str | None = None


class CreateKey(RequestModel):
    """An API key to create."""

    name: str
    environment: Literal["testecf", "certecf", "ecf"]
    scopes: list[str] | None = None


@dataclass(frozen=True, slots=True)
class ProviderCall:
    """A call of a recognized key. `name` is the company in its address, `segments` what follows there."""

    portal: Portal
    operators: Database
    key: OperatorKey
    action: OperatorAction
    name: str
    params: Mapping[str, str]
    query: Mapping[str, str]
    body: bytes
    language: Language

    @property
    def author(self) -> Author:
        """The key as author of a change."""
        return Author(self.action.by_whom, self.action.at, "api", self.key.person_id)

    @property
    def environment(self) -> Environment:
        """The environment in the address. Raises ApiError (404)."""
        if self.params["environment"] not in list(Environment):
            raise ApiError(404, NOT_FOUND)
        return Environment(self.params["environment"])

    async def tenant(self, conn: Conn, *, lock: bool = False) -> Tenant:
        """The company in the address. Raises ApiError (404)."""
        found = await tenants.by_name(conn, self.name) if self.name.isprintable() else None
        if found is not None and lock:
            found = await tenants.locked(conn, found.tenant_id)
        if found is None:
            raise ApiError(404, _NO_TENANT)
        return found

    async def record(self, conn: Conn, act: str, tenant_id: TenantId, detail: dict[str, Any]) -> None:
        """Put the act on the operators' record."""
        detail = {"key": self.key.operator_key_id, **detail}
        await audit.record(conn, self.action, act, tenant_id, None, detail)

    def warned(self, answer: dict[str, Any], body: RequestModel, *remarks: Problem) -> dict[str, Any]:
        """Add what was ignored of a body, and other remarks."""
        found = serialize_problems((*body.ignored, *remarks), self.language)
        return {**answer, "warnings": found} if found else answer


Answer = tuple[int, dict[str, Any]]
Handler = Callable[[ProviderCall], Awaitable[Answer]]


def _remark(code: str, path: str, text: Text) -> Problem:
    return Problem(code=code, path=path, message=text.en, message_es=text.es, severity=Severity.CONDITIONAL)


def _short(tenant: Tenant) -> dict[str, Any]:
    return {
        "name": tenant.name,
        "issuer": tenant.issuer,
        "consumerSummary": tenant.consumer_summary,
        "disabledSince": tenant.disabled_since and iso(tenant.disabled_since),
    }


# -- companies -------------------------------------------------------------------------------------------------------


async def create_company(call: ProviderCall) -> Answer:
    """Create a company; 200 where it is there with the same data."""
    body = read_body(NewCompany, call.body)
    try:
        check_name(body.name)
        if body.name != body.name.strip():
            raise ProvisioningRefused(Text("the name begins or ends with a blank", "el nombre lleva espacios de más"))
        created, tenant = await call.operators.transact(_create, call, body)
    except BadIssuer as refused:
        named = (replace(one, path=f"issuer.{provision.field_of(one)}".rstrip(".")) for one in refused.problems)
        raise ApiError(400, refused.text.after("issuer"), problems=serialize_problems(named)) from None
    remark = provision.remark_on(tenant.issuer)
    remarks = () if remark is None else (_remark("rnc-check-digit", "issuer.RNCEmisor", remark),)
    return 201 if created else 200, call.warned(_short(tenant), body, *remarks)


async def _create(conn: Conn, call: ProviderCall, body: NewCompany) -> tuple[bool, Tenant]:
    try:
        made = await audited_changes.create_tenant(conn, call.author, body.name, body.issuer, body.consumerSummary)
    except NameTaken:
        found = await provision.find_tenant(conn, body.name)
        if (found.issuer, found.consumer_summary) != (body.issuer, body.consumerSummary):
            raise ApiError(409, _OTHER_DATA.fill(name=body.name)) from None
        return False, found
    await call.record(conn, "tenant create", made.tenant_id, {"tenant": made.name, "rnc": made.issuer["RNCEmisor"]})
    return True, made


async def list_companies(call: ProviderCall) -> Answer:
    """List companies, the oldest first, a page at a time."""
    cursor = call.query.get("cursor", "0")
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 19):
        raise ApiError(400, say("bad-cursor"))
    found = await call.operators.run(tenants.after, TenantId(int(cursor)), PAGE + 1)
    more = str(found[PAGE - 1].tenant_id) if len(found) > PAGE else None
    return 200, {"items": [_short(one) for one in found[:PAGE]], "nextCursor": more}


async def show_company(call: ProviderCall) -> Answer:
    """Show a company: what is set up, and what is missing until it can issue."""
    tenant = await call.operators.run(call.tenant)
    here = tenant.tenant_id
    records = await call.operators.run(certificates.in_use, here)
    ranges = await call.operators.run(sequence_store.of_all_environments, here)
    now = call.action.at
    found = [one for one in await call.operators.run(keys.of_tenant, here) if one.state(now) != "revoked"]
    accepted = await call.operators.run(standing.accepted_in, here)
    steps = first_steps(tenant.issuer, records, ranges, accepted)
    return 200, {
        **_short(tenant),
        "certificates": [_certificate(one) for one in records],
        "sequences": [_sequence(one) for one in ranges],
        "keys": [_key(one) for one in found],
        "missing": {one.value: missing(tenant, records, ranges, found, one, now) for one in Environment},
        "steps": [{"step": one.text.said(call.language), "done": one.is_done} for one in steps],
    }


# -- certificates ----------------------------------------------------------------------------------------------------


async def put_certificate(call: ProviderCall) -> Answer:
    """Let a company sign with a certificate; 200 where it does already."""
    body = read_body(PutCertificate, call.body)
    try:
        p12 = b64decode(body.p12, validate=True)
    except ValueError:
        raise ApiError(400, _NOT_BASE64) from None
    tenant = await call.operators.run(call.tenant)
    examined = await examine_p12(call.portal, p12, body.passphrase)
    holder = examined.opened.holder_id or ""
    if body.holderId is not None and body.holderId != holder:
        raise ApiError(400, _OTHER_HOLDER.fill(found=holder or "-").after("holderId"))
    added, record = await call.operators.transact(_put_certificate, call, p12, body.passphrase, examined.opened)
    remarks = [_remark("certificate", "p12", one) for one in examined.remarks]
    named = tax_id(holder)
    if named is not None and named.kind is TaxIdKind.RNC and holder != tenant.issuer.get("RNCEmisor"):
        remarks.append(_remark("other-company", "p12", _OTHER_COMPANY.fill(found=holder)))
    return 201 if added else 200, call.warned(_certificate(record), body, *remarks)


async def _put_certificate(
    conn: Conn, call: ProviderCall, p12: bytes, passphrase: str, opened: Credential
) -> tuple[bool, CertificateRecord]:
    tenant = await call.tenant(conn, lock=True)
    for one in await certificates.in_use(conn, tenant.tenant_id):
        same = (one.user_id, one.serial_number) == (None, opened.serial)
        if same and await certificates.x509(conn, tenant.tenant_id, one.certificate_id) == opened.der:
            return False, one
    made = await audited_changes.add_certificate(
        conn, call.author, call.portal.vault, tenant, None, p12=p12, passphrase=passphrase, opened=opened
    )
    await call.record(conn, "certificate add", tenant.tenant_id, show_certificate(made))
    return True, made


def _certificate(record: CertificateRecord) -> dict[str, Any]:
    return {"serialNumber": record.serial_number, **show_certificate(record)}


# -- sequences -------------------------------------------------------------------------------------------------------


async def put_sequence(call: ProviderCall) -> Answer:
    """Create a number sequence, or replace it."""
    body = read_body(PutSequence, call.body)
    try:
        expires = None if body.expireAt is None else date.fromisoformat(body.expireAt)
    except ValueError:
        raise ApiError(400, say("expiry-form")) from None
    return 200, call.warned(_sequence(await call.operators.transact(_put_sequence, call, body, expires)), body)


async def _put_sequence(conn: Conn, call: ProviderCall, body: PutSequence, expires: date | None) -> Sequence:
    tenant = await call.tenant(conn, lock=True)
    made = await audited_changes.put_sequence(
        conn,
        call.author,
        tenant,
        call.environment,
        sequence_key(call.params["prefix"], body.name),
        minimum=body.minSequence,
        maximum=body.maxSequence,
        expires=expires,
        is_active=body.isActive,
    )
    await call.record(conn, "sequence put", tenant.tenant_id, {"sequence": made.label, **_sequence(made)})
    return made


def _sequence(found: Sequence) -> dict[str, Any]:
    names = {"environment": found.environment.value, "prefix": found.prefix, "name": found.name or None}
    return {**names, **show_sequence(found)}


# -- keys ------------------------------------------------------------------------------------------------------------


async def create_key(call: ProviderCall) -> Answer:
    """Create an API key; the secret is in this answer alone."""
    body = read_body(CreateKey, call.body)
    if not body.name.strip():
        raise ApiError(400, _NAMED_KEY)
    made = await call.operators.transact(_create_key, call, body)
    record = _key(made.record)
    return 201, call.warned({"apiKeyId": record.pop("apiKeyId"), "apiSecret": made.secret, **record}, body)


async def _create_key(conn: Conn, call: ProviderCall, body: CreateKey) -> NewKey:
    tenant = await call.tenant(conn, lock=True)
    environment = Environment(body.environment)
    for one in await keys.of_tenant(conn, tenant.tenant_id):
        is_there = one.revoked_at is None and (one.expires_at is None or call.action.at < one.expires_at)
        if is_there and (one.name, one.environment) == (body.name, environment):
            raise ApiError(409, _KEY_THERE.fill(environment=environment.value, key=one.api_key_id))
    pepper_id, pepper = next(iter(call.portal.peppers.items()))
    made = await audited_changes.create_key(
        conn,
        call.author,
        tenant,
        environment,
        pepper=pepper,
        pepper_id=pepper_id,
        scopes=SCOPES if body.scopes is None else body.scopes,
        name=body.name,
    )
    await call.record(conn, "key create", tenant.tenant_id, _key(made.record))
    return made


async def revoke_key(call: ProviderCall) -> Answer:
    """Revoke an API key for good; 200 also where it was revoked before."""
    return 200, await call.operators.transact(_revoke_key, call)


async def _revoke_key(conn: Conn, call: ProviderCall) -> dict[str, Any]:
    tenant = await call.tenant(conn, lock=True)
    api_key_id = ApiKeyId(call.params["key"])
    if api_key_id not in {one.api_key_id for one in await keys.of_tenant(conn, tenant.tenant_id)}:
        raise ApiError(404, _NO_KEY)
    if await audited_changes.revoke_key(conn, call.author, tenant, api_key_id):
        await call.record(conn, "key revoke", tenant.tenant_id, {"apiKeyId": api_key_id})
    return {"apiKeyId": api_key_id, "state": "revoked"}


def _key(record: ApiKey) -> dict[str, Any]:
    return {"apiKeyId": record.api_key_id, **show_key(record)}
