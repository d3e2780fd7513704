"""The buyer's pages as HTML: one receipt, what its signature says, and errors. Pure, and nothing is fetched elsewhere.

Everything that a receipt says is escaped: its issuer wrote it.
"""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from html import escape

from cryptography import x509

from fe.ecf.catalogue import Environment
from fe.ecf.certificate import holder
from fe.ecf.dates import read_moment
from fe.ecf.parse import MAX_SIGNED_BYTES, MAX_SIGNED_ELEMENTS, Malformed
from fe.ecf.signature import BadSignature, verify
from fe.ecf.texts import Language, Text
from fe.ecf.trust import check_certificate
from fe.lifecycle import Status
from fe.mail.facts import ReceiptFacts
from fe.mail.message import clean, shown_amount
from fe.store.records.shared_receipts import SharedReceipt

_STYLE = (
    "body{font:1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:0 auto;padding:1rem;color:#1a1a1a;background:#fff}"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem}dd{margin:0;overflow-wrap:anywhere}"
    "dt{font-weight:600}.test{background:#8a1f11;color:#fff;padding:.5rem 1rem}"
    "a,button{font:inherit;color:#0b4f8a}.actions{display:flex;flex-wrap:wrap;gap:1rem}"
    "button{padding:.25rem .75rem}form{margin:0}"
)
_STYLE_HASH = b64encode(sha256(_STYLE.encode()).digest()).decode()
#: Headers of every page.
PAGE_HEADERS = (
    ("Content-Type", "text/html; charset=utf-8"),
    (
        "Content-Security-Policy",
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'",
    ),
)

_TITLE = Text("Electronic receipt {number}", "Comprobante electrónico {number}")
_TEST = Text("TEST: NO FISCAL VALUE", "PRUEBA: SIN VALOR FISCAL")
_ACCEPTED = Text("Accepted by the DGII (tax authority)", "Aceptado por la DGII")
_CONDITIONAL = Text("Accepted conditionally by the DGII (tax authority)", "Aceptado condicionalmente por la DGII")
_LABELS = (
    Text("Issuer", "Emisor"),
    Text("Issuer's RNC", "RNC del emisor"),
    Text("Number (e-NCF)", "Número (e-NCF)"),
    Text("Issue date", "Fecha de emisión"),
    Text("Total", "Monto total"),
    Text("Security code", "Código de seguridad"),
    Text("Verdict", "Estado"),
)
_PDF = Text("PDF to print", "PDF para imprimir")
_XML = Text("Signed XML (the original)", "XML firmado (el original)")
_AUTHORITY = Text("Check it at the DGII", "Consultar en la DGII")
_VERIFY = Text("Verify the signature", "Verificar la firma")
_BACK = Text("Back to the receipt", "Volver al comprobante")
_ABOUT = Text(
    "The issuer shared this receipt with you and can withdraw this link. Keep the XML: it is the original.",
    "El emisor compartió este comprobante con usted y puede retirar este enlace. Conserve el XML: es el original.",
)

_OK, _NOT_OK = Text("Yes", "Sí"), Text("No: not valid", "No: no es válido")
_NOT_LOOKED_AT = Text("Not checked", "No se revisó")
_UNCHANGED = Text("The XML is as it was signed", "El XML está tal como se firmó")
_SAME_CODE = Text("The security code is that of the signature", "El código de seguridad es el de la firma")
_VALID = Text("The certificate was valid when it signed", "El certificado estaba vigente al firmar")
_CHAIN = Text(
    "A certification authority that this service trusts issued the certificate",
    "Emitió el certificado una entidad de certificación en que confía este servicio",
)
_REVOCATION = Text("The certificate was not revoked", "El certificado no estaba revocado")
_SIGNER = Text("Signed by", "Firmado por")
_ISSUED_BY = Text("Certificate issued by", "Certificado emitido por")
_SIGNED_AT = Text("Signed at, as the receipt says", "Fecha de firma, según el comprobante")
_DIGEST = Text("SHA-256 of the XML", "SHA-256 del XML")


@dataclass(frozen=True, slots=True)
class SignatureFindings:
    """Findings of a verification: answers by question, and facts by label."""

    answers: Sequence[tuple[Text, Text]]
    facts: Sequence[tuple[Text, str]]


def verify_shared(receipt: SharedReceipt, roots: Sequence[x509.Certificate] | None) -> SignatureFindings:
    """Verify the stored bytes. CPU work: call it in a thread."""
    digest = (_DIGEST, sha256(receipt.document).hexdigest())
    try:
        verified = verify(receipt.document, max_bytes=MAX_SIGNED_BYTES, max_elements=MAX_SIGNED_ELEMENTS)
    except (BadSignature, Malformed):
        rest = (_SAME_CODE, _VALID, _CHAIN, _REVOCATION)
        return SignatureFindings([(_UNCHANGED, _NOT_OK), *((one, _NOT_LOOKED_AT) for one in rest)], [digest])
    written = verified.root.findtext("FechaHoraFirma") or ""
    certificate, at = verified.certificate, read_moment(written)
    answers = [
        (_UNCHANGED, _OK),
        (_SAME_CODE, _yes(verified.security_code == receipt.security_code)),
        (_VALID, _is_good(certificate, None, at)),
        (_CHAIN, _NOT_LOOKED_AT if roots is None else _is_good(certificate, roots, at)),
        (_REVOCATION, _NOT_LOOKED_AT),
    ]
    facts = [
        (_SIGNER, clean(holder(certificate), 200)),
        (_ISSUED_BY, clean(certificate.issuer.rfc4514_string(), 200)),
        (_SIGNED_AT, written),
        digest,
    ]
    return SignatureFindings(answers, facts)


def _is_good(certificate: x509.Certificate, roots: Sequence[x509.Certificate] | None, at: datetime | None) -> Text:
    return _yes(at is not None and not check_certificate(certificate, roots=roots, at=at))


def _yes(good: bool) -> Text:
    return _OK if good else _NOT_OK


def receipt_page(receipt: SharedReceipt, facts: ReceiptFacts, token: str, language: Language) -> bytes:
    """Show a receipt."""
    verdict = _CONDITIONAL if receipt.status is Status.CONDITIONAL else _ACCEPTED
    values = (
        facts.issuer_name,
        facts.issuer_rnc,
        facts.e_ncf,
        facts.issued_on,
        shown_amount(facts.total),
        receipt.security_code or "",
        verdict.said(language),
    )
    title = _TITLE.fill(number=clean(facts.e_ncf)).said(language)
    here, asked = f"/{token}", f"?lang={language}"
    links = [(f"{here}/pdf{asked}", _PDF), (f"{here}/xml", _XML)]
    actions = "".join(f'<a href="{escape(url)}">{escape(text.said(language))}</a>' for url, text in links)
    # A link of the receipt leads to the authority alone.
    if (receipt.qr_code_url or "").startswith("https://"):
        actions += (
            f'<a href="{escape(receipt.qr_code_url or "")}" rel="noreferrer">{escape(_AUTHORITY.said(language))}</a>'
        )
    actions += (
        f'<form action="{here}/signature"><input type="hidden" name="lang" value="{language}">'
        f"<button>{escape(_VERIFY.said(language))}</button></form>"
    )
    body = (
        _test(receipt, language)
        + f"<h1>{escape(title)}</h1>"
        + _listed([(label.said(language), clean(value)) for label, value in zip(_LABELS, values, strict=True)])
        + f'<div class="actions">{actions}</div>'
        + f"<p>{escape(_ABOUT.said(language))}</p>"
        + _other_language(here, language)
    )
    return _page(title, body, language)


def signature_page(receipt: SharedReceipt, found: SignatureFindings, token: str, language: Language) -> bytes:
    """Show what was verified, and what was not."""
    title = _VERIFY.said(language)
    body = (
        _test(receipt, language)
        + f"<h1>{escape(title)}</h1>"
        + _listed([(question.said(language), answer.said(language)) for question, answer in found.answers])
        + _listed([(label.said(language), value) for label, value in found.facts])
        + f'<p><a href="/{token}?lang={language}">{escape(_BACK.said(language))}</a></p>'
        + _other_language(f"/{token}/signature", language)
    )
    return _page(title, body, language)


def error_page(message: Text, language: Language) -> bytes:
    """Say what went wrong."""
    said = message.said(language)
    return _page(said, f"<h1>{escape(said)}</h1>", language)


def _test(receipt: SharedReceipt, language: Language) -> str:
    if receipt.environment is Environment.ECF:
        return ""
    return f'<p class="test">{escape(_TEST.said(language))}</p>'


def _listed(shown: Sequence[tuple[str, str]]) -> str:
    rows = (f"<dt>{escape(label)}</dt><dd>{escape(value)}</dd>" for label, value in shown if value)
    return f"<dl>{''.join(rows)}</dl>"


def _other_language(path: str, language: Language) -> str:
    other, name = ("en", "English") if language == "es" else ("es", "Español")
    return f'<p><a href="{path}?lang={other}" lang="{other}" hreflang="{other}">{name}</a></p>'


def _page(title: str, body: str, language: Language) -> bytes:
    return (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body><main>{body}</main></body></html>\n"
    ).encode()
