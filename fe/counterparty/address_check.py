"""Try a receiver's addresses as the authority does in steps 7 to 11 of the certification: from outside, through TLS.

It works with any receiver. Nothing is read but its answers.
"""

import secrets
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from ipaddress import ip_address
from typing import TypeVar

import trio
from cryptography import x509

from fe.authority.classify import classify_seed, classify_token
from fe.authority.errors import AuthorityError
from fe.authority.multipart import MultipartForm, xml_form
from fe.authority.session import NotASeed, sign_seed
from fe.certification.address_checks import (
    CHECKS,
    AddressCheck,
    CheckState,
    EnteredAddresses,
    base_of,
    has_suffix,
)
from fe.certification.reception_samples import (
    ApprovalSample,
    ApprovedReceipt,
    SupplierSample,
    make_approval,
    make_receipt,
    other_than,
)
from fe.counterparty.acknowledgement import Acknowledged, NotBelieved, SentDocument, read_acknowledgement
from fe.ecf.dates import local, read_moment, show_moment
from fe.ecf.parse import parse_xml
from fe.ecf.signature import Signer
from fe.ecf.texts import Text
from fe.egress.answer import HttpReply
from fe.egress.client import Egress, Request
from fe.egress.errors import EgressError
from fe.egress.public_addresses import is_public
from fe.egress.target import BadTarget, Origin, read_target

RECEPTION = "/fe/recepcion/api/ecf"
APPROVAL = "/fe/aprobacioncomercial/api/ecf"
SEED = "/fe/autenticacion/api/semilla"
TOKEN = "/fe/autenticacion/api/validacioncertificado"  # noqa: S105  (a path)

_SECONDS = 12.0
_EXPIRES_SOON = timedelta(days=30)
_CLOCK = timedelta(minutes=10)
_USUAL_PORT = 443
_FOREIGN_SEED = (
    b'<?xml version="1.0" encoding="utf-8"?><SemillaModel xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
    b' xmlns:xsd="http://www.w3.org/2001/XMLSchema"><valor>ajena</valor>'
    b"<fecha>2026-01-01T10:00:00.0000000-04:00</fecha></SemillaModel>"
)
#: A part as the authority's own program writes it (authority.md#receivers).
_AUTHORITY_PART = (
    b"--dgii\r\nContent-Disposition: form-data; name=xml; filename=%b.xml; filename*=utf-8''%b.xml\r\n\r\n%b"
    b"\r\n--dgii--\r\n"
)
_NO_PART = MultipartForm(
    "multipart/form-data; boundary=dgii",
    b'--dgii\r\nContent-Disposition: form-data; name="other"\r\n\r\nnothing\r\n--dgii--\r\n',
)
_KINDS = {
    "url": Text("the address is not allowed", "la dirección no se permite"),
    "address": Text("the address is not of the public internet", "la dirección no es de la internet pública"),
    "dns": Text("the name has no address", "el nombre no tiene dirección"),
    "connect": Text("no connection", "sin conexión"),
    "tls": Text("no TLS", "sin TLS"),
    "proxy": Text("the proxy does not connect", "el proxy no conecta"),
    "timeout": Text("no answer in time", "sin respuesta a tiempo"),
    "closed": Text("the connection was closed", "la conexión se cerró"),
    "answer": Text("the answer is not HTTP", "la respuesta no es HTTP"),
}
_NOT_TRIED = Text("not tried: the address does not answer", "no se probó: la dirección no responde")
_NO_TOKEN = Text("not tried: there is no token", "no se probó: no hay token")
_NOT_DECLARED = Text("no address of authentication is declared", "no se declaró dirección de autenticación")
_FITS = Text("as it should be", "como debe ser")
_OF_TLS = {
    "ostname mismatch": Text("its certificate is for another name", "su certificado es de otro nombre"),
    "IP address mismatch": Text("its certificate is for another name", "su certificado es de otro nombre"),
    "expired": Text("its certificate has expired", "su certificado está vencido"),
    "not yet valid": Text("its certificate is not valid yet", "su certificado aún no es válido"),
    "issuer certificate": Text(
        "its certificate is of no public certifier, or those between are not served",
        "su certificado no es de una entidad pública, o no se sirven los intermedios",
    ),
    "self-signed": Text("its certificate is self-signed", "su certificado es autofirmado"),
}

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AuthorityPart:
    """With what the authority's part is played: who signs, for which issuer, about which receiver."""

    signer: Signer
    #: RNCEmisor, RazonSocialEmisor and DireccionEmisor of the receipts that are sent.
    issuer: Mapping[str, str]
    #: The tax id of the receiver.
    rnc: str
    #: A receipt of the receiver's that it knows as accepted; without one, the good approval is about none.
    approved: ApprovedReceipt | None = None
    #: The certifiers of acknowledgements; None: any.
    roots: Sequence[x509.Certificate] | None = None


async def check_addresses(
    entered: EnteredAddresses, part: AuthorityPart, egress: Egress, *, now: datetime
) -> list[AddressCheck]:
    """Make all checks, in the order of CHECKS; those behind an address that does not answer are SKIPPED.

    Raises CannotCheck. Cancelled at any moment it leaves nothing behind here.
    """
    return await _Run(entered, part, egress, now).run()


def passed(checks: Sequence[AddressCheck]) -> bool:
    """Whether the authority's own test would pass, as far as it was tried."""
    return all(check.state is not CheckState.FAILED for check in checks)


class _NoAnswer(Exception):
    """A call got no answer."""

    def __init__(self, name: str, address: str, says: Text) -> None:
        super().__init__(says.en)
        self.failed = AddressCheck(name, address, CheckState.FAILED, says)


class _Run:
    def __init__(self, entered: EnteredAddresses, part: AuthorityPart, egress: Egress, now: datetime) -> None:
        self._entered = entered
        self._part = part
        self._egress = egress
        self._began, self._began_at = trio.current_time(), now
        self._done: list[AddressCheck] = []
        self._token: str | None = None
        #: Numbers that no issuer has reached.
        self._next = 9_000_000_000 + secrets.randbelow(900_000_000)

    async def run(self) -> list[AddressCheck]:
        entered, is_reached = self._entered, dict[str, bool]()
        for written in (entered.reception, entered.approval, entered.authentication):
            if written is not None and (base := base_of(written)) not in is_reached:
                is_reached[base] = await self._reach(written, base)
        services = [
            (8, entered.authentication, self._authenticate),
            (9, entered.reception, self._receive),
            (11, entered.approval, self._approve),
        ]
        for step, written, work in services:
            if written is not None:
                base, why = base_of(written), _NOT_TRIED
                if not is_reached[base]:
                    pass
                elif step != 8 and entered.authentication is not None and self._token is None:
                    why = _NO_TOKEN
                else:
                    try:
                        await work(base)
                    except _NoAnswer as none:
                        self._done.append(none.failed)
                self._skip(step, base, why)
        return self._done

    def _skip(self, step: int, base: str, why: Text) -> None:
        """Tell of the checks of a step that were not made."""
        made = {check.name for check in self._done}
        for name, kind in CHECKS.items():
            if kind.step == step and name not in made:
                self._tell(name, base, CheckState.SKIPPED, why)

    @property
    def _now(self) -> datetime:
        return self._began_at + timedelta(seconds=trio.current_time() - self._began)

    def _number(self, kind: str = "31") -> str:
        self._next += 1
        return f"E{kind}{self._next:010}"

    def _tell(self, name: str, address: str, state: CheckState, says: Text = _FITS) -> None:
        self._done.append(AddressCheck(name, address, state, says))

    # -- the way there -------------------------------------------------------------------------------------------------

    async def _reach(self, written: str, base: str) -> bool:
        """Check the address itself, its name and its certificate; False where nothing can be tried behind it."""
        try:
            target = read_target(base + RECEPTION, self._egress.policy)
        except BadTarget as bad:
            self._tell("address", base, CheckState.FAILED, bad.text)
            return False
        origin = target.origin
        to_enter = base.partition("://")[2]
        if not origin.tls and not origin.is_loopback:
            self._tell("address", base, CheckState.FAILED, Text("it is not https://", "no es https://"))
        elif "?" in base:
            self._tell("address", base, CheckState.FAILED, Text("it has a question mark", "tiene un signo «?»"))
        elif has_suffix(written) or written.strip().endswith("/"):
            says = Text(f"enter it as {to_enter}", f"escríbala como {to_enter}")
            self._tell("address", base, CheckState.WARNING, says)
        elif origin.port != _USUAL_PORT:
            says = Text(
                f"port {origin.port} is not the usual one, {_USUAL_PORT}",
                f"el puerto {origin.port} no es el usual, {_USUAL_PORT}",
            )
            self._tell("address", base, CheckState.WARNING, says)
        else:
            self._tell("address", base, CheckState.OK, Text(f"enter it as {to_enter}", f"escríbala como {to_enter}"))
        return await self._resolve(base, origin) and await self._tls(base, origin)

    async def _resolve(self, base: str, origin: Origin) -> bool:
        found: Sequence[str] = []
        why = "no answer"
        with trio.move_on_after(_SECONDS):
            try:
                found = (
                    [origin.host] if _is_numeric(origin.host) else await self._egress.resolve(origin.host, origin.port)
                )
            except (OSError, UnicodeError) as error:
                why = str(error)
        if not found:
            self._tell("host", base, CheckState.FAILED, _KINDS["dns"].after(f"{origin.host} ({why})"))
            return False
        private = [address for address in found if not is_public(address)]
        if not private:
            says = Text("it leads to {found}", "lleva a {found}").fill(found=", ".join(found))
            self._tell("host", base, CheckState.OK, says)
            return True
        says = Text("it leads to {found}, which is not public", "lleva a {found}, que no es pública")
        self._tell("host", base, CheckState.FAILED, says.fill(found=private[0]))
        return self._egress.policy.any_address or (origin.is_loopback and self._egress.policy.development)

    async def _tls(self, base: str, origin: Origin) -> bool:
        if not origin.tls:
            self._tell("tls", base, CheckState.FAILED, Text("it is not https://", "no es https://"))
            return True
        raw: bytes | None = None
        says = _KINDS["timeout"]
        with trio.move_on_after(_SECONDS):
            try:
                connection = await self._egress.connect(origin)
            except EgressError as error:
                says = _said_of_tls(error)
            else:
                raw = connection.certificate
                connection.close()
        if raw is None:
            self._tell("tls", base, CheckState.FAILED, says)
            return False
        until = local(x509.load_der_x509_certificate(raw).not_valid_after_utc)
        says = Text(f"it expires on {until:%Y-%m-%d}", f"vence el {until:%d-%m-%Y}")
        is_lasting = until - self._now > _EXPIRES_SOON
        self._tell("tls", base, CheckState.OK if is_lasting else CheckState.WARNING, says)
        return True

    # -- calls ---------------------------------------------------------------------------------------------------------

    async def _post(self, name: str, url: str, form: MultipartForm, *, token: str | None) -> HttpReply:
        headers = [("Content-Type", form.content_type), ("Accept", "application/xml, application/json;q=0.9")]
        if token is not None:
            headers.append(("Authorization", f"Bearer {token}"))
        return await self._call(name, Request("POST", url, tuple(headers), form.body))

    async def _call(self, name: str, request: Request) -> HttpReply:
        try:
            return await self._egress.exchange(request, seconds=_SECONDS)
        except EgressError as error:
            says = _with_reason(_KINDS[error.kind], error.reason)
            raise _NoAnswer(name, request.url, says) from error

    async def _expect(
        self, name: str, url: str, form: MultipartForm, *, status: int, otherwise: CheckState = CheckState.FAILED
    ) -> None:
        reply = await self._post(name, url, form, token=self._token)
        self._tell_status(name, url, reply.status, status, otherwise)

    def _tell_status(
        self, name: str, url: str, found: int, expected: int, otherwise: CheckState = CheckState.FAILED
    ) -> None:
        if found == expected:
            self._tell(name, url, CheckState.OK, Text("answered {status}", "respondió {status}").fill(status=found))
            return
        says = Text("answered {found} in place of {expected}", "respondió {found} en vez de {expected}")
        self._tell(name, url, otherwise, says.fill(found=found, expected=expected))

    async def _without_token(self, name: str, url: str, form: MultipartForm) -> None:
        if self._entered.authentication is None:
            self._tell(name, url, CheckState.SKIPPED, _NOT_DECLARED)
            return
        for token in (None, "e30.e30.e30"):
            reply = await self._post(name, url, form, token=token)
            if reply.status != 401:
                break
        self._tell_status(name, url, reply.status, 401)

    # -- the services --------------------------------------------------------------------------------------------------

    async def _authenticate(self, base: str) -> None:
        seed_at, token_at = base + SEED, base + TOKEN
        headers = (("Accept", "application/xml"),)
        reply = await self._call("seed", Request("GET", seed_at, headers))
        other = await self._call("seed", Request("GET", base + _mixed(SEED), headers))
        try:
            seed = classify_seed(reply, self._now)
            signed = await _in_thread(partial(sign_seed, seed, self._part.signer))
        except (AuthorityError, NotASeed) as error:
            says = Text("no seed: {why}", "no es una semilla: {why}").fill(why=error)
            self._tell("seed", seed_at, CheckState.FAILED, says)
            return
        if other.status != 200:
            says = Text("answered {status} to {path}", "respondió {status} a {path}")
            self._tell("seed", seed_at, CheckState.FAILED, says.fill(status=other.status, path=_mixed(SEED)))
        elif other.body == reply.body:
            self._tell("seed", seed_at, CheckState.WARNING, Text("the same seed twice", "la misma semilla dos veces"))
        else:
            self._tell("seed", seed_at, CheckState.OK)
        broken = signed.replace(b"<valor>", b"<valor>x", 1)
        foreign = await _in_thread(partial(sign_seed, _FOREIGN_SEED, self._part.signer))
        tried = (
            ("seed-bad-signature", broken, CheckState.FAILED),
            ("seed-foreign", foreign, CheckState.WARNING),
        )
        for name, content, otherwise in tried:
            reply = await self._post(name, token_at, xml_form("semilla.xml", content), token=None)
            is_refused = 400 <= reply.status < 500
            says = Text("answered {status}", "respondió {status}").fill(status=reply.status)
            self._tell(name, token_at, CheckState.OK if is_refused else otherwise, says)
        reply = await self._post("token", token_at, xml_form("semilla.xml", signed), token=None)
        try:
            granted = classify_token(reply, self._now)
        except AuthorityError as error:
            says = Text("no token: {status}, {why}", "sin token: {status}, {why}").fill(status=reply.status, why=error)
            self._tell("token", token_at, CheckState.FAILED, says)
            return
        self._token = granted.token
        minutes = int(granted.lifetime.total_seconds() // 60)
        says = Text("valid for {minutes} minutes", "válido por {minutes} minutos").fill(minutes=minutes)
        self._tell("token", token_at, CheckState.OK, says)

    async def _receive(self, base: str) -> None:
        url = base + RECEPTION
        broken_number = self._number()
        broken = await self._receipt(SupplierSample.BAD_SIGNATURE, broken_number)
        form = xml_form(f"{broken_number}.xml", broken)
        await self._without_token("receipt-without-token", url, form)
        good, at = self._number(), self._now
        document = await self._receipt(SupplierSample.GOOD, good, at)
        if await self._acknowledged("receipt-good", url, good, xml_form(f"{good}.xml", document), "0"):
            another = await self._receipt(SupplierSample.GOOD, good, at - timedelta(seconds=1))
            await self._acknowledged("receipt-duplicate", url, good, xml_form(f"{good}.xml", another), "1/3")
        else:
            says = Text("not tried: the good e-CF was not received", "no se probó: el e-CF correcto no fue recibido")
            self._tell("receipt-duplicate", url, CheckState.SKIPPED, says)
        for sample in (SupplierSample.BAD_FORMAT, SupplierSample.OTHER_BUYER, SupplierSample.CONSUMER):
            number = self._number("32" if sample is SupplierSample.CONSUMER else "31")
            sent = xml_form(f"{number}.xml", await self._receipt(sample, number))
            is_mild = sample is SupplierSample.CONSUMER
            await self._acknowledged(f"receipt-{sample}", url, number, sent, sample.expected, is_mild=is_mild)
        await self._acknowledged("receipt-bad-signature", url, broken_number, form, "1/2")
        await self._acknowledged("receipt-letter-case", base + _mixed(RECEPTION), broken_number, form, "1/2")
        name = broken_number.encode()
        as_authority = MultipartForm("multipart/form-data; boundary=dgii", _AUTHORITY_PART % (name, name, broken))
        await self._acknowledged("receipt-form", url, broken_number, as_authority, "1/2")
        await self._expect("receipt-absent", url, _NO_PART, status=400, otherwise=CheckState.WARNING)

    async def _receipt(self, sample: SupplierSample, number: str, at: datetime | None = None) -> bytes:
        part = self._part
        make = partial(make_receipt, sample, part.signer, issuer=part.issuer, buyer=part.rnc)
        return await _in_thread(partial(make, number=number, now=at or self._now))

    async def _acknowledged(
        self, name: str, url: str, number: str, form: MultipartForm, expected: str, *, is_mild: bool = False
    ) -> bool:
        """Send an e-CF and tell whether the acknowledgement says what is `expected`."""
        reply = await self._post(name, url, form, token=self._token)
        failed = CheckState.WARNING if is_mild else CheckState.FAILED
        if reply.status != 200:
            self._tell_status(name, url, reply.status, 200, failed)
            return False
        try:
            found = await _in_thread(partial(_read, self._part, reply.body, number, self._now))
        except NotBelieved as error:
            says = Text("no acknowledgement: {why}", "no es un acuse de recibo válido: {why}").fill(why=error)
            self._tell(name, url, failed, says)
            return False
        said = "0" if found.received else f"1/{(found.reason or '')[:1]}"
        if said != expected:
            says = Text("acknowledged with {said} in place of {expected}", "acusó {said} en vez de {expected}")
            self._tell(name, url, failed, says.fill(said=said, expected=expected))
            return False
        moment = read_moment(parse_xml(reply.body).findtext("DetalleAcusedeRecibo/FechaHoraAcuseRecibo") or "")
        if moment is None or abs(moment - self._now) > _CLOCK:
            says = Text("its time is {moment}, and it is {now}", "su hora es {moment}, y son las {now}")
            shown = says.fill(moment=moment and show_moment(moment), now=show_moment(self._now))
            self._tell(name, url, CheckState.WARNING, shown)
            return True
        self._tell(name, url, CheckState.OK, Text("acknowledged with {said}", "acusó {said}").fill(said=said))
        return True

    async def _approve(self, base: str) -> None:
        part, url = self._part, base + APPROVAL
        known = part.approved or ApprovedReceipt(
            self._number(), other_than(part.rnc), local(self._now).date(), "118.00"
        )
        make = partial(make_approval, receipt=known, signer=part.signer, issuer=part.rnc)
        forms = {}
        for sample in ApprovalSample:
            content = await _in_thread(partial(make, sample, now=self._now))
            forms[sample] = xml_form(f"{known.e_ncf}.xml", content)
        bad = forms[ApprovalSample.BAD_SIGNATURE]
        await self._without_token("approval-without-token", url, bad)
        for sample in (ApprovalSample.BAD_FORMAT, ApprovalSample.BAD_SIGNATURE, ApprovalSample.OTHER_ISSUER):
            await self._expect(f"approval-{sample}", url, forms[sample], status=400)
        await self._expect("approval-letter-case", base + _mixed(APPROVAL), bad, status=400)
        await self._expect("approval-absent", url, _NO_PART, status=400, otherwise=CheckState.WARNING)
        reply = await self._post("approval-good", url, forms[ApprovalSample.GOOD], token=self._token)
        if part.approved is None and reply.status == 400:
            says = Text(
                "answered 400: perhaps because the receipt was made up; name one that this company issued",
                "respondió 400: quizás porque el comprobante es inventado; indique uno que esta empresa emitió",
            )
            self._tell("approval-good", url, CheckState.WARNING, says)
        else:
            self._tell_status("approval-good", url, reply.status, 200)


async def _in_thread(work: Callable[[], T]) -> T:
    return await trio.to_thread.run_sync(work)


def _read(part: AuthorityPart, raw: bytes, number: str, now: datetime) -> Acknowledged:
    """Read an acknowledgement, which may name the buyer of the e-CF or the receiver. Raises NotBelieved."""
    read = partial(read_acknowledgement, raw, roots=part.roots, now=now)
    issuer = part.issuer["RNCEmisor"]
    try:
        return read(SentDocument(issuer, part.rnc, number))
    except NotBelieved:
        return read(SentDocument(issuer, other_than(part.rnc), number))


def _is_numeric(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _mixed(path: str) -> str:
    """Write a path in other letters than the usual ones."""
    return path.upper().replace("/FE/", "/Fe/")


def _with_reason(said: Text, reason: str) -> Text:
    return Text(f"{said.en} ({reason})", f"{said.es} ({reason})")


def _said_of_tls(error: EgressError) -> Text:
    """Say why there is no TLS, for the most frequent causes in plain words."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLCertVerificationError):
        cause = cause.__cause__
    if cause is None:
        return _with_reason(_KINDS[error.kind], error.reason)
    for words, said in _OF_TLS.items():
        if words in cause.verify_message:
            return said
    return _with_reason(_KINDS["tls"], cause.verify_message)
