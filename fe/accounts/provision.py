"""Set up tenants: fiscal data, users, keys, certificates and number sequences.

Each function runs in the caller's transaction (`db.transact(create_tenant, ...)`); a rejected call writes nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Self

from cryptography.hazmat.primitives.serialization import Encoding

from fe.accounts import sequences
from fe.accounts.keys import SCOPES, hash_secret, new_api_key
from fe.ecf.build import build
from fe.ecf.catalogue import EcfType, Environment, Root
from fe.ecf.certificate import Credential, is_for_signing
from fe.ecf.dates import ZONE, show_day
from fe.ecf.document import Document, NotADocument
from fe.ecf.identity import tax_id
from fe.ecf.ids import new_id
from fe.ecf.parse import excerpt
from fe.ecf.problems import Problem
from fe.ecf.schema import validate
from fe.ecf.texts import Text
from fe.identifiers import CertificateId, UserId
from fe.secrets.vault import P12_PURPOSE, PASSPHRASE_PURPOSE, Belongs, Vault
from fe.store.postgres.db import Conn
from fe.store.records import certificates, keys, tenants
from fe.store.records.certificates import CertificateRecord, EncryptedCertificate
from fe.store.records.keys import ApiKey
from fe.store.records.sequences import Sequence as NumberSequence
from fe.store.records.tenants import Tenant, User

_ISSUER = "Encabezado.Emisor"
#: How long the name of a tenant or of a key may be.
LONGEST_NAME = 200


class ProvisioningRefused(Exception):
    """The change was rejected and nothing was written.

    `text` says why, to any reader. `str` is the English form with hints for the command line.
    """

    def __init__(self, text: Text | str, commands: str = "") -> None:
        self.text = text if isinstance(text, Text) else Text(text, text)
        super().__init__(f"{self.text} ({commands})" if commands else str(self.text))


class NameTaken(ProvisioningRefused):
    """There is one by that name already."""

    @classmethod
    def of_tenant(cls, name: str) -> Self:
        """Another tenant has it."""
        return cls(
            Text(
                f"there is a tenant {name!r} already", f"ya hay una empresa con el nombre «{name}» en esta instalación"
            )
        )


class Unknown(ProvisioningRefused):
    """There is none by that name."""

    @classmethod
    def tenant(cls, name: str) -> Self:
        """No tenant has it."""
        return cls(Text(f"there is no tenant {name!r}", f"no existe la empresa «{name}»"))

    @classmethod
    def user(cls, tenant: Tenant, email: str) -> Self:
        """No user of the tenant has it."""
        return cls(
            Text(
                f"tenant {tenant.name!r} has no user {email!r}",
                f"la empresa «{tenant.name}» no tiene el usuario «{email}»",
            )
        )


class BadIssuer(ProvisioningRefused):
    """Fiscal data that no document could carry. `problems` has every reason."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        said = [say_problem(problem) for problem in problems[:5]]
        super().__init__(Text("; ".join(each.en for each in said), "; ".join(each.es for each in said)))
        self.problems = tuple(problems)


def field_of(problem: Problem) -> str:
    """Return the field of Emisor that a problem of BadIssuer is about, with what follows it; empty if none."""
    return problem.path.removeprefix(_ISSUER).removeprefix(".")


def say_problem(problem: Problem) -> Text:
    """Describe a wrong field: its name, the error, and the expected value."""
    where = field_of(problem) or _ISSUER
    return Text(
        _said(where, problem.message, problem.expected),
        _said(where, problem.message_es, problem.expected_es or problem.expected),
    )


def _said(where: str, message: str, expected: str | None) -> str:
    text = message if where in message else f"{where}: {message}"
    return f"{text} ({expected})" if expected else text


def remark_on(issuer: Mapping[str, Any]) -> Text | None:
    """Warn that the check digit of an issuer's RNC is wrong: a typing error, or one of the few real exceptions."""
    rnc = tax_id(str(issuer.get("RNCEmisor", "")))
    if rnc is None or rnc.checks:
        return None
    return Text(
        f"Compare the RNC {rnc} with the registry: its last digit is not the one that the others call for. "
        "A mistyped RNC is rejected with every receipt; a few real ones are like that.",
        f"Compare el RNC {rnc} con el registro de la DGII: el último dígito no es el que corresponde a los demás. "
        "Un RNC mal escrito se rechaza en cada comprobante; unos pocos reales son así.",
    )


async def create_tenant(
    conn: Conn, name: str, issuer: Mapping[str, Any], consumer_summary: str = "automatic", *, today: date
) -> Tenant:
    """Create a tenant. `issuer` becomes `Encabezado.Emisor`. Raises BadIssuer, NameTaken or ProvisioningRefused."""
    require_texts(issuer)
    check_issuer(issuer, today)
    tenant = await tenants.create(conn, name, issuer, consumer_summary)
    if tenant is None:
        raise NameTaken.of_tenant(name)
    return tenant


async def find_tenant(conn: Conn, name: str) -> Tenant:
    """Find a tenant by its exact name. Raises Unknown."""
    tenant = await tenants.by_name(conn, name)
    if tenant is None:
        raise Unknown.tenant(name)
    return tenant


async def create_user(
    conn: Conn, tenant: Tenant, email: str, issuer_override: Mapping[str, Any] | None, *, now: datetime
) -> User:
    """Create a user; the override is laid over the tenant's fiscal data.

    Raises ProvisioningRefused, of which BadIssuer and NameTaken are kinds.
    """
    name, at, domain = email.partition("@")
    if not (name and at and domain and email.isprintable()) or len(email) > 254 or " " in email:
        raise ProvisioningRefused(Text(f"{email!r} is not an e-mail address", f"«{email}» no es un correo electrónico"))
    if issuer_override is not None:
        require_texts(issuer_override)
        check_issuer({**tenant.issuer, **issuer_override}, now.astimezone(ZONE).date())
    user = await tenants.create_user(conn, tenant.tenant_id, UserId(new_id(now)), email, issuer_override)
    if user is None:
        raise NameTaken(
            Text(
                f"tenant {tenant.name!r} has a user {email!r} already",
                f"la empresa «{tenant.name}» ya tiene el usuario «{email}»",
            )
        )
    return user


async def find_user(conn: Conn, tenant: Tenant, email: str) -> User:
    """Find a tenant's user by address, letter case apart. Raises Unknown."""
    user = await tenants.user_by_email(conn, tenant.tenant_id, email)
    if user is None:
        raise Unknown.user(tenant, email)
    return user


async def require_user(conn: Conn, tenant: Tenant, user: User) -> None:
    """Check that a user still exists. Raises Unknown."""
    if user.user_id not in {each.user_id for each in await tenants.users_of(conn, tenant.tenant_id)}:
        raise Unknown.user(tenant, user.email)


@dataclass(frozen=True, slots=True)
class NewKey:
    """A new key; its secret can be shown only now."""

    record: ApiKey
    secret: str

    def __repr__(self) -> str:
        """Leave the secret out: a representation ends up in logs."""
        return f"NewKey({self.record.api_key_id})"


async def create_key(
    conn: Conn,
    tenant: Tenant,
    environment: Environment,
    *,
    pepper: bytes,
    pepper_id: str = "",
    scopes: Iterable[str] = SCOPES,
    name: str = "",
    expires_at: datetime | None = None,
) -> NewKey:
    """Create an API key for one environment; only the secret's hash under `pepper` is stored.

    Raises ProvisioningRefused for an unknown scope, or none, and for an unprintable name.
    """
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise ProvisioningRefused(
            Text(
                f"the name should be of at most {LONGEST_NAME} characters, on one line",
                f"el nombre debe tener {LONGEST_NAME} caracteres como máximo, en una línea",
            )
        )
    asked = set(scopes)
    if unknown := asked.difference(SCOPES):
        names, every = ", ".join(sorted(unknown)), ", ".join(SCOPES)
        raise ProvisioningRefused(
            Text(
                f"there is no scope {names}: choose from {every}", f"no existe el permiso {names}: elija entre {every}"
            )
        )
    if not asked:
        raise ProvisioningRefused(
            Text("a key without any scope is of no use", "una clave sin ningún permiso no sirve: elija al menos uno")
        )
    api_key_id, secret = new_api_key()
    granted = [scope for scope in SCOPES if scope in asked]
    record = await keys.create(
        conn,
        api_key_id,
        tenant.tenant_id,
        environment,
        hash_secret(pepper, secret),
        granted,
        name,
        expires_at,
        pepper_id=pepper_id,
    )
    return NewKey(record, secret)


async def add_certificate(
    conn: Conn,
    vault: Vault,
    tenant: Tenant,
    user: User | None,
    *,
    p12: bytes,
    passphrase: str,
    opened: Credential,
    now: datetime,
) -> CertificateRecord:
    """Encrypt a .p12 file and store it as the certificate of the company (`user` None) or of a user.

    `opened` is the result of `open_p12` for these bytes. A certificate that is valid now signs from now on, and the
    previous one is retired. A renewal that is not valid yet waits. Raises ProvisioningRefused for an expired
    certificate and for one whose KeyUsage does not allow signing.
    """
    user_id = user.user_id if user else None
    _require_usable(opened, now)
    certificate_id = CertificateId(new_id(now))
    record = CertificateRecord(
        tenant_id=tenant.tenant_id,
        certificate_id=certificate_id,
        user_id=user_id,
        holder=opened.holder,
        holder_id=opened.holder_id,
        serial_number=opened.serial,
        not_before=opened.not_before,
        not_after=opened.not_after,
    )
    encrypted = EncryptedCertificate(
        tenant_id=tenant.tenant_id,
        certificate_id=certificate_id,
        p12=vault.encrypt(p12, Belongs(tenant.tenant_id, str(certificate_id), P12_PURPOSE)),
        passphrase=vault.encrypt(
            passphrase.encode(), Belongs(tenant.tenant_id, str(certificate_id), PASSPHRASE_PURPOSE)
        ),
    )
    der = opened.certificate.public_bytes(Encoding.DER)
    await certificates.put(conn, record, encrypted, now, x509=der)
    return record


def _require_usable(opened: Credential, now: datetime) -> None:
    if opened.not_after <= now:
        raise ProvisioningRefused(
            Text(
                f"the certificate expired on {opened.not_after:%Y-%m-%d}: ask your certifier for a new one",
                f"el certificado venció el {opened.not_after:%d-%m-%Y}:"
                " solicite uno nuevo a su entidad de certificación",
            )
        )
    if not is_for_signing(opened.certificate):
        raise ProvisioningRefused(
            Text(
                "the certificate is not meant for signing documents (KeyUsage): the authority rejects what it signs;"
                " ask your certifier for one for signing tax documents",
                "el certificado no está hecho para firmar documentos (KeyUsage): la DGII rechaza lo que firme;"
                " solicite a su entidad de certificación uno para firmar documentos tributarios",
            )
        )


async def put_sequence(
    conn: Conn,
    tenant: Tenant,
    environment: Environment,
    key: str,
    *,
    minimum: int = 1,
    maximum: int = sequences.LARGEST,
    expires: date | None = None,
    is_active: bool = True,
    now: datetime,
) -> NumberSequence:
    """Create or change the number sequence of a key; good to the end of `expires`. Raises sequences.BadSequence."""
    return await sequences.put(
        conn,
        tenant.tenant_id,
        environment,
        key,
        minimum=minimum,
        maximum=maximum,
        last_day=expires,
        is_active=is_active,
        now=now,
    )


_NO_TEXT = Text('{name} must be a text in quotes, such as "131880738"', '{name} debe ir entre comillas: "131880738"')


def require_texts(issuer: Mapping[str, Any]) -> None:
    """See that fields from JSON are texts: a number would be compared, and be shown, as another value.

    Raises ProvisioningRefused.
    """
    for name, value in issuer.items():
        if not _is_text(value):
            raise ProvisioningRefused(_NO_TEXT.fill(name=excerpt(name)))


def _is_text(value: Any) -> bool:
    match value:
        case dict():
            return all(_is_text(one) for one in value.values())
        case list():
            return all(_is_text(one) for one in value)
    return isinstance(value, str)


def check_issuer(issuer: Mapping[str, Any], today: date) -> None:
    """Validate fiscal data against the document format. Raises BadIssuer with every problem.

    Uses type 31, whose `Emisor` has every field of all types.
    """
    number = {"TipoeCF": "31", "eNCF": "E310000000001"}
    full = {"FechaEmision": show_day(today), **issuer}
    trial = Document(Root.ECF, EcfType.CREDIT_FISCAL, {"Encabezado": {"IdDoc": number, "Emisor": full}})
    try:
        problems: Sequence[Problem] = validate(build(trial))
    except NotADocument as unbuildable:
        problems = unbuildable.problems
    about_issuer = [problem for problem in problems if problem.path.startswith(_ISSUER)]
    if about_issuer:
        raise BadIssuer(about_issuer)
