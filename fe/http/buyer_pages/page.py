"""The buyer's pages as HTML: one receipt, what its signature says, and errors. Pure, and nothing is fetched elsewhere.

Everything that a receipt says is escaped: its issuer wrote it.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from html import escape

from cryptography import x509
from cryptography.x509.oid import NameOID

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
from fe.printing.labels import TITLES
from fe.store.records.shared_receipts import SharedReceipt

_STYLE = (
    ":root{color-scheme:light dark;--ink:#1a1a1a;--paper:#fff;--quiet:#4d4d4d;--line:#767676;--link:#0b4f8a;"
    "--good:#12622f;--bad:#8a1f11}"
    "@media(prefers-color-scheme:dark){:root{--ink:#eee;--paper:#16181b;--quiet:#bbb;--line:#8a8a8a;--link:#8cc4ff;"
    "--good:#7fd69b;--bad:#ff9d8f}}"
    "body{font:1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:0 auto;padding:1rem;color:var(--ink);"
    "background:var(--paper)}h1{font-size:1.5rem;line-height:1.25;overflow-wrap:anywhere}h2{font-size:1.15rem}"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem}dd{margin:0;overflow-wrap:anywhere}"
    "dt{font-weight:600}@media(max-width:30rem){dl{display:block}dd{margin-bottom:.5rem}}"
    ".test{background:#8a1f11;color:#fff;padding:.5rem 1rem}.good,.bad{font-weight:600;border-left:.25rem solid;"
    "padding:.25rem .75rem}.good{color:var(--good)}.bad{color:var(--bad)}.quiet{color:var(--quiet)}"
    "a{color:var(--link)}.actions{display:flex;flex-wrap:wrap;gap:.75rem}form{margin:0}"
    ".actions a,button{display:block;box-sizing:border-box;min-height:2.75rem;padding:.55rem 1rem;font:inherit;"
    "color:var(--link);background:none;border:1px solid var(--line);border-radius:.25rem;text-decoration:none}"
    ".actions .first{background:#0b4f8a;border-color:#0b4f8a;color:#fff}"
    "@media(max-width:30rem){.actions>*,button{width:100%;text-align:center}}"
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
_CONDITIONAL = Text(
    "Accepted conditionally by the DGII (tax authority): the receipt is valid, with remarks for its issuer",
    "Aceptado condicional por la DGII: el comprobante es válido, con observaciones para su emisor",
)
_LABELS = (
    Text("Type", "Tipo"),
    Text("Issuer", "Emisor"),
    Text("Issuer's RNC", "RNC del emisor"),
    Text("Number (e-NCF)", "Número (e-NCF)"),
    Text("Buyer", "Comprador"),
    Text("Issue date", "Fecha de emisión"),
    Text("Total", "Monto total"),
    Text("Security code", "Código de seguridad"),
)
_PDF = Text("PDF to print", "PDF para imprimir")
_XML = Text("Signed XML (the original)", "XML firmado (el original)")
_AUTHORITY = Text("Check it at the DGII", "Consultar en la DGII")
_VERIFY = Text("Verify the signature", "Verificar la firma")
_BACK = Text("Back to the receipt", "Volver al comprobante")
_ABOUT = Text(
    "The issuer shared this receipt with you and can withdraw this link. Save the XML: it is the original.",
    "El emisor compartió este comprobante con usted y puede retirar este enlace. Descargue el XML: es el original.",
)
_PRIVATE = Text(
    "Anyone who has this link can read the receipt. This page does not track you.",
    "Quien tenga este enlace puede leer el comprobante. Esta página no lo rastrea.",
)

_GOOD = Text(
    "The signature is valid: the XML is exactly what {signer} signed.",
    "La firma es válida: el XML es exactamente el que firmó {signer}.",
)
_DOUBTFUL = Text(
    "The XML is as {signer} signed it, but a check failed. Ask the issuer before you rely on it.",
    "El XML está tal como lo firmó {signer}, pero una revisión falló. Consulte al emisor antes de confiar en él.",
)
_BAD = Text(
    "The signature is not valid: this XML is not what was signed. Do not rely on it, and ask the issuer.",
    "La firma no es válida: este XML no es el que se firmó. No confíe en él y consulte al emisor.",
)
_CHECKED, _NOT_CHECKED = (
    Text("What was verified", "Qué se verificó"),
    Text("What was not verified", "Qué no se verificó"),
)
_DETAILS = Text("Details", "Detalles")
_YES, _NO = Text("Yes", "Sí"), Text("No", "No")
_UNCHANGED = Text("The XML is as it was signed", "El XML está tal como se firmó")
_SAME_CODE = Text("The security code is that of the signature", "El código de seguridad es el de la firma")
_VALID = Text("The certificate was valid when it signed", "El certificado estaba vigente al firmar")
_CHAIN = Text(
    "A certification authority that this service trusts issued the certificate",
    "Emitió el certificado una entidad de certificación en que confía este servicio",
)
#: Questions that no verification answers; that certifiers would answer; and all that a bad signature leaves.
_OPEN = (
    Text("Whether the certificate had been revoked", "Si el certificado estaba revocado"),
    Text("Whether the signer may sign for the issuer", "Si el firmante puede firmar por el emisor"),
    Text("Whether the DGII accepted it: its own page tells", "Si la DGII lo aceptó: consulte la página de la DGII"),
)
_OPEN_CHAIN = Text(
    "Whether a recognized certification authority issued the certificate",
    "Si el certificado lo emitió una entidad de certificación reconocida",
)
_OPEN_ALL = Text(
    "Anything else: without a valid signature nothing else counts",
    "Todo lo demás: sin una firma válida no tiene valor",
)
#: Names that the library shows as numbers.
_NAMES = {NameOID.SERIAL_NUMBER: "SERIALNUMBER", NameOID.ORGANIZATION_IDENTIFIER: "organizationIdentifier"}
_SIGNER = Text("Signed by", "Firmado por")
_ISSUED_BY = Text("Certificate issued by", "Certificado emitido por")
_SIGNED_AT = Text("Signed at, as the receipt says", "Fecha de firma, según el comprobante")
_DIGEST = Text("SHA-256 of the XML", "SHA-256 del XML")


@dataclass(frozen=True, slots=True)
class SignatureFindings:
    """Findings of a verification: its result, the checks made, those not made, and facts by label."""

    result: Text
    checked: Mapping[Text, bool]
    not_checked: Sequence[Text]
    facts: Sequence[tuple[Text, str]]


def verify_shared(receipt: SharedReceipt, roots: Sequence[x509.Certificate] | None) -> SignatureFindings:
    """Verify the stored bytes. CPU work: call it in a thread."""
    digest = (_DIGEST, sha256(receipt.document).hexdigest())
    try:
        verified = verify(receipt.document, max_bytes=MAX_SIGNED_BYTES, max_elements=MAX_SIGNED_ELEMENTS)
    except (BadSignature, Malformed):
        return SignatureFindings(_BAD, {_UNCHANGED: False}, (_OPEN_ALL,), [digest])
    written = verified.root.findtext("FechaHoraFirma") or ""
    certificate, at = verified.certificate, read_moment(written)
    checked = {
        _UNCHANGED: True,
        _SAME_CODE: verified.security_code == receipt.security_code,
        _VALID: _is_good(certificate, None, at),
    }
    if roots is not None:
        checked[_CHAIN] = _is_good(certificate, roots, at)
    signer = clean(holder(certificate), 200)
    facts = [
        (_SIGNER, signer),
        (_ISSUED_BY, clean(certificate.issuer.rfc4514_string(_NAMES), 200)),
        (_SIGNED_AT, clean(written)),
        digest,
    ]
    result = (_GOOD if all(checked.values()) else _DOUBTFUL).fill(signer=signer)
    return SignatureFindings(result, checked, _OPEN if roots is not None else (_OPEN_CHAIN, *_OPEN), facts)


def _is_good(certificate: x509.Certificate, roots: Sequence[x509.Certificate] | None, at: datetime | None) -> bool:
    return at is not None and not check_certificate(certificate, roots=roots, at=at)


def receipt_page(receipt: SharedReceipt, facts: ReceiptFacts, token: str, language: Language) -> bytes:
    """Show a receipt."""
    values = (
        TITLES.get(facts.e_ncf[1:3], ""),
        facts.issuer_name,
        facts.issuer_rnc,
        facts.e_ncf,
        facts.buyer_name,
        facts.issued_on,
        shown_amount(facts.total),
        receipt.security_code or "",
    )
    title = _TITLE.fill(number=clean(facts.e_ncf)).said(language)
    verdict = (_CONDITIONAL if receipt.status is Status.CONDITIONAL else _ACCEPTED).said(language)
    here, asked = f"/{token}", f"?lang={language}"
    actions = (
        f'<a class="first" href="{here}/pdf{asked}">{escape(_PDF.said(language))}</a>'
        f'<a href="{here}/xml">{escape(_XML.said(language))}</a>'
        f'<form action="{here}/signature"><input type="hidden" name="lang" value="{language}">'
        f"<button>{escape(_VERIFY.said(language))}</button></form>" + _authority(receipt, language)
    )
    body = (
        _test(receipt, language)
        + f'<h1>{escape(title)}</h1><p class="good">{escape(verdict)}</p>'
        + _listed([(label.said(language), clean(value)) for label, value in zip(_LABELS, values, strict=True)])
        + f'<div class="actions">{actions}</div>'
        + f'<p>{escape(_ABOUT.said(language))}</p><p class="quiet">{escape(_PRIVATE.said(language))}</p>'
        + _other_language(here, language)
    )
    return _page(title, body, language)


def signature_page(receipt: SharedReceipt, found: SignatureFindings, token: str, language: Language) -> bytes:
    """Show what was verified, and what was not."""
    title = _VERIFY.said(language)
    is_good = all(found.checked.values())
    checked = "".join(
        f"<dt>{escape(question.said(language))}</dt><dd>{escape((_YES if good else _NO).said(language))}</dd>"
        for question, good in found.checked.items()
    )
    not_checked = "".join(f"<li>{escape(question.said(language))}</li>" for question in found.not_checked)
    body = (
        _test(receipt, language)
        + f'<h1>{escape(title)}</h1><p class="{"good" if is_good else "bad"}">{escape(found.result.said(language))}</p>'
        + f"<h2>{escape(_CHECKED.said(language))}</h2><dl>{checked}</dl>"
        + f"<h2>{escape(_NOT_CHECKED.said(language))}</h2><ul>{not_checked}</ul>"
        + f'<div class="actions">{_authority(receipt, language)}</div>'
        + f"<h2>{escape(_DETAILS.said(language))}</h2>"
        + _listed([(label.said(language), value) for label, value in found.facts])
        + f'<p><a href="/{token}?lang={language}">{escape(_BACK.said(language))}</a></p>'
        + _other_language(f"/{token}/signature", language)
    )
    return _page(title, body, language)


def error_page(message: Text, language: Language | None) -> bytes:
    """Say what went wrong, in both languages where it is not known which is read."""
    said = message.said(language or "es")
    more = "" if language else f'<p lang="en">{escape(message.en)}</p>'
    return _page(said, f"<h1>{escape(said)}</h1>{more}", language or "es")


def _authority(receipt: SharedReceipt, language: Language) -> str:
    """Link to the receipt's page at the authority: the only address elsewhere."""
    url = receipt.qr_code_url or ""
    if not url.startswith(("https://", "http://")):
        return ""
    return f'<a href="{escape(url)}" rel="noreferrer">{escape(_AUTHORITY.said(language))}</a>'


def _test(receipt: SharedReceipt, language: Language) -> str:
    if receipt.environment is Environment.ECF:
        return ""
    return f'<p class="test">{escape(_TEST.said(language))}</p>'


def _listed(shown: Sequence[tuple[str, str]]) -> str:
    """List values of the receipt by label; they are in Spanish, and may be written from right to left."""
    rows = (f'<dt>{escape(label)}</dt><dd><bdi lang="es">{escape(value)}</bdi></dd>' for label, value in shown if value)
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
