"""Reading a submitted document: what can be said of it without knowing the world, so it can be done in a thread."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from cryptography import x509
from lxml import etree

from fe.ecf import money
from fe.ecf.document import NotADocument, read_xml
from fe.ecf.parse import MAX_SIGNED_BYTES, MAX_SIGNED_ELEMENTS, parse_xml
from fe.ecf.problems import Problem
from fe.ecf.rules import RULES, check
from fe.ecf.schema import validate
from fe.ecf.signature import BadSignature, profile, security_code, verify
from fe.simulator.settings import CheckLevel


#: The authority says of no size that it is too large.
@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """The values that queries answer and rules compare, as the document writes them; None where it has none."""

    root: str
    issuer: str | None = None
    e_ncf: str | None = None
    buyer: str | None = None
    foreign_id: str | None = None
    total: str | None = None
    total_itbis: str | None = None
    issued_on: str | None = None
    signed_at: str | None = None
    expires: str | None = None
    #: The number that a note modifies.
    modified: str | None = None
    #: Security code of the e-CF: a summary names it, beside its own signature.
    security_code: str | None = None

    @property
    def amount(self) -> Decimal | None:
        """`total` as a number."""
        return money.number(self.total)

    def to_record(self) -> dict[str, str]:
        """For the journal: without what is missing."""
        return {name: value for name in self.__slots__ if (value := getattr(self, name)) is not None}

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "DocumentFacts":
        """The inverse of `to_record`."""
        return cls(**record)


#: Parts with hundreds of lines, none of which is a fact.
_LISTS = frozenset({"DetallesItems", "Subtotales", "DescuentosORecargos", "Paginacion", profile.SIGNATURE})


def read_facts(root: etree._Element, code: str | None) -> DocumentFacts:
    """Read the facts of a document of any root; `code` is the security code of its own signature."""

    texts = _texts(root)

    def text(path: str) -> str | None:
        found = texts.get(path)
        return found.strip() if found else None

    tag = str(root.tag)
    if tag == "ACECF":
        detail = "DetalleAprobacionComercial"
        return DocumentFacts(
            tag,
            issuer=text(f"{detail}/RNCEmisor"),
            e_ncf=text(f"{detail}/eNCF"),
            buyer=text(f"{detail}/RNCComprador"),
            total=text(f"{detail}/MontoTotal"),
            issued_on=text(f"{detail}/FechaEmision"),
        )
    if tag == "ANECF":
        return DocumentFacts(tag, issuer=text("Encabezado/RncEmisor"))
    return DocumentFacts(
        tag,
        issuer=text("Encabezado/Emisor/RNCEmisor"),
        e_ncf=text("Encabezado/IdDoc/eNCF"),
        buyer=text("Encabezado/Comprador/RNCComprador"),
        foreign_id=text("Encabezado/Comprador/IdentificadorExtranjero"),
        total=text("Encabezado/Totales/MontoTotal"),
        total_itbis=text("Encabezado/Totales/TotalITBIS"),
        issued_on=text("Encabezado/Emisor/FechaEmision"),
        signed_at=text("FechaHoraFirma"),
        expires=text("Encabezado/IdDoc/FechaVencimientoSecuencia"),
        modified=text("InformacionReferencia/NCFModificado"),
        security_code=text("Encabezado/CodigoSeguridadeCF") or code,
    )


def _texts(root: etree._Element) -> dict[str, str | None]:
    """The texts of the first elements of their name, down to three levels, by path; none of lines of a document."""
    found: dict[str, str | None] = {}
    for part in root:
        name = str(part.tag)
        if name in _LISTS:
            continue
        found.setdefault(name, part.text)
        for group in part:
            below = f"{name}/{group.tag}"
            found.setdefault(below, group.text)
            for leaf in group:
                found.setdefault(f"{below}/{leaf.tag}", leaf.text)
    return found


def unverified_code(root: etree._Element) -> str | None:
    """The security code that the Signature would give, without looking whether it is any good."""
    value = root.findtext(f"{profile.SIGNATURE}/{{{profile.NAMESPACE}}}SignatureValue")
    return security_code("".join(value.split())) if value else None


_LIMITS = {"max_bytes": MAX_SIGNED_BYTES, "max_elements": MAX_SIGNED_ELEMENTS}


@dataclass(frozen=True, slots=True)
class Examined:
    """A well-formed document and what is wrong with it by itself.

    `root` is the tree without its Signature when that is good. `bad_signature` says why the signature is not accepted.
    The problems are those of the schema and those of the rules; none below CheckLevel.FULL.
    """

    root: etree._Element
    facts: DocumentFacts
    certificate: x509.Certificate | None
    bad_signature: str | None
    schema_problems: tuple[Problem, ...]
    rule_problems: tuple[Problem, ...]


def examine(raw: bytes, level: CheckLevel, now: datetime) -> Examined:
    """Read `raw`; raises MalformedXml when it is not well-formed."""
    certificate = bad_signature = None
    if level is CheckLevel.NONE:
        root = parse_xml(raw, **_LIMITS)
        code = unverified_code(root)
    else:
        try:
            verified = verify(raw, **_LIMITS)
        except BadSignature as bad:
            root = parse_xml(raw, **_LIMITS)
            code, bad_signature = unverified_code(root), bad.message
        else:
            root, code, certificate = verified.root, verified.security_code, verified.certificate
    problems = _problems(root, now) if level is CheckLevel.FULL else []
    by_rule = tuple(problem for problem in problems if problem.code in RULES)
    by_schema = tuple(problem for problem in problems if problem.code not in RULES)
    return Examined(root, read_facts(root, code), certificate, bad_signature, by_schema, by_rule)


def _problems(root: etree._Element, now: datetime) -> list[Problem]:
    try:
        document = read_xml(root)
    except NotADocument as wrong:
        return validate(root) or list(wrong.problems)
    return check(document, now=now, element=root)
