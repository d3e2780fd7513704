"""Faults of a package. Their codes are part of the format."""

from dataclasses import dataclass
from enum import StrEnum


class FaultCode(StrEnum):
    """Kind of a fault; stable, for programs."""

    ZIP = "zip"
    NAME = "name"
    MANIFEST = "manifest"
    KEY = "key"
    SIGNATURE_OF_MANIFEST = "manifest-signature"
    TIME_STAMP = "time-stamp"
    FILES = "files"
    COUNTS = "counts"
    DIGEST = "digest"
    XML = "xml"
    SIGNATURE = "signature"
    CERTIFICATE = "certificate"
    DOCUMENT = "document"
    TIMELINE = "timeline"
    TENANT = "tenant"
    SEQUENCE = "sequence"
    PREVIOUS = "previous"
    TWICE = "twice"
    ADDITION = "addition"


@dataclass(frozen=True)
class PackageFault:
    """A fault. `where` is a receipt's folder, or empty for the package; `what` names the file or value."""

    code: FaultCode
    where: str
    what: str


class Broken(ValueError):
    """Bytes that are not what they have to be; the text is for people."""
