"""Reading a submitted document: what can be said of it without knowing the world, so it can be done in a thread."""

from dataclasses import dataclass
from datetime import datetime

from cryptography import x509
from lxml import etree

from fe.ecf.document import NotADocument, read_xml
from fe.ecf.parse import MAX_SIGNED_BYTES, MAX_SIGNED_ELEMENTS, parse_xml
from fe.ecf.problems import Problem
from fe.ecf.rules import RULES, check
from fe.ecf.schema import validate
from fe.ecf.signature import BadSignature, verify
from fe.simulator.facts import DocumentFacts, read_facts, unverified_code
from fe.simulator.settings import CheckLevel

#: The authority says of no size that it is too large.
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
